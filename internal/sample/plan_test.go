package sample

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

const goodPlan = `{"seed_type": "b", "scope": "batch", "expand": "new", "ops": [
 {"from": [0], "edges": "a:r:b", "dir": "in", "take": 2, "how": "weighted", "column": "d_weight"},
 {"from": [1], "edges": "a:r:b", "dir": "out", "take": -1}]}`

func TestParsePlan(t *testing.T) {
	p, err := ParsePlan("plan.json", []byte(goodPlan))
	if err != nil {
		t.Fatal(err)
	}
	want := &Plan{SeedType: []string{"b"}, Scope: ScopeBatch, Ops: []Op{
		{From: []int{0}, Edges: "a:r:b", Take: 2, How: Weighted, Column: "d_weight"},
		{From: []int{1}, Edges: "a:r:b", Dir: graph.Out, Take: All}}}
	if !reflect.DeepEqual(p, want) {
		t.Fatalf("found %+v, expected %+v", p, want)
	}
	text := strings.NewReplacer(`"take": 2`, `"hop": 2, "take": 2`, `"take": -1`, `"hop": 3, "take": -1`, `"ops": [`, `"hops": 5, "ops": [`).Replace(goodPlan)
	if p, err = ParsePlan("plan.json", []byte(text)); err != nil || p.Hops != 5 || !slices.Equal(p.OpHops(), []int{0, 2, 3}) {
		t.Fatalf("found %+v, %v, expected ops of the hops 2 and 3, of 5", p, err)
	}
}

const linkPlanText = `{"seed_type": ["user","item"], "seed_edges": "user:buys:item", "scope": "seed", "expand": "new",
 "negatives": {"how": "triplet", "each": 2, "by": "column", "column": "w", "strict": "count"},
 "exclude": {"reverse": "item:rev_buys:user"}, "subgraph": "bidirectional", "ops": [],
 "before": {"columns": {"user:buys:item": "at"}, "node_columns": {"item": "from"}, "or_equal": true, "untimed": ["a:b:c"], "window": 2592000}}`

// TestParseLinkPlan reads what a plan says about links and times, and writes it again.
func TestParseLinkPlan(t *testing.T) {
	want := &Plan{SeedType: []string{"user", "item"}, SeedEdges: "user:buys:item", Scope: ScopeSeed, Kind: Bidirectional,
		Negatives: &Negatives{How: Triplet, Each: 2, By: ByColumn, Column: "w", Strict: StrictCount}, Exclude: &Exclude{"item:rev_buys:user"},
		Before: &Before{Columns: map[string]string{"user:buys:item": "at"}, NodeColumns: map[string]string{"item": "from"}, OrEqual: true, Untimed: []string{"a:b:c"}, Window: 2592000}}
	text := []byte(linkPlanText)
	for range 2 {
		p, err := ParsePlan("p", text)
		if err != nil || !reflect.DeepEqual(p, want) {
			t.Fatalf("found %+v, %v, expected %+v", p, err, want)
		}
		if text, err = json.Marshal(p); err != nil {
			t.Fatal(err)
		}
	}
	// What is left out has a meaning, too.
	p, err := ParsePlan("p", []byte(`{"seed_type": ["a","b"], "seed_edges": "a:r:b", "scope": "batch", "expand": "new", "negatives": {"how": "binary", "each": 1}, "exclude": {}, "ops": []}`))
	if err != nil || !reflect.DeepEqual(*p.Negatives, Negatives{How: Binary, Each: 1}) || *p.Exclude != (Exclude{}) || p.Kind != Directional {
		t.Fatalf("found %+v, %v, expected uniform negatives and an exclusion without reverse", p, err)
	}
}

