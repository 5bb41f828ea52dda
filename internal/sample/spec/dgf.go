package spec

import (
	"cmp"
	"slices"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// maxDGFOps bounds the ops of a plan. A SimpleSamplingConfig has as many steps as there are paths of edge sets.
const maxDGFOps = 4096

// CompileDGF makes the plan of a plan of Google's DGF on g. It has scope seed and expand all, and an op for each step, hop by hop. An
// edge set is the edge type with its name as relation. timeColumn is the edge column of times of a temporal plan. Features of plans
// whose draws have no equal here are refused by name.
func CompileDGF(d *dgf.Plan, g *graph.Graph, timeColumn string) (*sample.Plan, error) {
	c := dgfCompiler{g: g, p: &sample.Plan{Scope: sample.ScopeSeed, Expand: sample.ExpandAll}}
	types := make([]graph.EdgeType, len(g.Edges))
	for i, e := range g.Edges {
		types[i] = e.Type
	}
	c.names = examplecolumns.EdgeSets(types)
	if d.WithReplacement {
		return nil, tagged.Errorf(sample.ErrPlan, "found with_replacement true, with which a subgraph is a tree that has nodes several times, expected false; sample with `Fanout` and `Replace`, which draws edges with replacement and has each node once")
	}
	root := d.Root
	if d.Simple != nil {
		seed := c.nodeType(d.Simple.SeedNodeSet)
		if seed < 0 {
			return nil, c.unknownNodeSet(d.Simple.SeedNodeSet)
		}
		var err error
		if root, err = c.steps(d.Simple, g.Nodes[seed].Type); err != nil {
			return nil, err
		}
	}
	seed := c.nodeType(root.NodeSet)
	if seed < 0 {
		return nil, c.unknownNodeSet(root.NodeSet)
	}
	c.p.SeedType = []string{g.Nodes[seed].Type}
	if d.MultiVisit && slices.ContainsFunc(root.Children, func(e dgf.PlanEdge) bool { return len(e.Node.Children) > 0 }) {
		return nil, tagged.Errorf(sample.ErrPlan, "found multi_visit true, with which a step draws from a node as often as the step before reached it, expected false, with which it draws once, as PyG does; write the plan with multi_visit=False")
	}
	if err := c.ops(root); err != nil {
		return nil, err
	}
	if err := c.times(d, timeColumn); err != nil {
		return nil, err
	}
	return c.p, c.p.Validate(g)
}

type dgfCompiler struct {
	g     *graph.Graph
	names []string // of the edge sets
	p     *sample.Plan
}

// nodeType is the number of the node type of a node set; -1: there is none.
func (c *dgfCompiler) nodeType(set string) int {
	return slices.IndexFunc(c.g.Nodes, func(n *graph.Nodes) bool { return n.Type == set || examplecolumns.NodeSet(n.Type) == set })
}

func (c *dgfCompiler) unknownNodeSet(set string) error {
	var types []string
	for _, n := range c.g.Nodes {
		types = append(types, n.Type)
	}
	return tagged.Errorf(sample.ErrPlan, "found the node set %q, expected one of the node types %q", set, types)
}

// steps are the steps of a SimpleSamplingConfig: in each hop all edge sets in the order of their names, each forwards and then, with
// Reverse, backwards.
func (c *dgfCompiler) steps(s *dgf.SimpleConfig, seed string) (*dgf.PlanNode, error) {
	order := make([]int, len(c.g.Edges))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.names[a], c.names[b]) })
	left := maxDGFOps
	var from func(nodeType string, hops int) *dgf.PlanNode
	from = func(nodeType string, hops int) *dgf.PlanNode {
		n := &dgf.PlanNode{NodeSet: nodeType}
		for _, i := range order {
			for _, reversed := range []bool{false, true} {
				near, far := c.g.Edges[i].Type.Src, c.g.Edges[i].Type.Dst
				if reversed {
					near, far = far, near
				}
				if hops == 0 || near != nodeType || reversed && !s.Reverse || left < 0 {
					continue
				}
				left--
				n.Children = append(n.Children, dgf.PlanEdge{EdgeSet: c.names[i], Reversed: reversed, HopWidth: s.HopWidth, Node: from(far, hops-1)})
			}
		}
		return n
	}
	root := from(seed, s.Hops)
	if left < 0 {
		return nil, tagged.Errorf(sample.ErrPlan, "found a plan of more than %d steps, expected at most so many; give fewer hops, or sample with `Fanout`", maxDGFOps)
	}
	return root, nil
}

// ops adds the ops of a tree of steps, hop by hop.
func (c *dgfCompiler) ops(root *dgf.PlanNode) error {
	type place struct {
		node *dgf.PlanNode
		op   int
	}
	for level := []place{{root, 0}}; len(level) > 0; {
		var next []place
		for _, at := range level {
			for i := range at.node.Children {
				e := &at.node.Children[i]
				k := slices.Index(c.names, e.EdgeSet)
				if k < 0 {
					return tagged.Errorf(sample.ErrPlan, "found the edge set %q, expected one of %q", e.EdgeSet, c.names)
				}
				typ, dir := c.g.Edges[k].Type, graph.Out
				near, far := typ.Src, typ.Dst
				if e.Reversed {
					dir, near, far = graph.In, far, near
				}
				for _, end := range []struct{ found, want string }{{at.node.NodeSet, near}, {e.Node.NodeSet, far}} {
					if n := c.nodeType(end.found); n < 0 || c.g.Nodes[n].Type != end.want {
						return tagged.Errorf(sample.ErrPlan, "edge set %q: found a step from %q to %q, expected %q to %q; correct nodeset or reversed", e.EdgeSet, at.node.NodeSet, e.Node.NodeSet, near, far)
					}
				}
				if len(c.p.Ops) == maxDGFOps {
					return tagged.Errorf(sample.ErrPlan, "found a plan of more than %d steps, expected at most so many", maxDGFOps)
				}
				c.p.Ops = append(c.p.Ops, sample.Op{From: []int{at.op}, Edges: typ.String(), Dir: dir, Take: e.HopWidth})
				next = append(next, place{e.Node, len(c.p.Ops)})
			}
		}
		level = next
	}
	return nil
}

// times adds the times of a temporal plan. DGF finds the columns by its schema, which a store does not have.
func (c *dgfCompiler) times(d *dgf.Plan, column string) error {
	switch {
	case !d.Temporal && column != "":
		return tagged.Errorf(sample.ErrPlan, "found `TimeColumn` %s with temporal_sampling false, expected no times; leave it out, or write the plan with temporal_sampling=True", column)
	case !d.Temporal:
		return nil
	case column == "":
		return tagged.Errorf(sample.ErrPlan, "found temporal_sampling true and no column of times, expected its name, the feature with is_creation_time in the schema of DGF; give `TimeColumn`")
	}
	c.p.Before = &sample.Before{Column: column, OrEqual: true}
	for i, e := range c.g.Edges {
		followed := slices.ContainsFunc(c.p.Ops, func(o sample.Op) bool { return o.Edges == e.Type.String() })
		if !followed || graph.FindColumn(e.Columns, column) != nil {
			continue
		}
		if d.PropagateTimestamps {
			return tagged.Errorf(sample.ErrPlan, "edge set %q: found no column %q and propagate_timestamp_to_edges true, which makes times of those of the nodes, expected the column; run dgf.transform.propagate_timestamp_to_edges before the graph is written, or write the plan with propagate_timestamp_to_edges=False", c.names[i], column)
		}
		c.p.Before.Untimed = append(c.p.Before.Untimed, e.Type.String())
	}
	return nil
}
