package walk

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/reftest"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

var update = flag.Bool("update", false, "write testdata/cases.json.gz by the reference (needs python3 with numpy)")

const (
	goldenCases = "testdata/cases.json.gz"
	reference   = "../sample/testdata/reference/walks.py"
)

// refCase is a case as walks.py reads it, with the reference's answer.
type refCase struct {
	Graph       refGraph `json:"graph"`
	Rules       refRules `json:"rules"`
	Starts      []uint32 `json:"starts"`
	Walks       int      `json:"walks"`
	Take        int      `json:"take"` // of visits; 0: the walks themselves
	Seed, Epoch uint64
	Result      *refResult
}

type refGraph struct {
	Nodes map[string]int                   `json:"nodes"`
	Edges map[string]map[string][]*float64 `json:"edges"`
	Out   bool                             `json:"out"` // the primary direction
}

type refStep struct {
	Edges string `json:"edges"`
	Dir   string `json:"dir"`
}

type refRules struct {
	Path    []refStep `json:"path"`
	Length  int       `json:"length"`
	P       float64   `json:"p"`
	Q       float64   `json:"q"`
	Stop    float64   `json:"stop"`
	Restart float64   `json:"restart"`
	End     float64   `json:"end"`
	Column  string    `json:"column,omitempty"`
}

type refResult struct {
	Nodes  [][]int64    `json:"nodes"`
	Edges  [][]int64    `json:"edges"`
	Visits [][][2]int64 `json:"visits,omitempty"` // by start: nodes and how often they were visited
}

func (c *refCase) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"graph": c.Graph, "rules": c.Rules, "starts": c.Starts, "walks": c.Walks, "take": c.Take, "seed": c.Seed, "epoch": c.Epoch, "result": c.Result})
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
	for name, columns := range r.Edges {
		et, err := graph.ParseEdgeType(name)
		if err != nil {
			panic(err)
		}
		near, far := columns["dst"], columns["src"]
		if r.Out {
			near, far = far, near
		}
		e := &graph.Edges{Type: et, Primary: primary, Count: len(near)}
		indptr, ids := make([]uint32, r.Nodes[et.Near(primary)]+1), make([]uint32, len(far))
		for i := range near {
			indptr[int(*near[i])+1]++
			ids[i] = uint32(*far[i])
		}
		for v := range indptr[1:] {
			indptr[v+1] += indptr[v]
		}
		e.Adj[primary] = &graph.Adjacency{Indptr: graph.Index{U32: indptr}, Far: graph.Index{U32: ids}}
		if w := columns["w"]; w != nil {
			values := make([]float64, len(w))
			for i, x := range w {
				values[i] = math.NaN()
				if x != nil {
					values[i] = *x
				}
			}
			e.Columns = []*graph.Column{{Name: "w", DType: graph.Float64, Rows: len(w), Values: graph.Bytes(values)}}
		}
		g.Edges = append(g.Edges, e)
	}
	g.Sort()
	return g
}

