package partition_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// typed returns a store whose node types have these numbers of nodes. Each node has in-edges from a few nodes of the
// next type, listed by destination, or of every other type by source.
func typed(counts []int, edges func(n int) int) *store.Store {
	g := &graph.Graph{}
	name := func(t int) string { return fmt.Sprintf("t%02d", t%len(counts)) }
	for t, n := range counts {
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: name(t), Count: n})
		e := &graph.Edges{Type: graph.EdgeType{Src: name(t + 1), Rel: "r", Dst: name(t)}, Primary: graph.In}
		ptr, far := []uint64{0}, []uint64{}
		for range n {
			if from := counts[(t+1)%len(counts)]; from > 0 {
				for range edges(3) {
					far = append(far, uint64(edges(from-1)))
				}
			}
			ptr = append(ptr, uint64(len(far)))
		}
		e.Count, e.Adj[graph.In] = len(far), &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
		if t%2 == 1 {
			e.Primary, e.Adj[graph.Out] = graph.Out, transposed(e.Adj[graph.In], counts[(t+1)%len(counts)])
			e.Adj[graph.In] = nil
		}
		g.Edges = append(g.Edges, e)
	}
	return &store.Store{Dir: "typed", Graph: g}
}

// transposed lists the edges from n nodes by source.
func transposed(in *graph.Adjacency, n int) *graph.Adjacency {
	out := make([][]uint64, n)
	for v := range in.Indptr.Len() - 1 {
		for i := in.Indptr.At(v); i < in.Indptr.At(v+1); i++ {
			out[in.Far.At(int(i))] = append(out[in.Far.At(int(i))], uint64(v))
		}
	}
	ptr, far := []uint64{0}, []uint64{}
	for _, list := range out {
		far = append(far, list...)
		ptr = append(ptr, uint64(len(far)))
	}
	return &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
}

// destinations counts the nodes that edges of a type lead to.
func destinations(e *graph.Edges) int {
	seen := map[uint64]bool{}
	a := e.Adj[e.Primary]
	for v := range a.Indptr.Len() - 1 {
		for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
			if e.Primary == graph.In {
				seen[uint64(v)] = true
			} else {
				seen[a.Far.At(int(i))] = true
			}
		}
	}
	return len(seen)
}

// lacking lists, for each type that has nodes, the parts that have no node of it, from the assignment.
func lacking(r *partition.Result) (list []partition.Gap) {
	for t, name := range r.Assignment.Types {
		g := partition.Gap{Type: name, Nodes: int64(len(r.Assignment.Of(t)))}
		for p := range r.Assignment.Parts {
			if !slices.Contains(r.Assignment.Of(t), uint16(p)) {
				g.Parts = append(g.Parts, p)
			}
		}
		if g.Nodes > 0 && g.Parts != nil {
			list = append(list, g)
		}
	}
	return list
}

