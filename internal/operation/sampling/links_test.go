package sampling

import (
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// Links that an op can draw as messages are noted, unless an exclusion or times say which edges count.
func TestOwnMessages(t *testing.T) {
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "u"}, {Type: "i"}, {Type: "x"}}}
	for _, e := range []graph.EdgeType{{Src: "u", Rel: "buys", Dst: "i"}, {Src: "i", Rel: "back", Dst: "u"}, {Src: "u", Rel: "has", Dst: "x"}} {
		g.Edges = append(g.Edges, &graph.Edges{Type: e})
	}
	ops := func(names ...string) (all []sample.Op) {
		for _, n := range names {
			all = append(all, sample.Op{Edges: n})
		}
		return all
	}
	const self, back = "`Exclude` self", "reverse:back"
	for name, c := range map[string]struct {
		plan sample.Plan
		want string // empty: no note
	}{
		"nodes":             {sample.Plan{SeedType: []string{"u"}, Ops: ops("u:buys:i")}, ""},
		"links":             {sample.Plan{SeedType: []string{"u", "i"}, SeedEdges: "u:buys:i", Ops: ops("u:has:x", "u:buys:i")}, self},
		"links of any type": {sample.Plan{SeedType: []string{"u", "i"}, Ops: ops("u:buys:i")}, self},
		"reverses":          {sample.Plan{SeedType: []string{"u", "i"}, SeedEdges: "u:buys:i", Ops: ops("i:back:u")}, back},
		"all between":       {sample.Plan{SeedType: []string{"u", "i"}, SeedEdges: "u:buys:i", Kind: sample.Induced}, back},
		"other edges":       {sample.Plan{SeedType: []string{"u", "i"}, SeedEdges: "u:buys:i", Ops: ops("u:has:x")}, ""},
		"excluded":          {sample.Plan{SeedType: []string{"u", "i"}, SeedEdges: "u:buys:i", Ops: ops("u:buys:i"), Exclude: &sample.Exclude{}}, ""},
		"earlier":           {sample.Plan{SeedType: []string{"u", "i"}, SeedEdges: "u:buys:i", Ops: ops("u:buys:i"), Before: &sample.Before{Column: "t"}}, ""},
	} {
		got := ownMessages(g, &c.plan)
		themselves := strings.Contains(got, "themselves")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") || c.want == self && strings.Contains(got, back) || themselves != (got != "" && name != "reverses") {
			t.Errorf("%s: found the note %q, expected %q in it", name, got, c.want)
		}
	}
}