func TestParseLinkPlanRefuses(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`"how": "triplet", `, ``, "found no negatives.how"},
		{`"triplet"`, `"pairs"`, `found negatives.how "pairs", expected one of ["binary" "triplet" "in-batch" "listed"]`},
		{`"each": 2, `, ``, "found no negatives.each"},
		{`"each": 2`, `"each": 0`, "found each 0, expected a number above 0 and at most 65536"},
		{`"each": 2`, `"each": "2"`, "found string in negatives.each, expected float64"},
		{`"each": 2`, `"each": 1e400`, "found number 1e400 in negatives.each"},
		{`"by": "column"`, `"by": "weight"`, `found negatives.by "weight"`},
		{`"strict": "count"`, `"strict": "yes"`, `found negatives.strict "yes"`},
		{`"strict"`, `"Strict"`, `found unknown field "Strict"`},
		{`"reverse": `, `"Reverse": `, `found unknown field "Reverse"`},
		{`"bidirectional"`, `"both"`, `found subgraph "both"`},
		{`"window"`, `"Window"`, `found unknown field "Window"`},
		{`"window": 2592000`, `"window": 0`, "found before.window 0"},
		{`"window": 2592000`, `"window": -3`, "found window -3"},
		{`"window": 2592000`, `"window": 1e999`, "found number 1e999 in before.window"},
		{`"columns": {"user:buys:item": "at"}, "node_columns": {"item": "from"}, `, ``, "found no before.column"},
		{`"seed_edges": "user:buys:item", `, ``, "found exclude without seed_edges"},
	} {
		text := strings.Replace(linkPlanText, test.old, test.new, 1)
		if text == linkPlanText {
			t.Fatalf("%q is not in the plan", test.old)
		}
		if p, err := ParsePlan("p", []byte(text)); !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: found %+v, error %v; expected p: ...%s", test.new, p, err, test.want)
		}
	}
}

func TestParsePlanRefuses(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`"scope": "batch"`, `"scope": "epochs"`, `found scope "epochs", expected one of ["epoch" "batch" "seed"]`},
		{`"scope": "batch", `, ``, "found no scope"},
		{`"seed_type": "b", `, ``, "found no seed_type"},
		{`"seed_type": "b"`, `"seed_type": ["a","b","c"]`, "expected a node type, or a list of two"},
		{`"take": 2, `, ``, "op 1: found no take"},
		{`"take": 2`, `"take": -2`, "op 1: found take -2"},
		{`"take": 2`, `"take": 2.5`, "plan.json:2:"},
		{`"take": 2`, `"takes": 2`, `plan.json:2: found unknown field "takes"`},
		{`"take": 2`, `"Take": 2`, `plan.json:2: found unknown field "Take"`},
		{`"scope"`, `"SCOPE"`, `plan.json:1: found unknown field "SCOPE"`},
		{`"from": [1]`, `"from": [2]`, "op 2: found op 2 in from, expected 0 to 1"},
		{`"from": [1]`, `"from": [0]`, `op 2: found op 0 in from, which reaches ["b"]`},
		{`"dir": "in"`, `"dir": "up"`, `op 1: found direction "up"`},
		{`"how": "weighted", "column": "d_weight"`, `"how": "top"`, "found no column with how top"},
		{`"how": "weighted"`, `"how": "uniform"`, "with how uniform, expected none"},
		{`"how": "weighted"`, `"half_life": 2, "how": "weighted"`, "op 1: found half_life 2 with how weighted, expected it with how recent"},
		{`"how": "weighted"`, `"how": "recent"`, "op 1: found half_life 0, expected an age above 0, in units of the column"},
		{`"how": "weighted"`, `"half_life": -1, "how": "recent"`, "op 1: found half_life -1"},
		{`"how": "weighted", "column": "d_weight"`, `"half_life": 1, "how": "recent"`, "found no column with how recent"},
		{`"how": "weighted"`, `"how": "best"`, `found how "best"`},
		{`a:r:b", "dir": "in"`, `a:b", "dir": "in"`, `found edge type "a:b"`},
		{`"ops": [`, `"before": {"column": "t", "or_equal": true}, "ops": [`, "expected scope seed"},
		{`"ops": [`, `"before": {"column": "t"}, "ops": [`, "found no before.or_equal"},
		{`"take": -1`, `"hop": 2, "take": -1`, "op 2: found hop 2 where op 1 has 0, expected a hop from 1 in all ops or in none"},
		{`"take": 2`, `"hop": 1, "take": 2`, "op 2: found hop 0 where op 1 has 1"},
		{`"take": 2`, `"hop": 0, "take": 2`, "op 1: found hop 0, expected one from 1"},
		{`"ops": [`, `"hops": 1, "ops": [`, "found 1 hops with ops of up to hop 2"},
		{`"ops": [`, `"hops": 0, "ops": [`, "found hops 0"},
		{`"ops": [`, `"hops": 65536, "ops": [`, "and at most 65535"},
		{`-1}]}`, `-1}]} 7`, "plan.json:3: found more after the plan"},
		{`-1}]}`, `-1}]`, "plan.json:3: found the end of the file"},
		{`"ops": [`, "\n\n\"ops\": {", "plan.json:"},
	} {
		text := strings.Replace(goodPlan, test.old, test.new, 1)
		if text == goodPlan {
			t.Fatalf("%q is not in the plan", test.old)
		}
		p, err := ParsePlan("plan.json", []byte(text))
		if !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "plan.json:") {
			t.Errorf("%q: found %+v, error %v; expected plan.json: ...%s", test.new, p, err, test.want)
		}
	}
}

