package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// linkless is a file system without hard links.
type linkless struct{ vfs.FS }

func (linkless) Link(_, name string) error {
	return &os.PathError{Op: "link", Path: name, Err: syscall.EOPNOTSUPP}
}

// amend adds the column a.extra to the store of write, or with drop removes it.
func amend(fsys vfs.FS, out string, drop bool) (copied int64, err error) {
	sum, err := store.Sum(fsys, out)
	if err != nil {
		return 0, err
	}
	s, err := store.Open(fsys, out)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	of := s.Meta.Nodes["a"]
	old, there := of.Columns["extra"]
	delete(of.Columns, "extra")
	w, copied, err := store.Amend(ctx, fsys, out, sum, func(name string) bool { return there && slices.Contains(old.Files(), name) })
	if err != nil {
		return 0, err
	}
	defer func() { err = w.End(err) }()
	if !drop {
		file, err := array(w, "nodes/a/extra.npy", graph.Float32, make([]float32, of.Count)...)
		if err != nil {
			return 0, err
		}
		of.Columns["extra"] = store.ColumnMeta{File: file, DType: "float32", Shape: []int{}}
	}
	if err := w.Seal(ctx, s.Meta, 1); err != nil {
		return 0, err
	}
	return copied, w.Publish()
}

// version says whether a has the column extra, and fails unless the folder is whole.
func version(t *testing.T, out string) (extra bool) {
	t.Helper()
	if v, err := store.Verify(ctx, vfs.OS, out, 1, nil); err != nil || len(v.Damage)+len(v.Unknown) > 0 {
		t.Fatalf("found %+v, %v, expected a whole store", v, err)
	}
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	_, extra = s.Meta.Nodes["a"].Columns["extra"]
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return extra
}

func TestAmend(t *testing.T) {
	for name, disk := range map[string]vfs.FS{"links": vfs.OS, "copies": linkless{vfs.OS}} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "s")
			if err := write(vfs.OS, out, false); err != nil {
				t.Fatal(err)
			}
			before, err := store.ReadManifest(vfs.OS, out)
			if err != nil {
				t.Fatal(err)
			}
			old, err := store.Open(vfs.OS, out)
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			far := bytes.Clone(graph.Bytes(old.Graph.Edges[0].Adj[old.Graph.Edges[0].Primary].Far.U32))
			inode, err := os.Stat(filepath.Join(out, "nodes", "a", "x.npy"))
			if err != nil {
				t.Fatal(err)
			}
			copied, err := amend(disk, out, false)
			if err != nil {
				t.Fatal(err)
			}
			if !version(t, out) {
				t.Error("found no new column")
			}
			after, err := store.ReadManifest(vfs.OS, out)
			if err != nil {
				t.Fatal(err)
			}
			var bytesOfAll int64
			for name, entry := range before.Files {
				if name == store.MetaFile {
					continue
				}
				bytesOfAll += entry.Bytes
				if after.Files[name] != entry {
					t.Errorf("%s: found the entry %v, expected %v", name, after.Files[name], entry)
				}
			}
			if len(after.Files) != len(before.Files)+1 {
				t.Errorf("found %d files, expected one more than %d", len(after.Files), len(before.Files))
			}
			now, err := os.Stat(filepath.Join(out, "nodes", "a", "x.npy"))
			if err != nil {
				t.Fatal(err)
			}
			links := name == "links"
			if os.SameFile(inode, now) != links || links != (copied == 0) || !links && copied != bytesOfAll {
				t.Errorf("found %d bytes copied, the same file %v", copied, os.SameFile(inode, now))
			}
			// Who has the old version open keeps it.
			if a := old.Graph.Edges[0].Adj[old.Graph.Edges[0].Primary].Far.U32; !bytes.Equal(graph.Bytes(a), far) {
				t.Error("found other neighbours in the old version")
			}
			// Without the column the folder is what it was, to the bit.
			if _, err := amend(disk, out, true); err != nil {
				t.Fatal(err)
			}
			again, err := store.ReadManifest(vfs.OS, out)
			if err != nil || again.Files[store.MetaFile] != before.Files[store.MetaFile] || len(again.Files) != len(before.Files) {
				t.Errorf("found %v, %v, expected %v", again, err, before)
			}
			if entries, err := os.ReadDir(filepath.Dir(out)); len(entries) != 1 {
				t.Errorf("found %v, %v beside the store, expected nothing", entries, err)
			}
		})
	}
}

