package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// ErrChanged is the kind of error of a file that is another one than when it was opened first.
var ErrChanged = errors.New("found another version of the file than at the first read, expected that it does not change while it is read; run again")

// Unchanged returns fsys with the rule that a file which is opened again is the one that was opened first: its size, its time of change and
// what Sys says of it as a string are the same. What opens a file several times reads one version of it, or gets an error of kind ErrChanged.
func Unchanged(fsys FS) FS { return &unchanged{FS: fsys, seen: map[string]state{}} }

type unchanged struct {
	FS
	mu   sync.Mutex
	seen map[string]state
}

// state is what tells a version of a file from others.
type state struct {
	size int64
	mod  time.Time
	tag  string
}

// Open implements FS.
func (u *unchanged) Open(name string) (File, error) {
	f, err := u.FS.Open(name)
	if err == nil {
		err = u.check(name, f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// OpenStream implements FS. A pipe is read once, so it has no versions.
func (u *unchanged) OpenStream(name string) (File, error) {
	f, err := u.FS.OpenStream(name)
	if err == nil {
		err = u.check(name, f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// check closes the file where it is another one.
func (u *unchanged) check(name string, f File) error {
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	if info.Mode()&fs.ModeType != 0 {
		return nil
	}
	tag, _ := info.Sys().(string)
	now := state{info.Size(), info.ModTime(), tag}
	u.mu.Lock()
	defer u.mu.Unlock()
	first, ok := u.seen[name]
	if !ok {
		u.seen[name] = now
	}
	if ok && (first.size != now.size || first.tag != now.tag || !first.mod.Equal(now.mod)) {
		return errors.Join(fmt.Errorf("%s: %w", name, ErrChanged), f.Close())
	}
	return nil
}
