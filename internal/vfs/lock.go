package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrLocked is returned by FS.Lock for a folder that another process holds.
var ErrLocked = errors.New("held by another process")

// ErrLockFile is an ErrLocked of LockFile.
var ErrLockFile = fmt.Errorf("%w", ErrLocked)

// The system calls of locks and of syncs of folders. Tests replace them with those of a file system that has none.
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
// leaves the file. It is never removed for another process, because two runs that do so at the same time could both go on:
// the error names the file, and what to do.
func LockFile(dir string) (unlock func() error, err error) {
	name := dir + ".lock"
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, &fs.PathError{Op: "lock", Path: dir, Err: fmt.Errorf("%w: %s", ErrLockFile, holder(name, host))}
	}
	if err != nil {
		return nil, tooMany(err)
	}
	_, err = fmt.Fprintf(f, "%d %s\n", os.Getpid(), host)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	return func() error { return os.Remove(name) }, nil
}

// holder describes the process that made a lock file, and says what to do.
func holder(name, here string) string {
	var pid int
	var host string
	b, err := os.ReadFile(name)
	if err == nil {
		_, err = fmt.Sscanf(string(b), "%d %s", &pid, &host)
	}
	if err != nil || pid <= 0 {
		return fmt.Sprintf("found %s, which names no process; if no run is writing there, remove it", name)
	}
	if host == here && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return fmt.Sprintf("found %s of process %d on this machine, which has ended; remove it, and run again", name, pid)
	}
	return fmt.Sprintf("found %s of process %d on %s; if that process has ended, remove it, and run again", name, pid, strings.TrimSpace(host))
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