// Whichever call fails, and whenever the process is killed, the folder is whole: as before or as after.
func TestAmendEveryCallFails(t *testing.T) {
	for _, c := range []struct {
		name string
		disk vfs.FS
		dead bool
		step int64 // between two calls that fail, in the short form
	}{
		{"links", vfs.Unsynced{FS: vfs.OS}, false, 2}, {"copies", linkless{vfs.Unsynced{FS: vfs.OS}}, false, 11}, {"killed", vfs.Unsynced{FS: vfs.OS}, true, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "s")
			if err := write(c.disk, out, false); err != nil {
				t.Fatal(err)
			}
			count := &vfs.Fault{FS: c.disk}
			if _, err := amend(count, out, false); err != nil {
				t.Fatal(err)
			}
			failed, done, step := 0, 0, int64(proof.Count(t, int(c.step), 1))
			for i := int64(1); i <= count.Calls(); i++ {
				if i%step > 0 && i < count.Calls()-8 { // the last calls are those of the exchange
					continue
				}
				if _, err := amend(c.disk, out, true); err != nil {
					t.Fatal(err)
				}
				_, err := amend(&vfs.Fault{FS: c.disk, FailAt: i, Err: syscall.EIO, Short: i%2 == 0, Dead: c.dead}, out, false)
				switch extra := version(t, out); {
				case err == nil && !extra:
					t.Fatalf("call %d of %d failed, and nothing was said", i, count.Calls())
				case err != nil && !errors.Is(err, syscall.EIO):
					t.Fatalf("call %d: found %v, expected the cause", i, err)
				case extra && err != nil && !c.dead && !errors.Is(err, store.ErrWhole) && !strings.Contains(err.Error(), "close"):
					t.Fatalf("call %d: found %v, expected that the output is complete", i, err)
				case extra:
					done++
				default:
					failed++
				}
			}
			if failed == 0 || done == 0 {
				t.Errorf("found %d old and %d new versions, expected both", failed, done)
			}
		})
	}
}

// A power failure at any call leaves one of the two versions.
func TestAmendPowerFails(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	if err := write(vfs.OS, out, false); err != nil {
		t.Fatal(err)
	}
	count := &vfs.Fault{FS: vfs.OS}
	if _, err := amend(count, out, false); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i += int64(proof.Count(t, 13, 1)) {
		if _, err := amend(vfs.OS, out, true); err != nil {
			t.Fatal(err)
		}
		disk := &vfs.Volatile{FS: vfs.OS}
		_, err := amend(&vfs.Fault{FS: disk, FailAt: i, Err: syscall.EIO, Dead: true}, out, false)
		if crashed := disk.Crash(); crashed != nil {
			t.Fatal(crashed)
		}
		if extra := version(t, out); err == nil && !extra {
			t.Fatalf("call %d: the new version is lost", i)
		}
	}
}

func TestAmendRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "s")
	if err := write(vfs.OS, out, false); err != nil {
		t.Fatal(err)
	}
	all := func(string) bool { return false }
	if _, _, err := store.Amend(ctx, vfs.OS, out, "xxh3:0123456789abcdef", all); !errors.Is(err, store.ErrReplaced) {
		t.Errorf("found %v, expected ErrReplaced", err)
	}
	sum, err := store.Sum(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(out, "nodes", "notes.txt")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Amend(ctx, vfs.OS, out, sum, all); err == nil || !strings.Contains(err.Error(), "nodes/notes.txt") {
		t.Errorf("found %v, expected a refusal that names the file", err)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(out, "nodes", "a", "x.npy"), 100); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.Amend(ctx, vfs.OS, out, sum, all); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("found %v, expected ErrDamaged", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(out)); len(entries) != 1 {
		t.Errorf("found %v, %v beside the store, expected nothing", entries, err)
	}
}
