// Package eventtest makes graphs with events for tests and benchmarks.
package eventtest

import (
	"math/rand/v2"

	"github.com/graphmill/graphmill/graph"
)

// Random is a graph of one type of nodes and one of edges, with random ends. Its column time has each number below the number of events once, in random order.
func Random(events, nodes int) (*graph.Graph, *graph.Column) {
	r := rand.New(rand.NewPCG(5, 6))
	degree, far := make([]uint32, nodes+1), make([]uint32, 0, events)
	for range events {
		degree[r.IntN(nodes)+1]++
		far = append(far, uint32(r.IntN(nodes)))
	}
	for v := range nodes {
		degree[v+1] += degree[v]
	}
	times := make([]int64, events)
	for i, at := range r.Perm(events) {
		times[i] = int64(at)
	}
	c := &graph.Column{Name: "time", DType: graph.Int64, Rows: events, Values: graph.Bytes(times)}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: nodes}}, Edges: []*graph.Edges{{
		Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: events, Columns: []*graph.Column{c},
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: degree}, Far: graph.Index{U32: far}}}}}}, c
}
