package fennel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/fennel"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func options(parts, passes int) fennel.Options {
	return fennel.Options{Options: undirected.Options{Parts: parts, Imbalance: []float64{1.03}, Threads: 1}, Passes: passes}
}

func cut(t testing.TB, g *undirected.Graph, o fennel.Options) *undirected.Quality {
	t.Helper()
	part, err := fennel.Partition(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := undirected.Evaluate(context.Background(), g, part, o.Parts, 1)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// withinCaps reports whether no part exceeds its caps.
func withinCaps(g *undirected.Graph, q *undirected.Quality, o fennel.Options) bool {
	caps := g.Caps(o.Parts, o.Imbalance)
	for _, p := range q.Parts {
		for c, w := range p.Weights {
			if w > caps[c] {
				return false
			}
		}
	}
	return true
}

func TestEveryNodeHasAPartWithRoom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(rt, "nodes")
		var src, dst []uint32
		if n > 0 {
			for range rapid.IntRange(0, 400).Draw(rt, "pairs") {
				src, dst = append(src, uint32(rapid.IntRange(0, n-1).Draw(rt, "u"))), append(dst, uint32(rapid.IntRange(0, n-1).Draw(rt, "v")))
			}
		}
		g := undirected.FromPairs(n, src, dst)
		if rapid.Bool().Draw(rt, "edge weights") {
			g.EdgeWeights = make([]uint32, len(g.Neighbours))
			for i := range g.EdgeWeights {
				g.EdgeWeights[i] = 3
			}
		}
		o := options(rapid.IntRange(1, 40).Draw(rt, "parts"), rapid.IntRange(1, 3).Draw(rt, "passes"))
		if q := cut(t, g, o); !withinCaps(g, q, o) {
			rt.Fatalf("balance %v", q.Balance)
		}
	})
}

// files builds a graph of directories and files, the files first: no file is a neighbour of another.
func files(dirs, each int) *undirected.Graph {
	var src, dst []uint32
	for f := range dirs * each {
		src, dst = append(src, uint32(f)), append(dst, uint32(dirs*each+f/each))
	}
	return undirected.FromPairs(dirs*each+dirs, src, dst)
}

func TestNodesThatShareANeighbourStayTogether(t *testing.T) {
	g := files(400, 25)
	if q := cut(t, g, options(8, 1)); q.CutShare > 0.05 {
		t.Errorf("one pass cuts %.3f, expected less than 0.05 (by chance 0.875)", q.CutShare)
	}
	if q := cut(t, g, options(8, 3)); q.CutShare > 0.02 {
		t.Errorf("three passes cut %.3f, expected less than 0.02", q.CutShare)
	}
}

func TestAllConstraintsHold(t *testing.T) {
	g := files(400, 25)
	g.Constraints, g.Weights = 3, make([]uint32, 3*g.Len())
	for v := range g.Len() {
		g.Weights[3*v], g.Weights[3*v+1] = 1, uint32(g.Degree(uint32(v)))
		if v%10 == 0 {
			g.Weights[3*v+2] = 1
		}
	}
	o := options(4, 3)
	o.Imbalance = []float64{1.05, 1.1, 1.05}
	if q := cut(t, g, o); !withinCaps(g, q, o) || q.CutShare > 0.4 {
		t.Errorf("balance %v, cut %.3f", q.Balance, q.CutShare)
	}
}

// A node that exceeds every cap goes to the part that it exceeds by the least.
func TestNodesHeavierThanTheCap(t *testing.T) {
	g := undirected.FromPairs(6, []uint32{0, 1, 2, 3}, []uint32{1, 2, 3, 4})
	g.Weights = []uint32{100, 1, 1, 1, 1, 100}
	q := cut(t, g, options(3, 2))
	if q.Parts[0].Weights[0] > 104 || q.Parts[1].Weights[0] > 104 || q.Parts[2].Weights[0] > 104 {
		t.Errorf("weights %v", q.Parts)
	}
}

func TestRowsFromDiskGiveTheSameParts(t *testing.T) {
	ptr, far := []uint64{0}, []uint64{}
	const n = 5000
	for v := range n {
		for d := 1; d < 6 && v >= d*d*7; d++ {
			far = append(far, uint64(v-d*d*7))
		}
		ptr = append(ptr, uint64(len(far)))
	}
	m := &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: n}}, Edges: []*graph.Edges{{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: len(far)}}}
	m.Edges[0].Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
	s := &store.Store{Dir: "s", Graph: m}
	o := undirected.BuildOptions{Threads: 2, Memory: 1, FS: vfs.OS, Temp: t.TempDir()}
	whole, err := undirected.Build(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := undirected.Spill(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	a, err := fennel.Partition(context.Background(), whole, options(5, 3))
	if err != nil {
		t.Fatal(err)
	}
	b, err := fennel.Partition(context.Background(), rows, options(5, 3))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Error(d)
	}
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fennel.Partition(ctx, files(10, 10), options(2, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, o := range []fennel.Options{options(0, 1), options(undirected.MaxParts+1, 1), options(2, 0)} {
		if _, err := fennel.Partition(context.Background(), files(1, 1), o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
}

func BenchmarkPass(b *testing.B) {
	g := files(40_000, 25)
	for b.Loop() {
		if _, err := fennel.Partition(context.Background(), g, options(8, 1)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(g.Pairs())*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpairs/s")
}
