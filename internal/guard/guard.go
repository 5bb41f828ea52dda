package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"
	"unsafe"
)

// Error is a read of a mapped file that failed.
type Error struct {
	Path string
	Byte int64 // a byte that could not be read; not always the first one
	Err  error // EIO, or what happened to the file
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s: byte %d: %v", e.Path, e.Byte, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// region is a mapped file.
type region struct {
	path       string
	start, end uintptr
	info       fs.FileInfo // of the file when it was mapped
}

// mostClosed bounds the maps that are remembered after they were removed.
const mostClosed = 1024

// table has the maps of the process. A map stays in the list of closed ones until a new map takes its addresses, because
// a deferred close may run before the fault is looked up.
var table struct {
	sync.Mutex
	open   map[uintptr]region // by start
	closed []region
}

// Register names the file of a map. info is the file's when it was mapped.
func Register(b []byte, path string, info fs.FileInfo) {
	if len(b) == 0 {
		return
	}
	start := address(b)
	// The kernel maps whole pages.
	page := uintptr(os.Getpagesize())
	r := region{path, start, start + (uintptr(len(b))+page-1)/page*page, info}
	table.Lock()
	defer table.Unlock()
	if table.open == nil {
		table.open = map[uintptr]region{}
	}
	table.open[start] = r
	table.closed = slices.DeleteFunc(table.closed, func(c region) bool { return c.start < r.end && r.start < c.end })
}

// Unregister says that a map is about to be removed.
func Unregister(b []byte) {
	if len(b) == 0 {
		return
	}
	table.Lock()
	defer table.Unlock()
	r, there := table.open[address(b)]
	if !there {
		return
	}
	delete(table.open, r.start)
	if len(table.closed) == mostClosed {
		table.closed = slices.Delete(table.closed, 0, 1)
	}
	table.closed = append(table.closed, r)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// at is the error of a fault at an address, nil for an address of no map.
func at(addr uintptr) *Error {
	if r, there := regionOf(addr); there {
		return r.fault(addr)
	}
	return nil
}

// regionOf is the map that has an address, an open one first.
func regionOf(addr uintptr) (r region, there bool) {
	table.Lock()
	defer table.Unlock()
	for _, r := range table.open {
		if r.start <= addr && addr < r.end {
			return r, true
		}
	}
	for _, r := range slices.Backward(table.closed) {
		if r.start <= addr && addr < r.end {
			return r, true
		}
	}
	return r, false
}

func (r region) fault(addr uintptr) *Error {
	e := &Error{Path: r.path, Byte: int64(addr - r.start), Err: syscall.EIO}
	if now, err := os.Stat(r.path); err == nil && os.SameFile(now, r.info) && now.Size() < r.info.Size() {
		e.Err = fmt.Errorf("the file was cut while it was read: found %d bytes, expected %d", now.Size(), r.info.Size())
	}
	return e
}

// Do calls f, and returns its error or a fault under a map as an *Error. Other panics go on. It does not allocate.
func Do(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = caught(p)
		}
	}()
	return f()
}

// Recovered is Do of a unit of work that must not end the process whatever happens in it: a panic becomes its error, too.
func Recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return Do(f)
}

// Catch puts the rest of a function inside a guard: a fault under a map becomes its error. Other panics go on. It has one form:
//
//	defer guard.Catch(&err)()
//
// where err is the named result. A defer of the function that looks at err comes before it.
func Catch(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		p := recover()
		debug.SetPanicOnFault(before)
		if p != nil {
			*err = caught(p)
		}
	}
}

// caught is the error of a panic that is a fault under a map. Other panics go on.
func caught(p any) error {
	fault := found(p)
	if fault == nil {
		panic(p)
	}
	return fault
}

// found is the error of a panic that is a fault under a map.
func found(p any) *Error {
	err, is := p.(error)
	if !is {
		return nil
	}
	var fault interface{ Addr() uintptr }
	if !errors.As(err, &fault) {
		return nil
	}
	return at(fault.Addr())
}

// Call is the error of a system call that read b and stopped after n bytes. Where the kernel could not read a map (EFAULT on Unix)
// it is an *Error.
func Call(err error, b []byte, n int) error {
	if err == nil || n < 0 || n >= len(b) || !slices.ContainsFunc(unreadable, func(e error) bool { return errors.Is(err, e) }) {
		return err
	}
	if fault := at(address(b[n:])); fault != nil {
		return fault
	}
	return err
}