// randomCase makes a case of a graph with up to three node types.
func randomCase(r *rand.Rand) *refCase {
	c := &refCase{Graph: refGraph{Nodes: map[string]int{}, Edges: map[string]map[string][]*float64{}, Out: r.IntN(2) == 0}, Seed: r.Uint64() >> 1, Epoch: r.Uint64N(5)}
	types := []string{"zoo", "a b", "ü"}[:1+r.IntN(3)]
	for _, t := range types {
		c.Graph.Nodes[t] = 1 + r.IntN(12)
	}
	dir := []string{"in", "out"}[r.IntN(2)]
	// A path of random types; with one step, often within a type.
	at := types[r.IntN(len(types))]
	first := at
	steps := 1 + r.IntN(3)
	for k := range steps {
		to := types[r.IntN(len(types))]
		if k == steps-1 && r.IntN(2) == 0 {
			to = first
		}
		name := fmt.Sprintf("%s:r%d:%s", at, k, to)
		if dir == "in" {
			name = fmt.Sprintf("%s:r%d:%s", to, k, at)
		}
		c.Graph.Edges[name] = c.randomEdges(r, name)
		c.Rules.Path = append(c.Rules.Path, refStep{name, dir})
		at = to
	}
	c.Rules.Length = len(c.Rules.Path)
	if at == first {
		c.Rules.Length = 1 + r.IntN(12)
	}
	c.Rules.P, c.Rules.Q = 1, 1
	if steps == 1 && at == first {
		if r.IntN(2) == 0 {
			c.Rules.P, c.Rules.Q = []float64{0.25, 1, 4, 1e-6, 1e6}[r.IntN(5)], []float64{0.5, 1, 3, 1e-6, 1e6}[r.IntN(5)]
		}
		if r.IntN(3) == 0 {
			c.Rules.Restart = r.Float64() / 2
		}
	}
	if r.IntN(3) == 0 {
		c.Rules.Stop = r.Float64() / 3
	}
	if r.IntN(3) == 0 {
		c.Rules.End = r.Float64() / 6
	}
	if r.IntN(3) == 0 {
		c.Rules.Column = "w"
	}
	c.Walks = 1 + r.IntN(3)
	for range 1 + r.IntN(8) {
		c.Starts = append(c.Starts, uint32(r.IntN(c.Graph.Nodes[first])))
	}
	if r.IntN(4) == 0 && c.Rules.Length >= steps {
		c.Take = 1 + r.IntN(5)
	}
	return c
}

func (c *refCase) randomEdges(r *rand.Rand, name string) map[string][]*float64 {
	et, err := graph.ParseEdgeType(name)
	if err != nil {
		panic(err)
	}
	type edge struct{ src, dst int }
	edges := make([]edge, r.IntN(60))
	for i := range edges {
		edges[i] = edge{r.IntN(c.Graph.Nodes[et.Src]), r.IntN(c.Graph.Nodes[et.Dst])}
	}
	sort.SliceStable(edges, func(i, j int) bool {
		if c.Graph.Out {
			return edges[i].src < edges[j].src
		}
		return edges[i].dst < edges[j].dst
	})
	out := map[string][]*float64{"src": {}, "dst": {}, "w": {}}
	for _, e := range edges {
		src, dst, w := float64(e.src), float64(e.dst), []float64{0, 1, 2.5, -1, 1e-9, 1e6, 0.1}[r.IntN(7)]
		out["src"], out["dst"] = append(out["src"], &src), append(out["dst"], &dst)
		if r.IntN(10) == 0 {
			out["w"] = append(out["w"], nil) // NaN
		} else {
			out["w"] = append(out["w"], &w)
		}
	}
	return out
}

