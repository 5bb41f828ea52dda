package vfs

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrLocked is returned by FS.Lock for a folder that another process holds.
var ErrLocked = errors.New("held by another process")

// ErrLockFile is an ErrLocked of LockFile.
var ErrLockFile = fmt.Errorf("%w", ErrLocked)

// The system calls of locks and of syncs of folders. Tests replace them with the calls of a file system that has none.
var (
	flock = unix.Flock
	fsync = (*os.File).Sync
)

// Lock implements FS by flock(2). On a file system without flock, such as Lustre and some NFS mounts, LockFile locks the
// folder.
func (osFS) Lock(dir string) (unlock func() error, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, tooMany(err)
	}
	err = flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		// The run that held the lock may have renamed or removed the folder meanwhile.
		if err = still(d, dir); err == nil {
			return d.Close, nil
		}
	case errors.Is(err, unix.EWOULDBLOCK):
		err = ErrLocked
	case unsupported(err), errors.Is(err, unix.ENOLCK):
		unlock, err := LockFile(dir)
		if err := errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
		return unlock, nil
	}
	return nil, errors.Join(&fs.PathError{Op: "lock", Path: dir, Err: err}, d.Close())
}

// still is an error where the open folder d no longer has its name.
func still(d *os.File, dir string) error {
	locked, err := d.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(locked, named) {
		return ErrLocked
	}
	return err
}

// unsupported says whether err means that a file system does not have an operation.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP)
}

// LockSuffix ends the name of the file, or the key of the object, that is the lock of a folder.
const LockSuffix = ".lock"

// LockFile locks a folder by a file beside it, DIR.lock, which names the machine and the process. A process that is killed
// leaves the file. A later run on the same machine that can see that the process has ended takes the lock over. It leaves any
// other file there: the error names it, and what to do.
func LockFile(dir string) (unlock func() error, err error) {
	name := dir + LockSuffix
	me, err := self()
	if err != nil {
		return nil, err
	}
	if err := removeStale(name, me); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &fs.PathError{Op: "lock", Path: dir, Err: fmt.Errorf("%w: %s", ErrLockFile, blocked(name, me))}
	}
	if err != nil {
		return nil, tooMany(err)
	}
	_, err = fmt.Fprintln(f, me)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return func() error { return os.Remove(name) }, nil
}

// holder is the text of a lock file: what names a process. Only pid and host are set where the system does not tell the rest.
type holder struct {
	pid  int
	host string
	// place is the running system and the namespaces in which pid means the process: the identifier of this boot, which no other
	// machine has, and the namespaces of processes and of the network. Two processes of one place see the same processes, and the
	// same abstract sockets.
	place string
	// start is the time at which the process began, in ticks since the boot. A later process of the same pid has another one.
	start string
	// nonce differs between any two locks.
	nonce string
}

func (h holder) String() string {
	if h.place == "" {
		return fmt.Sprintf("%d %s", h.pid, h.host)
	}
	return fmt.Sprintf("%d %s %s %s %s", h.pid, h.host, h.place, h.start, h.nonce)
}

// self is a holder for a new lock of this process.
func self() (holder, error) {
	host, err := os.Hostname()
	if err != nil {
		return holder{}, err
	}
	h := holder{pid: os.Getpid(), host: host}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	pids, err2 := os.Readlink("/proc/self/ns/pid")
	nets, err3 := os.Readlink("/proc/self/ns/net")
	seen, err4 := os.Readlink("/proc/self")
	start, err5 := started(h.pid)
	if errors.Join(err, err2, err3, err4, err5) != nil || seen != strconv.Itoa(h.pid) { // no /proc, or the /proc of another namespace
		return h, nil
	}
	h.place, h.start, h.nonce = strings.TrimSpace(string(boot))+","+pids+","+nets, start, rand.Text()
	return h, nil
}

