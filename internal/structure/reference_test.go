package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"testing"

	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/reftest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write testdata/cases.json.gz by the reference (needs python3 with numpy)")

const (
	goldenCases = "testdata/cases.json.gz"
	reference   = "testdata/reference/structure.py"
)

// refCase is a case as structure.py reads it, with the reference's answer.
type refCase struct {
	Graph  refGraph   `json:"graph"`
	Node   string     `json:"node"`
	Spec   Spec       `json:"spec"`
	Result *refResult `json:"result,omitempty"`
}

type refGraph struct {
	Nodes map[string]int      `json:"nodes"`
	Edges map[string]refEdges `json:"edges"`
}

type refEdges struct {
	Src  []int  `json:"src"`
	Dst  []int  `json:"dst"`
	Keep []bool `json:"keep,omitempty"`
}

type refResult struct {
	Positions []string    `json:"positions"`
	Values    [][]float64 `json:"values"`
	Method    string      `json:"method"`
	Errors    []float64   `json:"errors"`
	Undefined []int       `json:"undefined"`
}

// build makes the graph in memory, with the edges of each type by the primary end that primary gives, and the bits of the edges that are kept.
func (r *refGraph) build(primary func(i int) graph.Direction, wide bool) (*graph.Graph, map[graph.EdgeType][]uint64) {
	g := &graph.Graph{}
	for name, n := range r.Nodes {
		g.Nodes = append(g.Nodes, &graph.Nodes{Type: name, Count: n})
	}
	names := make([]string, 0, len(r.Edges))
	for name := range r.Edges {
		names = append(names, name)
	}
	sort.Strings(names)
	keep := map[graph.EdgeType][]uint64{}
	for i, name := range names {
		et, err := graph.ParseEdgeType(name)
		if err != nil {
			panic(err)
		}
		edges := r.Edges[name]
		dir := primary(i)
		near, far := edges.Dst, edges.Src
		if dir == graph.Out {
			near, far = far, near
		}
		order := make([]int, len(near))
		for k := range order {
			order[k] = k
		}
		sort.SliceStable(order, func(a, b int) bool { return near[order[a]] < near[order[b]] })
		indptr, ids := make([]uint32, r.Nodes[et.Near(dir)]+1), make([]uint32, len(far))
		bits := make([]uint64, (len(near)+63)/64)
		for id, k := range order {
			indptr[near[k]+1]++
			ids[id] = uint32(far[k])
			if edges.Keep != nil && edges.Keep[k] {
				bits[id/64] |= 1 << (id % 64)
			}
		}
		for v := range indptr[1:] {
			indptr[v+1] += indptr[v]
		}
		if edges.Keep != nil {
			keep[et] = bits
		}
		a := &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: ids}}
		if wide {
			a = &graph.Adjacency{Indptr: graph.Index{U64: widened(indptr)}, Far: graph.Index{U64: widened(ids)}}
		}
		e := &graph.Edges{Type: et, Primary: dir, Count: len(near)}
		e.Adj[dir] = a
		g.Edges = append(g.Edges, e)
	}
	g.Sort()
	return g, keep
}

func widened(x []uint32) []uint64 {
	y := make([]uint64, len(x))
	for i, v := range x {
		y[i] = uint64(v)
	}
	return y
}

