package structure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// shop has users, items, purchases and friendships.
func shop() *graph.Graph {
	g, _ := (&refGraph{
		Nodes: map[string]int{"user": 3, "item": 2, "city": 1},
		Edges: map[string]refEdges{
			"user:buys:item":  {Src: []int{0, 0, 1}, Dst: []int{0, 0, 1}},
			"user:knows:user": {Src: []int{0, 1}, Dst: []int{1, 1}},
			"item:like:item":  {},
		},
	}).build(func(i int) graph.Direction { return graph.Direction(i % 2) }, false)
	return g
}

func TestSpecsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, `found structure "", expected degree`},
		{Spec{Structure: "page-rank"}, `did you mean "pagerank"?`},
		{Spec{Structure: CoreNumber, Direction: In}, "found direction in structure core-number, expected none"},
		{Spec{Structure: PageRank, Typed: true}, "found typed in structure pagerank, expected none"},
		{Spec{Structure: Degree, Steps: 3}, "found steps in structure degree, expected none"},
		{Spec{Structure: Degree, Dims: 3}, "found dims in structure degree, expected none"},
		{Spec{Structure: LaplacianPE, Dims: 3, Seed: 1}, "found seed in structure laplacian-pe, expected none"},
		{Spec{Structure: Degree, Direction: "up"}, `found direction "up" of structure degree, expected in, out or both`},
		{Spec{Structure: PageRank, Damping: 1}, "found damping 1 of structure pagerank, expected more than 0 and at most 0.999"},
		{Spec{Structure: PageRank, Damping: math.NaN()}, "found damping NaN of structure pagerank"},
		{Spec{Structure: RandomWalkPE}, "found steps 0 of structure random-walk-pe, expected 1 to 256"},
		{Spec{Structure: RandomWalkPE, Steps: 2, Method: "fast"}, `found method "fast" of structure random-walk-pe, expected exact or estimate`},
		{Spec{Structure: LaplacianPE, Dims: 65}, "found dims 65 of structure laplacian-pe, expected 1 to 64"},
		{Spec{Structure: Degree, Edges: []string{"sells"}}, `edges of structure degree: found edge type "sells"`},
		{Spec{Structure: Degree, Edges: []string{"like"}}, "found edge type item:like:item in structure degree of node type user with direction both, expected one that has the node type at that end"},
		{Spec{Structure: Degree, Direction: In, Edges: []string{"buys"}}, "found edge type user:buys:item in structure degree of node type user with direction in"},
		{Spec{Structure: PageRank, Edges: []string{"buys", "user:buys:item"}}, "found edge type user:buys:item twice"},
	} {
		for what, err := range map[string]error{
			"Positions": second(Positions(c.spec, shop(), "user")),
			"Compute":   second(Compute(t.Context(), shop(), "user", c.spec, Options{}, func(int, []float64) error { t.Error("found a block"); return nil })),
		} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %+v: found error %v, expected %s", what, c.spec, err, c.want)
			}
		}
	}
	if _, err := Width(Spec{Structure: Degree}, shop(), "users"); err == nil || !strings.Contains(err.Error(), `found node type "users", expected one of city, item, user`) {
		t.Errorf("found error %v, expected one that names the node types", err)
	}
}

func second[T any](_ T, err error) error { return err }

// A Spec is plain data: it is the same after JSON.
func TestSpecIsData(t *testing.T) {
	want := Spec{Structure: RandomWalkPE, Edges: []string{"buys"}, Direction: Out, Steps: 4, Method: Estimate, Seed: 1 << 63}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Spec
	if err := json.Unmarshal(b, &got); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("found %+v, %v, expected %+v", got, err, want)
	}
}

func TestTypedDegrees(t *testing.T) {
	g := shop()
	for _, c := range []struct {
		node, direction string
		positions       []string
		want            [][]float64
	}{
		{"user", "", []string{"user:buys:item out", "user:knows:user in", "user:knows:user out"}, [][]float64{{2, 0, 1}, {1, 2, 1}, {0, 0, 0}}},
		{"user", In, []string{"user:knows:user in"}, [][]float64{{0}, {2}, {0}}},
		{"item", "", []string{"item:like:item in", "item:like:item out", "user:buys:item in"}, [][]float64{{0, 0, 2}, {0, 0, 1}}},
		{"city", "", nil, [][]float64{{}}},
	} {
		s := Spec{Structure: Degree, Direction: c.direction, Typed: true}
		positions, err := Positions(s, g, c.node)
		if err != nil || !slices.Equal(positions, c.positions) {
			t.Errorf("%s %s: found positions %q, %v, expected %q", c.node, c.direction, positions, err, c.positions)
		}
		if rows, _ := column(t, g, c.node, s, Options{}); fmt.Sprint(rows) != fmt.Sprint(c.want) {
			t.Errorf("%s %s: found %v, expected %v", c.node, c.direction, rows, c.want)
		}
	}
}