// started is the time at which a process began, as /proc has it.
func started(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The name of the program, in parentheses, may hold anything. The state after it is field 3, the start is field 22.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat: found %d fields, expected more", pid, len(fields)+2)
	}
	return fields[19], nil
}

// readHolder reads a lock file.
func readHolder(name string) (h holder, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return h, err
	}
	return parseHolder(string(b))
}

// parseHolder reads the text of a lock.
func parseHolder(text string) (h holder, err error) {
	fields := strings.Fields(text)
	switch len(fields) {
	case 5:
		h.place, h.start, h.nonce = fields[2], fields[3], fields[4]
	case 2:
	default:
		return h, fmt.Errorf("found %d words, expected 2 or 5", len(fields))
	}
	h.host = fields[1]
	if h.pid, err = strconv.Atoi(fields[0]); err == nil && h.pid <= 0 {
		err = fmt.Errorf("found process %d", h.pid)
	}
	return h, err
}

// ended says whether the process of the lock h is known to have ended. It is not known where h has another place than me: the boot may
// differ because the machine started anew, or because it is another machine with the same name.
func (h holder) ended(me holder) bool {
	if me.place == "" || h.place != me.place || h.host != me.host {
		return false
	}
	if errors.Is(unix.Kill(h.pid, 0), unix.ESRCH) {
		return true
	}
	start, err := started(h.pid)
	return err == nil && start != h.start
}

// Process is a text that names this process in a lock, and differs between any two locks.
func Process() (string, error) {
	me, err := self()
	return me.String(), err
}

// ProcessOf describes the process that a text of Process names. ended says that it is known to have ended.
func ProcessOf(text string) (who string, ended bool, err error) {
	h, err := parseHolder(text)
	if err != nil {
		return "", false, err
	}
	me, err := self()
	if err != nil {
		return "", false, err
	}
	return fmt.Sprintf("process %d on %s", h.pid, h.host), h.ended(me), nil
}

// removeStale removes a lock file whose process is known to have ended. Of the runs that see the same file, one at a time is
// here: it holds an abstract socket that is named by the nonce of the file, which the kernel frees when the run ends. It reads the
// file again, so that it never removes the lock of a run that was here before.
func removeStale(name string, me holder) error {
	h, err := readHolder(name)
	if err != nil || !h.ended(me) {
		return nil // the attempt to make the file tells
	}
	syscall.ForkLock.RLock() // a child would hold the socket
	mutex, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(mutex)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return tooMany(&fs.PathError{Op: "lock", Path: name, Err: err})
	}
	defer func() { _ = unix.Close(mutex) }()
	if unix.Bind(mutex, &unix.SockaddrUnix{Name: "@graphmill-lock-" + h.nonce}) != nil {
		return nil // another run removes it, or this system has no such sockets
	}
	if again, err := readHolder(name); err != nil || again != h {
		return nil
	}
	return os.Remove(name)
}

// blocked describes the process that made a lock file, and says what to do.
func blocked(name string, me holder) string {
	h, err := readHolder(name)
	switch {
	case err != nil:
		return fmt.Sprintf("found %s, which names no process; if no run is writing there, remove it", name)
	case h.ended(me):
		return fmt.Sprintf("found %s of process %d on this machine, which has ended; another run may be removing it: run again, and if the file stays, remove it", name, h.pid)
	case h.place == "" && h.host == me.host && errors.Is(unix.Kill(h.pid, 0), unix.ESRCH):
		return fmt.Sprintf("found %s of process %d on this machine, which has ended; remove it, and run again", name, h.pid)
	}
	return fmt.Sprintf("found %s of process %d on %s; if that process has ended, remove it, and run again", name, h.pid, h.host)
}

// SyncDir implements FS. A file system that does not sync folders orders names itself: that is no error.
func (osFS) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return tooMany(err)
	}
	err = fsync(d)
	if unsupported(err) || errors.Is(err, unix.EINVAL) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
