//go:build unix

package streamer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/bench/outofcore/streamer"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fill makes the adjacency of the given number of nodes from edges in any order.
func fill(nodes int, near, far []uint32) *graph.Adjacency {
	indptr := make([]uint32, nodes+1)
	for _, v := range near {
		indptr[v+1]++
	}
	for i := range nodes {
		indptr[i+1] += indptr[i]
	}
	at, out := slices.Clone(indptr), make([]uint32, len(far))
	for i, v := range near {
		out[at[v]] = far[i]
		at[v]++
	}
	return &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: out}}
}

// homogeneous is a graph of one type.
func homogeneous(nodes int, a *graph.Adjacency) *graph.Graph {
	return &graph.Graph{
		Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: nodes}},
		Edges: []*graph.Edges{{Type: graph.HomogeneousEdge, Count: a.Far.Len(), Adj: [2]*graph.Adjacency{a, nil}}},
	}
}

func rmat(t testing.TB, scale int, factor uint64) *graph.Graph {
	t.Helper()
	law, err := draw.NewRMAT(7, scale)
	if err != nil {
		t.Fatal(err)
	}
	src, dst := make([]uint32, law.Nodes()*factor), make([]uint32, law.Nodes()*factor)
	law.Fill(src, dst, 0)
	return homogeneous(int(law.Nodes()), fill(int(law.Nodes()), dst, src))
}

