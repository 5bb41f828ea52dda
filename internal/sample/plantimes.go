package sample

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// timeColumn is the column with the times of an edge type; empty: its edges are drawn without regard to their own times.
func (p *Plan) timeColumn(edges string) string {
	b := p.Before
	if b == nil || slices.Contains(b.Untimed, edges) {
		return ""
	}
	if c := b.Columns[edges]; c != "" {
		return c
	}
	return b.Column
}

// nodeTimes is the column with the times of a node type; empty: it has none.
func (p *Plan) nodeTimes(nodeType string) string {
	if p.Before == nil {
		return ""
	}
	return p.Before.NodeColumns[nodeType]
}

// timed says whether Before filters the edges of an edge type by their own times.
func (p *Plan) timed(edges string) bool { return p.timeColumn(edges) != "" }

// checkBefore refuses a Before without a meaning on any graph.
func (p *Plan) checkBefore() error {
	b := p.Before
	if b == nil {
		return nil
	}
	if p.Scope != ScopeSeed {
		return tagged.Errorf(ErrPlan, "found before with scope %s, expected scope seed; times belong to single seeds", p.Scope)
	}
	if b.Column == "" && len(b.Columns)+len(b.NodeColumns) == 0 {
		return tagged.Errorf(ErrPlan, "before: found no column, expected one of all edge types (column), or some of single types (columns, node_columns)")
	}
	for _, e := range slices.Sorted(maps.Keys(b.Columns)) {
		if _, err := graph.ParseEdgeType(e); err != nil {
			return tagged.Errorf(ErrPlan, "before: columns: %w", err)
		}
		if b.Columns[e] == "" {
			return tagged.Errorf(ErrPlan, "before: columns: found no column of %s, expected one; list the edge type as untimed to draw its edges at any time", e)
		}
		if slices.Contains(b.Untimed, e) {
			return tagged.Errorf(ErrPlan, "before: found %s in columns and in untimed, expected it in one of them; remove it from untimed, if its edges have times", e)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(b.NodeColumns)) {
		if b.NodeColumns[t] == "" {
			return tagged.Errorf(ErrPlan, "before: node_columns: found no column of %q, expected one; leave out node types whose nodes are drawn at any time", t)
		}
	}
	if w := b.Window; !(w >= 0) || math.IsInf(w, 1) {
		return tagged.Errorf(ErrPlan, "before: found window %v, expected a length above 0, in units of the columns", w)
	}
	return nil
}

// ofNodes is the place of the columns of nodes.
const ofNodes = "before: node_columns"

// timesOf is a column of times that a plan reads.
type timesOf struct {
	place, owner string
	columns      []*graph.Column
	name         string
}

// times are the columns of times that the ops of a plan read, each once: times of edges by op, then times of nodes by
// name. Where a type does not exist, its owner is empty.
func (p *Plan) times(g *graph.Graph) []timesOf {
	var out []timesOf
	seen := map[string]bool{}
	for i, op := range p.Ops {
		if name := p.timeColumn(op.Edges); name != "" && !seen[op.Edges] {
			seen[op.Edges] = true
			t := timesOf{place: fmt.Sprintf("op %d: before", i+1), name: name}
			if e := edgesOf(g, op.Edges); e != nil {
				t.owner, t.columns = op.Edges, e.Columns
			}
			out = append(out, t)
		}
	}
	if p.Before == nil {
		return out
	}
	if n := p.Negatives; n != nil && n.Linked == LinkedBefore && !seen[p.SeedEdges] {
		seen[p.SeedEdges] = true
		t := timesOf{place: "negatives: linked", name: p.timeColumn(p.SeedEdges)}
		if e := edgesOf(g, p.SeedEdges); e != nil {
			t.owner, t.columns = p.SeedEdges, e.Columns
		}
		out = append(out, t)
	}
	for _, e := range slices.Sorted(maps.Keys(p.Before.Columns)) {
		if !seen[e] {
			t := timesOf{place: "before: columns", name: p.Before.Columns[e]}
			if x := edgesOf(g, e); x != nil {
				t.owner, t.columns = e, x.Columns
			}
			out = append(out, t)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(p.Before.NodeColumns)) {
		t := timesOf{place: ofNodes, name: p.Before.NodeColumns[n]}
		if i := g.NodeType(n); i >= 0 {
			t.owner, t.columns = "node type "+n, g.Nodes[i].Columns
		}
		out = append(out, t)
	}
	return out
}

// validateBefore refuses a Before whose types or columns g does not have, whose columns are no times, or have several
// units.
func (p *Plan) validateBefore(g *graph.Graph) error {
	if p.Before == nil {
		return nil
	}
	for _, e := range slices.Sorted(maps.Keys(p.Before.Columns)) {
		if edgesOf(g, e) == nil {
			return tagged.Errorf(ErrPlan, "before: columns: found edge type %q, expected one of %q", e, edgeTypes(g))
		}
	}
	for _, t := range slices.Sorted(maps.Keys(p.Before.NodeColumns)) {
		if g.NodeType(t) < 0 {
			return tagged.Errorf(ErrPlan, "before: node_columns: found node type %q, expected one of %q", t, nodeTypes(g))
		}
	}
	have := p.TimeUnit(g)
	for _, t := range p.times(g) {
		if err := checkNumbers(t.owner, t.columns, t.name); err != nil {
			hint := "list the edge type as untimed to draw its edges at any time"
			if t.place == ofNodes {
				hint = "leave out node types whose nodes are drawn at any time"
			}
			return tagged.Errorf(ErrPlan, "%s: %w; %s", t.place, err, hint)
		}
		c := graph.FindColumn(t.columns, t.name)
		switch {
		case c.Categories != nil:
			return tagged.Errorf(ErrPlan, "%s: found column %q of %s, whose values are categories, expected times: one of %q; give one of these, or import the column with the dtype datetime", t.place, c.Name, t.owner, numbers(t.columns))
		case c.Unit != have:
			return tagged.Errorf(ErrPlan, "%s: found column %q of %s in %s, expected %s, as of the types before; import all of them in one unit", t.place, c.Name, t.owner, unitName(c.Unit), unitName(have))
		case p.Before.Window != math.Floor(p.Before.Window) && c.DType.IsInt():
			return tagged.Errorf(ErrPlan, "%s: found window %v and whole numbers in column %q of %s, expected a whole window; round it", t.place, p.Before.Window, c.Name, t.owner)
		}
	}
	return nil
}

// TimeUnit is the unit of the columns of Before, as the first type with times has it, also where no op draws from it; empty: a plan without
// Before, or times without a unit.
func (p *Plan) TimeUnit(g *graph.Graph) graph.Unit {
	if c := p.firstTimes(g); c != nil {
		return c.Unit
	}
	return ""
}

// ZeroTime is the time 0 as the columns of Before have times: a whole number, or a float.
func (p *Plan) ZeroTime(g *graph.Graph) Time {
	if c := p.firstTimes(g); c != nil && (c.DType == graph.Float32 || c.DType == graph.Float64) {
		return FloatTime(0)
	}
	return IntTime(0)
}

// firstTimes is the column of Before of the first type with times; nil of a plan without Before.
func (p *Plan) firstTimes(g *graph.Graph) *graph.Column {
	for _, t := range p.times(g) {
		if c := graph.FindColumn(t.columns, t.name); c != nil {
			return c
		}
	}
	if p.Before != nil {
		for _, e := range g.Edges {
			if c := graph.FindColumn(e.Columns, p.Before.Column); c != nil && p.timed(e.Type.String()) {
				return c
			}
		}
	}
	return nil
}

func unitName(u graph.Unit) string {
	if u == "" {
		return "numbers without a unit"
	}
	return string(u)
}

func edgeTypes(g *graph.Graph) (have []string) {
	for _, e := range g.Edges {
		have = append(have, e.Type.String())
	}
	return have
}

func nodeTypes(g *graph.Graph) (have []string) {
	for _, n := range g.Nodes {
		have = append(have, n.Type)
	}
	return have
}