func (c *refCase) rules(t testing.TB) Rules {
	t.Helper()
	r := Rules{Length: c.Rules.Length, P: c.Rules.P, Q: c.Rules.Q, Stop: c.Rules.Stop, Restart: c.Rules.Restart, End: c.Rules.End, Column: c.Rules.Column}
	for _, s := range c.Rules.Path {
		r.Path = append(r.Path, s.Edges)
		var err error
		if r.Dir, err = graph.ParseDirection(s.Dir); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// compile compiles rules on a graph.
func compile(t testing.TB, g *graph.Graph, r Rules, threads int) *Walker {
	t.Helper()
	plan, err := Plan(g, r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, plan, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	w, err := New(t.Context(), s, r, threads)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rows makes all walks of the starts, number by number.
func rows(t testing.TB, w *Walker, j Job, starts []uint32, walks int) *refResult {
	t.Helper()
	var all, numbers []uint32
	for n := range walks {
		for _, v := range starts {
			all, numbers = append(all, v), append(numbers, uint32(n))
		}
	}
	length := w.Rules().Length
	nodes, edges := make([]uint32, len(all)*(length+1)), make([]uint64, len(all)*length)
	if err := w.NewContext().Walk(j, all, numbers, nodes, edges); err != nil {
		t.Fatal(err)
	}
	out := &refResult{}
	for i := range all {
		row, ids := []int64{}, []int64{}
		for _, v := range nodes[i*(length+1) : (i+1)*(length+1)] {
			row = append(row, int64(int32(v)))
		}
		for _, e := range edges[i*length : (i+1)*length] {
			ids = append(ids, int64(e))
		}
		out.Nodes, out.Edges = append(out.Nodes, row), append(out.Edges, ids)
	}
	return out
}

// visits is what WriteVisits writes for the starts of a case.
func (c *refCase) visits(t *testing.T) {
	t.Helper()
	w := compile(t, c.Graph.build(), c.rules(t), 2)
	dir := filepath.Join(t.TempDir(), "visits")
	out, err := store.Create(vfs.OS, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Abort() }()
	if _, err := w.WriteVisits(t.Context(), out, WriteOptions{Job: Job{c.Seed, c.Epoch}, Starts: c.Starts, Walks: c.Walks, Visits: c.Take, Threads: 2}); err != nil {
		t.Fatal(err)
	}
	var got [3][]int32
	for i, name := range []string{SrcFile, DstFile, VisitsFile} {
		b, err := os.ReadFile(filepath.Join(out.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		got[i] = graph.View[int32](b[headerOf(b):])
	}
	var want [3][]int32
	for i, list := range c.Result.Visits {
		for _, v := range list {
			want[0], want[1], want[2] = append(want[0], int32(v[0])), append(want[1], int32(c.Starts[i])), append(want[2], int32(v[1]))
		}
	}
	for i := range got {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("%+v: found %v, expected %v", c.Rules, got, want)
		}
	}
}

// headerOf is the length of the header of an .npy file of version 1.
func headerOf(b []byte) int { return 10 + int(b[8]) + int(b[9])<<8 }

func (c *refCase) check(t *testing.T) {
	t.Helper()
	if c.Take > 0 {
		c.visits(t)
		return
	}
	got := rows(t, compile(t, c.Graph.build(), c.rules(t), 2), Job{c.Seed, c.Epoch}, c.Starts, c.Walks)
	for i := range c.Result.Nodes {
		if !slices.Equal(got.Nodes[i], c.Result.Nodes[i]) || !slices.Equal(got.Edges[i], c.Result.Edges[i]) {
			text, _ := json.Marshal(c.Rules)
			t.Fatalf("%s, walk %d of %v: found nodes %v and edges %v, expected %v and %v", text, i, c.Starts, got.Nodes[i], got.Edges[i], c.Result.Nodes[i], c.Result.Edges[i])
		}
	}
}

func randomCases(n int, stream uint64) []*refCase {
	r := rand.New(rand.NewPCG(20261123, stream))
	cases := make([]*refCase, n)
	for i := range cases {
		cases[i] = randomCase(r)
	}
	return cases
}

// answer runs the reference over all cases.
func answer(t *testing.T, python string, cases []*refCase) {
	t.Helper()
	for i, r := range reftest.Answers[*refResult](t, python, reference, cases) {
		cases[i].Result = r
	}
}

// TestReference compares random walks with the reference: new cases where there is a Python with NumPy, and the committed
// ones. Each runs with narrow and with wide edge types.
func TestReference(t *testing.T) {
	if *update {
		cases := randomCases(150, 2)
		answer(t, reftest.NeedPython(t), cases)
		writeGolden(t, cases)
	}
	cases := readGolden(t)
	if py := reftest.Python(t); py != "" {
		more := randomCases(1500, 1)
		answer(t, py, more)
		cases = append(cases, more...)
	}
	steps := 0
	for _, positions := range []int64{math.MaxUint32, 20} {
		before := limits.Positions
		limits.Positions = positions
		t.Cleanup(func() { limits.Positions = before })
		for _, c := range cases {
			c.check(t)
			for _, row := range c.Result.Edges {
				for _, e := range row {
					if e >= 0 {
						steps++
					}
				}
			}
		}
	}
	if steps < 20*len(cases) {
		t.Fatalf("found %d steps in %d cases, expected a test that walks", steps, len(cases))
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
	if err := errors.Join(json.NewEncoder(z).Encode(cases), z.Close(), os.MkdirAll("testdata", 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenCases, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