// TestDocumentedPlan reads the plans of the docs.
func TestDocumentedPlan(t *testing.T) {
	text, err := os.ReadFile("../../docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```json\n")[1:]
	if len(blocks) < 3 {
		t.Fatalf("found %d plans in the docs, expected 3", len(blocks))
	}
	for _, block := range blocks {
		plan, _, _ := strings.Cut(block, "```")
		if _, err := ParsePlan("docs", []byte(plan)); err != nil {
			t.Error(err)
		}
	}
}

func smallGraph() *graph.Graph {
	w := []*float64{number(1), number(2)}
	g := &refGraph{Nodes: map[string]int{"a": 2, "b": 2}, Edges: map[string]map[string][]*float64{
		"a:r:b": {"src": {number(0), number(1)}, "dst": {number(0), number(1)}, "d_weight": w},
		"a:s:b": {"src": {}, "dst": {}},
		"b:s:a": {"src": {}, "dst": {}},
	}}
	return g.build(graph.In)
}

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*Plan)
		want string
	}{
		{"good", func(*Plan) {}, ""},
		{"seed type", func(p *Plan) { p.SeedType[0] = "c"; p.Ops = nil }, `found seed type "c", expected one of ["a" "b"]`},
		{"edge type", func(p *Plan) { p.Ops[0].Edges = "a:x:b" }, `op 1: found edge type "a:x:b"`},
		{"column", func(p *Plan) { p.Ops[0].Column = "w" }, `op 1: found no column "w" in a:r:b, expected one weight per row: one of ["d_weight" "mask"]`},
		{"weights of categories", func(p *Plan) { p.Ops[0].Column = "kind" }, `op 1: found column "kind" of a:r:b, whose values are categories, expected one weight per row: one of ["d_weight" "mask"]; import a column of numbers`},
		{"weights of times", func(p *Plan) { p.Ops[0].Column = "day" }, `op 1: found column "day" of a:r:b, whose values are times, expected one weight per row`},
		{"weights of bools", func(p *Plan) { p.Ops[0].Column = "mask" }, ""},
		{"largest categories", func(p *Plan) { p.Ops[0].How, p.Ops[0].Column = Top, "kind" }, `whose values are categories, expected numbers or times: one of ["d_weight" "day"]`},
		{"largest times", func(p *Plan) { p.Ops[0].How, p.Ops[0].Column = Top, "day" }, ""},
		{"recent categories", func(p *Plan) { p.Ops[0].How, p.Ops[0].HalfLife, p.Ops[0].Column = Recent, 1, "kind" }, `whose values are categories, expected numbers or times`},
		{"labor by categories", func(p *Plan) { p.Ops[0].How, p.Ops[0].Column = Labor, "kind" }, `whose values are categories, expected one weight per row`},
		{"before", func(p *Plan) { p.Scope = ScopeSeed; p.Before = &Before{Column: "t"} }, `before: found no column "t" in a:r:b`},
		{"before a category", func(p *Plan) {
			p.Scope, p.Before, p.Ops[0].Edges = ScopeSeed, &Before{Column: "kind"}, "a:r:b"
		}, `op 1: before: found column "kind" of a:r:b, whose values are categories, expected times: one of ["d_weight" "day"]`},
		{"untimed", func(p *Plan) { p.Scope = ScopeSeed; p.Before = &Before{Column: "t", Untimed: []string{"a:r:b"}} }, ""},
		{"no seed type", func(p *Plan) { p.SeedType = nil }, "found 0 seed types"},
		{"values", func(p *Plan) { p.Scope = 9 }, "expected named values"},
		{"direction", func(p *Plan) { p.Ops[0].Dir = 2 }, "op 1: found dir 2"},
		{"strategy", func(p *Plan) { p.Ops[0].How = 11 }, "op 1: found how 11"},
		{"hops of all ops", func(p *Plan) { p.Ops[1].Hop = 1 }, "op 2: found hop 1 where op 1 has 0"},
		{"hops that descend", func(p *Plan) { p.Ops[1] = p.Ops[0]; p.Ops[0].Hop, p.Ops[1].Hop = 2, 1 }, "op 2: found hop 1, expected 2 or more"},
		{"hops below the input's", func(p *Plan) { p.Ops[0].Hop, p.Ops[1].Hop = 1, 1 }, "op 2: found hop 1, expected 2 or more"},
		{"few hops", func(p *Plan) { p.Ops[0].Hop, p.Ops[1].Hop, p.Hops = 1, 3, 2 }, "found 2 hops with ops of up to hop 3"},
	} {
		p, err := ParsePlan("p", []byte(goodPlan))
		if err != nil {
			t.Fatal(err)
		}
		test.edit(p)
		g := smallGraph()
		for _, e := range g.Edges {
			if e.Type.Rel == "r" {
				e.Columns = append(e.Columns,
					&graph.Column{Name: "mask", DType: graph.Bool, Rows: 2, Values: []byte{0, 1}},
					&graph.Column{Name: "day", DType: graph.Int64, Rows: 2, Values: graph.Bytes([]int64{0, 1}), Unit: graph.Seconds},
					&graph.Column{Name: "kind", DType: graph.Int32, Rows: 2, Values: graph.Bytes([]int32{0, 0}), Categories: &graph.Column{Name: "kind", DType: graph.String}})
			}
		}
		_, err = New(g, p, Options{})
		if test.want == "" && err == nil || test.want != "" && errors.Is(err, ErrPlan) && strings.Contains(err.Error(), test.want) {
			continue
		}
		t.Errorf("%s: found error %v, expected %q", test.name, err, test.want)
	}
}

