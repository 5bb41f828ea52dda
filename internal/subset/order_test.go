package subset

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/reftest"
	"github.com/graphmill/graphmill/internal/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write testdata/cases.json.gz by the reference (needs python3 with numpy)")

const (
	goldenCases = "testdata/cases.json.gz"
	reference   = "../sample/testdata/reference/subsets.py"
)

// refCase is a case as subsets.py reads it, with the reference's answer.
type refCase struct {
	Graph  refGraph   `json:"graph"`
	Rules  refRules   `json:"rules"`
	Seed   uint64     `json:"seed"`
	Epoch  uint64     `json:"epoch"`
	Result *refResult `json:"result,omitempty"`
}

type refGraph struct {
	Nodes map[string]int                 `json:"nodes"`
	Edges map[string]map[string][]uint32 `json:"edges"`
	Out   bool                           `json:"out"` // the primary direction
}

type refRules struct {
	How     How      `json:"how"`
	Size    int      `json:"size"`
	Length  int      `json:"length"`
	Parts   []uint16 `json:"parts"`
	Shuffle bool     `json:"shuffle"`
}

type refResult struct {
	Batches int        `json:"batches"`
	Nodes   [][]uint64 `json:"nodes"`
}

// build makes the graph in memory. Edges are by their primary end.
func (r *refGraph) build() *graph.Graph {
	primary := graph.In
	if r.Out {
		primary = graph.Out
	}
	g := &graph.Graph{}
	for name, n := range r.Nodes {
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: name, Count: n})
	}
	for name, ends := range r.Edges {
		et, err := graph.ParseEdgeType(name)
		if err != nil {
			panic(err)
		}
		near, far := ends["dst"], ends["src"]
		if r.Out {
			near, far = far, near
		}
		indptr := make([]uint32, r.Nodes[et.Near(primary)]+1)
		for _, v := range near {
			indptr[v+1]++
		}
		for v := range indptr[1:] {
			indptr[v+1] += indptr[v]
		}
		e := &graph.Edges{Type: et, Primary: primary, Count: len(near)}
		e.Adj[primary] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: slices.Clone(far)}}
		g.Edges = append(g.Edges, e)
	}
	g.Sort()
	return g
}

func randomCase(r *rand.Rand) *refCase {
	n, m := 1+r.IntN(40), 1+r.IntN(120)
	c := &refCase{Graph: refGraph{Nodes: map[string]int{"ü": n}, Edges: map[string]map[string][]uint32{}, Out: r.IntN(2) == 0}, Seed: r.Uint64() >> 1, Epoch: r.Uint64N(3)}
	far, near := make([]uint32, m), make([]uint32, m)
	for i := range far {
		far[i], near[i] = uint32(r.IntN(n)), uint32(r.IntN(1+r.IntN(n)))
	}
	slices.Sort(near)
	ends := map[string][]uint32{"src": far, "dst": near}
	if c.Graph.Out {
		ends["src"], ends["dst"] = near, far
	}
	c.Graph.Edges["ü:a b:ü"] = ends
	c.Rules = refRules{How: []How{SaintNode, SaintEdge, SaintWalk, Cluster}[r.IntN(4)], Size: 1 + r.IntN(9)}
	switch c.Rules.How {
	case SaintWalk:
		c.Rules.Length = 1 + r.IntN(5)
	case Cluster:
		c.Rules.Shuffle = r.IntN(2) == 0
		parts := 1 + r.IntN(12)
		for range n {
			c.Rules.Parts = append(c.Rules.Parts, uint16(r.IntN(parts)))
		}
	}
	return c
}

func (c *refCase) rules() Rules {
	return Rules{How: c.Rules.How, Size: c.Rules.Size, Length: c.Rules.Length, Part: c.Rules.Parts, Shuffle: c.Rules.Shuffle}
}

