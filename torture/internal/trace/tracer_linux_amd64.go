package trace

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// thread is a traced thread.
type thread struct {
	inside bool   // in a system call
	result *int64 // what the call shall return, from its entry to its exit
	signal bool   // send the signal at the exit of the call
	cut    string // cut the file at the exit of the call
}

// tracer runs the program to its end. It is the whole work of the process.
func tracer(p spec) (unix.WaitStatus, Outcome) {
	runtime.LockOSThread()
	var o Outcome
	status, err := follow(p, &o)
	if err != nil {
		o.Error = err.Error()
	}
	return status, o
}

func follow(p spec, o *Outcome) (last unix.WaitStatus, err error) {
	log := func(Call) {}
	if p.Log != "" {
		f, err := os.Create(p.Log)
		if err != nil {
			return last, err
		}
		w := bufio.NewWriter(f)
		defer func() { err = errors.Join(err, w.Flush(), f.Close()) }()
		log = func(c Call) { fmt.Fprintf(w, "%d %s %s\n", c.Number, c.Op, c.Path) }
	}
	args := append([]string{p.Program}, os.Args[1:]...)
	child, err := os.StartProcess(p.Program, args, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return last, err
	}
	main := child.Pid
	var w unix.WaitStatus
	if _, err := unix.Wait4(main, &w, unix.WALL, nil); err != nil {
		return last, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(main, options); err != nil {
		return last, err
	}
	threads := map[int]*thread{main: {}}
	if err := unix.PtraceSyscall(main, 0); err != nil {
		return last, err
	}
	processes := map[int]bool{main: true}
	for {
		tid, err := unix.Wait4(-1, &w, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return last, nil
		case err != nil:
			return last, err
		}
		if w.Exited() || w.Signaled() {
			delete(threads, tid)
			delete(processes, tid)
			if tid == main {
				last = w
			}
			continue
		}
		t := threads[tid]
		signal := 0
		switch {
		case t == nil: // a new thread or process stops once
			threads[tid] = &thread{}
			if leader(tid) {
				processes[tid] = true
			}
		case w.StopSignal() == unix.SIGTRAP|0x80:
			if t.inside = !t.inside; t.inside {
				err = t.enter(tid, p, o, log)
			} else {
				err = t.leave(tid, p)
			}
			if errors.Is(err, errSignal) {
				for pid := range processes {
					if pid == main || p.Signal == unix.SIGKILL {
						_ = unix.Kill(pid, p.Signal)
					}
				}
				err = nil
			}
			if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: it was killed meanwhile
				return last, err
			}
		case w.StopSignal() == unix.SIGTRAP && w.TrapCause() > 0: // clone, fork, exec
		case w.StopSignal() == unix.SIGTRAP:
		default:
			signal = int(w.StopSignal())
		}
		if err := unix.PtraceSyscall(tid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return last, err
		}
	}
}

var errSignal = errors.New("send the signal")

// enter handles the entry of a system call.
func (t *thread) enter(tid int, p spec, o *Outcome, log func(Call)) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	c, is := call(tid, &r, p.Below)
	if !is {
		return nil
	}
	o.Calls++
	c.Number = o.Calls
	log(c)
	if c.Number != p.At {
		return nil
	}
	o.Hit = &c
	switch {
	case p.Cut != nil:
		if c.Path == p.File {
			t.cut = c.Path
		}
		return nil
	case p.Signal != 0 && p.After:
		t.signal = true
		return nil
	case p.Signal != 0:
		return errSignal
	case p.Short: // for read and write and their variants with an offset
		if r.Rdx > 1 {
			r.Rdx /= 2
		}
		return unix.PtraceSetRegs(tid, &r)
	}
	result := -int64(p.Errno)
	t.result = &result
	if c.Op == "close" { // it closes the file also when it fails, as the kernel does
		return nil
	}
	r.Orig_rax = ^uint64(0) // no system call
	return unix.PtraceSetRegs(tid, &r)
}

// leave handles the exit of a system call.
func (t *thread) leave(tid int, p spec) error {
	if t.cut != "" {
		path := t.cut
		t.cut = ""
		return os.Truncate(path, *p.Cut)
	}
	if t.signal {
		t.signal = false
		return errSignal
	}
	if t.result == nil {
		return nil
	}
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rax = uint64(*t.result)
	t.result = nil
	return unix.PtraceSetRegs(tid, &r)
}

// leader reports whether a thread is the first one of a process.
func leader(tid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	return err == nil && strings.Contains(string(b), fmt.Sprintf("\nTgid:\t%d\n", tid))
}
