package dgl

import (
	"errors"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Dict is an open tensor dict: a file of named tensors.
type Dict struct {
	vfs.File
	Tensors []Array // in the order of the file
}

// OpenDict opens a tensor dict and reads its headers.
func OpenDict(fsys vfs.FS, name string) (_ *Dict, err error) {
	f, c, err := openAt(fsys, name, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	c.magic(magicDict, "a file of tensors")
	at := c.at
	n := c.count(leastNamed, "names")
	if m := c.u64(); m != uint64(n) {
		c.fail(at, "found %d names and %d tensors, expected one name per tensor", n, m)
	}
	d := &Dict{File: f, Tensors: c.named(n)}
	if c.at != c.size {
		c.fail(c.at, "found %d bytes after the last tensor, expected the end of the file", c.size-c.at)
	}
	if c.err != nil {
		return nil, c.err
	}
	return d, nil
}

// Find returns the tensor of a name.
func (d *Dict) Find(name string) (a Array, ok bool) { return findTensor(d.Tensors, name) }

func findTensor(list []Array, name string) (Array, bool) {
	for _, a := range list {
		if a.Name == name {
			return a, true
		}
	}
	return Array{}, false
}

// openAt opens a regular file and reads from an offset on.
func openAt(fsys vfs.FS, name string, at int64) (vfs.File, *cursor, error) {
	if _, err := vfs.Regular(fsys, name); err != nil {
		return nil, nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	c, err := newCursor(f, at)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, c, nil
}
