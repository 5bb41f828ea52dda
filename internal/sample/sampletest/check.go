package sampletest

import (
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/condition"
)

// Checker finds in single subgraphs of a plan what no subgraph may have, whatever drew it: it draws nothing, and reads the columns of the graph by itself. An error of
// Check names
//
//   - an edge whose ends in the store are not its ends in the subgraph. Only the reverses of a bidirectional plan have the ids of
//     their edges;
//   - an edge that is no message of the plan, or that lies outside the times of its seed;
//   - a node that an op found and that lies outside these times;
//   - an edge of a link of the subgraph, where the plan excludes them;
//   - a negative with a node that does not exist at the time of its link, though others do;
//   - a number of refused negatives other than the number of those that are.
type Checker struct {
	g       *graph.Graph
	p       *sample.Plan
	message [][]func(edge int) bool // by edge type: one of these holds; nil: every edge is one
	links   map[[2]uint32][]float64 // the times of the messages of SeedEdges; 0 without times
}

// NewChecker is a Checker of the subgraphs of a plan. Times are of int64 or float64, and windows whole, each of them exact in float64.
func NewChecker(g *graph.Graph, p *sample.Plan) (*Checker, error) {
	c := &Checker{g: g, p: p, message: make([][]func(int) bool, len(g.Edges)), links: map[[2]uint32][]float64{}}
	for i, e := range g.Edges {
		m, ok := p.Messages[e.Type.String()]
		if !ok {
			continue
		}
		for _, v := range m.Values {
			match, err := condition.Matcher(graph.FindColumn(e.Columns, m.Column), v)
			if err != nil {
				return nil, err
			}
			c.message[i] = append(c.message[i], match)
		}
	}
	for i, e := range g.Edges {
		if e.Type.String() != p.SeedEdges {
			continue
		}
		times := graph.FindColumn(e.Columns, c.edgeTimes(p.SeedEdges))
		for id := range e.Count {
			if !c.isMessage(i, id) {
				continue
			}
			src, dst := e.Ends(id)
			pair, t := [2]uint32{uint32(src), uint32(dst)}, 0.0
			if times != nil {
				t = timeAt(times, id)
			}
			c.links[pair] = append(c.links[pair], t)
		}
	}
	return c, nil
}

// isMessage says whether an edge of edge type i is a message.
func (c *Checker) isMessage(i, id int) bool {
	is := c.message[i]
	return is == nil || slices.ContainsFunc(is, func(match func(int) bool) bool { return match(id) })
}

// edgeTimes is the column with the times of an edge type; empty: it has none.
func (c *Checker) edgeTimes(edges string) string {
	b := c.p.Before
	switch {
	case b == nil || slices.Contains(b.Untimed, edges):
		return ""
	case b.Columns[edges] != "":
		return b.Columns[edges]
	}
	return b.Column
}

func timeAt(c *graph.Column, row int) float64 {
	if c.DType == graph.Float64 {
		return graph.View[float64](c.Values)[row]
	}
	return float64(graph.View[int64](c.Values)[row])
}

// passes says whether a time lies before the time of a seed, as Before says.
func (c *Checker) passes(t, seed float64) bool {
	b := c.p.Before
	if b.OrEqual {
		return t <= seed && (b.Window == 0 || t > seed-b.Window)
	}
	return t < seed && (b.Window == 0 || t >= seed-b.Window)
}

// Check is an error where a subgraph has what none may have.
func (c *Checker) Check(sub *sample.Subgraph) error {
	number, f, float := sub.Input.Time.Number()
	seed := float64(number)
	if float {
		seed = f
	}
	for i := range sub.Edges {
		if err := c.edges(i, sub, seed); err != nil {
			return err
		}
	}
	if err := c.nodes(sub, seed); err != nil {
		return err
	}
	return c.negatives(sub, seed)
}

