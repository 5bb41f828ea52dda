package output

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feature"
	"github.com/graphmill/graphmill/internal/sample"
)

// Features of the context. numSeeds tells how many of the first nodes of the root
// set are seeds, where there may be several. The others name the seed, as TF-GNN's
// older sampler does: the sample's id differs where a seed comes again.
const (
	numSeeds = "num_seeds"
	sampleID = "sample_id"
	seedID   = "seed_id"
)

// context plans the features of the context: a row a component.
func (n *Encoding) context() error {
	features := map[string]*tfgnnpb.Feature{}
	put := func(name string, c *graph.Column, rows func(*content) []uint32) error {
		if features[name] != nil {
			return fmt.Errorf("context: found column %q in the store, expected another name: Examples have one of that name", name)
		}
		parts, err := feature.Parts(tfgnn.FeatureKey("context", "", name), c)
		if err != nil {
			return fmt.Errorf("context: column %q: %w", name, err)
		}
		for _, p := range parts {
			n.add(p.Key, rows, p.Write)
		}
		features[name] = feature.Proto(c)
		if feature.Rounds(c) {
			n.rounded = append(n.rounded, "context: column "+name)
		}
		return nil
	}
	if n.plan.Scope != sample.ScopeSeed && !n.plan.Link() {
		features[numSeeds] = &tfgnnpb.Feature{
			Description: proto.String("how many of the first nodes of the root set are seeds"),
			Dtype:       tfgnnpb.DataType_DT_INT64.Enum(),
		}
		// A dense feature of the context must always be there; its row is a count.
		n.add(tfgnn.FeatureKey("context", "", numSeeds), func(c *content) []uint32 { return c.count }, writeLocal)
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
			continue // what belongs to the pieces of the graph belongs to no subgraph
		}
		if err := put(c.Name, c, func(c *content) []uint32 { return c.first }); err != nil {
			return err
		}
	}
	if len(features) > 0 {
		n.schema.Context = &tfgnnpb.Context{Features: features}
	}
	return nil
}

// names is a column of strings, and which of its rows an Example has.
type names struct {
	*graph.Column
	rows func(*content) []uint32
}

// seedNames is the ids of the seeds, and those of their samples: an Example of a
// seed that came k times before is "id:k", the first one "id". The ids of the store
// serve where they can.
func (n *Encoding) seedNames() (ids, samples names) {
	seeds, seedType := n.opt.Seeds, n.g.Nodes[n.g.NodeType(n.plan.SeedType[0])]
	byNode := func(c *content) []uint32 { return c.seedNodes[0] }
	bySeed := func(c *content) []uint32 { return c.seeds }
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

// textColumn is a column of strings, each of which text appends.
func textColumn(rows int, text func(b []byte, row int) []byte) *graph.Column {
	c := &graph.Column{DType: graph.String, Rows: rows, StringOffsets: graph.Index{U64: make([]uint64, 1, rows+1)}}
	for i := range rows {
		c.Values = text(c.Values, i)
		c.StringOffsets.U64 = append(c.StringOffsets.U64, uint64(len(c.Values)))
	}
	return c
}
