// Package sampletest makes random stores, plans and jobs for the tests of executors.
package sampletest

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Typed are the node and edge types of a store whose edge types differ in size; Plain are the types of a store with one edge
// type.
var (
	TypedNodes = map[string]int{"a": 3000, "b": 500}
	TypedEdges = []Edges{{"aa", "a", "a", 600_000}, {"ab", "a", "b", 300_000}, {"ba", "b", "a", 2000}, {"bb", "b", "b", 0}}
	PlainNodes = map[string]int{graph.HomogeneousNode: 200_000}
	PlainEdges = []Edges{{graph.HomogeneousEdge.Rel, graph.HomogeneousNode, graph.HomogeneousNode, 1_500_000}}
)

// randomEdges is n edges from nodes of one type to nodes of another. Few of the nodes have many of the edges.
func randomEdges(r *rand.Rand, n, from, to int) *memoryTable {
	src, dst, w, t := make([]uint64, n), make([]uint64, n), make([]float32, n), make([]int64, n)
	skewed := func(n int) uint64 { return uint64(math.Pow(r.Float64(), 4) * float64(n)) }
	for i := range src {
		src[i], dst[i], w[i], t[i] = skewed(from), skewed(to), float32(r.IntN(5)), r.Int64N(100)
	}
	return edgeTable(src, dst, w, t)
}

// Edges are an edge type of a store.
type Edges struct {
	Rel      string
	Src, Dst string
	Count    int
}

// Write writes a store with random edges, each with a weight w and a time t. nodes are the counts of the node types a, b
// and _N. Few nodes have many of the edges.
func Write(t testing.TB, out string, nodes map[string]int, edges []Edges, opt assemble.Options) {
	t.Helper()
	writeGraph(t, out, nodes, edges, opt, func(name string, n int) assemble.Nodes { return assemble.Nodes{Type: name, Count: uint64(n)} })
}

// WriteRows is Write with the columns x (float32, 3 values) and k (int64) of nodes, whose values are random.
func WriteRows(t testing.TB, out string, nodes map[string]int, edges []Edges, opt assemble.Options) {
	t.Helper()
	writeGraph(t, out, nodes, edges, opt, func(name string, n int) assemble.Nodes {
		r := rand.New(rand.NewPCG(uint64(n), 9))
		x, k := make([]float32, 3*n), make([]int64, n)
		for i := range k {
			x[3*i], x[3*i+1], x[3*i+2], k[i] = r.Float32(), r.Float32(), r.Float32(), r.Int64N(5)
		}
		return assemble.Nodes{Type: name, Columns: []table.Column{{Name: "x", DType: graph.Float32, Shape: []int{3}}, {Name: "k", DType: graph.Int64}},
			Table: &memoryTable{n, []table.Field{{Name: "x", DType: graph.Float32, Shape: []int{3}}, {Name: "k", DType: graph.Int64}}, [][]byte{graph.Bytes(x), graph.Bytes(k)}}}
	})
}

func writeGraph(t testing.TB, out string, nodes map[string]int, edges []Edges, opt assemble.Options, of func(name string, n int) assemble.Nodes) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	var in assemble.Input
	for _, name := range []string{"a", "b", graph.HomogeneousNode} {
		if n, ok := nodes[name]; ok {
			in.Nodes = append(in.Nodes, of(name, n))
		}
	}
	for _, e := range edges {
		end := func(name string) table.Column { return table.Column{Name: name, DType: graph.Uint64, ID: true} }
		in.Edges = append(in.Edges, assemble.Edges{Type: graph.EdgeType{Src: e.Src, Rel: e.Rel, Dst: e.Dst}, Table: randomEdges(r, e.Count, nodes[e.Src], nodes[e.Dst]),
			Src: end("src"), Dst: end("dst"), Columns: []table.Column{{Name: "w", DType: graph.Float32}, {Name: "t", DType: graph.Int64}}})
	}
	writeStore(t, out, in, opt)
}