// network is a random graph that is large enough for several blocks of nodes, with parallel edges and loops.
func network(nodes, edges int) *graph.Graph {
	r := rand.New(rand.NewPCG(1, uint64(nodes)))
	var e refEdges
	for range edges {
		u := r.IntN(nodes)
		e.Src, e.Dst = append(e.Src, u), append(e.Dst, (u+r.IntN(1+r.IntN(nodes)))%nodes)
	}
	g, _ := (&refGraph{Nodes: map[string]int{"a": nodes}, Edges: map[string]refEdges{"a:r:a": e}}).build(func(int) graph.Direction { return graph.In }, false)
	return g
}

// The bits of a column are the same at any number of threads, and with rows in memory and in a file.
func TestSameBits(t *testing.T) {
	g := network(9000, 30000)
	before := mostRows
	t.Cleanup(func() { mostRows = before })
	for _, s := range []Spec{
		{Structure: Degree},
		{Structure: PageRank},
		{Structure: RandomWalkPE, Steps: 3, Method: Estimate},
		{Structure: RandomWalkPE, Steps: 7, Method: Exact},
		{Structure: RandomWalkPE, Steps: 8, Method: Exact, Direction: Out},
		{Structure: RandomWalkPE, Steps: 6, Method: Estimate},
		{Structure: RandomWalkPE, Steps: 6, Method: Estimate, Direction: Out},
		{Structure: LaplacianPE, Dims: 3},
		{Structure: CoreNumber},
		{Structure: Clustering},
		{Structure: ComponentSize},
	} {
		mostRows = before
		want, _ := column(t, g, "a", s, Options{Threads: 1})
		mostRows = 40000
		for _, o := range []Options{{Threads: 3, Temp: t.TempDir()}, {Threads: 2, Temp: t.TempDir(), Memory: enough(t, g, s, 2)}} {
			got, _ := column(t, g, "a", s, o)
			for v := range want {
				if !slices.Equal(got[v], want[v]) {
					t.Fatalf("%+v, %+v: found %v in row %d, expected %v", s, o, got[v], v, want[v])
				}
			}
		}
	}
}

// enough is the least Memory that does not fail, to a few bytes: the one that the error names. For an estimate it is near that.
func enough(t *testing.T, g *graph.Graph, s Spec, threads int) int64 {
	t.Helper()
	low, high, near := int64(1), int64(1<<30), int64(1)
	if s.Method == Estimate {
		high, near = 1<<25, 1<<18
	}
	for high-low >= near {
		mid := (low + high) / 2
		if errors.Is(needs(t, g, s, Options{Threads: threads, Memory: mid}), limits.ErrMemory) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return high
}

// needs is the error of a Compute that ends before it reads an edge. An estimate counts the nodes that have edges before it knows what it needs, so it runs.
func needs(t *testing.T, g *graph.Graph, s Spec, o Options) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if s.Method == Estimate {
		_, err := Compute(ctx, g, g.Nodes[0].Type, s, o, func(int, []float64) error { return nil })
		return err
	}
	cancel()
	_, err := Compute(ctx, g, g.Nodes[0].Type, s, o, func(int, []float64) error { return nil })
	if err == nil {
		t.Fatalf("%+v: found no error of a context that has ended", s)
	}
	return err
}

func TestTooLittleMemory(t *testing.T) {
	g := network(2000, 5000)
	for _, kind := range Kinds {
		s := Spec{Structure: kind}
		switch kind {
		case RandomWalkPE:
			s.Steps = 5
		case LaplacianPE:
			s.Dims = 5
		}
		err := needs(t, g, s, Options{Memory: 1000})
		if !errors.Is(err, limits.ErrMemory) || !strings.Contains(err.Error(), "found `Memory` 1000 B, expected at least ") || !strings.Contains(err.Error(), "give more `Memory`") {
			t.Errorf("%s: found error %v, expected one that says how much is enough", kind, err)
		}
		if _, r := column(t, g, "a", s, Options{Memory: enough(t, g, s, 1), Temp: t.TempDir()}); r.Method != Exact {
			t.Errorf("%s: found method %s, expected %s", kind, r.Method, Exact)
		}
	}
	// A node whose row is larger than what is left for rows.
	before := mostRows
	t.Cleanup(func() { mostRows = before })
	mostRows = 16
	_, err := Compute(t.Context(), g, "a", Spec{Structure: CoreNumber}, Options{Temp: t.TempDir()}, nil)
	if !errors.Is(err, limits.ErrMemory) || !strings.Contains(err.Error(), "because a node has ") {
		t.Errorf("found error %v, expected one about the edges of a node", err)
	}
}