func TestParseFanouts(t *testing.T) {
	for text, want := range map[string]Fanouts{
		"15,10":                  {Each: []int{15, 10}},
		" 3, -1":                 {Each: []int{3, -1}},
		"cites=15,10;writes=5,5": {Types: []TypeFanouts{{"cites", []int{15, 10}}, {"writes", []int{5, 5}}}},
		"a:r:b=-1":               {Types: []TypeFanouts{{"a:r:b", []int{-1}}}},
	} {
		if got, err := ParseFanouts(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: found %v, %v, expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "15,,10", "-2", "=3", "a=3;", "a=1;a=2", "a=1;5", "99999999999", "1.5"} {
		if got, err := ParseFanouts(text); !errors.Is(err, ErrPlan) {
			t.Errorf("%q: found %v, %v, expected ErrPlan", text, got, err)
		}
	}
}

func TestFromFanoutsNames(t *testing.T) {
	g := smallGraph()
	o := FanoutOptions{SeedType: []string{"b"}, Scope: ScopeBatch}
	f := func(names ...string) (f Fanouts) {
		for _, n := range names {
			f.Types = append(f.Types, TypeFanouts{n, []int{1}})
		}
		return f
	}
	p, err := FromFanouts(g, f("r"), o)
	if err != nil || len(p.Ops) != 1 || p.Ops[0].Edges != "a:r:b" {
		t.Fatalf("found %+v, %v, expected one op on a:r:b", p, err)
	}
	for _, names := range [][]string{{"s"}, {"r", "a:r:b"}, {"q"}} {
		if p, err := FromFanouts(g, f(names...), o); !errors.Is(err, ErrPlan) {
			t.Errorf("%q: found %+v, %v, expected ErrPlan", names, p, err)
		}
	}
	o.How, o.Column = Weighted, "d_weight"
	if p, err := FromFanouts(g, Fanouts{Each: []int{1}}, o); !errors.Is(err, ErrPlan) {
		t.Errorf("found %+v, %v, expected ErrPlan for a:s:b, which lacks the column", p, err)
	}
}

func TestHops(t *testing.T) {
	p := &Plan{Ops: []Op{{From: []int{0}}, {From: []int{1}}, {From: []int{0}}, {From: []int{3, 2}}, {}}}
	if got, want := p.OpHops(), []int{0, 1, 2, 2, 3, 3}; !slices.Equal(got, want) {
		t.Fatalf("found hops %v, expected %v", got, want)
	}
}

// emptyGraph has users, items, and edge types without edges.
func emptyGraph(types ...string) *graph.Graph {
	g := &refGraph{Nodes: map[string]int{"user": 2, "item": 2}, Edges: map[string]map[string][]*float64{}}
	for _, t := range types {
		g.Edges[t] = map[string][]*float64{}
	}
	return g.build(graph.In)
}

// A fanout list gives each op the hop that it stands for, whatever the relations are called and whether or not
// something is left to expand.
func TestFanoutHops(t *testing.T) {
	for _, trusts := range []string{"follows", "trusts"} {
		g := emptyGraph("user:rates:item", "user:"+trusts+":user")
		p, err := FromFanouts(g, Fanouts{Each: []int{-1, -1}}, FanoutOptions{SeedType: []string{"item"}, Expand: ExpandAll})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]int{}
		for i, hop := range p.OpHops()[1:] {
			et, err := graph.ParseEdgeType(p.Ops[i].Edges)
			if err != nil {
				t.Fatal(err)
			}
			got[et.Rel] = append(got[et.Rel], hop)
		}
		if want := map[string][]int{"rates": {1, 2}, trusts: {2}}; !reflect.DeepEqual(got, want) || p.Hops != 2 {
			t.Errorf("found hops %v of %d, expected %v of 2", got, p.Hops, want)
		}
	}
	g := emptyGraph("user:rates:item")
	p, err := FromFanouts(g, Fanouts{Each: []int{2, 2, 2}}, FanoutOptions{SeedType: []string{"item"}})
	if err != nil || p.Hops != 3 || len(p.Ops) != 1 {
		t.Fatalf("found %+v, %v, expected one op and 3 hops", p, err)
	}
	s, err := New(g, p, Options{})
	if err != nil || s.Hops() != 3 {
		t.Fatalf("found %d hops, %v, expected 3", s.Hops(), err)
	}
}