// writeStore writes a store with all the edges of in.
func writeStore(t testing.TB, out string, in assemble.Input, opt assemble.Options) {
	t.Helper()
	opt.DuplicateEdges, opt.SelfLoops, opt.Threads = assemble.Keep, assemble.Keep, 2
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	result, err := assemble.Build(t.Context(), vfs.OS, w, in, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Seal(t.Context(), result.Meta, 1), w.Publish()); err != nil {
		t.Fatal(err)
	}
}

// Plan is a random plan over a store's types.
func Plan(t *rapid.T, g *graph.Graph) *sample.Plan {
	p := &sample.Plan{
		Scope:  sample.Scope(rapid.IntRange(0, 2).Draw(t, "scope")),
		Expand: sample.Expand(rapid.IntRange(0, 1).Draw(t, "expand")),
	}
	types := func() string { return g.Nodes[rapid.IntRange(0, len(g.Nodes)-1).Draw(t, "seed type")].Type }
	p.SeedType = []string{types()}
	if rapid.IntRange(0, 3).Draw(t, "link") == 0 {
		e := g.Edges[rapid.IntRange(0, len(g.Edges)-1).Draw(t, "seed edges")].Type
		p.SeedType, p.SeedEdges = []string{e.Src, e.Dst}, e.String()
		if how := rapid.IntRange(0, 4).Draw(t, "negatives"); how < 4 {
			p.Negatives = &sample.Negatives{How: sample.Corruption(how), Each: float64(rapid.IntRange(1, 3).Draw(t, "each"))}
			if p.Negatives.How != sample.Listed && rapid.Bool().Draw(t, "a fraction") {
				p.Negatives.Each -= rapid.SampledFrom([]float64{0.75, 0.25}).Draw(t, "less")
			}
			if p.Negatives.How == sample.InBatch && p.Scope == sample.ScopeSeed {
				p.Negatives.How = sample.Triplet
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		p.Kind = sample.Bidirectional
	}
	if p.Scope == sample.ScopeSeed && rapid.Bool().Draw(t, "timed") {
		p.Before = &sample.Before{Column: "t", OrEqual: rapid.Bool().Draw(t, "or equal")}
		if e := g.Edges[0].Type.String(); rapid.IntRange(0, 3).Draw(t, "columns") == 0 {
			p.Before.Column, p.Before.Columns = "", map[string]string{e: "t"}
		}
		if rapid.Bool().Draw(t, "bounded") {
			p.Before.Window = float64(rapid.IntRange(1, 60).Draw(t, "window"))
		}
	}
	reach := [][]string{p.SeedType}
	for range rapid.IntRange(0, 5).Draw(t, "ops") {
		if op, far := drawOp(t, g, reach); op != nil {
			p.Ops = append(p.Ops, *op)
			reach = append(reach, []string{far})
		}
	}
	return p
}

// drawOp is a random op from frontiers of the types that reach lists, and the type of its far ends; nil where none is possible.
func drawOp(t *rapid.T, g *graph.Graph, reach [][]string) (_ *sample.Op, far string) {
	e := g.Edges[rapid.IntRange(0, len(g.Edges)-1).Draw(t, "edges")]
	op := sample.Op{Edges: e.Type.String(), Take: rapid.SampledFrom([]int{0, 1, 2, 3, 7, 7, 7}).Draw(t, "take")}
	for d := range graph.Direction(2) {
		if e.Adj[d] != nil && (op.Dir == 0 || rapid.Bool().Draw(t, "dir")) {
			op.Dir = d
		}
	}
	if e.Adj[op.Dir] == nil {
		return nil, ""
	}
	for f, has := range reach {
		if slices.Contains(has, e.Type.Near(op.Dir)) && (len(op.From) == 0 || rapid.Bool().Draw(t, "from")) {
			op.From = append(op.From, f)
		}
	}
	if len(op.From) == 0 {
		return nil, ""
	}
	if len(op.From) == 1 && op.From[0] == 0 && rapid.IntRange(0, 3).Draw(t, "all") == 0 {
		op.Take = sample.All
	}
	op.How = sample.How(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, int(sample.Recent)}).Draw(t, "how"))
	if op.How == sample.Weighted || op.How == sample.Top {
		op.Column = "w"
	}
	if op.How == sample.Top && rapid.Bool().Draw(t, "last") {
		op.Column = "t"
	}
	if op.How == sample.Recent {
		op.Column, op.HalfLife = "t", float64(rapid.IntRange(1, 40).Draw(t, "half-life"))
	}
	return &op, e.Type.Far(op.Dir)
}

