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
	main, err := startTraced(p.Program)
	if err != nil {
		return last, err
	}
	f := &follower{p: p, o: o, log: log, main: main, threads: map[int]*thread{main: {}}, processes: map[int]bool{main: true}}
	for {
		var w unix.WaitStatus
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
			delete(f.threads, tid)
			delete(f.processes, tid)
			if tid == main {
				last = w
			}
			continue
		}
		signal, err := f.stopped(tid, w)
		if err != nil {
			return last, err
		}
		if err := unix.PtraceSyscall(tid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return last, err
		}
	}
}

// startTraced starts a program with the arguments of this one, traced from its first system call on, and returns its process.
func startTraced(program string) (int, error) {
	args := append([]string{program}, os.Args[1:]...)
	child, err := os.StartProcess(program, args, &os.ProcAttr{Env: os.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return 0, err
	}
	var w unix.WaitStatus
	if _, err := unix.Wait4(child.Pid, &w, unix.WALL, nil); err != nil {
		return 0, err
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(child.Pid, options); err != nil {
		return 0, err
	}
	return child.Pid, unix.PtraceSyscall(child.Pid, 0)
}

// follower has the processes and threads of a program that is traced.
type follower struct {
	p         spec
	o         *Outcome
	log       func(Call)
	main      int
	threads   map[int]*thread
	processes map[int]bool
}

// stopped handles a stop of a thread, and returns the signal that it goes on with.
func (f *follower) stopped(tid int, w unix.WaitStatus) (signal int, err error) {
	t := f.threads[tid]
	switch {
	case t == nil: // a new thread or process stops once
		f.threads[tid] = &thread{}
		if leader(tid) {
			f.processes[tid] = true
		}
	case w.StopSignal() == unix.SIGTRAP|0x80:
		if t.inside = !t.inside; t.inside {
			err = t.enter(tid, f.p, f.o, f.log)
		} else {
			err = t.leave(tid, f.p)
		}
		switch {
		case errors.Is(err, errSignal):
			f.kill()
		case err != nil && !errors.Is(err, unix.ESRCH): // ESRCH: it was killed meanwhile
			return 0, err
		}
	case w.StopSignal() == unix.SIGTRAP: // clone, fork, exec
	default:
		signal = int(w.StopSignal())
	}
	return signal, nil
}

// kill sends the signal of the spec to the program, and SIGKILL to all its processes.
func (f *follower) kill() {
	for pid := range f.processes {
		if pid == f.main || f.p.Signal == unix.SIGKILL {
			_ = unix.Kill(pid, f.p.Signal)
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