// write writes the chunks of the in-edges of a homogeneous graph, and returns the number of chunks.
func write(t interface{ Fatal(...any) }, dir string, g *graph.Graph, size int64) int {
	var file bytes.Buffer
	w := chunk.NewWriter(&file, size)
	a, nodes := g.Edges[0].Adj[graph.In], g.Nodes[0].Count
	for start := 0; start < nodes; {
		n, err := chunk.Fit(size, start, nodes, a.Indptr.At)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Begin(n, func(i int) uint64 { return a.Indptr.At(start + i) }); err != nil {
			t.Fatal(err)
		}
		if err := w.Neighbours(a.Far.U32[a.Indptr.At(start):a.Indptr.At(start+n)]); err != nil {
			t.Fatal(err)
		}
		start += n
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m := chunk.Metadata{Format: 1, ChunkBytes: size, Nodes: map[string]uint64{g.Nodes[0].Type: uint64(nodes)},
		Edges: map[string]chunk.Edges{g.Edges[0].Type.String(): {Count: uint64(g.Edges[0].Count), Dir: "in", Chunks: "c", Info: "i"}}}
	text, err := m.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{chunk.File: text, "c": file.Bytes(), "i": w.Info()} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return len(w.Rows())
}

// layers is a batch as text: the nodes of each layer with their neighbours.
func layers(b *streamer.Batch) []string {
	var out []string
	for _, l := range b.Layers {
		var text strings.Builder
		for i, v := range l.Nodes {
			fmt.Fprintln(&text, v, l.Neighbours[l.Ptr[i]:l.Ptr[i+1]])
		}
		out = append(out, text.String())
	}
	return out
}

// memory is the same text from the memory executor.
func memory(g *graph.Graph, sub *sample.Subgraph) []string {
	var out []string
	ids := sub.Nodes[0]
	for _, op := range sub.Ops {
		neighbours := map[uint32][]uint32{}
		for i, near := range op.Dst {
			neighbours[near] = append(neighbours[near], ids[op.Src[i]])
		}
		var text strings.Builder
		for _, v := range op.Frontier {
			fmt.Fprintln(&text, ids[v], neighbours[v])
		}
		out = append(out, text.String())
	}
	return out
}

func contextOf(t interface{ Fatal(...any) }, g *graph.Graph, fanouts []int, expand sample.Expand) (*sample.Context, func()) {
	p := &sample.Plan{SeedType: []string{graph.HomogeneousNode}, Scope: sample.ScopeEpoch, Expand: expand}
	for i, k := range fanouts {
		p.Ops = append(p.Ops, sample.Op{From: []int{i}, Edges: graph.HomogeneousEdge.String(), Dir: graph.In, Take: k})
	}
	s, err := sample.New(g, p, sample.Options{Ops: true})
	if err != nil {
		t.Fatal(err)
	}
	return s.NewContext(), s.Close
}

// TestEqualsMemory compares batches of random graphs with batches of the memory executor: the nodes of each layer, their
// neighbours and all orders.
func TestEqualsMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 300).Draw(t, "nodes")
		id := rapid.Uint32Range(0, uint32(nodes-1))
		near := rapid.SliceOfN(id, 0, 900).Draw(t, "near")
		far := rapid.SliceOfN(id, len(near), len(near)).Draw(t, "far")
		g := homogeneous(nodes, fill(nodes, near, far))
		seeds := rapid.SliceOfN(id, 1, 60).Draw(t, "seeds")
		o := streamer.Options{
			Seeds: seeds, Fanouts: rapid.SliceOfN(rapid.IntRange(1, 6), 1, 3).Draw(t, "fanouts"),
			Seed: rapid.Uint64().Draw(t, "seed"), Epoch: rapid.Uint64Range(0, 5).Draw(t, "epoch"), Epochs: 2,
			Threads: rapid.IntRange(1, 3).Draw(t, "threads"),
		}
		dir, err := os.MkdirTemp("", "streamer")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		write(t, dir, g, 4096)
		s, err := streamer.Open(t.Context(), vfs.OS, dir, "", o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		all, done := contextOf(t, g, o.Fanouts, sample.ExpandAll)
		defer done()
		fresh, done := contextOf(t, g, o.Fanouts, sample.ExpandNew)
		defer done()
		var b streamer.Batch
		for epoch := range uint64(2) {
			if err := s.NewEpochStart(); err != nil {
				t.Fatal(err)
			}
			for at := 0; at < len(seeds); at += 17 {
				nodes := seeds[at:min(at+17, len(seeds))]
				if err := s.Sample(nodes, &b); err != nil {
					t.Fatal(err)
				}
				in := sample.Input{Seeds: nodes, Seed: o.Seed, Epoch: o.Epoch + epoch, Unit: uint64(at)}
				sub, err := all.Sample(in)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(memory(g, sub), layers(&b)); diff != "" {
					t.Fatalf("memory, streamer: %s", diff)
				}
				// An executor that expands only new nodes finds each of them here, too.
				if sub, err = fresh.Sample(in); err != nil {
					t.Fatal(err)
				}
				have := layers(&b)
				for l, text := range memory(g, sub) {
					for line := range strings.Lines(text) {
						if !strings.Contains("\n"+have[l], "\n"+line) {
							t.Fatalf("layer %d: found no %q in %q", l, line, have[l])
						}
					}
				}
			}
		}
		if err := s.NewEpochStart(); !errors.Is(err, io.EOF) {
			t.Fatalf("found %v after the last epoch, expected EOF", err)
		}
	})
}

