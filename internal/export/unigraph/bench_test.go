package unigraph_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/store"
)

// BenchmarkFromGraph writes a million edges between nodes with ids.
func BenchmarkFromGraph(b *testing.B) {
	const nodes, degree = 1 << 16, 16
	g := &graph.Graph{}
	n := &graph.Nodes{Type: "n", Count: nodes, IDs: &graph.Column{Name: "#id", DType: graph.String, Rows: nodes}}
	var ends, far, of []uint32
	for i := range nodes {
		n.IDs.Values = fmt.Appendf(n.IDs.Values, "node-%d", i)
		ends = append(ends, uint32(len(n.IDs.Values)))
		for j := range degree {
			far = append(far, uint32(i*7919+j*104729)%nodes)
		}
		of = append(of, uint32(len(far)))
	}
	n.IDs.StringOffsets = index(ends)
	g.Nodes = []*graph.Nodes{n}
	e := &graph.Edges{Type: graph.EdgeType{Src: "n", Rel: "e", Dst: "n"}, Count: len(far), Primary: graph.Out}
	e.Adj[graph.Out] = &graph.Adjacency{Indptr: index(of), Far: graph.Index{U32: far}}
	g.Edges = []*graph.Edges{e}
	for _, f := range formats {
		b.Run(f.String(), func(b *testing.B) {
			for b.Loop() {
				if err := publish(filepath.Join(b.TempDir(), "out"), func(w *store.Writer) error {
					_, err := unigraph.FromGraph(ctx, disk, w, g, nil, unigraph.Options{Format: f, Shards: 4, Threads: 2})
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(e.Count)*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
		})
	}
}
