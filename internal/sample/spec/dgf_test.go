package spec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/spec"
)

func TestCompileDGF(t *testing.T) {
	op := func(from int, edges string, dir graph.Direction, take int) sample.Op {
		return sample.Op{From: []int{from}, Edges: edges, Dir: dir, Take: take}
	}
	step := func(set, reversed, to, more string) string {
		return `{"edgeset": "` + set + `", "reversed": ` + reversed + `, "hop_width": 4, "node": {"nodeset": "` + to + `", "children": [` + more + `]}}`
	}
	tree := func(from, children, more string) string {
		return `{"root": {"nodeset": "` + from + `", "children": [` + children + `]}` + more + `}`
	}
	const once = `, "multi_visit": false`
	for _, c := range []struct {
		name, text, time string
		ops              []sample.Op
		before           *sample.Before
		err              string
	}{
		{name: "one hop, as often as it likes", text: `{"seed_nodeset": "paper", "num_hops": 1, "hop_width": 7}`, ops: []sample.Op{
			op(0, "paper:cites:paper", graph.Out, 7), op(0, "paper:cites:paper", graph.In, 7), op(0, "author:writes:paper", graph.In, 7), op(0, "paper:written:author", graph.Out, 7)}},
		{name: "forwards", text: `{"seed_nodeset": "author", "num_hops": 2, "reverse": false` + once + `}`, ops: []sample.Op{
			op(0, "author:writes:paper", graph.Out, 5), op(1, "paper:cites:paper", graph.Out, 5), op(1, "paper:written:author", graph.Out, 5)}},
		{name: "a tree, hop by hop", text: tree("paper", step("cites", "true", "paper", step("written", "false", "author", ""))+","+step("writes", "true", "author", ""), once), ops: []sample.Op{
			op(0, "paper:cites:paper", graph.In, 4), op(0, "author:writes:paper", graph.In, 4), op(1, "paper:written:author", graph.Out, 4)}},
		{name: "times", text: tree("paper", step("cites", "false", "paper", ""), `, "temporal_sampling": true`), time: "year",
			ops: []sample.Op{op(0, "paper:cites:paper", graph.Out, 4)}, before: &sample.Before{Column: "year", OrEqual: true}},
		{name: "an edge set without times", text: tree("paper", step("cites", "false", "paper", "")+","+step("written", "false", "author", ""), `, "temporal_sampling": true, "propagate_timestamp_to_edges": false`), time: "year",
			ops:    []sample.Op{op(0, "paper:cites:paper", graph.Out, 4), op(0, "paper:written:author", graph.Out, 4)},
			before: &sample.Before{Column: "year", OrEqual: true, Untimed: []string{"paper:written:author"}}},
		{name: "times of nodes", text: tree("paper", step("written", "false", "author", ""), `, "temporal_sampling": true`), time: "year", err: `edge set "written": found no column "year" and propagate_timestamp_to_edges true`},
		{name: "no column of times", text: tree("paper", step("cites", "false", "paper", ""), `, "temporal_sampling": true`), err: "found temporal_sampling true and no column of times"},
		{name: "a column of times", text: tree("paper", step("cites", "false", "paper", ""), ""), time: "year", err: "with temporal_sampling false"},
		{name: "trees", text: `{"seed_nodeset": "paper", "with_replacement": true}`, err: "found with_replacement true"},
		{name: "visits", text: `{"seed_nodeset": "paper"}`, err: "found multi_visit true"},
		{name: "an unknown node set", text: `{"seed_nodeset": "papr"}`, err: `found the node set "papr", expected one of the node types ["author" "paper"]`},
		{name: "an unknown edge set", text: tree("paper", step("quotes", "false", "paper", ""), ""), err: `found the edge set "quotes"`},
		{name: "a wrong direction", text: tree("paper", step("writes", "false", "author", ""), ""), err: `edge set "writes": found a step from "paper" to "author", expected "author" to "paper"`},
		{name: "too many steps", text: `{"seed_nodeset": "paper", "num_hops": 30` + once + `}`, err: "found a plan of more than 4096 steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := dgf.ParsePlan("plan.json", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			p, err := spec.CompileDGF(d, papers(), c.time)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("found %v, expected %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if p.Scope != sample.ScopeSeed || p.Expand != sample.ExpandAll {
				t.Errorf("found scope %s and expand %v", p.Scope, p.Expand)
			}
			if diff := cmp.Diff(c.ops, p.Ops) + cmp.Diff(c.before, p.Before); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The sets node and edge are those of a graph of one type, as it is exported.
func TestCompileDGFHomogeneous(t *testing.T) {
	e := &graph.Edges{Type: graph.HomogeneousEdge, Primary: graph.Out, Adj: [2]*graph.Adjacency{graph.Out: {Indptr: graph.Index{U32: []uint32{0, 0}}}}}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: graph.HomogeneousNode, Count: 1}}, Edges: []*graph.Edges{e}}
	d, err := dgf.ParsePlan("plan.json", []byte(`{"seed_nodeset": "node", "num_hops": 1, "reverse": false}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := spec.CompileDGF(d, g, "")
	if err != nil || p.SeedType[0] != graph.HomogeneousNode || len(p.Ops) != 1 || p.Ops[0].Edges != graph.HomogeneousEdge.String() {
		t.Errorf("found %+v, %v", p, err)
	}
}