func TestErrorsOfOthers(t *testing.T) {
	g := network(100, 300)
	stop := errors.New("stop")
	for _, kind := range []string{Degree, PageRank, Clustering} {
		if _, err := Compute(t.Context(), g, "a", Spec{Structure: kind}, Options{}, func(int, []float64) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: found error %v, expected that of write", kind, err)
		}
		_, err := Compute(t.Context(), g, "a", Spec{Structure: kind, Direction: map[string]string{Degree: Out}[kind]}, Options{Touched: func(int64) error { return stop }}, func(int, []float64) error { return nil })
		if !errors.Is(err, stop) {
			t.Errorf("%s: found error %v, expected that of Touched", kind, err)
		}
	}
	if _, err := Compute(t.Context(), g, "a", Spec{Structure: Degree}, Options{Keep: map[graph.EdgeType][]uint64{g.Edges[0].Type: {1}}}, nil); err == nil || !strings.Contains(err.Error(), "found 1 words of kept edges, expected 5") {
		t.Errorf("found error %v, expected one about Keep", err)
	}
}

// Each call of the temporary file that fails is the error of Compute.
func TestFaultsOfTheFile(t *testing.T) {
	g := network(200, 900)
	before := mostRows
	t.Cleanup(func() { mostRows = before })
	mostRows = 1024
	run := func(fsys vfs.FS) error {
		_, err := Compute(t.Context(), g, "a", Spec{Structure: RandomWalkPE, Steps: 5, Direction: Out}, Options{FS: fsys, Temp: t.TempDir()}, func(int, []float64) error { return nil })
		return err
	}
	whole := &vfs.Fault{FS: vfs.OS}
	if err := run(whole); err != nil || whole.Calls() < 8 {
		t.Fatalf("found %d calls and error %v, expected a run with files", whole.Calls(), err)
	}
	for i := range whole.Calls() {
		fault := &vfs.Fault{FS: vfs.OS, FailAt: i + 1, Err: errors.New("disk")}
		if err := run(fault); err == nil {
			t.Errorf("found no error where call %d fails", i+1)
		}
	}
}

func TestDamagedGraphs(t *testing.T) {
	for name, damage := range map[string]func(a *graph.Adjacency){
		"a far end beyond":      func(a *graph.Adjacency) { a.Far.U32[7] = 100 },
		"offsets that descend":  func(a *graph.Adjacency) { a.Indptr.U32[50] = 0; a.Indptr.U32[51] = 299; a.Indptr.U32[52] = 1 },
		"an end that is wrong":  func(a *graph.Adjacency) { a.Indptr.U32[100] = 7 },
		"offsets of fewer rows": func(a *graph.Adjacency) { a.Indptr.U32 = a.Indptr.U32[:100] },
	} {
		g := network(100, 300)
		damage(g.Edges[0].Adj[graph.In])
		for _, s := range []Spec{{Structure: Degree}, {Structure: PageRank}, {Structure: CoreNumber}, {Structure: RandomWalkPE, Steps: 4}} {
			_, err := Compute(t.Context(), g, "a", s, Options{}, func(int, []float64) error { return nil })
			if !errors.Is(err, store.ErrDamaged) {
				t.Errorf("%s, %s: found error %v, expected damage", s.Structure, name, err)
			}
		}
	}
}

// The vectors of a ring come in pairs of equal eigenvalues. Their basis is that of the rule: the first node has the longest projection.
func TestEqualEigenvalues(t *testing.T) {
	before := denseNodes
	t.Cleanup(func() { denseNodes = before })
	const n = 60
	var e refEdges
	for v := range n {
		e.Src, e.Dst = append(e.Src, v), append(e.Dst, (v+1)%n)
	}
	g, _ := (&refGraph{Nodes: map[string]int{"a": n}, Edges: map[string]refEdges{"a:r:a": e}}).build(func(int) graph.Direction { return graph.In }, false)
	for _, denseNodes = range []int{before, 0} {
		rows, r := column(t, g, "a", Spec{Structure: LaplacianPE, Dims: 4}, Options{})
		for v, row := range rows {
			for p, x := range row {
				angle := 2 * math.Pi * float64((p/2+1)*v) / n
				want := math.Sqrt(2.0/n) * []float64{math.Cos(angle), math.Sin(angle)}[p%2]
				if math.Abs(x-want) > 1e-8 {
					t.Fatalf("found %v in row %d, position %d, expected %v", x, v, p, want)
				}
			}
		}
		if len(r.Notes) != 2 {
			t.Errorf("found notes %q, expected one for each pair", r.Notes)
		}
	}
}

// Progress ascends to its total.
func TestProgress(t *testing.T) {
	g := network(9000, 20000)
	for _, s := range []Spec{{Structure: Degree, Typed: true}, {Structure: Clustering}, {Structure: RandomWalkPE, Steps: 4, Method: Estimate}} {
		last, end := int64(0), int64(0)
		column(t, g, "a", s, Options{Threads: 3, Progress: func(done, total int64) {
			if done <= last || done > total {
				t.Errorf("%s: found %d of %d after %d, expected more", s.Structure, done, total, last)
			}
			last, end = done, total
		}})
		if last != end || end == 0 {
			t.Errorf("%s: found %d of %d at the end", s.Structure, last, end)
		}
	}
}