// By default every part has nodes of each type that has at least as many nodes as there are parts. This holds
// for every method that chooses, with the rows in memory and on disk, with trainers. Multilevel and fennel
// also give every part edges of each type that leads to at least as many nodes. The result lists the types
// that parts lack. Multilevel keeps the parts within their caps.
func TestEveryPartHasEveryType(t *testing.T) {
	holes, few := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 12), rapid.IntRange(20, 200)), 2, 5).Draw(rt, "nodes")
		s := typed(counts, func(n int) int { return rapid.IntRange(0, n).Draw(rt, "edges") })
		o := partition.Options{Parts: rapid.IntRange(1, 6).Draw(rt, "parts"), Trainers: rapid.IntRange(1, 3).Draw(rt, "trainers"), Seed: rapid.Uint64().Draw(rt, "seed"), Temp: t.TempDir()}
		o.Method = rapid.SampledFrom([]string{"", partition.Fennel, partition.Ranges, partition.Random, partition.Hash}).Draw(rt, "method")
		if o.Method != "" && rapid.Bool().Draw(rt, "on disk") {
			o.Memory = 1 << 30
			r, err := partition.Run(t.Context(), vfs.OS, s, o)
			if err != nil {
				rt.Fatal(err)
			}
			o.Memory = r.Forecast.Memory - 1
		}
		r, err := partition.Run(t.Context(), vfs.OS, s, o)
		if o.Memory > 0 && errors.Is(err, partition.ErrMemory) {
			return // the fewest bytes that it needs on disk
		}
		if err != nil {
			rt.Fatal(err)
		}
		want := lacking(r)
		if len(slices.DeleteFunc(slices.Clone(counts), func(n int) bool { return n == 0 })) < 2 {
			want = nil
		}
		if d := cmp.Diff(want, r.Gaps); d != "" {
			rt.Fatal(d)
		}
		for _, g := range r.Gaps {
			holes++
			if o.Method == partition.Hash {
				continue
			}
			if g.Nodes >= int64(o.Parts) || int64(o.Parts-len(g.Parts)) != g.Nodes && o.Method == partition.Random {
				rt.Fatalf("%s of %d nodes: parts %v of %d have none", g.Type, g.Nodes, g.Parts, o.Parts)
			}
		}
		for e, x := range r.Relations {
			if (o.Method == "" || o.Method == partition.Fennel || o.Method == partition.Ranges) && slices.Contains(x.Owned, 0) && destinations(s.Graph.Edges[e]) >= o.Parts {
				rt.Fatalf("%s: parts own %v edges, expected some in each", x.Type, x.Owned)
			}
			if x.Edges > 0 && slices.Contains(x.Owned, 0) {
				few++
			}
		}
		// Each type can be divided alone, so parts within the caps exist. Where nodes moved for the sake of edges, others moved back.
		if o.Method == "" && !r.Within {
			rt.Fatalf("found weights above the caps %v: %+v, %+v", r.Caps, r.Quality.Parts, r.Trainers)
		}
		for v, trainer := range r.Assignment.Trainer {
			if int(trainer)/o.Trainers != int(r.Assignment.Part[v]) {
				rt.Fatalf("node %d: trainer %d in part %d", v, trainer, r.Assignment.Part[v])
			}
		}
	})
	if holes == 0 || few == 0 {
		t.Errorf("found %d node types and %d edge types that a part lacks, expected some of both", holes, few)
	}
}

// More types than can be balanced one by one are no error: the smallest types share a constraint, and are
// still in every part.
func TestManyTypes(t *testing.T) {
	counts := make([]int, 40)
	for i := range counts {
		counts[i] = 10 + i
	}
	r := run(t, typed(counts, func(n int) int { return n / 2 }), partition.Options{Parts: 3, Balance: partition.Balance{Edges: true}})
	if n := len(r.Constraints); n != 32 || r.Constraints[n-2] != "nodes of 10 other types" || r.Constraints[n-1] != "in-degree" || slices.Contains(r.Constraints, "nodes of t09") {
		t.Errorf("found %d constraints: %q", n, r.Constraints)
	}
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "found 40 node types, of which 30 can be balanced one by one: the 10 smallest are balanced together") || r.Gaps != nil {
		t.Errorf("%q, %v", r.Notes, r.Gaps)
	}
}

// Balancing all types together gives a smaller cut, and a part may lack a type.
func TestTypesTogether(t *testing.T) {
	s := library()
	apart, together := run(t, s, partition.Options{Parts: 4}), run(t, s, partition.Options{Parts: 4, Balance: partition.Balance{TypesTogether: true}})
	if together.Quality.Cut > apart.Quality.Cut || !apart.Within || !together.Within {
		t.Errorf("found cuts %d and %d", together.Quality.Cut, apart.Quality.Cut)
	}
	// Two rings of nodes, each of one type.
	g := &graph.Graph{}
	for _, name := range []string{"a", "b"} {
		ring := &graph.Adjacency{Indptr: graph.Index{U64: []uint64{0}}}
		for v := range uint64(100) {
			ring.Indptr.U64, ring.Far.U64 = append(ring.Indptr.U64, v+1), append(ring.Far.U64, (v+1)%100)
		}
		e := &graph.Edges{Type: graph.EdgeType{Src: name, Rel: "r", Dst: name}, Count: 100, Primary: graph.In}
		e.Adj[graph.In] = ring
		g.Nodes, g.Edges = append(g.Nodes, &graph.Nodes{Type: name, Count: 100}), append(g.Edges, e)
	}
	s = &store.Store{Dir: "rings", Graph: g}
	if r := run(t, s, partition.Options{Parts: 2, Balance: partition.Balance{TypesTogether: true}}); len(r.Gaps) == 0 {
		t.Errorf("found no type that a part lacks: %v", r.Assignment.Part)
	}
	if r := run(t, s, partition.Options{Parts: 2}); r.Gaps != nil || !r.Within {
		t.Errorf("found %v", r.Gaps)
	}
}

