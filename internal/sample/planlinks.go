package sample

import (
	"fmt"
	"maps"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// MostNegatives is the most negatives of a link.
const MostNegatives = 1 << 16

// checkLinks refuses seed edges, negatives, an exclusion and a kind of subgraphs without a meaning on any graph.
func (p *Plan) checkLinks() error {
	if int(p.Kind) >= len(kindNames) {
		return tagged.Errorf(ErrPlan, "found subgraph %d, expected a named value", p.Kind)
	}
	if p.SeedEdges != "" {
		if !p.Link() {
			return tagged.Errorf(ErrPlan, "found seed_edges %s and one seed type, expected two seed types: the source and the target of links; give seed_type as a list of two, or remove seed_edges", p.SeedEdges)
		}
		if err := p.checkSeedEdges("seed_edges", p.SeedEdges, 0); err != nil {
			return err
		}
	}
	if x := p.Exclude; x != nil {
		if p.SeedEdges == "" {
			return tagged.Errorf(ErrPlan, "found exclude without seed_edges, expected the edge type of the seed links, whose edges are left out; add seed_edges")
		}
		if x.Reverse != "" {
			if err := p.checkSeedEdges("exclude: reverse", x.Reverse, 1); err != nil {
				return err
			}
		}
	}
	if p.Negatives == nil {
		return nil
	}
	return p.checkNegatives()
}

// checkSeedEdges refuses an edge type that does not lead from one seed type (by number) to the other.
func (p *Plan) checkSeedEdges(field, edges string, from int) error {
	et, err := graph.ParseEdgeType(edges)
	if err != nil {
		return tagged.Errorf(ErrPlan, "%s: %w", field, err)
	}
	if et.Src != p.SeedType[from] || et.Dst != p.SeedType[1-from] {
		return tagged.Errorf(ErrPlan, "%s: found %s, expected an edge type from %s to %s, as the seed types %q say; give another edge type, or turn seed_type round", field, edges, p.SeedType[from], p.SeedType[1-from], p.SeedType)
	}
	return nil
}

func (p *Plan) checkNegatives() error {
	n := p.Negatives
	fail := func(format string, args ...any) error { return tagged.Errorf(ErrPlan, "negatives: "+format, args...) }
	switch {
	case !p.Link():
		return fail("found one seed type, expected two: negatives belong to links")
	case int(n.How) >= len(corruptionNames) || int(n.By) >= len(weightingNames) || int(n.Strict) >= len(strictNames) || int(n.Linked) >= len(linkedNames):
		return fail("found how %d, by %d and strict %d, expected named values", n.How, n.By, n.Strict)
	case !(n.Each > 0 && n.Each <= MostNegatives):
		return fail("found each %v, expected a number above 0 and at most %d", n.Each, MostNegatives)
	case n.How == Listed && n.Uneven():
		return fail("found each %v with how listed, expected the length of the longest list, a whole number", n.Each)
	case n.How == InBatch && p.Scope == ScopeSeed:
		return fail("found how in-batch with scope seed, expected scope batch or epoch: a subgraph of one link has no other targets; take triplet")
	case n.How == Listed && (n.By != ByNone || len(n.Times) > 0 || n.Strict != StrictNo):
		return fail("found how listed with by, times or strict, expected none of them: nothing is drawn; remove them")
	case n.How == InBatch && n.By != ByNone:
		return fail("found by %s with how in-batch, expected no weighting: the targets are those of the batch; take triplet", n.By)
	case n.By == ByColumn && n.Column == "":
		return fail("found by column and no column, expected the name of a node column")
	case n.By != ByColumn && n.Column != "":
		return fail("found column %q with by %s, expected by column", n.Column, n.By)
	case n.By == ByDegree && p.SeedEdges == "":
		return fail("found by degree without seed_edges, expected the edge type whose edges are counted")
	case len(n.Times) > 0 && p.Before == nil:
		return fail("found times without before, expected both: links have no times else; add before, or remove times")
	case n.Linked == LinkedBefore && (n.Strict == StrictNo || p.timeColumn(p.SeedEdges) == ""):
		return fail("found linked before with strict %s and the column %q of times of %s, expected strict negatives and times: set strict, and give seed_edges a column in before", n.Strict, p.timeColumn(p.SeedEdges), p.SeedEdges)
	case n.Strict != StrictNo && p.SeedEdges == "":
		return fail("found strict %s without seed_edges, expected the edge type that the negatives must not be in", n.Strict)
	}
	return nil
}

// validateLinks refuses edge types and columns of links that g does not have.
func (p *Plan) validateLinks(g *graph.Graph) error {
	if p.SeedEdges != "" && edgesOf(g, p.SeedEdges) == nil {
		return tagged.Errorf(ErrPlan, "seed_edges: found edge type %q, expected one of %q", p.SeedEdges, edgeTypes(g))
	}
	if x := p.Exclude; x != nil && x.Reverse != "" && edgesOf(g, x.Reverse) == nil {
		return tagged.Errorf(ErrPlan, "exclude: reverse: found edge type %q, expected one of %q", x.Reverse, edgeTypes(g))
	}
	if n := p.Negatives; n != nil {
		for _, t := range slices.Sorted(maps.Keys(n.Times)) {
			i := g.NodeType(t)
			if i < 0 || !slices.Contains(p.SeedType, t) {
				return tagged.Errorf(ErrPlan, "negatives: times: found node type %q, expected the types of the links: %q; name one of these", t, p.SeedType)
			}
			if err := checkTime(g.Nodes[i], n.Times[t], p.TimeUnit(g)); err != nil {
				return tagged.Errorf(ErrPlan, "negatives: times: %w", err)
			}
		}
	}
	if n := p.Negatives; n != nil && n.By == ByColumn {
		for _, end := range n.drawn() {
			nodes := g.Nodes[g.NodeType(p.SeedType[end])]
			if err := checkWeights("node type "+nodes.Type, nodes.Columns, n.Column); err != nil {
				return tagged.Errorf(ErrPlan, "negatives: %w", err)
			}
		}
	}
	return nil
}

// drawn is the ends of negatives that can be any nodes: 0 for the source, 1 for the target.
func (n *Negatives) drawn() []int {
	switch n.How {
	case Binary, Listed:
		return []int{0, 1}
	case Triplet:
		return []int{1}
	}
	return nil
}

// checkTime refuses a column of nodes that has no times in a unit.
func checkTime(n *graph.Nodes, name string, unit graph.Unit) error {
	if err := checkNumbers("node type "+n.Type, n.Columns, name); err != nil {
		return err
	}
	switch c := graph.FindColumn(n.Columns, name); {
	case c.Categories != nil:
		return fmt.Errorf("found column %q of node type %s, whose values are categories, expected times; import the column with the dtype datetime", name, n.Type)
	case c.Unit != unit:
		return fmt.Errorf("found column %q of node type %s in %s, expected %s, as the times of before; import all of them in one unit", name, n.Type, unitName(c.Unit), unitName(unit))
	}
	return nil
}
