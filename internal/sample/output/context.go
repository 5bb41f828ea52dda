package output

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/sample"
)

// Features of the context. numSeeds is the number of first nodes of the root set that are seeds, where there may be
// several. The others name the seed, as TF-GNN's older sampler does. The sample id differs where a seed occurs again.
const (
	numSeeds = "num_seeds"
	sampleID = "sample_id"
	seedID   = "seed_id"
)

// context plans the features of the context, which have a row per component.
func (n *Encoding) context() error {
	features := map[string]*tfgnnpb.Feature{}
	put := func(name string, c *graph.Column, rows func(*content) graph.Index) error {
		if features[name] != nil {
			return fmt.Errorf("context: found column %q in the store, expected another name: Examples have one of that name; rename the column in the import", name)
		}
		parts, err := examplecolumns.Parts(tfgnn.FeatureKey("context", "", name), c)
		if err != nil {
			return fmt.Errorf("context: column %q: %w", name, err)
		}
		for _, p := range parts {
			n.add(p.Key, rows, p.Write)
		}
		features[name] = examplecolumns.Proto(c)
		if examplecolumns.Rounds(c) {
			n.rounded = append(n.rounded, "context: column "+name)
		}
		return nil
	}
	if n.plan.Scope != sample.ScopeSeed && !n.plan.Link() {
		features[numSeeds] = &tfgnnpb.Feature{
			Description: proto.String("how many of the first nodes of the root set are seeds"),
			Dtype:       tfgnnpb.DataType_DT_INT64.Enum(),
		}
		// A dense feature of the context must be in every Example. Its row is a count.
		n.add(tfgnn.FeatureKey("context", "", numSeeds), func(c *content) graph.Index { return narrow(c.count) }, writeLocal)
	}
	if n.opt.SeedIDs {
		ids, samples := n.seedNames()
		if err := put(sampleID, samples.Column, samples.rows); err != nil {
			return err
		}
		if err := put(seedID, ids.Column, ids.rows); err != nil {
			return err
		}
	}
	for _, c := range n.g.Context {
		if c.Rows != 1 {
			continue // its rows belong to pieces of the graph, and not to subgraphs
		}
		if err := put(c.Name, c, func(c *content) graph.Index { return narrow(c.first) }); err != nil {
			return err
		}
	}
	if len(features) > 0 {
		n.schema.Context = &tfgnnpb.Context{Features: features}
	}
	return nil
}

// names is a column of strings, and a function that returns the rows of it that an Example has.
type names struct {
	*graph.Column
	rows func(*content) graph.Index
}

// seedNames is the ids of the seeds and of their samples. An Example of a seed that occurred k times before has
// the sample id "id:k", the first one "id". The ids of the store are used where they are strings.
func (n *Encoding) seedNames() (ids, samples names) {
	seeds, seedType := n.opt.Seeds, n.g.Nodes[n.g.NodeType(n.plan.SeedType[0])]
	byNode := func(c *content) graph.Index { return narrow(c.seedNodes[0]) }
	bySeed := func(c *content) graph.Index { return narrow(c.seeds) }
	ids = names{seedType.IDs, byNode}
	if ids.Column == nil || ids.DType != graph.String {
		ids = names{textColumn(len(seeds), func(b []byte, i int) []byte { return appendID(b, seedType, seeds[i]) }), bySeed}
	}
	times := make([]uint32, seedType.Count)
	again, repeated := make([]uint32, len(seeds)), false
	for i, v := range seeds {
		again[i] = times[v]
		times[v]++
		repeated = repeated || again[i] > 0
	}
	if !repeated {
		return ids, ids
	}
	return ids, names{textColumn(len(seeds), func(b []byte, i int) []byte {
		if b = appendID(b, seedType, seeds[i]); again[i] > 0 {
			b = strconv.AppendUint(append(b, ':'), uint64(again[i]), 10)
		}
		return b
	}), bySeed}
}

// textColumn is a column of strings, which text appends one by one.
func textColumn(rows int, text func(b []byte, row int) []byte) *graph.Column {
	c := &graph.Column{DType: graph.String, Rows: rows, StringOffsets: graph.Index{U64: make([]uint64, 1, rows+1)}}
	for i := range rows {
		c.Values = text(c.Values, i)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
	}
	return c
}
