package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/vfs"
)

// shardsOf writes the parts of b that end at ends to files of dir, and makes a file of them.
func shardsOf(t interface{ Fatal(...any) }, dir string, b []byte, ends []int) (fsys vfs.FS, name string) {
	var shards []vfs.Shard
	from := 0
	for i, end := range ends {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, b[from:end], 0o644); err != nil {
			t.Fatal(err)
		}
		shards = append(shards, vfs.Shard{Path: path, Bytes: int64(end - from)})
		from = end
	}
	name = filepath.Join(dir, "whole")
	return vfs.Joined(vfs.OS, map[string][]vfs.Shard{name: shards}), name
}

// numbered is n bytes that differ from their neighbours.
func numbered(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// Every read of a file in shards gives the bytes of the whole file.
func TestJoined(t *testing.T) {
	page := os.Getpagesize()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		var ends []int
		size := 0
		for range rapid.IntRange(1, 5).Draw(rt, "shards") - 1 {
			size += page * rapid.IntRange(0, 3).Draw(rt, "pages")
			ends = append(ends, size)
		}
		size += rapid.IntRange(1, 2*page).Draw(rt, "last")
		want := numbered(size)
		fsys, name := shardsOf(rt, dir, want, append(ends, size))
		f, err := fsys.Open(name)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		info, err := fsys.Stat(name)
		if err != nil || info.Size() != int64(size) || info.Name() != "whole" || !info.Mode().IsRegular() {
			rt.Fatalf("found %v, %v, expected a file of %d bytes", info, err, size)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
			rt.Fatalf("read %d other bytes, %v", len(got), err)
		}
		for range 5 {
			off, n := rapid.IntRange(0, size+1).Draw(rt, "offset"), rapid.IntRange(1, size+1).Draw(rt, "bytes")
			b := make([]byte, n)
			got, err := f.ReadAt(b, int64(off))
			if most := max(min(n, size-off), 0); got != most || !bytes.Equal(b[:got], want[min(off, size):][:most]) || (err != nil) != (got < n) || err != nil && !errors.Is(err, io.EOF) {
				rt.Fatalf("read %d bytes at %d, %v, expected %d of %d", got, off, err, most, n)
			}
		}
		b, unmap, err := f.Map()
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(b, want) {
			rt.Fatal("mapped other bytes")
		}
		if err := unmap(); err != nil {
			rt.Fatal(err)
		}
	})
}

// A shard that is gone, cut or does not end with a page is an error that names it.
func TestJoinedErrors(t *testing.T) {
	page := os.Getpagesize()
	for _, c := range []struct {
		name string
		ends []int
		do   func(dir string) error
		want error
	}{
		{"gone", []int{page, 2 * page}, func(dir string) error { return os.Remove(filepath.Join(dir, "1")) }, fs.ErrNotExist},
		{"cut", []int{page, 2 * page}, func(dir string) error { return os.Truncate(filepath.Join(dir, "1"), 5) }, nil},
		{"part of a page", []int{page - 8, 2 * page}, func(string) error { return nil }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			fsys, name := shardsOf(t, dir, numbered(2*page), c.ends)
			if err := c.do(dir); err != nil {
				t.Fatal(err)
			}
			f, err := fsys.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			if _, _, err := f.Map(); err == nil || c.want != nil && !errors.Is(err, c.want) || !bytes.Contains([]byte(err.Error()), []byte(dir)) {
				t.Errorf("found %v, expected an error that names the shard", err)
			}
		})
	}
	dir := t.TempDir()
	fsys, name := shardsOf(t, dir, numbered(10), []int{10})
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	_, err = f.Write(nil)
	if _, err2 := f.WriteAt(nil, 0); !errors.Is(err, fs.ErrPermission) || !errors.Is(err2, fs.ErrPermission) || !errors.Is(f.Truncate(0), fs.ErrPermission) {
		t.Errorf("found %v, %v, expected that the file cannot be written", err, err2)
	}
}
