package spec_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/spec"
)

// papers is a graph without edges that has all types and columns of the specs.
func papers() *graph.Graph {
	edges := func(src, rel, dst string, cols ...*graph.Column) *graph.Edges {
		return &graph.Edges{Type: graph.EdgeType{Src: src, Rel: rel, Dst: dst}, Primary: graph.Out, Columns: cols,
			Adj: [2]*graph.Adjacency{graph.Out: {Indptr: graph.Index{U32: []uint32{0, 0}}}}}
	}
	g := &graph.Graph{
		Nodes: []*graph.Nodes{{Type: "author", Count: 1}, {Type: "paper", Count: 1}},
		Edges: []*graph.Edges{
			edges("paper", "cites", "paper", &graph.Column{Name: "weight", DType: graph.Float32}, &graph.Column{Name: "year", DType: graph.Int64}),
			edges("paper", "written", "author"),
			edges("author", "writes", "paper", &graph.Column{Name: "#weight", DType: graph.Float32}, &graph.Column{Name: "weight", DType: graph.Float32}),
		},
	}
	g.Sort()
	return g
}

func TestCompile(t *testing.T) {
	const seed = `seed_op { op_name: "s" node_set_name: "paper" } `
	op := func(name, in, set, more string) string {
		return `sampling_ops { op_name: "` + name + `" input_op_names: [` + in + `] edge_set_name: "` + set + `" sample_size: 3 ` + more + ` } `
	}
	for _, c := range []struct {
		name, text string
		ops        []sample.Op
		err        string
	}{
		{name: "chain and union", text: seed + op("a", `"s"`, "cites", "strategy: RANDOM_UNIFORM") + op("b", `"s", "a"`, "written", "strategy: RANDOM_UNIFORM"),
			ops: []sample.Op{
				{From: []int{0}, Edges: "paper:cites:paper", Dir: graph.Out, Take: 3},
				{From: []int{0, 1}, Edges: "paper:written:author", Dir: graph.Out, Take: 3}}},
		{name: "an unset strategy is TOP_K", text: seed + op("a", `"s"`, "cites", ""),
			ops: []sample.Op{{From: []int{0}, Edges: "paper:cites:paper", Dir: graph.Out, Take: 3, How: sample.Top, Column: "weight"}}},
		{name: "no weights: ones", text: seed + op("a", `"s"`, "written", "strategy: RANDOM_WEIGHTED"),
			ops: []sample.Op{{From: []int{0}, Edges: "paper:written:author", Dir: graph.Out, Take: 3, How: sample.Weighted, Column: "#one"}}},
		{name: "#weight before weight", text: `seed_op { op_name: "s" node_set_name: "author" } ` + op("a", `"s"`, "writes", "strategy: RANDOM_WEIGHTED"),
			ops: []sample.Op{{From: []int{0}, Edges: "author:writes:paper", Dir: graph.Out, Take: 3, How: sample.Weighted, Column: "#weight"}}},
		{name: "latest", text: seed + op("a", `"s"`, "cites", "strategy: LATEST_K"),
			ops: []sample.Op{{From: []int{0}, Edges: "paper:cites:paper", Dir: graph.Out, Take: 3, How: sample.Top, Column: "year"}}},
		{name: "unknown edge set", text: seed + op("a", `"s"`, "quotes", ""), err: `found edge type "quotes"`},
		{name: "unknown input", text: seed + op("a", `"z"`, "cites", ""), err: `found input "z"`},
		{name: "wrong end", text: seed + op("a", `"s"`, "writes", "strategy: RANDOM_UNIFORM"), err: "op 1"},
		{name: "name twice", text: seed + op("s", `"s"`, "cites", ""), err: `"s" twice`},
		{name: "no inputs", text: seed + op("a", "", "cites", ""), err: "found no input_op_names"},
		{name: "no sample size", text: seed + strings.Replace(op("a", `"s"`, "cites", ""), "sample_size: 3", "", 1), err: "found sample_size 0"},
		{name: "a negative sample size", text: seed + strings.Replace(op("a", `"s"`, "cites", ""), "size: 3", "size: -1", 1), err: "found sample_size -1"},
		{name: "no seed op", text: op("a", `"s"`, "cites", ""), err: "found neither seed_op nor symmetric_link_seed_op"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := tfgnn.ParseSpec("spec.pbtxt", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			g := papers()
			p, err := spec.Compile(s, g, spec.Options{TimeColumn: "year"})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.ops, p.Ops); d != "" {
				t.Error(d)
			}
			if p.Scope != sample.ScopeSeed || p.Expand != sample.ExpandAll {
				t.Errorf("scope %v, expand %v", p.Scope, p.Expand)
			}
			// The plan as an output records it runs again.
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			again, err := sample.ParsePlan("plan.json", text)
			if err != nil {
				t.Fatal(err)
			}
			fresh := papers()
			spec.AddOnes(again, fresh)
			if err := again.Validate(fresh); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestCompileLinks checks that ops begin at both ends of links, and that the node type of the ends must be known.
func TestCompileLinks(t *testing.T) {
	const text = `symmetric_link_seed_op { op_name: "s" }
		sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "cites" sample_size: 3 strategy: RANDOM_UNIFORM }`
	s, err := tfgnn.ParseSpec("spec.pbtxt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, types := range [][]string{{"paper"}, {"paper", "paper"}} {
		p, err := spec.Compile(s, papers(), spec.Options{SeedTypes: types})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"paper", "paper"}, p.SeedType); d != "" || p.Ops[0].From[0] != 0 {
			t.Errorf("seed types: %s", d)
		}
	}
	for _, types := range [][]string{nil, {"paper", "author"}} {
		if _, err := spec.Compile(s, papers(), spec.Options{SeedTypes: types}); err == nil || !strings.Contains(err.Error(), "expected one, for both ends are of it") {
			t.Errorf("error %v of node types %q", err, types)
		}
	}
}

// TestClassicWeights checks that the plan of TF-GNN's older sampler reads weights only from "weight", and only where it
// is a float.
func TestClassicWeights(t *testing.T) {
	s, err := tfgnn.ParseSpec("spec.pbtxt", []byte(`seed_op { op_name: "s" node_set_name: "author" }
		sampling_ops { op_name: "a" input_op_names: "s" edge_set_name: "writes" sample_size: 3 }
		sampling_ops { op_name: "b" input_op_names: "a" edge_set_name: "cites" sample_size: 3 }`))
	if err != nil {
		t.Fatal(err)
	}
	g := papers()
	for _, e := range g.Edges {
		if c := graph.FindColumn(e.Columns, "weight"); c != nil && e.Type.Rel == "cites" {
			c.DType = graph.Int64
		}
	}
	p, err := spec.Compile(s, g, spec.Options{Classic: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Ops[0].Column != "weight" || p.Ops[1].Column != sample.OnesColumn {
		t.Errorf("found weights %q and %q, expected weight and ones", p.Ops[0].Column, p.Ops[1].Column)
	}
}
