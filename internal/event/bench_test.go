package event

import (
	"math/rand/v2"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// BenchmarkMake makes batches of 200 of a million events of 10,000 nodes with their 10 latest neighbours, the shape of the study.
func BenchmarkMake(b *testing.B) {
	const events, nodes, batch = 1_000_000, 10_000, 200
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
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: nodes}}, Edges: []*graph.Edges{{
		Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: events, Columns: []*graph.Column{c},
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: degree}, Far: graph.Index{U32: far}}}}}}
	s, err := Open(b.Context(), g, []Source{{Time: c}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for name, history := range map[string]History{"event": BeforeEvent, "batch": BeforeBatch, "pyg": LikePyG} {
		b.Run(name, func(b *testing.B) {
			m := NewMaker(s.Divide(batch, false), Options{Neighbours: 10, History: history})
			for b.Loop() {
				for at := range events / batch {
					m.Make(0, at)
				}
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
