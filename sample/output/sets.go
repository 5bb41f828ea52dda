package output

import (
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/sample"
)

// inputPosition is the column of the place of an edge in its input: how the store
// was made, not what the graph is.
const inputPosition = "#input_position"

// Reach is the numbers of the node types that a plan reaches and of the edge types
// that it draws from, ascending: what an output has.
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
	for i, is := range isEdge {
		if is {
			edges = append(edges, i)
		}
	}
	return nodes, edges
}

// nodeSet is the name of a node type in TFRecords.
func nodeSet(nodeType string) string {
	if nodeType == graph.HomogeneousNode {
		return "node"
	}
	return nodeType
}

// edgeSets is the names of the given edge types in TFRecords.
func edgeSets(g *graph.Graph, edges []int) map[int]string {
	relation := func(t graph.EdgeType) string {
		if t == graph.HomogeneousEdge {
			return "edge"
		}
		return t.Rel
	}
	count := map[string]int{}
	for _, i := range edges {
		count[relation(g.Edges[i].Type)]++
	}
	names := map[int]string{}
	for _, i := range edges {
		t := g.Edges[i].Type
		names[i] = relation(t)
		if count[names[i]] > 1 {
			names[i] = nodeSet(t.Src) + "_" + t.Rel + "_" + nodeSet(t.Dst)
		}
	}
	return names
}

// distinct says whether a name was given to two sets.
func distinct(kind string, taken map[string]string, name, owner string) error {
	if other, ok := taken[name]; ok {
		return fmt.Errorf("found %s set name %q for both %s and %s, expected different ones; rename one of the types", kind, name, other, owner)
	}
	taken[name] = owner
	return nil
}
