package output

import (
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/sample"
)

// Reach is the numbers of the node types that a plan reaches and of the edge types that it draws from, ascending. An
// output has these types.
func Reach(g *graph.Graph, p *sample.Plan) (nodes, edges []int) {
	isNode, isEdge := make([]bool, len(g.Nodes)), make([]bool, len(g.Edges))
	for _, t := range p.SeedType {
		isNode[g.NodeType(t)] = true
	}
	for _, op := range p.Ops {
		for i, e := range g.Edges {
			if op.Take != 0 && e.Type.String() == op.Edges {
				isEdge[i] = true
				isNode[g.NodeType(e.Type.Src)], isNode[g.NodeType(e.Type.Dst)] = true, true
			}
		}
	}
	for i, is := range isNode {
		if is {
			nodes = append(nodes, i)
		}
	}
	if p.Kind == sample.Induced {
		return nodes, p.Induced(g)
	}
	for _, i := range p.Reversed(g) {
		isEdge[i] = true
	}
	for i, is := range isEdge {
		if is {
			edges = append(edges, i)
		}
	}
	return nodes, edges
}

// edgeSets is the names of edge types in TFRecords, by number.
func edgeSets(g *graph.Graph, edges []int) map[int]string {
	types := make([]graph.EdgeType, len(edges))
	for k, i := range edges {
		types[k] = g.Edges[i].Type
	}
	names := map[int]string{}
	for k, name := range examplecolumns.EdgeSets(types) {
		names[edges[k]] = name
	}
	return names
}

// distinct refuses a name that two sets have, and notes the name otherwise.
func distinct(kind string, taken map[string]string, name, owner string) error {
	if other, ok := taken[name]; ok {
		return fmt.Errorf("found %s set name %q for both %s and %s, expected different ones; rename one of the types", kind, name, other, owner)
	}
	taken[name] = owner
	return nil
}
