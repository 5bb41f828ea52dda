//go:build faults

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/graphmill/graphmill/internal/vfs"
)

// faultErrors are the errors of errno=.
var faultErrors = map[string]syscall.Errno{
	"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EACCES": syscall.EACCES, "EDQUOT": syscall.EDQUOT, "EMFILE": syscall.EMFILE,
	"EROFS": syscall.EROFS, "ENOENT": syscall.ENOENT, "EINTR": syscall.EINTR, "ENOSYS": syscall.ENOSYS, "ENOLCK": syscall.ENOLCK,
	"EINVAL": syscall.EINVAL,
}

// The command built with the tag faults fails calls of its file system, as the variable GRAPHMILL_FAULT says, for the proofs
// in torture/. Its words are separated by spaces:
//
//	at=N         fail call N
//	page=N       fail page N of the mapped files
//	errno=NAME   the error (EIO)
//	short        store or read half of the bytes first
//	dead         fail all later calls too
//	log=FILE     append a line per call: NUMBER OP PATH, or map FIRST PAGES PATH; with at or page only what failed
func init() {
	words := os.Getenv("GRAPHMILL_FAULT")
	if words == "" {
		return
	}
	f := &vfs.Fault{FS: vfs.OS, Err: syscall.EIO}
	for _, word := range strings.Fields(words) {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "at":
			f.FailAt, err = strconv.ParseInt(value, 10, 64)
		case "page":
			f.FailPage, err = strconv.ParseInt(value, 10, 64)
		case "errno":
			e, has := faultErrors[value]
			if f.Err = e; !has {
				err = fmt.Errorf("found errno %q", value)
			}
		case "short":
			f.Short = true
		case "dead":
			f.Dead = true
		case "log":
			err = logFaults(f, value)
		default:
			err = fmt.Errorf("found %q", word)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "graphmill: GRAPHMILL_FAULT=%q: %v\n", words, err)
			os.Exit(exitUsage)
		}
	}
	vfs.OS = f
}

func logFaults(f *vfs.Fault, path string) error {
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	f.Trace = func(c vfs.Call) {
		if !c.Failed && (f.FailAt > 0 || f.FailPage > 0) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if c.Number == 0 {
			fmt.Fprintf(w, "map %d %d %s\n", c.Page, c.Pages, c.Path)
			return
		}
		fmt.Fprintf(w, "%d %s %s\n", c.Number, c.Op, c.Path)
	}
	return nil
}
