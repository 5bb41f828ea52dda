package output

import (
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feature"
)

// readout plans the sets that mark the links of an Example: the node set _readout, with a node per link and the columns
// of the seeds as features, and the edge sets _readout/source and _readout/target, with an edge from each end of a link
// to its node.
func (n *Encoding) readout() error {
	links := func(c *content) []uint32 { return c.seeds }
	sizes := func(c *content) []uint32 { return c.seedSizes }
	set := &tfgnnpb.NodeSet{Features: map[string]*tfgnnpb.Feature{}}
	n.schema.NodeSets[tfgnn.ReadoutName] = set
	n.size("nodes", tfgnn.ReadoutName, links, sizes)
	if err := n.columns("nodes", tfgnn.ReadoutName, tfgnn.ReadoutName, n.opt.SeedColumns, set.Features, links, nil); err != nil {
		return err
	}
	for end, name := range []string{tfgnn.ReadoutSource, tfgnn.ReadoutTarget} {
		t := n.g.Nodes[n.g.NodeType(n.plan.SeedType[end])]
		n.schema.EdgeSets[name] = &tfgnnpb.EdgeSet{Source: proto.String(feature.NodeSet(t.Type)), Target: proto.String(tfgnn.ReadoutName)}
		n.size("edges", name, links, sizes)
		n.addSet(tfgnn.FeatureKey("edges", name, tfgnn.SourceName), func(c *content) []uint32 { return c.seedLocal[end] }, writeLocal)
		n.addSet(tfgnn.FeatureKey("edges", name, tfgnn.TargetName), func(c *content) []uint32 { return c.ascending }, writeLocal)
		if n.opt.Compat != TFGNN || t.IDs == nil || t.IDs.DType != graph.String {
			continue
		}
		// tfgnn_sampler keeps the columns that it finds the ends by.
		ids := *t.IDs
		ids.Name = []string{tfgnn.SourceName, tfgnn.TargetName}[end]
		nodes := func(c *content) []uint32 { return c.seedNodes[end] }
		if err := n.columns("nodes", tfgnn.ReadoutName, tfgnn.ReadoutName, []*graph.Column{&ids}, set.Features, nodes, nil); err != nil {
			return err
		}
	}
	return nil
}
