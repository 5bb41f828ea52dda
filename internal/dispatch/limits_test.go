package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

var disk vfs.FS = vfs.Unsynced{FS: vfs.OS}

// hubs is a graph large enough that small buffers fill up, rows are sorted in several windows, and halo edges
// go to a temporary file: two types, an edge type listed by destination and one by source, and a node with
// very many edges.
func hubs() *input {
	r := rand.New(rand.NewPCG(1, 2))
	const parts = 4
	counts := []int{9000, 3000}
	in := &input{g: &graph.Graph{}, a: &assign.Assignment{Parts: parts, Method: "hash", Start: []uint64{0}}}
	for t, n := range counts {
		in.g.Nodes = append(in.g.Nodes, &graph.Nodes{Type: fmt.Sprint("t", t), Count: n, Columns: columns(n, uint64(t), 5)})
		in.a.Types, in.a.Start = append(in.a.Types, fmt.Sprint("t", t)), append(in.a.Start, in.a.Start[t]+uint64(n))
		for v := range n {
			in.a.Part = append(in.a.Part, uint16(v*parts/n))
			if r.IntN(20) == 0 {
				in.a.Part[len(in.a.Part)-1] = uint16(r.IntN(parts))
			}
		}
	}
	for i, ends := range [][2]int{{0, 0}, {0, 1}} {
		e := &graph.Edges{Type: graph.EdgeType{Src: fmt.Sprint("t", ends[0]), Rel: "r", Dst: fmt.Sprint("t", ends[1])}, Primary: graph.Direction(i), Count: 60_000}
		var list []pair
		for range e.Count {
			p := pair{r.IntN(counts[ends[0]]), r.IntN(counts[ends[1]])}
			switch r.IntN(4) {
			case 0:
				p.src = 17
			case 1:
				p.dst = 5
			}
			list = append(list, p)
		}
		slices.SortStableFunc(list, func(a, b pair) int {
			if e.Primary == graph.In {
				return a.dst - b.dst
			}
			return a.src - b.src
		})
		e.Adj[e.Primary] = adjacency(list, counts[ends[1-i]], e.Primary, false, false)
		e.Columns = columns(e.Count, uint64(i+7), 5)
		in.g.Edges, in.edges = append(in.g.Edges, e), append(in.edges, list)
	}
	return in
}

var everything = Options{GraphName: "g", Hops: 2, Leaving: true, PartIDs: true, OriginalNodes: true, OriginalEdges: true, Formats: dgl.COO | dgl.CSR | dgl.CSC}

func TestBytesDependOnNeitherThreadsNorMemory(t *testing.T) {
	in := hubs()
	for _, formats := range []dgl.Formats{dgl.COO | dgl.CSR | dgl.CSC, dgl.CSC} {
		var want string
		for _, o := range []struct {
			threads, atOnce int
			memory          int64
		}{{1, 0, 0}, {2, 0, 0}, {5, 1, 0}, {1, 3, 40 << 20}, {2, 2, 42 << 20}} {
			opt := everything
			opt.Formats, opt.Threads, opt.PartsAtOnce, opt.Memory = formats, o.threads, o.atOnce, o.memory
			dir := filepath.Join(t.TempDir(), "out")
			if _, err := dispatchTo(disk, dir, in, opt); err != nil {
				t.Fatalf("%+v: %v", o, err)
			}
			b, err := os.ReadFile(filepath.Join(dir, store.ManifestFile))
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(b)
			}
			if string(b) != want {
				t.Fatalf("%+v: found other files than with one thread and no bound of memory", o)
			}
		}
	}
}

func TestMemoryThatIsTooSmallIsRefused(t *testing.T) {
	opt := everything
	opt.Memory = 1 << 20
	_, err := dispatchTo(disk, filepath.Join(t.TempDir(), "out"), hubs(), opt)
	if !errors.Is(err, errMemory) || !strings.Contains(err.Error(), "expected at least") {
		t.Fatalf("found %v", err)
	}
}

// full reports how much disk space is free.
type full struct {
	vfs.FS
	free int64
}

func (f full) Free(string) (int64, error) { return f.free, nil }

func TestDiskThatIsTooSmallIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	_, err := dispatchTo(full{disk, 1 << 20}, dir, hubs(), everything)
	if !errors.Is(err, vfs.ErrSpace) || !strings.Contains(err.Error(), "expected") {
		t.Fatalf("found %v", err)
	}
}

