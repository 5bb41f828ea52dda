package sample

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
)

// byDegree returns a graph of one type with its nodes renumbered by falling number of out-edges, so that the neighbours that
// are drawn most often lie together.
func byDegree(g *graph.Graph) *graph.Graph {
	adj, n := g.Edges[0].Adj[graph.In], g.Nodes[0].Count
	degrees, order, to := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for _, far := range adj.Far.U32 {
		degrees[far]++
	}
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(degrees[b], degrees[a]) })
	for i, v := range order {
		to[v] = uint32(i)
	}
	indptr, far := make([]uint32, 1, n+1), make([]uint32, 0, len(adj.Far.U32))
	for _, v := range order {
		for _, f := range adj.Far.U32[adj.Indptr.U32[v]:adj.Indptr.U32[v+1]] {
			far = append(far, to[f])
		}
		indptr = append(indptr, uint32(len(far)))
	}
	edges := &graph.Edges{Type: graph.HomogeneousEdge, Count: len(far)}
	edges.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: n}}, Edges: []*graph.Edges{edges}}
}

// BenchmarkOrder measures what an order of the nodes by degree, and huge pages, would gain (docs/benchmarks.md, "Larger
// graphs"): go test ./internal/sample -run - -bench Order -rmat-scale 24
func BenchmarkOrder(b *testing.B) {
	for _, order := range []string{"plain", "degree"} {
		g, _ := rmatGraph(b, *benchScale, 16)
		if order == "degree" {
			g = byDegree(g)
		}
		adj := g.Edges[0].Adj[graph.In]
		var seeds []uint32
		for v, end := range adj.Indptr.U32[1:] {
			if end > adj.Indptr.U32[v] {
				seeds = append(seeds, uint32(v))
			}
		}
		for _, pages := range []string{"small", "huge"} {
			if pages == "huge" {
				adj.Indptr.U32, adj.Far.U32 = onHugePages(b, adj.Indptr.U32), onHugePages(b, adj.Far.U32)
			}
			plan, err := FromFanouts(g, Fanouts{Each: []int{15, 10}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch})
			if err != nil {
				b.Fatal(err)
			}
			s, err := New(g, plan, Options{})
			if err != nil {
				b.Fatal(err)
			}
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/%s/threads=%d", order, pages, threads), func(b *testing.B) {
					timed, seconds, err := Bench(b.Context(), s, Job{Seeds: seeds, BatchSize: 1024, Shuffle: true, Threads: threads}, max(b.N, 100))
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(timed.Drawn)/seconds/1e6, "Medges/s")
				})
			}
			s.Close()
		}
	}
}

// onHugePages copies values to huge pages, which stay until the benchmark ends.
func onHugePages(b *testing.B, values []uint32) []uint32 {
	p, free, err := direct.Array[uint32](len(values))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(free)
	copy(p, values)
	return p
}