// Where several edge types lead to a type, a part that owns no edge of one of them gets a node from a part
// that keeps edges of the others.
func TestEveryPartHasEveryEdgeType(t *testing.T) {
	// Users 0 to 39 form two clusters. Only some users of the first are liked, and only some of these are
	// blocked.
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "user", Count: 40}}}
	relation := func(name string, list func(v int) []uint64) {
		a := &graph.Adjacency{Indptr: graph.Index{U64: []uint64{0}}, Far: graph.Index{U64: []uint64{}}}
		for v := range 40 {
			a.Far.U64 = append(a.Far.U64, list(v)...)
			a.Indptr.U64 = append(a.Indptr.U64, uint64(len(a.Far.U64)))
		}
		e := &graph.Edges{Type: graph.EdgeType{Src: "user", Rel: name, Dst: "user"}, Count: len(a.Far.U64), Primary: graph.In}
		e.Adj[graph.In] = a
		g.Edges = append(g.Edges, e)
	}
	only := func(from, to int) func(v int) []uint64 {
		return func(v int) []uint64 {
			if v < from || v >= to {
				return nil
			}
			return []uint64{0, 1, 2}[:1+v%3]
		}
	}
	relation("blocks", only(4, 8))
	relation("knows", func(v int) (list []uint64) {
		for u := range uint64(20) {
			list = append(list, uint64(v)/20*20+u)
		}
		return list
	})
	relation("likes", only(6, 10))
	s := &store.Store{Dir: "users", Graph: g}
	for _, method := range []string{partition.Multilevel, partition.Fennel, partition.Ranges} {
		for _, trainers := range []int{1, 3} {
			r := run(t, s, partition.Options{Method: method, Parts: 2, Trainers: trainers, Imbalance: []float64{1.2}})
			for _, e := range r.Relations {
				if slices.Contains(e.Owned, 0) || e.Owned[0]+e.Owned[1] != e.Edges {
					t.Errorf("%s, %d trainers: %s: parts own %v of %d edges", method, trainers, e.Type, e.Owned, e.Edges)
				}
			}
			if want := relations(s, r); !slices.EqualFunc(r.Relations, want, func(a, b partition.Relation) bool { return cmp.Equal(a, b) }) {
				t.Errorf("%s: found %+v, expected %+v", method, r.Relations, want)
			}
		}
	}
}

// shrink lowers the number of neighbours that a graph in memory can list.
func shrink(t *testing.T, n int64) {
	before := limits.Neighbours
	limits.Neighbours = n
	t.Cleanup(func() { limits.Neighbours = before })
}

// A graph with more edges than multilevel can number in memory is divided out of core, and a note says so. Methods that
// stream accept the graph.
func TestTooManyEdges(t *testing.T) {
	s := library()
	whole := run(t, s, partition.Options{Method: partition.Fennel, Parts: 4})
	shrink(t, 2*5000-1)
	for _, memory := range []int64{0, 1 << 30} {
		r := run(t, s, partition.Options{Parts: 4, Memory: memory})
		if r.Method != partition.Multilevel || r.OutOfCore == nil || !r.Within || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "found 5,000 edges, and in memory multilevel numbers at most 4,999: it runs out of core") {
			t.Errorf("memory %d: %s, %v, %q", memory, r.Method, r.OutOfCore, r.Notes)
		}
	}
	for _, method := range []string{partition.Fennel, partition.Ranges, partition.Random, partition.Hash} {
		r := run(t, s, partition.Options{Method: method, Parts: 4})
		if r.Method != method || len(r.Notes) > 0 || r.Forecast.Disk == 0 {
			t.Errorf("%s: %s, %q, %+v", method, r.Method, r.Notes, r.Forecast)
		}
		if method == partition.Fennel && !cmp.Equal(r.Assignment, whole.Assignment) {
			t.Error("fennel: other parts than with the graph in memory")
		}
	}
	shrink(t, 2*5000)
	if r := run(t, s, partition.Options{Parts: 4}); r.OutOfCore != nil {
		t.Errorf("found %q", r.Notes)
	}
}