// TestNewRefuses checks graphs that a plan cannot run on.
func TestNewRefuses(t *testing.T) {
	plan := func() *Plan {
		return &Plan{SeedType: []string{"b"}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: "a:r:b", Take: 1}}}
	}
	for _, test := range []struct {
		name string
		edit func(*graph.Graph, *Plan)
		is   error
		want string
	}{
		{"many nodes", func(g *graph.Graph, _ *Plan) { g.Nodes[1].Count = 1 << 32 }, ErrTooLarge, "found 4294967296 nodes of type b"},
		{"neighbour", func(g *graph.Graph, _ *Plan) { g.Edges[0].Adj[graph.In].Far.U32[1] = 2 }, nil, "found neighbour 2 at position 1, expected less than 2"},
		{"offsets", func(g *graph.Graph, _ *Plan) { g.Edges[0].Adj[graph.In].Indptr.U32[1] = 3 }, nil, "expected offsets that ascend"},
		{"short", func(g *graph.Graph, _ *Plan) { g.Edges[0].Count = 5 }, nil, "found 3 offsets, 2 neighbours"},
		{"no primary", func(g *graph.Graph, _ *Plan) { g.Edges[0].Adj[graph.In] = nil }, nil, "found neither direction"},
		{"infinite weight", func(g *graph.Graph, p *Plan) {
			p.Ops[0].How, p.Ops[0].Column = Weighted, "d_weight"
			g.Edges[0].Columns = []*graph.Column{testColumn("d_weight", []*float64{number(1), number(math.Inf(1))})}
		}, errWeight, `infinite sum of column "d_weight" over the in-edges of node 1`},
	} {
		g, p := smallGraph(), plan()
		test.edit(g, p)
		_, err := New(g, p, Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s: found error %v, expected %q", test.name, err, test.want)
		}
	}
	g := smallGraph()
	hub := adjacency{indptr: graph.Index{U64: []uint64{0, 1, 1 << 32}}}
	if err := hub.checkDegrees(g.Edges[0]); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "found 4294967295 edges of node 1") {
		t.Errorf("a hub: found error %v, expected ErrTooLarge", err)
	}
	hub.indptr.U64[1] = 2
	if err := hub.checkDegrees(g.Edges[0]); err != nil {
		t.Errorf("found error %v for a node of 2^32 - 2 edges, expected none", err)
	}
}

