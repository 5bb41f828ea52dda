package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// shape says where a system call has its file.
type shape struct {
	op   string
	fd   int // argument with the file descriptor; -1 for none
	path int // argument with the path, relative to fd, or to the working folder where fd is -1; -1 for none
}

// watched are the system calls on files. mmap has its file descriptor in argument 4.
var watched = map[uint64]shape{
	unix.SYS_OPENAT: {"open", 0, 1}, unix.SYS_OPEN: {"open", -1, 0},
	unix.SYS_MKDIRAT: {"mkdir", 0, 1}, unix.SYS_MKDIR: {"mkdir", -1, 0},
	unix.SYS_UNLINKAT: {"remove", 0, 1}, unix.SYS_UNLINK: {"remove", -1, 0}, unix.SYS_RMDIR: {"remove", -1, 0},
	unix.SYS_RENAMEAT: {"rename", 0, 1}, unix.SYS_RENAMEAT2: {"rename", 0, 1}, unix.SYS_RENAME: {"rename", -1, 0},
	unix.SYS_NEWFSTATAT: {"stat", 0, 1}, unix.SYS_STATX: {"stat", 0, 1}, unix.SYS_STAT: {"stat", -1, 0}, unix.SYS_LSTAT: {"stat", -1, 0},
	unix.SYS_FSTAT: {"stat", 0, -1}, unix.SYS_STATFS: {"statfs", -1, 0}, unix.SYS_FSTATFS: {"statfs", 0, -1},
	unix.SYS_GETDENTS64: {"readdir", 0, -1},
	unix.SYS_READ:       {"read", 0, -1}, unix.SYS_PREAD64: {"read", 0, -1}, unix.SYS_READV: {"read", 0, -1}, unix.SYS_PREADV: {"read", 0, -1},
	unix.SYS_WRITE: {"write", 0, -1}, unix.SYS_PWRITE64: {"write", 0, -1}, unix.SYS_WRITEV: {"write", 0, -1}, unix.SYS_PWRITEV: {"write", 0, -1},
	unix.SYS_COPY_FILE_RANGE: {"write", 2, -1}, unix.SYS_SENDFILE: {"write", 0, -1},
	unix.SYS_FSYNC: {"sync", 0, -1}, unix.SYS_FDATASYNC: {"sync", 0, -1},
	unix.SYS_FTRUNCATE: {"truncate", 0, -1}, unix.SYS_TRUNCATE: {"truncate", -1, 0},
	unix.SYS_FALLOCATE: {"hint", 0, -1}, unix.SYS_FADVISE64: {"hint", 0, -1}, unix.SYS_SYNC_FILE_RANGE: {"hint", 0, -1},
	unix.SYS_CLOSE: {"close", 0, -1}, unix.SYS_FLOCK: {"lock", 0, -1}, unix.SYS_MMAP: {"mmap", 4, -1}, unix.SYS_LSEEK: {"seek", 0, -1},
	unix.SYS_READLINKAT: {"stat", 0, 1}, unix.SYS_FACCESSAT: {"stat", 0, 1}, unix.SYS_FACCESSAT2: {"stat", 0, 1},
	unix.SYS_LINKAT: {"link", 0, 1}, unix.SYS_SYMLINKAT: {"link", 1, 2}, unix.SYS_FCHMODAT: {"chmod", 0, 1}, unix.SYS_FCHMOD: {"chmod", 0, -1},
}

// unnamed is the base name that the system shows for a file that never had one.
var unnamed = regexp.MustCompile(`^#[0-9]+$`)

// argument is argument i of a system call.
func argument(r *unix.PtraceRegs, i int) uint64 {
	return [...]uint64{r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9}[i]
}

// call is the system call that a thread is about to make, if it is on a file below a folder.
func call(tid int, r *unix.PtraceRegs, below string) (Call, bool) {
	s, has := watched[r.Orig_rax]
	if !has {
		return Call{}, false
	}
	var path string
	if s.fd >= 0 {
		fd := int32(argument(r, s.fd))
		switch {
		case fd == unix.AT_FDCWD:
			path = link(tid, "cwd")
		case fd < 0:
			return Call{}, false
		default:
			path = link(tid, fmt.Sprintf("fd/%d", fd))
		}
	} else {
		path = link(tid, "cwd")
	}
	if s.path >= 0 {
		if name := text(tid, argument(r, s.path)); filepath.IsAbs(name) {
			path = filepath.Clean(name)
		} else {
			path = filepath.Join(path, name)
		}
	}
	path = strings.TrimSuffix(path, " (deleted)")
	if unnamed.MatchString(filepath.Base(path)) {
		path = filepath.Join(filepath.Dir(path), "(temporary file)") // as messages call it
	}
	if !strings.HasPrefix(path, below+"/") {
		return Call{}, false
	}
	op := s.op
	switch flags := argument(r, 2); {
	case r.Orig_rax != unix.SYS_OPENAT:
	case flags&unix.O_CREAT != 0:
		op = "create"
	case flags&unix.O_TMPFILE == unix.O_TMPFILE:
		op = "temp"
	}
	if info, err := os.Stat(path); op == "sync" && err == nil && info.IsDir() {
		op = "syncdir"
	}
	c := Call{Op: op, Path: path}
	if fd := int32(argument(r, max(s.fd, 0))); r.Orig_rax == unix.SYS_PREAD64 || r.Orig_rax == unix.SYS_READ {
		at := int64(argument(r, 3))
		if r.Orig_rax == unix.SYS_READ {
			at = position(tid, fd)
		}
		info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
		c.Beyond = err == nil && info.Mode().IsRegular() && at >= info.Size()
	}
	return c, true
}

// position is where the next read of a file descriptor begins, -1 where that is not known.
func position(tid int, fd int32) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", tid, fd))
	if err != nil {
		return -1
	}
	var at int64
	if _, err := fmt.Sscanf(string(b), "pos: %d", &at); err != nil {
		return -1
	}
	return at
}

// link is what a link below /proc/TID names.
func link(tid int, name string) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/%s", tid, name))
	if err != nil {
		return ""
	}
	return path
}

// text is the C string at an address of a thread.
func text(tid int, address uint64) string {
	b := make([]byte, unix.PathMax)
	n := 0
	for n < len(b) { // page by page, because the next page may not be there
		step := min(len(b)-n, os.Getpagesize()-int((address+uint64(n))%uint64(os.Getpagesize())))
		local := []unix.Iovec{{Base: &b[n], Len: uint64(step)}}
		got, err := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: uintptr(address) + uintptr(n), Len: step}}, 0)
		if err != nil || got <= 0 {
			break
		}
		n += got
		if i := strings.IndexByte(string(b[:n]), 0); i >= 0 {
			return string(b[:i])
		}
	}
	return ""
}
