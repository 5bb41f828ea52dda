package walk

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a graph of one type with the given out-edges.
func small(nodes int, edges [][2]uint32) *graph.Graph {
	indptr, far := make([]uint32, nodes+1), []uint32{}
	for v := range nodes {
		for _, e := range edges {
			if e[0] == uint32(v) {
				far = append(far, e[1])
			}
		}
		indptr[v+1] = uint32(len(far))
	}
	e := &graph.Edges{Type: graph.HomogeneousEdge, Primary: graph.Out, Count: len(far)}
	e.Adj[graph.Out] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: nodes}}, Edges: []*graph.Edges{e}}
}

// kite is a triangle 0 1 2 with a tail 2 3 4, both directions.
func kite() *graph.Graph {
	var edges [][2]uint32
	for _, e := range [][2]uint32{{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}} {
		edges = append(edges, e, [2]uint32{e[1], e[0]})
	}
	return small(5, edges)
}

// TestNode2vec compares the frequencies of third nodes with the probabilities of the paper (Grover and Leskovec 2016, section
// 3.2.2), also where every try may be refused and the step is drawn exactly.
func TestNode2vec(t *testing.T) {
	g := kite()
	adj := g.Edges[0].Adj[graph.Out]
	list := func(v uint32) []uint32 { return adj.Far.U32[adj.Indptr.U32[v]:adj.Indptr.U32[v+1]] }
	for _, pq := range [][2]float64{{1, 1}, {0.25, 4}, {4, 0.25}, {1e6, 1e6}, {1e-6, 1}, {3, 1e6}} {
		w := compile(t, g, Rules{Length: 2, P: pq[0], Q: pq[1], Dir: graph.Out}, 1)
		starts := make([]uint32, 200000)
		numbers := make([]uint32, len(starts))
		for i := range starts {
			starts[i], numbers[i] = uint32(i%5), uint32(i/5)
		}
		nodes := make([]uint32, 3*len(starts))
		if err := w.NewContext().Walk(Job{Seed: 7}, starts, numbers, nodes, nil); err != nil {
			t.Fatal(err)
		}
		found := map[[3]uint32]float64{}
		for i := range starts {
			found[[3]uint32(nodes[3*i:3*i+3])]++
		}
		for a := range uint32(5) {
			for _, b := range list(a) {
				sum, bias := 0.0, map[uint32]float64{}
				for _, c := range list(b) {
					x := 1 / pq[1]
					if c == a {
						x = 1 / pq[0]
					} else if slices.Contains(list(a), c) {
						x = 1
					}
					bias[c] = x
					sum += x
				}
				for c, x := range bias {
					want := float64(len(starts)) / 5 / float64(len(list(a))) * x / sum
					if got := found[[3]uint32{a, b, c}]; math.Abs(got-want) > 5*math.Sqrt(want)+3 {
						t.Errorf("p %g, q %g: found %g walks %d, %d, %d, expected about %.0f", pq[0], pq[1], got, a, b, c, want)
					}
				}
			}
		}
	}
}

// TestChances compares the lengths of walks, and the visits of their start, with the chances to stop and to restart.
func TestChances(t *testing.T) {
	var ring [][2]uint32
	for v := range uint32(1000) {
		ring = append(ring, [2]uint32{v, (v + 1) % 1000})
	}
	const walks, length = 50000, 10
	w := compile(t, small(1000, ring), Rules{Length: length, Stop: 0.1, Restart: 0.3, Dir: graph.Out}, 1)
	starts, numbers := make([]uint32, walks), make([]uint32, walks)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	nodes, edges := make([]uint32, walks*(length+1)), make([]uint64, walks*length)
	if err := w.NewContext().Walk(Job{}, starts, numbers, nodes, edges); err != nil {
		t.Fatal(err)
	}
	alive, steps, restarts := 0, 0, 0
	for i := range numbers {
		row, ids := nodes[i*(length+1):(i+1)*(length+1)], edges[i*length:(i+1)*length]
		for j := 1; j <= length && row[j-1] != None; j++ {
			alive++
			switch {
			case row[j] == None:
			case ids[j-1] == NoEdge:
				restarts++
				if row[j] != 0 {
					t.Fatalf("found node %d after a restart, expected the start", row[j])
				}
			default:
				steps++
				if row[j] != (row[j-1]+1)%1000 || ids[j-1] != uint64(row[j-1]) {
					t.Fatalf("found a step from %d to %d by edge %d", row[j-1], row[j], ids[j-1])
				}
			}
		}
	}
	for name, x := range map[string][2]float64{"restarts": {float64(restarts), 0.3}, "steps": {float64(steps), 0.6}} {
		if got := x[0] / float64(alive); math.Abs(got-x[1]) > 0.005 {
			t.Errorf("found a share of %.4f %s, expected %.1f", got, name, x[1])
		}
	}
}

