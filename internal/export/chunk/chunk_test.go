package chunk_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	format "github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/chunk"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("20"); err != nil { // each check makes four folders
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

// disk is the file system without waiting for the disk.
var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// publish makes an output folder.
func publish(fsys vfs.FS, out string, write func(w *store.Writer) (*store.Meta, error)) error {
	w, err := store.Create(fsys, out, false)
	if err != nil {
		return err
	}
	meta, err := write(w)
	if err == nil {
		err = w.Seal(context.Background(), meta, 1)
	}
	if err == nil {
		err = w.Publish()
	}
	return errors.Join(err, w.Abort())
}

// load imports a source as a store.
func load(path, out string, both bool) error {
	s, err := ingest.Open(context.Background(), disk, path, ingest.Options{})
	if err != nil {
		return err
	}
	return publish(disk, out, func(w *store.Writer) (*store.Meta, error) {
		r, err := assemble.Build(context.Background(), disk, w, s.Input, assemble.Options{Primary: s.Primary, Both: both, Threads: 2, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep})
		if err != nil {
			return nil, err
		}
		return r.Meta, nil
	})
}

// write writes the chunks of a store.
func write(fsys vfs.FS, s *store.Store, out string, o chunk.Options) (r *chunk.Result, err error) {
	err = publish(fsys, out, func(w *store.Writer) (*store.Meta, error) {
		r, err = chunk.Write(context.Background(), w, s, o)
		return nil, err
	})
	return r, err
}

func open(t interface{ Fatal(...any) }, dir string) *store.Store {
	s, err := store.Open(disk, dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// adjacencies lists the arrays of a direction of all edge types.
func adjacencies(s *store.Store, d graph.Direction) []string {
	var out []string
	for _, n := range s.Graph.Nodes {
		out = append(out, fmt.Sprint(n.Type, n.Count))
	}
	for _, e := range s.Graph.Edges {
		a := e.Adj[d]
		out = append(out, fmt.Sprint(e.Type, a.Indptr, a.Far))
	}
	return out
}

// TestRoundTrip makes chunks from a store, and a store with the same arrays from the chunks, for random typed graphs
// in both directions.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "chunk")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		counts := map[string]int{"a": rapid.IntRange(1, 3000).Draw(t, "a"), "b": rapid.IntRange(1, 5).Draw(t, "b")}
		types := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a:r:a", "a:r:b", "b:r:a", "b:s:b"}), 1, 3, rapid.ID).Draw(t, "types")
		yaml := fmt.Sprintf("nodes:\n  a: {count: %d}\n  b: {count: %d}\nedges:\n", counts["a"], counts["b"])
		files := map[string]string{}
		for i, name := range types {
			et, err := graph.ParseEdgeType(name)
			if err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("e%d.csv", i)
			yaml += fmt.Sprintf("  %s: {table: %s}\n", name, file)
			text := "src,dst\n"
			for range rapid.IntRange(0, 1500).Draw(t, "edges") {
				text += fmt.Sprintf("%d,%d\n", rapid.IntRange(0, counts[et.Src]-1).Draw(t, "src"), rapid.IntRange(0, counts[et.Dst]-1).Draw(t, "dst"))
			}
			files[file] = text
		}
		files["graph.yaml"] = yaml
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := load(filepath.Join(dir, "graph.yaml"), filepath.Join(dir, "g"), true); err != nil {
			t.Fatal(err)
		}
		s := open(t, filepath.Join(dir, "g"))
		defer s.Close()
		for _, d := range []graph.Direction{graph.In, graph.Out} {
			chunks, again := filepath.Join(dir, d.String()), filepath.Join(dir, d.String()+".again")
			if _, err := write(disk, s, chunks, chunk.Options{ChunkBytes: 8192, Direction: d.String()}); err != nil {
				t.Fatal(err)
			}
			if err := load(chunks, again, false); err != nil {
				t.Fatal(err)
			}
			g := open(t, again)
			if diff := cmp.Diff(adjacencies(s, d), adjacencies(g, d)); diff != "" {
				t.Fatalf("%s: %s", d, diff)
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// byHand is a store of one edge type that is not in a folder.
func byHand(indptr, far graph.Index, nodes int) *store.Store {
	return &store.Store{Dir: "s", Graph: &graph.Graph{
		Nodes: []*graph.Nodes{{Type: "_N", Count: nodes}},
		Edges: []*graph.Edges{{Type: graph.HomogeneousEdge, Count: far.Len(), Adj: [2]*graph.Adjacency{{Indptr: indptr, Far: far}, nil}}},
	}}
}

// TestWide: 64-bit arrays give the same chunks as 32-bit arrays.
func TestWide(t *testing.T) {
	narrow := byHand(graph.Index{U32: []uint32{0, 2, 2, 3}}, graph.Index{U32: []uint32{1, 2, 0}}, 3)
	wide := byHand(graph.Index{U64: []uint64{0, 2, 2, 3}}, graph.Index{U64: []uint64{1, 2, 0}}, 3)
	var files [2][]byte
	for i, s := range []*store.Store{narrow, wide} {
		dir := filepath.Join(t.TempDir(), "c")
		r, err := write(disk, s, dir, chunk.Options{ChunkBytes: 4096})
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.Metadata.Edges["_N:_E:_N"].Chunks))); err != nil {
			t.Fatal(err)
		}
	}
	want := []byte{3, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}
	want = append(want, make([]byte, 512-len(want))...)
	for i, b := range files {
		if diff := cmp.Diff(want, b); diff != "" {
			t.Errorf("store %d: %s", i, diff)
		}
	}
}

// TestRefuses invalid graphs, and graphs that chunks cannot hold.
func TestRefuses(t *testing.T) {
	big := make([]uint32, 1021)
	for name, c := range map[string]struct {
		s    *store.Store
		o    chunk.Options
		is   error
		want string
	}{
		"ids":       {byHand(graph.Index{U32: []uint32{0, 2}}, graph.Index{U32: []uint32{0, 1}}, 1), chunk.Options{ChunkBytes: 4096}, store.ErrDamaged, "s: edge type _N:_E:_N: damaged: found the neighbour 1 at 1, expected one below 1"},
		"wide ids":  {byHand(graph.Index{U32: []uint32{0, 1}}, graph.Index{U64: []uint64{1 << 32}}, 1), chunk.Options{ChunkBytes: 4096}, store.ErrDamaged, "found the neighbour 4294967295 at 0"},
		"offsets":   {byHand(graph.Index{U32: []uint32{0, 2, 1, 2}}, graph.Index{U32: []uint32{0, 1}}, 3), chunk.Options{ChunkBytes: 4096}, nil, "node 2: found neighbours at offset 1 after offset 2"},
		"beyond":    {byHand(graph.Index{U32: []uint32{0, 3}}, graph.Index{U32: []uint32{0}}, 1), chunk.Options{ChunkBytes: 4096}, store.ErrDamaged, "found neighbours up to 3, expected at most 1"},
		"a hub":     {byHand(graph.Index{U32: []uint32{0, 0, 1021}}, graph.Index{U32: big}, 2), chunk.Options{ChunkBytes: 4096}, format.ErrTooLarge, "node 1: found 1021 neighbours, expected at most the 1020 "},
		"direction": {byHand(graph.Index{U32: []uint32{0}}, graph.Index{}, 0), chunk.Options{ChunkBytes: 4096, Direction: "out"}, nil, "found in-edges alone, expected out-edges too"},
		"size":      {byHand(graph.Index{U32: []uint32{0}}, graph.Index{}, 0), chunk.Options{ChunkBytes: 512}, nil, "found a chunk size of 512 bytes"},
		"many":      {byHand(graph.Index{}, graph.Index{}, 1<<32), chunk.Options{ChunkBytes: 4096}, format.ErrTooLarge, "found 4294967296 nodes, expected at most 4294967295; ids of chunks are 32-bit"},
		"graphs":    {&store.Store{Dir: "s"}, chunk.Options{ChunkBytes: 4096}, nil, "s: found a collection, expected a store"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		_, err := write(disk, c.s, out, c.o)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", name, err, c.want)
		}
		if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: found an output, %v", name, err)
		}
	}
}

// TestLeft: columns that do not fit into chunks are named, except those that say how the store was made.
func TestLeft(t *testing.T) {
	s := byHand(graph.Index{U32: []uint32{0, 0}}, graph.Index{}, 1)
	s.Graph.Nodes[0].Columns = []*graph.Column{{Name: "x"}}
	s.Graph.Nodes[0].IDs = &graph.Column{}
	s.Graph.Edges[0].Columns = []*graph.Column{{Name: graph.PositionColumn}, {Name: "w"}}
	s.Graph.Context = []*graph.Column{{Name: "c"}}
	r, err := write(disk, s, filepath.Join(t.TempDir(), "out"), chunk.Options{ChunkBytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"original ids of _N", "_N.x", "context.c", "_N:_E:_N.w"}; !slices.Equal(r.Left, want) {
		t.Errorf("found %q, expected %q", r.Left, want)
	}
}

// TestFaults lets every call of the file system fail once. The output is complete or does not exist.
func TestFaults(t *testing.T) {
	s := byHand(graph.Index{U32: []uint32{0, 1}}, graph.Index{U32: []uint32{0}}, 1)
	dir := t.TempDir()
	count := &vfs.Fault{FS: disk}
	if _, err := write(count, s, filepath.Join(dir, "sound"), chunk.Options{ChunkBytes: 4096}); err != nil {
		t.Fatal(err)
	}
	for n := range count.Calls() {
		out := filepath.Join(dir, fmt.Sprint(n))
		_, err := write(&vfs.Fault{FS: disk, FailAt: n + 1, Err: fs.ErrPermission}, s, out, chunk.Options{ChunkBytes: 4096})
		if _, missing := os.Stat(out); missing != nil {
			if err == nil {
				t.Errorf("call %d: found no error and no output", n+1)
			}
			continue
		}
		if v, err := store.Verify(t.Context(), disk, out, 1, func(int64) {}); err != nil || len(v.Damage) > 0 {
			t.Errorf("call %d: found an output with %v, %v", n+1, v, err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := publish(disk, filepath.Join(t.TempDir(), "out"), func(w *store.Writer) (*store.Meta, error) {
		_, err := chunk.Write(ctx, w, byHand(graph.Index{U32: []uint32{0, 1}}, graph.Index{U32: []uint32{0}}, 1), chunk.Options{ChunkBytes: 4096})
		return nil, err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that it was cancelled", err)
	}
}