// edges checks the edges of a type.
func (c *Checker) edges(i int, sub *sample.Subgraph, seed float64) error {
	of, e := c.g.Edges[i], sub.Edges[i]
	name := of.Type.String()
	src, dst := sub.Nodes[c.g.NodeType(of.Type.Src)], sub.Nodes[c.g.NodeType(of.Type.Dst)]
	times := graph.FindColumn(of.Columns, c.edgeTimes(name))
	for k := range e.ID.Len() {
		id := int(e.ID.At(k))
		from, to := of.Ends(id)
		s, d := uint64(src[e.Src[k]]), uint64(dst[e.Dst[k]])
		if reverse := c.p.Kind == sample.Bidirectional && of.Type.Src == of.Type.Dst && s == to && d == from; !reverse && (s != from || d != to) {
			return fmt.Errorf("%s: edge %d: found the ends %d and %d, expected %d and %d, as in the store", name, id, s, d, from, to)
		}
		if !c.isMessage(i, id) {
			return fmt.Errorf("%s: found edge %d, expected a message: %s", name, id, c.p.Messages[name])
		}
		if times != nil && !c.passes(timeAt(times, id), seed) {
			return fmt.Errorf("%s: found edge %d with the time %v, expected one that %+v lets through at %v", name, id, timeAt(times, id), *c.p.Before, seed)
		}
		if c.p.Exclude != nil && name == c.p.SeedEdges && isLink(sub.Input.Seeds, uint32(from), uint32(to)) {
			return fmt.Errorf("%s: found edge %d from node %d to %d, expected none of a link of the subgraph", name, id, from, to)
		}
	}
	return nil
}

// isLink says whether two nodes are the ends of a link among seeds.
func isLink(seeds []uint32, src, dst uint32) bool {
	for i := 0; i < len(seeds); i += 2 {
		if seeds[i] == src && seeds[i+1] == dst {
			return true
		}
	}
	return false
}

// nodes checks the nodes that are neither seeds nor ends of negatives.
func (c *Checker) nodes(sub *sample.Subgraph, seed float64) error {
	if c.p.Before == nil {
		return nil
	}
	for i, n := range c.g.Nodes {
		times := graph.FindColumn(n.Columns, c.p.Before.NodeColumns[n.Type])
		if times == nil {
			continue
		}
		given := map[uint32]bool{}
		for end, t := range c.p.SeedType {
			for _, list := range [][]uint32{sub.Input.Seeds, sub.Negatives.Nodes} {
				for k := end; t == n.Type && k < len(list); k += len(c.p.SeedType) {
					given[list[k]] = true
				}
			}
		}
		for _, v := range sub.Nodes[i] {
			if !given[v] && !c.passes(timeAt(times, int(v)), seed) {
				return fmt.Errorf("node type %s: found node %d with the time %v, expected one that %+v lets through at %v", n.Type, v, timeAt(times, int(v)), *c.p.Before, seed)
			}
		}
	}
	return nil
}

// negatives checks the negatives of a subgraph.
func (c *Checker) negatives(sub *sample.Subgraph, seed float64) error {
	n := c.p.Negatives
	if n == nil || n.How == sample.Listed {
		return nil
	}
	refused := 0
	links := len(sub.Input.Seeds) / 2
	for link := range links {
		from, to := sub.Negatives.Span(link, links)
		for k := from; k < to; k++ {
			pair := [2]uint32(sub.Negatives.Nodes[2*k:])
			none := false
			for end := range 2 {
				own := sub.Input.Seeds[2*link+end]
				if n.How != sample.Binary && end == 0 {
					if pair[0] != own {
						return fmt.Errorf("negative %d: found the source %d, expected %d, the source of its link", k, pair[0], own)
					}
					continue
				}
				born, exist := c.exists(c.p.SeedType[end], pair[end], seed)
				if n.How != sample.InBatch && !born && (exist || pair[end] != own) {
					return fmt.Errorf("negative %d: found node %d of type %s, expected one that exists at %v", k, pair[end], c.p.SeedType[end], seed)
				}
				none = none || n.How != sample.InBatch && !exist
			}
			if none || n.Strict != sample.StrictNo && (c.p.SeedType[0] == c.p.SeedType[1] && pair[0] == pair[1] || c.linked(pair, seed)) {
				refused++
			}
		}
	}
	if refused != sub.Negatives.Edges {
		return fmt.Errorf("found %d refused negatives, expected %d", sub.Negatives.Edges, refused)
	}
	return nil
}

// exists says whether a node exists at a time, and whether any node of its type does.
func (c *Checker) exists(nodeType string, node uint32, at float64) (is, exist bool) {
	n := c.g.Nodes[c.g.NodeType(nodeType)]
	times := graph.FindColumn(n.Columns, c.p.Negatives.Times[nodeType])
	if times == nil {
		return true, true
	}
	for v := range n.Count {
		exist = exist || timeAt(times, v) <= at
	}
	return timeAt(times, int(node)) <= at, exist
}

// linked says whether a strict negative may not be this pair.
func (c *Checker) linked(pair [2]uint32, at float64) bool {
	if c.p.Negatives.Linked == sample.LinkedEver {
		return len(c.links[pair]) > 0
	}
	return slices.ContainsFunc(c.links[pair], func(t float64) bool { return t <= at })
}
