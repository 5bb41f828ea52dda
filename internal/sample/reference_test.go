package sample

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/reftest"
)

var update = flag.Bool("update", false, "write testdata/cases.json.gz by the reference (needs python3 with numpy)")

const (
	goldenCases = "testdata/cases.json.gz"
	reference   = "testdata/reference/check.py"
)

// answerAll runs the reference over all cases.
func answerAll(t *testing.T, python string, cases []*refCase) {
	t.Helper()
	for i, r := range reftest.Answers[*refResult](t, python, reference, cases) {
		cases[i].Result = r
	}
}

// fanoutCases are cases with a plan that the reference compiles from a fanout list.
func fanoutCases(n int, stream uint64) []*refCase {
	r := rand.New(rand.NewPCG(20261121, stream))
	cases := make([]*refCase, n)
	for i := 0; i < n; i++ {
		c := randomCase(r, fmt.Sprintf("fanout case %d of stream %d", i, stream))
		var plan map[string]any
		if err := json.Unmarshal(c.Plan, &plan); err != nil {
			panic(err)
		}
		if len(plan) > 4 { // it has more than a fanout list says
			i--
			continue
		}
		delete(plan, "ops")
		plan["direction"] = []string{"in", "out"}[r.IntN(2)]
		plan["how"] = []string{"uniform", "replace"}[r.IntN(2)]
		c.Fanouts = &refFanouts{}
		hops := []any{}
		each := r.IntN(2) == 0
		for range 1 + r.IntN(3) {
			if each {
				c.Fanouts.Each = append(c.Fanouts.Each, r.IntN(7)-1)
				hops = append(hops, c.Fanouts.Each[len(c.Fanouts.Each)-1])
			} else {
				hops = append(hops, map[string]int{})
			}
		}
		longest := 0
		for _, e := range slices.Sorted(maps.Keys(c.Graph.Edges)) {
			if each || r.IntN(3) == 0 {
				continue
			}
			t := TypeFanouts{Edges: e}
			for _, hop := range hops[:1+r.IntN(len(hops))] {
				take := r.IntN(7) - 1
				t.Hops = append(t.Hops, take)
				hop.(map[string]int)[e] = take
			}
			c.Fanouts.Types = append(c.Fanouts.Types, t)
			longest = max(longest, len(t.Hops))
		}
		if c.Fanouts.Types != nil {
			hops = hops[:longest]
		} else if !each { // a list names at least one type
			c.Fanouts.Each, hops = []int{0}, []any{0}
		}
		plan["fanouts"] = hops
		var err error
		if c.Plan, err = json.Marshal(plan); err != nil {
			panic(err)
		}
		cases[i] = c
	}
	return cases
}

// text is the fanouts as ParseFanouts reads them.
func (f *refFanouts) text() string {
	list := func(hops []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(hops), " ", ","), "[]") }
	if f.Types == nil {
		return list(f.Each)
	}
	var parts []string
	for _, t := range f.Types {
		name := t.Edges
		if et, err := graph.ParseEdgeType(name); err == nil {
			name = et.Rel // unique in these graphs
		}
		parts = append(parts, name+"="+list(t.Hops))
	}
	return strings.Join(parts, ";")
}

// checkFanouts compares the plan of a fanout list with the plan of the reference.
func checkFanouts(t *testing.T, c *refCase) {
	t.Helper()
	var head struct {
		SeedType  any `json:"seed_type"`
		Scope     string
		Expand    string
		Direction string
		How       string
	}
	if c.Planned {
		return
	}
	if err := json.Unmarshal(c.Plan, &head); err != nil {
		t.Fatal(err)
	}
	f, err := ParseFanouts(c.Fanouts.text())
	if err != nil {
		t.Fatal(err)
	}
	o := FanoutOptions{Scope: Scope(slices.Index(scopeNames, head.Scope)), Expand: Expand(slices.Index(expandNames, head.Expand)), How: How(slices.Index(howNames, head.How))}
	if o.Dir, err = graph.ParseDirection(head.Direction); err != nil {
		t.Fatal(err)
	}
	switch x := head.SeedType.(type) {
	case string:
		o.SeedType = []string{x}
	case []any:
		o.SeedType = []string{x[0].(string), x[1].(string)}
	}
	p, err := FromFanouts(c.Graph.build(graph.In), f, o)
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	got, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(exact(t, got), exact(t, c.Result.Plan)) {
		t.Fatalf("%s: fanout %q: found plan %s, expected %s", c.Name, c.Fanouts.text(), got, c.Result.Plan)
	}
	c.Planned = true
}

func randomCases(n int, stream uint64) []*refCase {
	r := rand.New(rand.NewPCG(20261121, stream))
	cases := make([]*refCase, n)
	for i := range cases {
		cases[i] = randomCase(r, fmt.Sprintf("case %d of stream %d", i, stream))
	}
	return cases
}

