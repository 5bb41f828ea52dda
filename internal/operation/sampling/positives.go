package sampling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/seeds"
)

// positiveEdges returns the edges of the type that Positives names; nil if it names none. types are the node types, and edges the edge type, that SeedType names.
func (o *request) positiveEdges(g *graph.Graph, types []string, edges string) (*graph.Edges, error) {
	if o.Positives == "" {
		return nil, nil
	}
	i, err := g.EdgeType(o.Positives)
	if err != nil {
		return nil, operation.Usagef("`Positives`: %w", err)
	}
	e := g.Edges[i]
	switch src := e.Type.Src; {
	case edges != "" || len(types) > 1:
		return nil, operation.Usagef("found `Positives` and `SeedType` %s, expected the node type %s of the seeds: each is a link by an edge of its own; give `SeedType` %s, or leave it out", joined(o.SeedType), src, src)
	default:
		for _, of := range g.Edges {
			if rest, ok := strings.CutPrefix(o.Seeds, of.Type.String()); ok && (rest == "" || rest[0] == ':') {
				return nil, operation.Usagef("found `Positives` and `Seeds` %s, which are links, expected nodes of type %s, each of which draws a link; give nodes, or leave `Positives` out", o.Seeds, src)
			}
		}
		given := src
		if name, _, _ := strings.Cut(o.Seeds, ":"); g.NodeType(name) >= 0 {
			given = name
		}
		if len(types) > 0 {
			given = types[0]
		}
		if given != src {
			return nil, operation.Usagef("found `Positives` %s with seeds of type %s, expected an edge type that leads from them; give one of them, such as the type of the reverse edges, or seeds of type %s", e.Type, given, src)
		}
	}
	return e, nil
}

// checkPositives refuses what links that are drawn for each epoch cannot have.
func (o *request) checkPositives() error {
	switch {
	case o.Positives == "":
		return nil
	case o.NegativesFrom != "":
		return operation.Usagef("found `Positives` and `NegativesFrom`, expected one of them: the lists are of links, and other links are drawn for each epoch; draw the negatives (`Negatives`)")
	case o.cluster != nil:
		return operation.Usagef("found `Positives` on a cluster, expected seeds that are links: its workers have the same links in all epochs; run it on one machine")
	}
	return nil
}

// drawnLinks turns the seeds of a run into links by Positives: the edges of their type that they may take. found are the nodes.
func (p *planned) drawnLinks(o *request, g *graph.Graph, e *graph.Edges, found *seeds.Seeds, features []table.Column) (err error) {
	p.given = len(found.Nodes)
	if p.job.Positives, err = sample.NewPositives(g, p.plan, found.Nodes, p.job.Times, o.Seed); err != nil {
		return UsageOf(err)
	}
	links, err := p.job.Positives.Links(o.Epoch)
	if err != nil {
		return err
	}
	p.job.Seeds, p.edges = links.Ends, e.Type.String()
	p.job.Times = p.job.Positives.Times(p.job.Times)
	p.columns, err = seeds.EdgeColumns(e, features)
	return UsageOf(err)
}

// timeOfNodes is the column of the times of seed nodes that the plan of their positives implies.
func (p *planned) timeOfNodes() string {
	return cmp.Or(p.plan.Before.NodeColumns[p.plan.SeedType[0]], p.plan.Before.Column)
}

// withoutPositive is a warning about seeds that no edge makes a link; "" for none.
func (p *planned) withoutPositive() string {
	if p.job.Positives == nil || p.given == p.seeds() {
		return ""
	}
	return fmt.Sprintf("%s of %s seeds have no edge of %s that they may take as their positive, and are left out", human.Exact(int64(p.given-p.seeds())), human.Exact(int64(p.given)), p.edges)
}

// checkStart refuses a plan that does not start from links of an edge type.
func checkStart(p *sample.Plan, e *graph.Edges) error {
	if name := e.Type.String(); !slices.Equal(p.SeedType, []string{e.Type.Src, e.Type.Dst}) || p.SeedEdges != name {
		return operation.Usagef("found `Positives` %s with a plan that starts from %s, expected the links of that type; give seed_type [%q, %q] and seed_edges %q in the plan", name, cmp.Or(p.SeedEdges, joined(p.SeedType)), e.Type.Src, e.Type.Dst, name)
	}
	return nil
}
