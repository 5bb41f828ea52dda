package undirected

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drawStore draws a typed graph, and the naive set of its pairs.
func drawStore(t *rapid.T) (*store.Store, map[[2]uint32]bool) {
	g := &graph.Graph{}
	types := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "types")]
	for _, name := range types {
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: name, Count: rapid.IntRange(0, 600).Draw(t, "nodes")})
	}
	starts := Starts(g)
	pairs := map[[2]uint32]bool{}
	for i := range rapid.IntRange(0, 3).Draw(t, "edge types") {
		src, dst := rapid.IntRange(0, len(types)-1).Draw(t, "src"), rapid.IntRange(0, len(types)-1).Draw(t, "dst")
		e := &graph.Edges{Type: graph.EdgeType{Src: types[src], Rel: string(rune('p' + i)), Dst: types[dst]},
			Primary: rapid.SampledFrom([]graph.Direction{graph.In, graph.Out}).Draw(t, "primary")}
		near, far := src, dst
		if e.Primary == graph.In {
			near, far = dst, src
		}
		var ptr, ids []uint64
		ptr = append(ptr, 0)
		for row := range g.Nodes[near].Count {
			if n := g.Nodes[far].Count; n > 0 {
				for range rapid.SampledFrom([]int{0, 0, 1, 2, 30}).Draw(t, "degree") {
					x := rapid.IntRange(0, n-1).Draw(t, "far")
					ids = append(ids, uint64(x))
					u, v := uint32(starts[near])+uint32(row), uint32(starts[far])+uint32(x)
					if u != v {
						pairs[[2]uint32{min(u, v), max(u, v)}] = true
					}
				}
			}
			ptr = append(ptr, uint64(len(ids)))
		}
		e.Count = len(ids)
		e.Adj[e.Primary] = &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: ids}}
		if rapid.Bool().Draw(t, "narrow") {
			narrow := make([]uint32, len(ids))
			for i, x := range ids {
				narrow[i] = uint32(x)
			}
			e.Adj[e.Primary].Far = graph.Index{U32: narrow}
		}
		g.Edges = append(g.Edges, e)
	}
	g.Sort()
	return &store.Store{Dir: "test", Graph: g}, pairs
}

// naive builds the graph of a set of pairs.
func naive(n int, pairs map[[2]uint32]bool) *Graph {
	rows := make([][]uint32, n)
	for p := range pairs {
		rows[p[0]], rows[p[1]] = append(rows[p[0]], p[1]), append(rows[p[1]], p[0])
	}
	g := &Graph{Offsets: []uint32{0}, Neighbours: []uint32{}, Constraints: 1}
	for _, r := range rows {
		slices.Sort(r)
		g.Neighbours = append(g.Neighbours, r...)
		g.Offsets = append(g.Offsets, uint32(len(g.Neighbours)))
	}
	return g
}

