package sampletest

import (
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// AddPositives draws the links of half of the jobs that have links of an edge type anew for each epoch, around their sources, as far as these have edges.
func AddPositives(r *rapid.T, g *graph.Graph, p *sample.Plan, j *sample.Job) {
	if p.SeedEdges == "" || p.Negatives != nil && (p.Negatives.How == sample.InBatch || p.Negatives.How == sample.Listed) || !rapid.Bool().Draw(r, "positives") {
		return
	}
	var nodes []uint32
	for i := 0; i < len(j.Seeds); i += 2 {
		nodes = append(nodes, j.Seeds[i])
	}
	x, err := sample.NewPositives(g, p, nodes, j.Times, j.Seed)
	if err != nil {
		return // no seed has an edge
	}
	links, err := x.Links(j.Epoch)
	if err != nil {
		r.Fatal(err)
	}
	j.Seeds, j.Times, j.Positives = links.Ends, x.Times(j.Times), x
}
