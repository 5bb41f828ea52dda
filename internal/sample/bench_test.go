package sample

import (
	"context"
	"flag"
	"fmt"
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
				edges, seconds, err := Bench(context.Background(), s, job, max(b.N, 100))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(edges)/seconds/1e6, "Medges/s")
			})
		}
		s.Close()
	}
}
