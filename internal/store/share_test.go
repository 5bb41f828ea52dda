package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// files are the names of all files below a folder.
func files(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.Base(path))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

// The Writers of all shares together write each byte of an array once, by any mixture of writes: the shards, one after the other, are the whole file.
func TestShares(t *testing.T) {
	defer func(n int64) { limits.ShardAlign = n }(limits.ShardAlign)
	limits.ShardAlign = 8
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		values := rapid.SliceOfN(rapid.Uint32(), 0, 300).Draw(rt, "values")
		of, least := rapid.IntRange(1, 7).Draw(rt, "shares"), int64(rapid.IntRange(1, 400).Draw(rt, "least"))
		cuts := rapid.SliceOf(rapid.IntRange(0, len(values))).Draw(rt, "cuts")
		appends := rapid.Bool().Draw(rt, "appends")
		fill := func(a *store.Array) error {
			from := 0
			for _, to := range append(cuts, len(values)) {
				part := graph.Bytes(values[from:max(from, to)])
				n, off := int64(len(part)), int64(4*from)
				var err error
				switch {
				case appends && !a.WantsNext(n):
					err = a.Skip(n)
				case appends:
					_, err = a.Write(part)
				case a.Wants(off, n):
					_, err = a.WriteAt(part, off)
				}
				if err != nil {
					return err
				}
				from = max(from, to)
			}
			return a.Close()
		}
		whole := filepath.Join(dir, "whole")
		w, err := store.Create(vfs.Unsynced{FS: vfs.OS}, whole, false)
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := array(w, "x.npy", graph.Uint32, values...); err != nil {
			rt.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(w.Dir(), "x.npy"))
		if err := errors.Join(err, w.Abort()); err != nil {
			rt.Fatal(err)
		}
		out, sums := filepath.Join(dir, "out"), map[string]store.ManifestFor{}
		for i := range of {
			w := store.OpenShare(vfs.Unsynced{FS: vfs.OS}, out, store.Share{Index: i, Of: of, Least: least})
			a, err := w.Sized("x.npy", uint64(len(values)), graph.Uint32)
			if err == nil {
				err = fill(a)
			}
			if err != nil {
				rt.Fatal(err)
			}
			for name, sum := range w.Sums() {
				if _, twice := sums[name]; twice {
					rt.Fatalf("found %s from two shares", name)
				}
				sums[name] = sum
			}
		}
		var got []byte
		for _, name := range files(t, out) { // in order
			if store.FileOf(name) != "x.npy" {
				rt.Fatalf("found file %s, expected shards of x.npy", name)
			}
			b, err := os.ReadFile(filepath.Join(out, name))
			if err != nil || sums[name].Bytes != int64(len(b)) {
				rt.Fatalf("found %d bytes in %s and the sum %+v, %v", len(b), name, sums[name], err)
			}
			got = append(got, b...)
		}
		if !bytes.Equal(got, want) {
			rt.Fatalf("found %d bytes in %v, expected %d", len(got), files(t, out), len(want))
		}
	})
}

// A share that lacks bytes, or whose task failed, leaves no file: another task may have made the whole one.
func TestSharesThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		values []uint32
		fails  bool
		want   string
	}{
		"bytes are missing": {[]uint32{1, 2}, false, "expected 140"},
		"the task failed":   {[]uint32{1, 2, 3}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			w := store.OpenShare(vfs.OS, out, store.Share{Index: 0, Of: 1})
			a, err := w.Sized("x.npy", 3, graph.Uint32)
			if err == nil {
				_, err = a.Write(graph.Bytes(c.values))
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.fails {
				w.Abandon()
			}
			if err := a.Close(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
			if left := files(t, out); len(left) > 0 || len(w.Sums()) > 0 {
				t.Errorf("found %v and %v, expected nothing", left, w.Sums())
			}
		})
	}
}