// open makes the sets of rules on a graph.
func open(t testing.TB, g *graph.Graph, r Rules) *Order {
	t.Helper()
	plan, err := Plan(g, &r)
	if err != nil {
		t.Fatal(err)
	}
	var s *sample.Sampler
	if plan != nil {
		if s, err = sample.New(g, plan, sample.Options{NoEdgeIDs: true}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
	}
	o, err := New(t.Context(), g, s, r)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func (c *refCase) check(t *testing.T) {
	t.Helper()
	o := open(t, c.Graph.build(), c.rules())
	size := uint64(o.BatchSize())
	if got := int(o.Len() / size); o.Len()%size != 0 || got != c.Result.Batches {
		t.Fatalf("%+v: found %d positions in batches of %d, expected %d batches", c.Rules, o.Len(), size, c.Result.Batches)
	}
	items := o.Epoch(c.Seed, c.Epoch)
	all := make([]uint64, o.Len())
	items.Fill(all, 0)
	for b, want := range c.Result.Nodes {
		got := slices.Clone(all[uint64(b)*size : uint64(b+1)*size])
		slices.Sort(got)
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Fatalf("%+v, batch %d: found %v, expected %v", c.Rules, b, got, want)
		}
	}
	// Any part of the positions is the same on its own.
	for first := uint64(0); first < o.Len(); first += 1 + size/2 {
		part := make([]uint64, min(o.Len()-first, size+3))
		items.Fill(part, first)
		if want := all[first : first+uint64(len(part))]; !slices.Equal(part, want) {
			t.Fatalf("%+v, positions from %d: found %v, expected %v", c.Rules, first, part, want)
		}
	}
}

// Sets equal the sets of the reference, on random graphs.
func TestReference(t *testing.T) {
	if *update {
		writeCases(t, 400)
	}
	for _, c := range readCases(t) {
		c.check(t)
	}
}

func writeCases(t *testing.T, n int) {
	t.Helper()
	r := rand.New(rand.NewPCG(20, 26))
	var cases []*refCase
	for range n {
		cases = append(cases, randomCase(r))
	}
	for i, r := range reftest.Answers[*refResult](t, reftest.NeedPython(t), reference, cases) {
		cases[i].Result = r
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(w).Encode(cases), w.Close(), os.MkdirAll("testdata", 0o755), os.WriteFile(goldenCases, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func readCases(t *testing.T) (cases []*refCase) {
	t.Helper()
	f, err := os.Open(goldenCases)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err == nil {
		err = json.Unmarshal(b, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// star has edges from every node to node 0, and one from node 0 to node 1.
func star(n int) *graph.Graph {
	r := refGraph{Nodes: map[string]int{"v": n}, Edges: map[string]map[string][]uint32{}}
	src, dst := []uint32{}, []uint32{}
	for v := 1; v < n; v++ {
		src, dst = append(src, uint32(v)), append(dst, 0)
	}
	r.Edges["v:to:v"] = map[string][]uint32{"src": append(src, 0), "dst": append(dst, 1)}
	return r.build()
}

// The draws have the chances that the GraphSAINT paper gives them.
func TestChances(t *testing.T) {
	const n, draws = 9, 200_000
	count := func(r Rules) []float64 {
		counts, buf := make([]float64, n), make([]uint64, draws)
		open(t, star(n), r).Epoch(3, 4).Fill(buf, 0)
		for _, v := range buf {
			counts[v]++
		}
		return counts
	}
	node, edge := make([]float64, n), make([]float64, n)
	for v := range node {
		node[v] = 1.0 / n // each node has one out-edge
	}
	// The edges to node 0 have 1/8 + 1 each, the one from node 0 has 1 + 1: in all 11. Half of the positions are sources.
	edge[0], edge[1] = (9+2)/22.0, (9.0/8+2)/22
	for v := 2; v < n; v++ {
		edge[v] = 9.0 / 8 / 22
	}
	for name, c := range map[string]struct {
		rules Rules
		want  []float64
	}{
		"nodes": {Rules{How: SaintNode, Size: 1000}, node},
		"edges": {Rules{How: SaintEdge, Size: 1000}, edge},
	} {
		for v, got := range count(c.rules) {
			want := c.want[v] * draws
			if math.Abs(got-want) > 6*math.Sqrt(want) {
				t.Errorf("%s: found node %d %v times, expected about %.0f", name, v, got, want)
			}
		}
	}
}

// Rules that mean nothing are refused.
func TestBadRules(t *testing.T) {
	typed := star(3)
	typed.Nodes = append(typed.Nodes, &graph.Nodes{Type: "w", Count: 1})
	double := star(3)
	double.Edges = append(double.Edges, double.Edges[0])
	empty := star(3)
	empty.Edges[0].Count = 0
	for _, c := range []struct {
		g    *graph.Graph
		r    Rules
		want string
	}{
		{typed, Rules{How: SaintNode, Size: 1}, "2 node types"},
		{double, Rules{How: SaintEdge, Size: 1}, "2 edge types"},
		{empty, Rules{How: SaintNode, Size: 1}, "no edges"},
		{&graph.Graph{Nodes: []*graph.Nodes{{Type: "v"}}}, Rules{How: Cluster, Size: 1}, "no nodes"},
		{star(3), Rules{How: SaintNode}, "`BatchSize` 0"},
		{star(3), Rules{How: SaintNode, Size: math.MaxUint32}, "`BatchSize` 4294967295, expected at most 4294967292"},
		{star(3), Rules{How: SaintWalk, Size: 1}, "`WalkLength` 0"},
		{star(3), Rules{How: SaintWalk, Size: 1 << 31, Length: 2}, "`BatchSize`"},
		{star(3), Rules{How: Cluster, Size: 1, Part: []uint16{0}}, "an assignment of 1 nodes"},
	} {
		_, err := Plan(c.g, &c.r)
		if !errors.Is(err, ErrRules) || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%+v: found %v, expected an error with %q", c.r, err, c.want)
		}
	}
}

// One order serves several goroutines.
func TestConcurrent(t *testing.T) {
	o := open(t, star(100), Rules{How: SaintWalk, Size: 10, Length: 3})
	items := o.Epoch(1, 2)
	want := make([]uint64, o.Len())
	items.Fill(want, 0)
	failed := make(chan error, 4)
	for range cap(failed) {
		go func() {
			got := make([]uint64, len(want))
			for range 20 {
				items.Fill(got, 0)
			}
			var err error
			if !slices.Equal(got, want) {
				err = fmt.Errorf("found %v, expected %v", got, want)
			}
			failed <- err
		}()
	}
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