// TestFaults makes each of many calls of the file system fail: each failure is an error and leaves nothing
// that looks whole.
func TestFaults(t *testing.T) {
	in := hubs()
	in.a.Parts, in.a.Part = 2, slices.Clone(in.a.Part)
	for i := range in.a.Part {
		in.a.Part[i] %= 2
	}
	opt := everything
	opt.Threads = 2
	count := &vfs.Fault{FS: disk}
	if _, err := dispatchTo(count, filepath.Join(t.TempDir(), "out"), in, opt); err != nil {
		t.Fatal(err)
	}
	for i := range int64(40) {
		base := t.TempDir()
		dir := filepath.Join(base, "out")
		at := 1 + i*(count.Calls()-1)/40
		_, err := dispatchTo(&vfs.Fault{FS: disk, FailAt: at, Err: syscall.ENOSPC, Short: i%2 == 0}, dir, in, opt)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("call %d: found %v, expected the disk to be full", at, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("call %d: found an output", at)
		}
	}
}

// TestBucketsOfHalos has halo edges with neighbouring ids: they are still cut into buckets that fit the
// memory.
func TestBucketsOfHalos(t *testing.T) {
	for _, c := range []struct {
		most         uint64
		idBits, want int
	}{
		{1 << 17, 30, 1},   // all of them fit one bucket
		{1 << 20, 20, 8},   // 2^20 ids are in 8 buckets of 2^17
		{1 << 20, 23, 64},  // 2^20 consecutive ones of 2^23 ids are, too
		{1 << 24, 28, 128}, // limited by the memory
	} {
		s := newSortShape(64<<20, 2)
		s.each = 2 << 20
		if got := s.buckets(8, c.most, c.idBits); got != c.want {
			t.Errorf("%d edges of 2^%d ids: found %d buckets, expected %d", c.most, c.idBits, got, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := store.Create(disk, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	in := hubs()
	p, err := Prepare(ctx, disk, &store.Store{Graph: in.g}, in.a, w, everything)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("found %v", err)
	}
}

// TestResume interrupts a run between parts and continues it. The output equals the output of an uninterrupted run,
// and finished parts are not written again.
func TestResume(t *testing.T) {
	in, ctx := hubs(), context.Background()
	opt := everything
	opt.PartsAtOnce = 1
	whole := filepath.Join(t.TempDir(), "out")
	want, err := dispatchTo(disk, whole, in, opt)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	run := func(fsys vfs.FS) (*Report, int64, error) {
		w, err := store.Resume(ctx, fsys, out, false, "key", 2)
		if err != nil {
			t.Fatal(err)
		}
		written := int64(0)
		opt.Progress = func(n int) { written += int64(n) }
		p, err := Prepare(ctx, fsys, &store.Store{Graph: in.g}, in.a, w, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		r, err := p.Run(ctx)
		if err != nil {
			return nil, written, errors.Join(err, w.Leave())
		}
		return r, written, errors.Join(w.Seal(ctx, nil, 2), w.Publish())
	}
	count := &vfs.Fault{FS: disk}
	if _, err := dispatchTo(count, filepath.Join(t.TempDir(), "out"), in, opt); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(&vfs.Fault{FS: disk, FailAt: count.Calls() * 6 / 10, Err: syscall.EIO}); !errors.Is(err, syscall.EIO) {
		t.Fatalf("found %v", err)
	}
	got, written, err := run(disk)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Parts, want.Parts) || got.Bytes != want.Bytes {
		t.Fatalf("found %+v, expected %+v", got, want)
	}
	if written > want.Bytes*3/4 {
		t.Fatalf("found %d of %d bytes written again, expected finished parts to be kept", written, want.Bytes)
	}
	a, _ := os.ReadFile(filepath.Join(whole, store.ManifestFile))
	b, _ := os.ReadFile(filepath.Join(out, store.ManifestFile))
	if string(a) != string(b) {
		t.Fatal("found other files than of a run that was not interrupted")
	}
}

func TestAssignmentsThatDoNotFit(t *testing.T) {
	for name, harm := range map[string]func(a *assign.Assignment){
		"a part out of range":      func(a *assign.Assignment) { a.Part[7] = 4 },
		"no parts":                 func(a *assign.Assignment) { a.Parts = 0 },
		"too many parts":           func(a *assign.Assignment) { a.Parts = assign.MaxParts + 1 },
		"another type":             func(a *assign.Assignment) { a.Types[1] = "t2" },
		"a type too few":           func(a *assign.Assignment) { a.Types, a.Start = a.Types[:1], a.Start[:2] },
		"a node too many":          func(a *assign.Assignment) { a.Start[2]++ },
		"a node too few":           func(a *assign.Assignment) { a.Part = a.Part[:len(a.Part)-1] },
		"trainers of another size": func(a *assign.Assignment) { a.Trainers, a.Trainer = 2, a.Part[:3] },
	} {
		in := hubs()
		harm(in.a)
		if _, err := dispatchTo(disk, filepath.Join(t.TempDir(), "out"), in, everything); !errors.Is(err, errAssignment) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

// TestDamagedStores has ids that are out of range.
func TestDamagedStores(t *testing.T) {
	for name, harm := range map[string]func(e []*graph.Edges){
		"a source that is no node":      func(e []*graph.Edges) { e[0].Adj[graph.In].Far.U32[3] = 9000 },
		"a destination that is no node": func(e []*graph.Edges) { e[1].Adj[graph.Out].Far.U32[3] = 3000 },
		"offsets that descend":          func(e []*graph.Edges) { e[0].Adj[graph.In].Indptr.U32[100] = 1 << 31 },
		"fewer offsets than edges": func(e []*graph.Edges) {
			ptr := e[0].Adj[graph.In].Indptr.U32
			ptr[len(ptr)-1]--
		},
		"an edge id out of range": func(e []*graph.Edges) {
			ids := make([]uint32, e[0].Count)
			ids[5] = uint32(e[0].Count)
			e[0].Adj[graph.In].EdgeID.U32 = ids
		},
	} {
		in := hubs()
		harm(in.g.Edges)
		if _, err := dispatchTo(disk, filepath.Join(t.TempDir(), "out"), in, everything); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%s: found %v", name, err)
		}
	}
}

func TestNamesThatDGLCannotTake(t *testing.T) {
	for _, name := range []string{"", "a/b", "../g", "metadata", "manifest", "report", "made", ".g"} {
		if CheckGraphName(name) == nil {
			t.Errorf("graph name %q: found no error", name)
		}
	}
	if err := CheckGraphName("ogbn-mag_1.2"); err != nil {
		t.Error(err)
	}
	in := hubs()
	in.g.Nodes[0].Type = "a/b"
	in.a.Types[0] = "a/b"
	if _, err := dispatchTo(disk, filepath.Join(t.TempDir(), "out"), in, everything); err == nil || !strings.Contains(err.Error(), "without '/'") {
		t.Errorf("found %v", err)
	}
}

func TestColumnsThatNoTensorHolds(t *testing.T) {
	in := hubs()
	n := in.g.Nodes[1]
	n.Columns = []*graph.Column{
		{Name: "a/b", DType: graph.Int8, Rows: n.Count, Values: make([]byte, n.Count)},
		{Name: "empty", DType: graph.Float32, Rows: n.Count, Shape: []int{3, 0}},
		{Name: "list", DType: graph.Int8, Rows: n.Count, Shape: []int{-1}, Offsets: []graph.Index{{U64: make([]uint64, n.Count+1)}}},
		{Name: "s", DType: graph.String, Rows: n.Count, StringOffsets: graph.Index{U64: make([]uint64, n.Count+1)}},
	}
	r, err := dispatchTo(disk, filepath.Join(t.TempDir(), "out"), in, everything)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range r.LeftOut {
		name, _, _ := strings.Cut(x, ":")
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"t1.a/b", "t1.empty", "t1.list", "t1.s"}) {
		t.Errorf("found %q left out", r.LeftOut)
	}
	n.Columns = []*graph.Column{{Name: "x", DType: graph.Uint64, Rows: n.Count, Values: slices.Repeat([]byte{255}, 8*n.Count)}}
	if _, err := dispatchTo(disk, filepath.Join(t.TempDir(), "out"), in, everything); err == nil || !strings.Contains(err.Error(), "t1/x, row") {
		t.Errorf("found %v", err)
	}
}
