package sampletest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Sparse is a store of a few node types and edge types, each with a handful of nodes and edges, or none. Frontiers of
// its plans are small: an op often finds no edge that it may take at its first nodes. Nodes have a time, born, some or all of them
// after every seed, or none (NaN). Its folder lies in dir. The caller closes it (Drop).
func Sparse(t testing.TB, r *rapid.T, dir string) *store.Store {
	t.Helper()
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "graph"), 2))
	var in assemble.Input
	var types []string
	counts := map[string]int{}
	for _, name := range []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(r, "node types")] {
		counts[name] = rapid.SampledFrom([]int{6, 3, 1, 12, 0}).Draw(r, "nodes")
		types = append(types, name)
		in.Nodes = append(in.Nodes, bornNodes(random, name, counts[name]))
	}
	end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
	for i := range rapid.IntRange(1, 4).Draw(r, "edge types") {
		src, dst := rapid.SampledFrom(types).Draw(r, "src"), rapid.SampledFrom(types).Draw(r, "dst")
		n := rapid.SampledFrom([]int{3, 1, 6, 14, 40, 0}).Draw(r, "edges")
		if counts[src] == 0 || counts[dst] == 0 {
			n = 0
		}
		in.Edges = append(in.Edges, assemble.Edges{Type: graph.EdgeType{Src: src, Rel: fmt.Sprintf("e%d", i), Dst: dst}, Table: sparseEdges(random, n, counts[src], counts[dst]),
			Src: end("src"), Dst: end("dst"), Columns: []table.Column{{Name: "w", DType: graph.Float32}, {Name: "t", DType: graph.Int64}}})
	}
	out, err := os.MkdirTemp(dir, "sparse")
	if err != nil {
		t.Fatal(err)
	}
	writeStore(t, filepath.Join(out, "g.store"), in, assemble.Options{Both: rapid.Bool().Draw(r, "both")})
	s, err := store.Open(vfs.OS, filepath.Join(out, "g.store"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bornNodes is n nodes of a type with the time since which each exists.
func bornNodes(r *rand.Rand, name string, n int) assemble.Nodes {
	born, late := make([]float64, n), r.IntN(3) == 0
	for i := range born {
		switch born[i] = float64(r.IntN(240)) / 2; {
		case late:
			born[i] = 1000
		case r.IntN(6) == 0:
			born[i] = math.NaN()
		}
	}
	return assemble.Nodes{Type: name, Columns: []table.Column{{Name: "born", DType: graph.Float64}},
		Table: &memoryTable{n, []table.Field{{Name: "born", DType: graph.Float64}}, [][]byte{graph.Bytes(born)}}}
}

// Drop closes a store of Sparse and removes its folder.
func Drop(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Dir(s.Dir)); err != nil {
		t.Error(err)
	}
}

// sparseEdges is n edges, of which many have the weight 0 and a time that no seed comes after.
func sparseEdges(r *rand.Rand, n, from, to int) *memoryTable {
	src, dst, w, t := make([]uint64, n), make([]uint64, n), make([]float32, n), make([]int64, n)
	zeros, late := r.IntN(3) == 0, r.IntN(3) == 0
	for i := range src {
		src[i], dst[i], t[i] = uint64(r.IntN(from)), uint64(r.IntN(to)), r.Int64N(120)
		if !zeros {
			w[i] = max(0, float32(r.IntN(5)-2))
		}
		if late && r.IntN(3) > 0 {
			t[i] = 1000
		}
	}
	return edgeTable(src, dst, w, t)
}

// SparseCase is a plan and a job over a store of Sparse. Half of the plans are fanouts of a few hops along all edge types. More
// ops than in Plan read times, weights or values, and often the job has few seeds.
func SparseCase(r *rapid.T, g *graph.Graph) (*sample.Plan, sample.Job) {
	p := Plan(r, g)
	if rapid.Bool().Draw(r, "fanout") {
		if hops := fanouts(r, g); hops != nil {
			hops.Scope, hops.Expand, hops.Before = p.Scope, p.Expand, p.Before
			p = hops
		}
	}
	if p.Before == nil && rapid.Bool().Draw(r, "past") && (p.Negatives == nil || p.Negatives.How != sample.InBatch) {
		p.Scope, p.Before = sample.ScopeSeed, &sample.Before{Column: "t", OrEqual: rapid.Bool().Draw(r, "or equal")}
	}
	for i := range p.Ops {
		if o := &p.Ops[i]; o.How == sample.Uniform && rapid.Bool().Draw(r, "by column") {
			o.How = rapid.SampledFrom([]sample.How{sample.Weighted, sample.Top}).Draw(r, "how")
			o.Column = rapid.SampledFrom([]string{"w", "t"}).Draw(r, "column")
			if o.How == sample.Weighted {
				o.Column = "w"
			}
		}
	}
	j := Job(r, g, p)
	KeepFirst(p, &j, rapid.SampledFrom([]int{1, 2, 4, 100}).Draw(r, "first"))
	return p, j
}

// fanouts is a plan with a fanout per hop along all edge types, nil where no edge type is at hand.
func fanouts(r *rapid.T, g *graph.Graph) *sample.Plan {
	each := rapid.SliceOfN(rapid.SampledFrom([]int{3, 1, 2, 15, sample.All}), 2, 3).Draw(r, "fanouts")
	dir := g.Edges[0].Primary
	if g.Edges[0].Adj[1-dir] != nil && rapid.Bool().Draw(r, "other") {
		dir = 1 - dir
	}
	seeds := g.Edges[rapid.IntRange(0, len(g.Edges)-1).Draw(r, "seeds of")].Type.Near(dir)
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: each}, sample.FanoutOptions{Dir: dir, SeedType: []string{seeds}})
	if err != nil {
		return nil
	}
	return p
}
