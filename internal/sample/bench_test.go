package sample

import (
	"context"
	"flag"
	"fmt"
	"sort"
	"testing"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

var benchScale = flag.Int("rmat-scale", 20, "scale of the R-MAT graph of the benchmarks (edge factor 16)")

// rmatGraph is the R-MAT graph by destination, in input order within a node, and its nodes with in-edges.
func rmatGraph(tb testing.TB, scale, factor int) (*graph.Graph, []uint32) {
	m, err := draw.NewRMAT(42, scale)
	if err != nil {
		tb.Fatal(err)
	}
	n, e := 1<<scale, factor<<scale
	src, dst := make([]uint32, e), make([]uint32, e)
	m.Fill(src, dst, 0)
	indptr, far := make([]uint32, n+1), make([]uint32, e)
	for _, v := range dst {
		indptr[v+1]++
	}
	var seeds []uint32
	for i := range n {
		if indptr[i+1] > 0 {
			seeds = append(seeds, uint32(i))
		}
		indptr[i+1] += indptr[i]
	}
	at := append([]uint32(nil), indptr...)
	for i, v := range dst {
		far[at[v]] = src[i]
		at[v]++
	}
	edges := &graph.Edges{Type: graph.HomogeneousEdge, Count: e}
	edges.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: n}}, Edges: []*graph.Edges{edges}}, seeds
}

// BenchmarkRMAT is the figure of `graphmill bench sample` without the store: sampled edges per second at fanout 15,10,
// batch size 1024, with edge ids.
func BenchmarkRMAT(b *testing.B) {
	g, seeds := rmatGraph(b, *benchScale, 16)
	plan, err := FromFanouts(g, Fanouts{Each: []int{15, 10}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch})
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []relabelKind{relabelAuto, relabelDirect, relabelWide, relabelNarrow} {
		s, err := New(g, plan, Options{Memory: 4 << 30})
		if err != nil {
			b.Fatal(err)
		}
		s.relabel = kind
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("relabel=%d/threads=%d", kind, threads), func(b *testing.B) {
				job := Job{Seeds: seeds, BatchSize: 1024, Shuffle: true, Threads: threads}
				timed, seconds, err := Bench(context.Background(), s, job, max(b.N, 100))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(timed.Drawn)/seconds/1e6, "Medges/s")
			})
		}
		s.Close()
	}
}

// BenchmarkLinks compares batches of links with batches of as many nodes: with negatives, with an exclusion, with both.
func BenchmarkLinks(b *testing.B) {
	g, _ := rmatGraph(b, *benchScale, 16)
	e := g.Edges[0]
	a := e.Adj[e.Primary]
	var links, nodes []uint32
	for i := range uint64(1 << 17) {
		id := int(draw.Below(draw.At(1, i), uint64(e.Count)))
		near := uint32(sort.Search(len(a.Indptr.U32)-1, func(v int) bool { return int(a.Indptr.U32[v+1]) > id }))
		links = append(links, a.Far.U32[id], near)
	}
	nodes = links
	for _, kind := range []struct {
		name  string
		dir   graph.Direction
		plan  Plan
		seeds []uint32
		size  int
	}{
		{"nodes", graph.In, Plan{SeedType: []string{graph.HomogeneousNode}}, nodes, 1024},
		{"links", graph.In, Plan{}, links, 512},
		{"exclude", graph.In, Plan{Exclude: &Exclude{}}, links, 512},
		{"exclude both", graph.In, Plan{Exclude: &Exclude{e.Type.String()}}, links, 512},
		{"links, out", graph.Out, Plan{}, links, 512},
		{"exclude, out", graph.Out, Plan{Exclude: &Exclude{}}, links, 512},
		{"negatives", graph.In, Plan{Negatives: &Negatives{How: Binary, Each: 1}}, links, 256},
		{"negatives by degree", graph.In, Plan{Negatives: &Negatives{How: Binary, Each: 1, By: ByDegree}}, links, 256},
		{"strict", graph.In, Plan{Negatives: &Negatives{How: Binary, Each: 1, Strict: StrictCount}}, links, 256},
		{"all", graph.In, Plan{Negatives: &Negatives{How: Binary, Each: 1}, Exclude: &Exclude{}}, links, 256},
	} {
		plan, err := FromFanouts(g, Fanouts{Each: []int{15, 10}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Dir: kind.dir})
		if err != nil {
			b.Fatal(err)
		}
		if kind.plan.SeedType == nil {
			plan.SeedType, plan.SeedEdges = []string{graph.HomogeneousNode, graph.HomogeneousNode}, e.Type.String()
		}
		plan.Exclude, plan.Negatives = kind.plan.Exclude, kind.plan.Negatives
		s, err := New(g, plan, Options{Memory: 4 << 30})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(kind.name, func(b *testing.B) {
			_, seconds, err := Bench(context.Background(), s, Job{Seeds: kind.seeds, BatchSize: kind.size, Shuffle: true, Threads: 1}, max(b.N, 100))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(max(b.N, 100))/seconds, "batches/s")
		})
		s.Close()
	}
}

// BenchmarkExpand compares the ways to expand, in edges drawn per second. Repeats are found by node, and by a set of edges.
func BenchmarkExpand(b *testing.B) {
	g, seeds := rmatGraph(b, *benchScale, 16)
	for _, way := range []struct {
		name   string
		expand Expand
		set    bool
	}{{"new", ExpandNew, false}, {"all", ExpandAll, false}, {"all, by a set", ExpandAll, true}} {
		plan, err := FromFanouts(g, Fanouts{Each: []int{15, 10}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Expand: way.expand})
		if err != nil {
			b.Fatal(err)
		}
		s, err := New(g, plan, Options{Memory: 4 << 30})
		if err != nil {
			b.Fatal(err)
		}
		if way.set {
			for i := range s.ops {
				s.ops[i].oneWay = false
			}
		}
		b.Run(way.name, func(b *testing.B) {
			timed, seconds, err := Bench(context.Background(), s, Job{Seeds: seeds, BatchSize: 1024, Shuffle: true, Threads: 1}, max(b.N, 100))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(timed.Drawn)/seconds/1e6, "Medges/s")
		})
		s.Close()
	}
}

// BenchmarkWeighted compares draws in proportion to weights with uniform ones.
func BenchmarkWeighted(b *testing.B) {
	g, seeds := rmatGraph(b, *benchScale, 16)
	e := g.Edges[0]
	weights := make([]float32, e.Count)
	for i := range weights {
		weights[i] = float32(draw.Unit(draw.At(1, uint64(i))))
	}
	e.Columns = []*graph.Column{{Name: "w", DType: graph.Float32, Rows: e.Count, Values: graph.Bytes(weights)}}
	for _, c := range []struct {
		name   string
		how    How
		column string
	}{{"uniform", Uniform, ""}, {"weighted", Weighted, "w"}} {
		plan, err := FromFanouts(g, Fanouts{Each: []int{15, 10}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, How: c.how, Column: c.column})
		if err != nil {
			b.Fatal(err)
		}
		s, err := New(g, plan, Options{Memory: 4 << 30})
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				job := Job{Seeds: seeds, BatchSize: 1024, Shuffle: true, Threads: threads}
				timed, seconds, err := Bench(context.Background(), s, job, max(b.N, 100))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(timed.Drawn)/seconds/1e6, "Medges/s")
			})
		}
		s.Close()
	}
}