// column computes a column, whole.
func column(t testing.TB, g *graph.Graph, node string, s Spec, o Options) ([][]float64, *Result) {
	t.Helper()
	rows := [][]float64{}
	width, err := Width(s, g, node)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compute(t.Context(), g, node, s, o, func(first int, values []float64) error {
		if first != len(rows) {
			return fmt.Errorf("found a block from row %d, expected %d", first, len(rows))
		}
		n := min(rowBlock, g.Nodes[g.NodeType(node)].Count-first)
		if len(values) != n*width {
			return fmt.Errorf("found %d values, expected %d rows of %d", len(values), n, width)
		}
		for i := range n {
			rows = append(rows, slices.Clone(values[i*width:(i+1)*width]))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%+v of %s: %v", s, node, err)
	}
	return rows, r
}

// randomCase makes a graph of up to three node types, and a Spec that it satisfies.
func randomCase(r *rand.Rand) *refCase {
	c := &refCase{Graph: refGraph{Nodes: map[string]int{}, Edges: map[string]refEdges{}}}
	types := []string{"zoo", "a b", "ü"}[:1+r.IntN(3)]
	for _, t := range types {
		c.Graph.Nodes[t] = []int{0, 1, 2, 5, 12, 30}[r.IntN(6)]
	}
	for i := range r.IntN(4) {
		src, dst := types[r.IntN(len(types))], types[r.IntN(len(types))]
		c.Graph.Edges[fmt.Sprintf("%s:r%d:%s", src, i, dst)] = randomEdges(r, c.Graph.Nodes[src], c.Graph.Nodes[dst], src == dst)
	}
	c.Node = types[r.IntN(len(types))]
	c.Spec = randomSpec(r, Kinds[r.IntN(len(Kinds))])
	if r.IntN(2) == 0 {
		for _, name := range slices.Sorted(maps.Keys(c.Graph.Edges)) {
			et, _ := graph.ParseEdgeType(name)
			degree := c.Spec.Structure == Degree || c.Spec.Structure == LogDegree
			d := c.Spec.direction()
			if r.IntN(2) == 0 && (!degree || d != In && et.Src == c.Node || d != Out && et.Dst == c.Node) {
				c.Spec.Edges = append(c.Spec.Edges, name)
			}
		}
	}
	return c
}

// randomEdges are edges with parallel ones and loops; within a type they are often the same in both directions.
func randomEdges(r *rand.Rand, sources, destinations int, within bool) refEdges {
	e := refEdges{Src: []int{}, Dst: []int{}}
	if sources == 0 || destinations == 0 {
		return e
	}
	mirror := within && r.IntN(3) == 0
	for range r.IntN(2 * (sources + destinations)) {
		u, v := r.IntN(sources), r.IntN(destinations)
		copies := 1 + r.IntN(8)/7
		for range copies {
			e.Src, e.Dst = append(e.Src, u), append(e.Dst, v)
			if mirror && u != v {
				e.Src, e.Dst = append(e.Src, v), append(e.Dst, u)
			}
		}
	}
	if r.IntN(4) == 0 {
		for range e.Src {
			e.Keep = append(e.Keep, r.IntN(4) > 0)
		}
	}
	return e
}

func randomSpec(r *rand.Rand, kind string) Spec {
	s := Spec{Structure: kind}
	direction := []string{"", In, Out, Both}[r.IntN(4)]
	switch kind {
	case Degree, LogDegree:
		s.Direction, s.Typed = direction, r.IntN(2) == 0
	case PageRank:
		s.Direction, s.Damping = direction, []float64{0, 0.5, 0.95}[r.IntN(3)]
	case RandomWalkPE:
		s.Direction, s.Steps = direction, 1+r.IntN(9)
		if s.Method = []string{"", Exact, Estimate, Estimate}[r.IntN(4)]; s.Method == Estimate {
			s.Seed = r.Uint64() >> 2
		}
	case LaplacianPE:
		s.Dims = 1 + r.IntN(10)
	}
	return s
}

func randomCases(n int, stream uint64) []*refCase {
	r := rand.New(rand.NewPCG(20261128, stream))
	cases := make([]*refCase, n)
	for i := range cases {
		cases[i] = randomCase(r)
	}
	return cases
}

// tolerance is the difference of a value from the reference that rounding explains.
func tolerance(s Spec, r *refResult) float64 {
	switch {
	case s.Structure == PageRank:
		return 1e-9 // the rounds end there
	case s.Structure == LaplacianPE, r.Method == Estimate:
		return 1e-6
	case s.Structure == RandomWalkPE:
		return 1e-7 // numbers of 32 bits
	}
	return 1e-12
}

// check compares the case, stored one way, with the reference.
func (c *refCase) check(t *testing.T, primary func(i int) graph.Direction, wide bool, o Options) {
	t.Helper()
	g, keep := c.Graph.build(primary, wide)
	o.Keep = keep
	text, _ := json.Marshal(c)
	positions, err := Positions(c.Spec, g, c.Node)
	if err != nil || !slices.Equal(positions, c.Result.Positions) {
		t.Fatalf("%s: found positions %q, %v, expected %q", text, positions, err, c.Result.Positions)
	}
	rows, r := column(t, g, c.Node, c.Spec, o)
	if r.Method != c.Result.Method || len(r.Errors) != len(c.Result.Errors) {
		t.Fatalf("%s: found method %s and %d errors, expected %s and %d", text, r.Method, len(r.Errors), c.Result.Method, len(c.Result.Errors))
	}
	for k, e := range r.Errors {
		if math.Abs(e-c.Result.Errors[k]) > 1e-6 {
			t.Fatalf("%s: found error %g of step %d, expected %g", text, e, k+1, c.Result.Errors[k])
		}
	}
	if len(rows) != len(c.Result.Values) {
		t.Fatalf("%s: found %d rows, expected %d", text, len(rows), len(c.Result.Values))
	}
	bound := tolerance(c.Spec, c.Result)
	for i, row := range rows {
		for p, x := range row {
			if want := c.Result.Values[i][p]; !(math.Abs(x-want) <= bound) {
				t.Fatalf("%s: found %.17g at row %d, position %d, expected %.17g", text, x, i, p, want)
			}
		}
	}
}

// TestReference compares columns with the reference: new cases where there is a Python with NumPy, and the committed ones. Edge types are stored by
// either end, in 32 and 64 bits; rows are in memory and in a file; small graphs take the ways of large ones too.
func TestReference(t *testing.T) {
	if *update {
		cases := randomCases(200, 2)
		answer(t, reftest.NeedPython(t), cases)
		writeGolden(t, cases)
	}
	cases := readGolden(t)
	if py := reftest.Python(t); py != "" {
		more := randomCases(proof.Count(t, 400, 5000), proof.Seed(t)+2)
		answer(t, py, more)
		cases = append(cases, more...)
	}
	before, most := denseNodes, mostRows
	t.Cleanup(func() { denseNodes, mostRows = before, most })
	met := map[string]int{}
	for i, c := range cases {
		denseNodes = []int{before, 0}[i%2]
		o := Options{Threads: 1 + i%3}
		mostRows = most
		if i%5 == 0 {
			o.Memory, o.Temp, mostRows = 32<<20, t.TempDir(), int64(512<<(i%4))
		}
		c.check(t, func(k int) graph.Direction { return graph.Direction((i>>2 + k) % 2) }, i%7 == 0, o)
		if len(c.Result.Values) > 1 {
			met[c.Spec.Structure]++
		}
	}
	for _, kind := range Kinds {
		if met[kind] < len(cases)/30 {
			t.Errorf("found %d cases of %s with rows, expected at least %d", met[kind], kind, len(cases)/30)
		}
	}
}

// answer runs the reference over all cases.
func answer(t *testing.T, python string, cases []*refCase) {
	t.Helper()
	for i, r := range reftest.Answers[*refResult](t, python, reference, cases) {
		cases[i].Result = r
	}
}

func readGolden(t *testing.T) (cases []*refCase) {
	t.Helper()
	b, err := os.ReadFile(goldenCases)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func writeGolden(t *testing.T, cases []*refCase) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(cases), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenCases, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