func TestBuildListsEachPairFromBothEnds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, pairs := drawStore(rt)
		starts := Starts(s.Graph)
		want := naive(int(starts[len(starts)-1]), pairs)
		o := BuildOptions{Threads: rapid.IntRange(1, 3).Draw(rt, "threads"), Memory: rapid.SampledFrom([]int64{0, 1, 1 << 20}).Draw(rt, "memory"), FS: vfs.OS, Temp: t.TempDir()}
		got, err := Build(context.Background(), s, o)
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			rt.Fatal(d)
		}
		var src, dst []uint32
		for p := range pairs {
			src, dst = append(src, p[0]), append(dst, p[1])
			if rapid.Bool().Draw(rt, "twice") {
				src, dst = append(src, p[1], p[1]), append(dst, p[0], p[1])
			}
		}
		if d := cmp.Diff(want, FromPairs(want.Len(), src, dst)); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestBuildFindsDamage(t *testing.T) {
	for _, c := range []struct {
		name     string
		ptr, far []uint64
		want     string
	}{
		{"id", []uint64{0, 1, 2}, []uint64{0, 2}, "found id 2 at 1, expected one below 2"},
		{"offset falls", []uint64{0, 2, 1}, []uint64{0, 1}, "found offset 1 at 2, expected offsets that ascend to 2"},
		{"offset beyond", []uint64{0, 1, 9}, []uint64{0, 1}, "found offset 9 at 2"},
	} {
		g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: 2}}, Edges: []*graph.Edges{{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: 2}}}
		g.Edges[0].Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U64: c.ptr}, Far: graph.Index{U64: c.far}}
		_, err := Build(context.Background(), &store.Store{Dir: "s", Graph: g}, BuildOptions{Threads: 2, FS: vfs.OS, Temp: t.TempDir()})
		if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "s: a:r:a: damaged: "+c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestBuildStops(t *testing.T) {
	s := grid(300)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, s, BuildOptions{Threads: 2, FS: vfs.OS, Temp: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	// Every call of the file system may fail.
	counted := &vfs.Fault{FS: vfs.OS}
	o := BuildOptions{Threads: 2, Memory: 1, FS: counted, Temp: t.TempDir()}
	if _, err := Build(context.Background(), s, o); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	for at := int64(1); at < counted.Calls(); at += 1 + counted.Calls()/50 {
		f := &vfs.Fault{FS: vfs.OS, FailAt: at, Err: full}
		o.FS = f
		_, err := Build(context.Background(), s, o)
		if err == nil && f.Calls() < at {
			break // two workers make a varying number of calls
		}
		if !errors.Is(err, full) {
			t.Errorf("call %d of %d: got %v", at, counted.Calls(), err)
		}
	}
}

// grid is the store of a square grid of side*side nodes.
func grid(side int) *store.Store {
	ptr, far := []uint64{0}, []uint64{}
	for y := range side {
		for x := range side {
			v := y*side + x
			if x > 0 {
				far = append(far, uint64(v-1))
			}
			if y > 0 {
				far = append(far, uint64(v-side))
			}
			ptr = append(ptr, uint64(len(far)))
		}
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "a", Count: side * side}}, Edges: []*graph.Edges{{Type: graph.EdgeType{Src: "a", Rel: "r", Dst: "a"}, Count: len(far)}}}
	g.Edges[0].Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U64: ptr}, Far: graph.Index{U64: far}}
	return &store.Store{Dir: "grid", Graph: g}
}

// naiveQuality counts pair by pair.
func naiveQuality(g *Graph, part []uint16, parts int) *Quality {
	q := &Quality{Parts: make([]PartQuality, parts), Between: make([]int64, parts*parts)}
	total := make([]int64, g.Constraints)
	var weight int64
	for p := range q.Parts {
		q.Parts[p].Weights = make([]int64, g.Constraints)
	}
	for v := range g.Len() {
		p := &q.Parts[part[v]]
		p.Nodes++
		others := map[uint16]bool{}
		for j := g.Offsets[v]; j < g.Offsets[v+1]; j++ {
			p.Entries++
			w := int64(1)
			if g.EdgeWeights != nil {
				w = int64(g.EdgeWeights[j])
			}
			weight += w
			if other := part[g.Neighbours[j]]; other != part[v] {
				others[other] = true
				p.Cut += w
				q.Between[int(part[v])*parts+int(other)] += w
				if g.Neighbours[j] > uint32(v) {
					q.Cut += w
				}
			}
		}
		for other := range others {
			q.Parts[other].Volume++
		}
		q.Volume += int64(len(others))
		if len(others) > 0 {
			q.Boundary++
		}
		for c := range p.Weights {
			w := int64(1)
			if g.Weights != nil {
				w = int64(g.Weights[v*g.Constraints+c])
			}
			p.Weights[c] += w
			total[c] += w
		}
	}
	q.CutShare = float64(2*q.Cut) / float64(max(1, weight))
	var most int64
	for c := range total {
		most = 0
		for _, p := range q.Parts {
			most = max(most, p.Weights[c])
		}
		b := 1.0
		if total[c] > 0 {
			b = float64(most) * float64(parts) / float64(total[c])
		}
		q.Balance = append(q.Balance, b)
	}
	most = 0
	for _, p := range q.Parts {
		most = max(most, p.Entries)
		if p.Nodes == 0 {
			q.EmptyParts++
		}
	}
	q.EdgeBalance = 1
	if g.Entries() > 0 {
		q.EdgeBalance = float64(most) * float64(parts) / float64(g.Entries())
	}
	return q
}

func TestEvaluateCountsPairsOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, pairs := drawStore(rt)
		starts := Starts(s.Graph)
		g := naive(int(starts[len(starts)-1]), pairs)
		parts := rapid.IntRange(1, 9).Draw(rt, "parts")
		part := make([]uint16, g.Len())
		for v := range part {
			part[v] = uint16(rapid.IntRange(0, parts-1).Draw(rt, "part"))
		}
		if rapid.Bool().Draw(rt, "edge weights") {
			g.EdgeWeights = make([]uint32, len(g.Neighbours))
			for v := range g.Len() {
				for j := g.Offsets[v]; j < g.Offsets[v+1]; j++ {
					g.EdgeWeights[j] = 1 + (uint32(v)+g.Neighbours[j])%7
				}
			}
		}
		if rapid.Bool().Draw(rt, "weights") {
			g.Constraints = 2
			g.Weights = make([]uint32, 2*g.Len())
			for i := range g.Weights {
				g.Weights[i] = uint32(i % 5)
			}
		}
		got, err := Evaluate(context.Background(), g, part, parts, rapid.IntRange(1, 3).Draw(rt, "threads"))
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(naiveQuality(g, part, parts), got); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestEvaluateRefusesWhatIsNoDivision(t *testing.T) {
	g := FromPairs(3, []uint32{0}, []uint32{1})
	for want, part := range map[string][]uint16{
		"found parts of 2 nodes, expected 3":      {0, 1},
		"found part 2 of node 1, expected 0 to 1": {0, 2, 1},
	} {
		if _, err := Evaluate(context.Background(), g, part, 2, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}

func TestSpilledHasTheSameRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, pairs := drawStore(rt)
		starts := Starts(s.Graph)
		want := naive(int(starts[len(starts)-1]), pairs)
		got, err := Spill(context.Background(), s, BuildOptions{Threads: rapid.IntRange(1, 3).Draw(rt, "threads"), Memory: 1, FS: vfs.OS, Temp: t.TempDir()})
		if err != nil {
			rt.Fatal(err)
		}
		defer got.Close()
		if got.Len() != want.Len() || got.Entries() != want.Entries() {
			rt.Fatalf("got %d nodes, %d neighbours, want %d, %d", got.Len(), got.Entries(), want.Len(), want.Entries())
		}
		for _, g := range []Rows{want, got} {
			next := 0
			err := g.Scan(context.Background(), 1, func(_ int, b *Block) error {
				if int(b.First) != next {
					rt.Fatalf("block of node %d, want %d", b.First, next)
				}
				for i := range b.Len() {
					from, to := b.Row(i)
					if !slices.Equal(b.Neighbours[from:to], want.Of(uint32(next))) {
						rt.Fatalf("node %d: got %v, want %v", next, b.Neighbours[from:to], want.Of(uint32(next)))
					}
					next++
				}
				return nil
			})
			if err != nil || next != want.Len() {
				rt.Fatal(err, next)
			}
		}
	})
}

func TestPairsAreEstimated(t *testing.T) {
	s := grid(100) // 19,800 edges, none of them reciprocal
	if got, err := Pairs(s); err != nil || got != 19_800 {
		t.Errorf("one way: %d pairs, %v, expected 19800", got, err)
	}
	g, err := Build(context.Background(), s, BuildOptions{Threads: 1, FS: vfs.OS, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	e := s.Graph.Edges[0]
	e.Count, e.Adj[graph.In] = len(g.Neighbours), &graph.Adjacency{Indptr: graph.Index{U32: g.Offsets}, Far: graph.Index{U32: g.Neighbours}}
	if got, err := Pairs(s); err != nil || got != 19_800 {
		t.Errorf("both ways: %d pairs, %v, expected 19800", got, err)
	}
}
