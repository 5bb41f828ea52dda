//go:build !linux && !darwin

package vfs

import (
	"errors"
	"io/fs"
)

func (f osFile) SetDirect(on bool) error {
	if !on {
		return nil
	}
	return &fs.PathError{Op: "direct", Path: f.Name(), Err: errors.ErrUnsupported}
}

func (osFile) Evict(off, n int64) {}

func (osFile) Reserve(off, n int64) {}

func (osFile) Discard(off, n int64) {}
