//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// gone says that this machine has no process with a number.
func gone(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

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
	case h.place == "" && h.host == me.host && gone(h.pid):
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