// TestWalksStandAlone checks that a walk is the same whatever other walks are made with it.
func TestWalksStandAlone(t *testing.T) {
	g := rmat(t, 10)
	for _, r := range []Rules{{Length: 9, Dir: graph.Out}, {Length: 9, P: 0.5, Q: 2}, {Length: 9, Stop: 0.1, Restart: 0.1}} {
		w := compile(t, g, r, 3)
		rapid.Check(t, func(rt *rapid.T) {
			n := rapid.IntRange(1, 700).Draw(rt, "walks")
			job := Job{rapid.Uint64().Draw(rt, "seed"), 3}
			starts, numbers := make([]uint32, n), make([]uint32, n)
			shift := rapid.Uint64().Draw(rt, "starts")
			for i := range starts {
				starts[i], numbers[i] = uint32(draw.Below(draw.At(shift, uint64(i)), 1024)), uint32(draw.Below(draw.At(^shift, uint64(i)), 5))
			}
			nodes := make([]uint32, 10*n)
			c := w.NewContext()
			if err := c.Walk(job, starts, numbers, nodes, nil); err != nil {
				rt.Fatal(err)
			}
			one := make([]uint32, 10)
			for range 5 {
				i := rapid.IntRange(0, n-1).Draw(rt, "walk")
				if err := c.Walk(job, starts[i:i+1], numbers[i:i+1], one, nil); err != nil {
					rt.Fatal(err)
				}
				if !slices.Equal(one, nodes[10*i:10*(i+1)]) {
					rt.Fatalf("found %v alone, %v among %d walks", one, nodes[10*i:10*(i+1)], n)
				}
			}
		})
	}
}

// TestBadRules names what is wrong.
func TestBadRules(t *testing.T) {
	g := (&refGraph{Nodes: map[string]int{"a": 2, "b": 2}, Edges: map[string]map[string][]*float64{
		"a:to:b": {"src": nil, "dst": nil}, "b:back:a": {"src": nil, "dst": nil}, "a:in:a": {"src": nil, "dst": nil}}}).build()
	for _, test := range []struct {
		rules Rules
		text  string
	}{
		{Rules{}, "found 3 edge types and no `Metapath`"},
		{Rules{Path: []string{"to"}, Dir: graph.Out, Length: 2}, "found a:to:b, which leads to b, before a:to:b, which starts from a"},
		{Rules{Path: []string{"to", "in"}, Dir: graph.Out}, "found a:to:b, which leads to b, before a:in:a"},
		{Rules{Path: []string{"nothing"}}, "`Metapath`"},
		{Rules{Path: []string{"in"}, P: -1}, "found `P` -1"},
		{Rules{Path: []string{"in"}, P: math.NaN()}, "found `P` NaN"},
		{Rules{Path: []string{"in"}, Q: 1e7}, "found `Q` 1e+07, expected 1e-06 to 1e+06"},
		{Rules{Path: []string{"in"}, Stop: 1.5}, "found `Stop` 1.5"},
		{Rules{Path: []string{"in"}, Stop: 0.6, Restart: 0.6}, "found `Stop`, `End` and `Restart` 1.2"},
		{Rules{Path: []string{"to", "back"}, Dir: graph.Out, Q: 2}, "expected one edge type within one node type"},
		{Rules{Path: []string{"to"}, Dir: graph.Out, Restart: 0.5}, "expected one edge type within one node type"},
		{Rules{Path: []string{"in"}, Column: "w2"}, "found `Weight` w2, which is no column of a:in:a"},
		{Rules{Path: []string{"in"}, Length: -1}, "found `Length` -1"},
		{Rules{Path: []string{"in"}, Length: MaxLength + 1}, "expected 1 to 1048576"},
	} {
		if _, err := Plan(g, test.rules); !errors.Is(err, ErrRules) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: found %v, expected %s", test.rules, err, test.text)
		}
	}
	w := compile(t, kite(), Rules{}, 1)
	if err := w.NewContext().Walk(Job{}, []uint32{5}, []uint32{0}, make([]uint32, 2), nil); err == nil || !strings.Contains(err.Error(), "found start node 5") {
		t.Errorf("found %v, expected a bad start", err)
	}
}

// rmat is an R-MAT graph with 16 edges per node.
func rmat(tb testing.TB, scale int) *graph.Graph {
	m, err := draw.NewRMAT(42, scale)
	if err != nil {
		tb.Fatal(err)
	}
	n := 1 << scale
	src, dst := make([]uint32, 16*n), make([]uint32, 16*n)
	m.Fill(src, dst, 0)
	indptr, far := make([]uint32, n+1), make([]uint32, len(dst))
	for _, v := range dst {
		indptr[v+1]++
	}
	for i := range n {
		indptr[i+1] += indptr[i]
	}
	at := slices.Clone(indptr)
	for i, v := range dst {
		far[at[v]] = src[i]
		at[v]++
	}
	e := &graph.Edges{Type: graph.HomogeneousEdge, Count: len(far)}
	e.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: far}}
	return &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: n}}, Edges: []*graph.Edges{e}}
}

// BenchmarkWalk measures steps per second of one thread, walks of length 80 over an R-MAT graph of scale 20.
func BenchmarkWalk(b *testing.B) {
	g := rmat(b, 20)
	const length, batch = 80, 4096
	for _, way := range []struct {
		name  string
		rules Rules
	}{{"uniform", Rules{Length: length}}, {"node2vec", Rules{Length: length, P: 0.5, Q: 0.5}}, {"node2vec, q=2", Rules{Length: length, P: 4, Q: 2}}} {
		w := compile(b, g, way.rules, 2)
		b.Run(way.name, func(b *testing.B) {
			starts, numbers, nodes := make([]uint32, batch), make([]uint32, batch), make([]uint32, batch*(length+1))
			c, steps := w.NewContext(), 0
			for k := range b.N {
				for i := range starts {
					starts[i] = uint32(draw.Below(draw.At(uint64(k), uint64(i)), 1<<20))
				}
				if err := c.Walk(Job{}, starts, numbers, nodes, nil); err != nil {
					b.Fatal(err)
				}
				for _, v := range nodes {
					if v != None {
						steps++
					}
				}
				steps -= batch
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
		})
	}
}