// TestLargeFanout draws more edges than the table of the picker has places.
func TestLargeFanout(t *testing.T) {
	near, far := make([]uint32, 5000), make([]uint32, 5000)
	for i := range far {
		far[i] = uint32(i % 4999)
	}
	g := homogeneous(5000, fill(5000, near, far))
	dir := t.TempDir()
	write(t, dir, g, 1<<16)
	for _, k := range []int{1, 100, 3000, 4999, 5000, 6000} {
		s, err := streamer.Open(t.Context(), vfs.OS, dir, "", streamer.Options{Seeds: []uint32{0}, Fanouts: []int{k}})
		if err != nil {
			t.Fatal(err)
		}
		c, done := contextOf(t, g, []int{k}, sample.ExpandAll)
		sub, err := c.Sample(sample.Input{Seeds: []uint32{0}})
		if err != nil {
			t.Fatal(err)
		}
		var b streamer.Batch
		if err := errors.Join(s.NewEpochStart(), s.Sample([]uint32{0}, &b)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(memory(g, sub), layers(&b)); diff != "" {
			t.Errorf("fanout %d: %s", k, diff)
		}
		done()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLifeCycle checks that the next epoch begins when most of an epoch was requested, and that the counts agree with
// the reads.
func TestLifeCycle(t *testing.T) {
	g, dir := rmat(t, 12, 8), t.TempDir()
	chunks := int64(write(t, dir, g, 16<<10))
	first := g.Edges[0].Adj[graph.In]
	seeds := make([]uint32, 0, 10)
	for v := uint32(0); len(seeds) < cap(seeds); v++ { // all in the first chunk
		if first.Indptr.At(int(v)) < first.Indptr.At(int(v)+1) {
			seeds = append(seeds, v)
		}
	}
	s, err := streamer.Open(t.Context(), vfs.OS, dir, "_N:_E:_N", streamer.Options{Seeds: seeds, Fanouts: []int{2}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b streamer.Batch
	if err := s.Sample(seeds, &b); !errors.Is(err, streamer.ErrNoEpoch) {
		t.Errorf("before an epoch: %v", err)
	}
	if _, ok := s.Epoch(); ok {
		t.Error("found an epoch before the first")
	}
	if err := s.NewEpochStart(); err != nil {
		t.Fatal(err)
	}
	// reads waits until the given number of epochs are read, with one chunk each. The other chunks are skipped.
	reads := func(epochs int64) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // between two looks, and against a hang
			st := s.Stats()
			if st.ChunksRead == epochs && st.ChunksSkipped == epochs*(chunks-1) && st.BytesRead == epochs*16<<10 {
				return
			}
			if st.ChunksRead > epochs || time.Now().After(end) { // against a hang
				t.Fatalf("found %+v, expected %d of %d chunks read", st, epochs, chunks)
			}
		}
	}
	reads(1)
	if err := s.Sample(seeds[:7], &b); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond) // time for a wrong read
	reads(1)
	if err := s.Sample(seeds[7:8], &b); err != nil { // 8 of 10
		t.Fatal(err)
	}
	reads(2)
	for range 3 { // the epoch has begun already
		if err := s.SampleNextEpoch(); err != nil {
			t.Fatal(err)
		}
	}
	if n, ok := s.Epoch(); n != 0 || !ok {
		t.Errorf("found epoch %d, %v, expected 0 until the swap", n, ok)
	}
	if err := s.NewEpochStart(); err != nil {
		t.Fatal(err)
	}
	if n, ok := s.Epoch(); n != 1 || !ok {
		t.Errorf("found epoch %d, %v, expected 1", n, ok)
	}
	reads(2)
	if err := s.Sample([]uint32{4095}, &b); !errors.Is(err, streamer.ErrNode) {
		t.Errorf("a node that is not trained: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{"SampleNextEpoch": s.SampleNextEpoch, "NewEpochStart": s.NewEpochStart,
		"Sample": func() error { return s.Sample(seeds, &b) }} {
		if err := call(); !errors.Is(err, streamer.ErrClosed) {
			t.Errorf("%s of a closed streamer: %v", name, err)
		}
	}
}

func TestOptions(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rmat(t, 6, 4), 4096)
	for name, o := range map[string]streamer.Options{
		"no seeds":     {Fanouts: []int{2}},
		"no fanouts":   {Seeds: []uint32{1}},
		"a zero":       {Seeds: []uint32{1}, Fanouts: []int{3, 0}},
		"all":          {Seeds: []uint32{1}, Fanouts: []int{-1}},
		"no such node": {Seeds: []uint32{1, 64}, Fanouts: []int{3}},
		"fraction":     {Seeds: []uint32{1}, Fanouts: []int{3}, Ahead: -1},
		"epochs":       {Seeds: []uint32{1}, Fanouts: []int{3}, Epochs: -1},
	} {
		if _, err := streamer.Open(t.Context(), vfs.OS, dir, "", o); !errors.Is(err, streamer.ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := streamer.Open(t.Context(), vfs.OS, dir, "a:b:c", streamer.Options{Seeds: []uint32{1}, Fanouts: []int{3}}); !errors.Is(err, streamer.ErrOptions) {
		t.Errorf("another edge type: %v", err)
	}
}

// TestDamage checks that changes after Open are refused with the file and the byte offset.
func TestDamage(t *testing.T) {
	g := rmat(t, 8, 4)
	for _, c := range []struct {
		name string
		at   int64
		text string
	}{
		{"nodes", 0, "c: chunk 0, byte 0: found 4294967295 nodes, expected "},
		{"start", 4, "c: chunk 0, byte 4: found the start id 4294967295, expected 0"},
		{"neighbour", -4, "found the neighbour 4294967295 of node "},
	} {
		dir := t.TempDir()
		write(t, dir, g, 1<<16)
		file := filepath.Join(dir, "c")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := chunk.Read(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		set, err := chunk.OpenSet(vfs.OS, dir, m, "_N:_E:_N")
		if err != nil {
			t.Fatal(err)
		}
		at := c.at
		if at < 0 {
			at += set.Rows[0].Size()
		}
		copy(b[at:], "\xff\xff\xff\xff")
		if err := os.WriteFile(file, b, 0o644); err != nil {
			t.Fatal(err)
		}
		seeds := make([]uint32, g.Nodes[0].Count)
		for i := range seeds {
			seeds[i] = uint32(i)
		}
		s, err := streamer.Open(t.Context(), vfs.OS, dir, "", streamer.Options{Seeds: seeds, Fanouts: []int{1000, 2}})
		if err == nil {
			err = s.NewEpochStart()
			if cerr := s.Close(); cerr != nil {
				t.Error(cerr)
			}
		}
		if !errors.Is(err, chunk.ErrFormat) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestFaults fails every call of the file system once.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rmat(t, 8, 4), 4096)
	run := func(fsys vfs.FS) error {
		s, err := streamer.Open(t.Context(), fsys, dir, "", streamer.Options{Seeds: []uint32{1, 100, 255}, Fanouts: []int{3, 2}, Epochs: 1})
		if err != nil {
			return err
		}
		return errors.Join(s.NewEpochStart(), s.Close())
	}
	count := &vfs.Fault{FS: vfs.OS}
	if err := run(count); err != nil {
		t.Fatal(err)
	}
	for n := range count.Calls() {
		if err := run(&vfs.Fault{FS: vfs.OS, FailAt: n + 1, Err: fs.ErrPermission}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("call %d: %v", n+1, err)
		}
	}
}

// TestCancel ends the work on an epoch that nobody waits for.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, rmat(t, 10, 8), 16<<10)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := streamer.Open(ctx, vfs.OS, dir, "", streamer.Options{Seeds: []uint32{1}, Fanouts: []int{3, 3}, Threads: runtime.GOMAXPROCS(0)})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range 2 { // the first epoch may have been ready
		err = s.NewEpochStart()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that it was cancelled", err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

func TestBench(t *testing.T) {
	g, dir := rmat(t, 10, 8), t.TempDir()
	write(t, dir, g, 16<<10)
	seeds := make([]uint32, 100)
	for i := range seeds {
		seeds[i] = uint32(i * 7)
	}
	c, done := contextOf(t, g, []int{5, 3}, sample.ExpandAll)
	defer done()
	want := uint64(0)
	for epoch := range uint64(3) {
		for at := 0; at < len(seeds); at += 32 {
			sub, err := c.Sample(sample.Input{Seeds: seeds[at:min(at+32, len(seeds))], Seed: 1, Epoch: epoch})
			if err != nil {
				t.Fatal(err)
			}
			want += sub.Drawn
		}
	}
	r, err := streamer.Bench(t.Context(), vfs.OS, dir, "", streamer.Options{Seeds: seeds, Fanouts: []int{5, 3}, Seed: 1, Epochs: 3, Threads: 2}, 32)
	if err != nil {
		t.Fatal(err)
	}
	if r.Edges != want || r.Batches != 12 || len(r.Seconds) != 3 || r.BytesRead < 6*16<<10 {
		t.Errorf("found %+v, expected %d edges in 12 batches of 3 epochs", r, want)
	}
}
