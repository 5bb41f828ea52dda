package sampletest

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// AddTimes gives many of the plans with times of a store of Sparse more that depends on them: nodes with times, negatives that exist and are not linked at the time of
// their link. It also leaves the edges of the links out of some plans of links.
func AddTimes(r *rapid.T, g *graph.Graph, p *sample.Plan) {
	n := p.Negatives
	if p.SeedEdges != "" && rapid.Bool().Draw(r, "exclude") {
		p.Exclude = &sample.Exclude{}
	}
	if p.SeedEdges != "" && n != nil && n.How != sample.Listed && rapid.Bool().Draw(r, "strict") {
		n.Strict = sample.StrictCount
	}
	if p.Before == nil {
		return
	}
	if rapid.Bool().Draw(r, "times of nodes") {
		p.Before.NodeColumns = map[string]string{rapid.SampledFrom(g.Nodes).Draw(r, "of").Type: "born"}
	}
	if n == nil || n.How == sample.Listed {
		return
	}
	if rapid.IntRange(0, 3).Draw(r, "at any time") > 0 {
		n.Times = map[string]string{}
		for _, t := range p.SeedType {
			if rapid.IntRange(0, 3).Draw(r, "this end at any time") > 0 {
				n.Times[t] = "born"
			}
		}
	}
	own := p.Before.Columns[p.SeedEdges] != "" || p.Before.Column != "" && !slices.Contains(p.Before.Untimed, p.SeedEdges)
	if n.Strict != sample.StrictNo && own && rapid.Bool().Draw(r, "linked before") {
		n.Linked = sample.LinkedBefore
	}
}