// Job is random seeds for a plan.
func Job(t *rapid.T, g *graph.Graph, p *sample.Plan) sample.Job {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seeds"), 1))
	j := sample.Job{
		BatchSize: rapid.IntRange(1, 40).Draw(t, "batch size"), Seed: uint64(rapid.IntRange(0, 99).Draw(t, "seed")),
		Epoch: uint64(rapid.IntRange(0, 3).Draw(t, "epoch")), Epochs: rapid.IntRange(1, 3).Draw(t, "epochs"),
		Shuffle: rapid.Bool().Draw(t, "shuffle"), Ranks: rapid.IntRange(1, 2).Draw(t, "ranks"),
	}
	if p.Before != nil {
		j.Times = []sample.Time{}
	}
	count := rapid.IntRange(0, 100).Draw(t, "count")
	for _, typ := range p.SeedType {
		if g.Nodes[g.NodeType(typ)].Count == 0 {
			count = 0
		}
	}
	if p.Negatives != nil && p.Negatives.How == sample.InBatch { // no batch may have one link
		j.BatchSize = max(j.BatchSize, 2)
		if count%j.BatchSize == 1 {
			count++
		}
	}
	for range count {
		for _, typ := range p.SeedType {
			j.Seeds = append(j.Seeds, uint32(r.IntN(g.Nodes[g.NodeType(typ)].Count)))
		}
		if p.Before != nil {
			j.Times = append(j.Times, sample.IntTime(r.Int64N(100)))
		}
	}
	if p.Negatives != nil && p.Negatives.How == sample.Listed {
		j.Negatives = lists(t, r, g, p, count)
	}
	j.Rank = rapid.IntRange(0, j.Ranks-1).Draw(t, "rank")
	return j
}

// KeepFirst leaves the first seeds of a job, at most n, with their times and lists of negatives. A job whose negatives come from the other links of a batch keeps all, since no batch of it may
// have one link.
func KeepFirst(p *sample.Plan, j *sample.Job, n int) {
	seeds := len(j.Seeds) / len(p.SeedType)
	if n >= seeds || p.Negatives != nil && p.Negatives.How == sample.InBatch {
		return
	}
	j.Negatives = j.Negatives.First(n, seeds)
	j.Seeds = j.Seeds[:n*len(p.SeedType)]
	if j.Times != nil {
		j.Times = j.Times[:n]
	}
}

// lists is random negatives for a number of links, as many for each or not.
func lists(t *rapid.T, r *rand.Rand, g *graph.Graph, p *sample.Plan, links int) sample.NegativeLists {
	out := sample.NegativeLists{Targets: rapid.Bool().Draw(t, "targets alone")}
	uneven := rapid.Bool().Draw(t, "uneven lists")
	for range links {
		n := p.Negatives.Most()
		if uneven {
			n = r.IntN(n + 1)
		}
		for range n {
			for end, typ := range p.SeedType {
				if v := uint32(r.IntN(g.Nodes[g.NodeType(typ)].Count)); end == 1 || !out.Targets {
					out.Nodes = append(out.Nodes, v)
				}
			}
		}
		if uneven {
			out.Ends = append(out.Ends, uint64(out.Len()))
		}
	}
	return out
}
