package metis_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	format "github.com/graphmill/graphmill/format/metis"
	"github.com/graphmill/graphmill/internal/export/metis"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// graphOf imports a typed graph: b0 likes a0 twice, a1 knows b1 and b2, and loops.
func graphOf(t *testing.T) *store.Store {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"graph.yaml": "nodes: {a: {count: 2}, b: {count: 3}}\nedges: {\"b:likes:a\": {table: l.csv}, \"a:knows:b\": {table: k.csv}, \"b:is:b\": {table: i.csv}}",
		"l.csv":      "src,dst\n0,0\n0,0\n", "k.csv": "src,dst\n1,1\n1,2\n", "i.csv": "src,dst\n2,2\n0,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ingest.Open(t.Context(), vfs.OS, dir, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "store")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(t.Context(), vfs.OS, w, s.Input, assemble.Options{SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(t.Context(), r.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
	g, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// Types follow one another in sorted order. Each pair is written once, and loops are not written.
func TestWrite(t *testing.T) {
	s, out := graphOf(t), filepath.Join(t.TempDir(), "g.graph")
	r, err := metis.Write(t.Context(), vfs.OS, out, s, metis.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Nodes != 5 || r.Edges != 6 || r.Pairs != 4 {
		t.Errorf("found %+v", r)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("5 4\n3\n4 5\n1 4\n2 3\n2\n", string(b)); diff != "" || r.Bytes != int64(len(b)) {
		t.Errorf("%d bytes: %s", r.Bytes, diff)
	}
	g, err := format.Read(t.Context(), vfs.OS, out, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint32{2, 3, 4, 0, 3, 1, 2, 1}, g.Neighbours, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// An existing file is replaced only on request, and only if it begins as ours do; a folder never.
func TestExists(t *testing.T) {
	s, dir := graphOf(t), t.TempDir()
	out := filepath.Join(dir, "g.graph")
	if err := os.WriteFile(out, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := metis.Write(t.Context(), vfs.OS, out, s, metis.Options{Threads: 1}); !errors.Is(err, store.ErrExists) {
		t.Errorf("found %v", err)
	}
	if _, err := metis.Write(t.Context(), vfs.OS, dir, s, metis.Options{Threads: 1, Force: true}); !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("found %v", err)
	}
	if _, err := metis.Write(t.Context(), vfs.OS, out, s, metis.Options{Threads: 1, Force: true}); !errors.Is(err, store.ErrExists) || !strings.Contains(err.Error(), "no output of graphmill") {
		t.Errorf("found %v", err)
	}
	if err := os.WriteFile(out, []byte("2 1\n2\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := metis.Write(t.Context(), vfs.OS, out, s, metis.Options{Threads: 1, Force: true}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := metis.Write(ctx, vfs.OS, filepath.Join(dir, "x"), s, metis.Options{Threads: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the context", err)
	}
}

// A memory bound that cannot hold the graph is refused before anything is written.
func TestMemory(t *testing.T) {
	s, out := graphOf(t), filepath.Join(t.TempDir(), "g.graph")
	if _, err := metis.Write(t.Context(), vfs.OS, out, s, metis.Options{Threads: 1, Memory: 1 << 20}); !errors.Is(err, metis.ErrMemory) || !strings.Contains(err.Error(), "found a bound of 1.00 MiB, expected at least 32.0 MiB") {
		t.Errorf("found %v", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found %v for a file that must not be there", err)
	}
	if _, err := metis.Write(t.Context(), vfs.OS, out, s, metis.Options{Threads: 1, Memory: 33 << 20}); err != nil {
		t.Error(err)
	}
}

// After a call that fails, the old file exists unchanged, or the new one is complete.
func TestFaults(t *testing.T) {
	s := graphOf(t)
	for at := int64(1); ; at++ {
		dir := t.TempDir()
		out := filepath.Join(dir, "g.graph")
		if err := os.WriteFile(out, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
		fault := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: errors.New("disk full")}
		_, err := metis.Write(t.Context(), fault, out, s, metis.Options{Threads: 1, Force: true})
		if at > fault.Calls() {
			break
		}
		b, rerr := os.ReadFile(out)
		if text := string(b); rerr != nil || text != "old" && text != "5 4\n3\n4 5\n1 4\n2 3\n2\n" || err == nil && text == "old" {
			t.Errorf("call %d of %d: found %q, %v after %v", at, fault.Calls(), b, rerr, err)
		}
	}
}
