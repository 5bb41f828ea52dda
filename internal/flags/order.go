package flags

import (
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
)

// orderHelp says what --order takes.
const orderHelp = "order of the seeds: weighted:COLUMN, stratified:COLUMN, or windowed:BLOCK,BLOCKS (default: as given, or --shuffle)"

// seedOrder is the order that --order asks for, nil for none.
func seedOrder(text string, g *graph.Graph, p *Planned) (batch.Order, error) {
	if text == "" {
		return nil, nil
	}
	law, of, _ := strings.Cut(text, ":")
	switch law {
	case "weighted", "stratified":
		c, rows, err := seedColumn(of, g, p)
		if err != nil {
			return nil, usagef("--order: %w", err)
		}
		by := feed.WeightedBy
		if law == "stratified" {
			by = feed.StratifiedBy
		}
		o, err := by(c, rows)
		if err != nil {
			return nil, usagef("--order: %w", err)
		}
		return o, nil
	case "windowed":
		first, second, _ := strings.Cut(of, ",")
		block, errBlock := strconv.ParseUint(first, 10, 32)
		window, errWindow := strconv.ParseUint(second, 10, 32)
		if errBlock != nil || errWindow != nil || block == 0 || window == 0 {
			return nil, usagef("found --order %s, expected windowed:BLOCK,BLOCKS: seeds a block, and blocks that are shuffled together, such as windowed:4096,16", text)
		}
		return batch.Windowed(uint64(p.seeds()), block, window)
	}
	return nil, usagef("found --order %s, expected weighted:COLUMN, stratified:COLUMN or windowed:BLOCK,BLOCKS", text)
}

// seedColumn is a column of the seed nodes, or of the links, and the row of each seed.
func seedColumn(name string, g *graph.Graph, p *Planned) (*graph.Column, []uint32, error) {
	var columns []*graph.Column
	var what string
	var rows []uint32
	if p.Plan.Link() {
		columns, what = p.Columns, "the links"
		for i := range uint32(p.seeds()) {
			rows = append(rows, i)
		}
	} else {
		n := g.Nodes[g.NodeType(p.Plan.SeedType[0])]
		columns, what, rows = n.Columns, "node type "+n.Type, p.Job.Seeds
	}
	if c := graph.FindColumn(columns, name); c != nil {
		return c, rows, nil
	}
	var have []string
	for _, c := range columns {
		if !strings.HasPrefix(c.Name, "#") {
			have = append(have, c.Name)
		}
	}
	return nil, nil, usagef("found no column %q of %s, expected one of %s", name, what, strings.Join(have, ", "))
}

// seeds is the number of seeds: a link is one.
func (p *Planned) seeds() int { return len(p.Job.Seeds) / len(p.Plan.SeedType) }

// orderBytes is the memory of an order.
func orderBytes(o batch.Order) int64 {
	if o == nil {
		return 0
	}
	return 32 * int64(o.Items()) // the largest lists that a law holds, and what they are made of
}

// linkFeatures are the columns of links that can come along with them: numbers of a fixed shape.
func linkFeatures(columns []*graph.Column) []*graph.Column {
	var out []*graph.Column
	for _, c := range columns {
		if c.DType != graph.String && !c.Ragged() {
			out = append(out, c)
		}
	}
	return out
}
