package structure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// Exact return probabilities have the same bits however steps are made.
func TestWaysOfSteps(t *testing.T) {
	before := perAlone
	t.Cleanup(func() { perAlone = before })
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		nodes, reach := rapid.IntRange(1, 300).Draw(t, "nodes"), rapid.IntRange(1, 300).Draw(t, "reach")
		e := refEdges{}
		for range rapid.IntRange(0, 4*nodes).Draw(t, "edges") {
			u := r.IntN(nodes)
			e.Src, e.Dst = append(e.Src, u), append(e.Dst, (u+r.IntN(reach))%nodes)
		}
		s := Spec{Structure: RandomWalkPE, Method: Exact, Steps: rapid.IntRange(1, 12).Draw(t, "steps"), Direction: rapid.SampledFrom([]string{Both, Out, In}).Draw(t, "direction")}
		var want []float64
		for _, perAlone = range []int64{before, 1, 1 << 40} {
			got := returnsOf(t, e, nodes, s)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d: found %v, expected %v", perAlone, got, want)
			}
		}
	})
}

// returnsOf computes the probabilities of all nodes.
func returnsOf(t *rapid.T, e refEdges, nodes int, s Spec) []float64 {
	j := newJob(t, oneType(nodes, e), s)
	defer j.close()
	rows, err := j.newReturnRows(t.Context(), nil, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.close(); err != nil {
			t.Fatal(err)
		}
	}()
	rows.setInverse()
	result, err := j.eachReturner(t.Context(), rows, 1)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// BenchmarkReturns takes the exact return probabilities of 16 steps of as many nodes as share a sweep.
func BenchmarkReturns(b *testing.B) {
	for _, c := range []struct {
		name         string
		nodes, edges int
	}{{"small", 5000, 50000}, {"large", 100000, 1000000}} {
		b.Run(c.name, func(b *testing.B) {
			j := newJob(b, oneType(c.nodes, uniform(c.nodes, c.edges)), Spec{Structure: RandomWalkPE, Steps: 16, Method: Exact})
			defer j.close()
			rows, err := j.newReturnRows(b.Context(), nil, 1<<40)
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := rows.close(); err != nil {
					b.Fatal(err)
				}
			}()
			rows.setInverse()
			r, err := j.newReturner(rows)
			if err != nil {
				b.Fatal(err)
			}
			nodes, out := make([]uint32, lanes), make([]float64, 16*lanes)
			first := 0
			done := 0
			for b.Loop() {
				done += len(nodes)
				for i := range nodes {
					nodes[i] = uint32(first + i)
				}
				first = (first + lanes) % (c.nodes - lanes)
				if err := r.block(b.Context(), nodes, 16, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(done), "us/node")
		})
	}
}

// uniform is random edges.
func uniform(nodes, edges int) (e refEdges) {
	r := rand.New(rand.NewPCG(1, uint64(nodes)))
	for range edges {
		e.Src, e.Dst = append(e.Src, r.IntN(nodes)), append(e.Dst, r.IntN(nodes))
	}
	return e
}

// oneType is a graph of one type of nodes and one of edges.
func oneType(nodes int, e refEdges) *graph.Graph {
	g, _ := (&refGraph{Nodes: map[string]int{"a": nodes}, Edges: map[string]refEdges{"a:r:a": e}}).build(func(int) graph.Direction { return graph.In }, false)
	return g
}

// newJob is the job of a Spec for the nodes of a graph of one type.
func newJob(t rapid.TB, g *graph.Graph, s Spec) *job {
	node, types, err := s.resolve(g, "a")
	if err != nil {
		t.Fatal(err)
	}
	q, err := newSquare(g, node, types, s, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &job{square: q, spec: s, result: &Result{Method: Exact}}
}