func TestMissingDirectionWarns(t *testing.T) {
	var warned []string
	p := &Plan{SeedType: []string{"a"}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: "a:r:b", Dir: graph.Out, Take: 1}}}
	s, err := New(smallGraph(), p, Options{Warn: func(m string) { warned = append(warned, m) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(warned) != 1 || !strings.Contains(warned[0], "a:r:b: found no out-edges") {
		t.Fatalf("found warnings %q, expected one on a:r:b", warned)
	}
}

// TestCutAt compares the bound of a time with an exact comparison where one side is an integer and the other a float.
func TestCutAt(t *testing.T) {
	const big = 1<<53 + 1 // not a float64
	ints := []int64{math.MinInt64, -1, 0, 1, 2, big - 1, big, big + 1, math.MaxInt64 - 1, math.MaxInt64}
	floats := []float64{math.Inf(-1), -1, 0, 0.5, 1, 2, big - 1, big + 1, 1 << 62, 1 << 63, math.Inf(1)}
	// cmp is the order of an integer and a float, without rounding either.
	compare := func(i int64, f float64) int {
		switch {
		case f >= 1<<63:
			return -1
		case f < -1<<63:
			return 1
		}
		whole := math.Floor(f)
		switch w := int64(whole); {
		case i < w:
			return -1
		case i > w:
			return 1
		case f > whole:
			return -1
		}
		return 0
	}
	vi, vf := &values{ints: ints}, &values{floats: floats}
	for _, orEqual := range []bool{false, true} {
		for e, i := range ints {
			for _, f := range floats {
				want := compare(i, f) < 0 || orEqual && compare(i, f) == 0
				if got := vi.passes(uint64(e), vi.cutAt(FloatTime(f), orEqual)); got != want {
					t.Errorf("%d before %v (equal: %v): found %v", i, f, orEqual, got)
				}
			}
		}
		for e, f := range floats {
			for _, i := range ints {
				want := compare(i, f) > 0 || orEqual && compare(i, f) == 0
				if got := vf.passes(uint64(e), vf.cutAt(IntTime(i), orEqual)); got != want {
					t.Errorf("%v before %d (equal: %v): found %v", f, i, orEqual, got)
				}
			}
		}
		if vi.passes(0, vi.cutAt(FloatTime(math.NaN()), orEqual)) || vf.passes(1, vf.cutAt(FloatTime(math.NaN()), orEqual)) {
			t.Error("found an edge before NaN")
		}
	}
}

func TestReadValues(t *testing.T) {
	for _, test := range []struct {
		dtype graph.DType
		bytes string
		want  float64
	}{
		{graph.Int8, "\xfe", -2}, {graph.Uint8, "\xfe", 254}, {graph.Int16, "\xfe\xff", -2}, {graph.Uint16, "\xfe\xff", 65534},
		{graph.Int32, "\xfe\xff\xff\xff", -2}, {graph.Uint32, "\xfe\xff\xff\xff", 4294967294},
		{graph.Int64, "\xfe\xff\xff\xff\xff\xff\xff\xff", -2}, {graph.Uint64, "\x05\x00\x00\x00\x00\x00\x00\x00", 5},
		{graph.Float16, "\x00\xbc", -1}, {graph.Float16, "\x01\x00", math.Ldexp(1, -24)}, {graph.Float16, "\x00\x7c", math.Inf(1)},
		{graph.BFloat16, "\x80\x3f", 1}, {graph.Float32, "\x00\x00\x80\x3f", 1}, {graph.Float64, "\x00\x00\x00\x00\x00\x00\xf0\x3f", 1},
	} {
		e := &graph.Edges{Count: 1, Columns: []*graph.Column{{Name: "c", DType: test.dtype, Rows: 1, Values: []byte(test.bytes)}}}
		v, err := readValues(e, "c")
		if err != nil || v.float(0) != test.want || v.nan(0) {
			t.Errorf("%s %x: found %v, %v, expected %v", test.dtype, test.bytes, v, err, test.want)
		}
	}
	e := &graph.Edges{Count: 1, Columns: []*graph.Column{{Name: "c", DType: graph.Uint64, Rows: 1, Values: []byte("\xff\xff\xff\xff\xff\xff\xff\xff")}}}
	if v, err := readValues(e, "c"); err == nil {
		t.Errorf("found %v for a number above 2^63, expected an error", v)
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(goodPlan))
	data, err := os.ReadFile("testdata/sampling_vectors.json")
	if err != nil {
		f.Fatal(err)
	}
	var v struct {
		Cases []struct{ Plan json.RawMessage }
	}
	if err := json.Unmarshal(data, &v); err != nil {
		f.Fatal(err)
	}
	for _, c := range v.Cases {
		f.Add([]byte(c.Plan))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzing.Check(t, len(data), func() {
			p, err := ParsePlan("plan", data)
			if err != nil {
				if !errors.Is(err, ErrPlan) {
					t.Fatalf("found error %v, expected ErrPlan", err)
				}
				return
			}
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatalf("found error %v for a plan that was read", err)
			}
			q, err := ParsePlan("plan", text)
			if err != nil {
				t.Fatalf("found error %v in %s, which was written", err, text)
			}
			again, err := json.Marshal(q)
			if err != nil || string(again) != string(text) {
				t.Fatalf("found %s (%v) after a second round, expected %s", again, err, text)
			}
		})
	})
}

func FuzzParseFanouts(f *testing.F) {
	for _, s := range []string{"15,10", "cites=15,10;writes=5,5", "-1", "a:r:b=1;r=2", "=", ";", ",", "1=2=3"} {
		f.Add(s)
	}
	g := smallGraph()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			fan, err := ParseFanouts(text)
			if err != nil {
				if !errors.Is(err, ErrPlan) {
					t.Fatalf("found error %v, expected ErrPlan", err)
				}
				return
			}
			if (fan.Each == nil) == (fan.Types == nil) {
				t.Fatalf("found %+v, expected exactly one field", fan)
			}
			if len(text) > 100 {
				return // a plan has ops in proportion to the square of the hops
			}
			p, err := FromFanouts(g, fan, FanoutOptions{SeedType: []string{"b"}, Scope: ScopeBatch})
			if err == nil {
				err = p.Validate(g)
			} else if errors.Is(err, ErrPlan) {
				err = nil
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	})
}