// sparseCases are cases of which most edges are left out, so that ops often find none that they may take.
func sparseCases(n int, stream uint64) []*refCase {
	cases := randomCases(n, stream)
	r := rand.New(rand.NewPCG(20261127, stream))
	for _, c := range cases {
		var plan struct {
			SeedEdges string `json:"seed_edges"`
		}
		if err := json.Unmarshal(c.Plan, &plan); err != nil {
			panic(err)
		}
		for _, name := range slices.Sorted(maps.Keys(c.Graph.Edges)) {
			if name == plan.SeedEdges { // negatives by degree need edges
				continue
			}
			columns := c.Graph.Edges[name]
			keep := []int{0, 1, 1, 2, 4}[r.IntN(5)] // of 20
			left := map[string][]*float64{}
			for name := range columns {
				left[name] = []*float64{}
			}
			for i := range columns["src"] {
				if r.IntN(20) >= keep {
					continue
				}
				for name, values := range columns {
					left[name] = append(left[name], values[i])
				}
			}
			maps.Copy(columns, left)
		}
	}
	return cases
}

// TestReference compares every node, edge, order, seed and op of random cases with the reference: 3,300 cases where
// there is a Python with NumPy, else the committed ones.
func TestReference(t *testing.T) {
	var cases []*refCase
	if py := reftest.Python(t); py != "" {
		cases = append(randomCases(2400, 1), fanoutCases(300, 3)...)
		sparse := sparseCases(600, 5)
		answerAll(t, py, append(slices.Clone(cases), sparse...))
		checkEach(t, sparse)
	} else {
		t.Log("python3 has no numpy: comparing the committed cases alone; set GRAPHMILL_PYTHON for all")
		cases = readGolden(t)
	}
	checkAll(t, cases)
}

// TestReferenceGolden compares the committed cases.
func TestReferenceGolden(t *testing.T) {
	if *update {
		cases := append(randomCases(100, 2), fanoutCases(25, 4)...)
		answerAll(t, reftest.NeedPython(t), cases)
		writeGolden(t, cases)
	}
	checkAll(t, readGolden(t))
}

// checkEach compares cases, some of which sample nothing.
func checkEach(t *testing.T, cases []*refCase) {
	for i, kind := range relabelKinds {
		setPositions(t, []int64{math.MaxUint32, 0, 1, 2}[i])
		for _, c := range ofKind(t, cases, i) {
			checkCase(t, c, c.Graph, kind)
		}
	}
}

// relabelKinds are the kinds of relabelling that cases are compared with.
var relabelKinds = []relabelKind{relabelAuto, relabelDirect, relabelWide, relabelNarrow}

// ofKind returns the cases for one of relabelKinds: all of them in the long form, and where they are few. Otherwise a case has one kind.
func ofKind(t *testing.T, cases []*refCase, kind int) []*refCase {
	t.Helper()
	if proof.Long(t) || len(cases) < 500 {
		return cases
	}
	var list []*refCase
	for i := kind; i < len(cases); i += len(relabelKinds) {
		list = append(list, cases[i])
	}
	return list
}

func checkAll(t *testing.T, cases []*refCase) {
	for i, kind := range relabelKinds {
		// Edge types of more edges are wide: none, all, and some.
		setPositions(t, []int64{math.MaxUint32, 0, 8, 20}[i])
		edges, weighed := 0, 0
		cases := ofKind(t, cases, i)
		for _, c := range cases {
			if len(c.Result.Weights) > 0 {
				weighed++
			}
			if c.Fanouts != nil {
				checkFanouts(t, c)
				c.Plan = c.Result.Plan
			}
			checkCase(t, c, c.Graph, kind)
			for _, e := range c.Result.Edges {
				edges += len(e)
			}
		}
		if weighed < len(cases)/20 {
			t.Fatalf("found %d of %d cases with weights, expected more", weighed, len(cases))
		}
		if edges < 10*len(cases) {
			t.Fatalf("found %d edges in %d cases, expected a test that samples", edges, len(cases))
		}
	}
}

// setPositions sets the most edges of a type that is not wide, until the test ends.
func setPositions(t *testing.T, n int64) {
	t.Helper()
	before := limits.Positions
	limits.Positions = n
	t.Cleanup(func() { limits.Positions = before })
}

func readGolden(t *testing.T) []*refCase {
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
	var cases []*refCase
	if err := json.NewDecoder(z).Decode(&cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func writeGolden(t *testing.T, cases []*refCase) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(cases); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(goldenCases, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSamplingVectors compares the committed vectors of the reference.
func TestSamplingVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/sampling_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Graph struct {
			Nodes          map[string]int
			Edges, Columns map[string]map[string][]*float64
			Primary        string
		}
		Seed, Epoch uint64
		Cases       []*refCase
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) < 32 {
		t.Fatalf("found %d vectors, expected 32", len(v.Cases))
	}
	g := &refGraph{Nodes: v.Graph.Nodes, Edges: v.Graph.Edges, Columns: v.Graph.Columns, Primary: v.Graph.Primary}
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			c.Seed, c.Epoch = v.Seed, v.Epoch
			checkCase(t, c, g, relabelAuto)
		})
	}
}
