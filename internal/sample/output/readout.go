package output

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// readout plans the sets that mark the links of an Example: the node set _readout, with a node per link and the columns
// of the seeds as features, and the edge sets _readout/source and _readout/target, with an edge from each end of a link
// to its node. With negatives, the node of a link is followed by the nodes of its negatives, which have the columns of their
// link; the feature label distinguishes them.
func (n *Encoding) readout() error {
	links := func(c *content) graph.Index { return narrow(c.seeds) }
	sizes := func(c *content) graph.Index { return narrow(c.seedSizes) }
	set := &tfgnnpb.NodeSet{Features: map[string]*tfgnnpb.Feature{}}
	n.schema.NodeSets[tfgnn.ReadoutName] = set
	n.size("nodes", tfgnn.ReadoutName, links, sizes)
	columns, err := n.opt.Features.Among(n.opt.SeedEdges, n.opt.SeedColumns)
	if err != nil {
		return err
	}
	if n.plan.Negatives != nil {
		var given *graph.Column
		if at := slices.IndexFunc(columns, func(c *widening.Column) bool { return c.Name == labelName }); at >= 0 {
			if columns[at].Wide() {
				return fmt.Errorf("column %q of the links: found a feature that the store holds in codes, expected a number per link, as negatives have the label 0; give the feature another name, or sample without negatives", labelName)
			}
			given = columns[at].Column
			n.labelled, n.none = true, uint32(given.Rows)
			columns = slices.Delete(columns, at, at+1)
		}
		c, err := labelColumn(given)
		if err != nil {
			return err
		}
		rows := func(c *content) graph.Index { return narrow(c.labels) }
		if err := n.columns("nodes", tfgnn.ReadoutName, tfgnn.ReadoutName, widening.Own([]*graph.Column{c}), set.Features, rows, nil); err != nil {
			return err
		}
	}
	if err := n.columns("nodes", tfgnn.ReadoutName, tfgnn.ReadoutName, columns, set.Features, links, nil); err != nil {
		return err
	}
	for end, name := range []string{tfgnn.ReadoutSource, tfgnn.ReadoutTarget} {
		t := n.g.Nodes[n.g.NodeType(n.plan.SeedType[end])]
		n.schema.EdgeSets[name] = &tfgnnpb.EdgeSet{Source: proto.String(examplecolumns.NodeSet(t.Type)), Target: proto.String(tfgnn.ReadoutName)}
		n.size("edges", name, links, sizes)
		n.addSet(tfgnn.FeatureKey("edges", name, tfgnn.SourceName), func(c *content) graph.Index { return narrow(c.seedLocal[end]) }, writeLocal)
		n.addSet(tfgnn.FeatureKey("edges", name, tfgnn.TargetName), func(c *content) graph.Index { return narrow(c.ascending) }, writeLocal)
		if n.opt.Compat != TFGNN || t.IDs == nil || t.IDs.DType != graph.String {
			continue
		}
		// tfgnn_sampler keeps the columns that it finds the ends by.
		ids := *t.IDs
		ids.Name = []string{tfgnn.SourceName, tfgnn.TargetName}[end]
		nodes := func(c *content) graph.Index { return narrow(c.seedNodes[end]) }
		if err := n.columns("nodes", tfgnn.ReadoutName, tfgnn.ReadoutName, widening.Own([]*graph.Column{&ids}), set.Features, nodes, nil); err != nil {
			return err
		}
	}
	return nil
}

// labelName is the feature that distinguishes links from negatives.
const labelName = "label"

// labelColumn is the labels of links and negatives. Where links have none, row 1 is the label of a link, 1, and row 0 the label of a
// negative, 0. Else it has the labels of the links, one more where the least is 0, as in PyG, and a last row of 0 for
// negatives. Integers become int64.
func labelColumn(given *graph.Column) (*graph.Column, error) {
	if given == nil {
		return &graph.Column{Name: labelName, DType: graph.Int64, Rows: 2, Values: graph.Bytes([]int64{0, 1})}, nil
	}
	if given.Ragged() || given.RowValues() != 1 {
		return nil, fmt.Errorf("column %q of the links: found shape %v, expected one number per link, as negatives have the label 0; split the column, or sample without negatives", given.Name, given.Shape)
	}
	c := &graph.Column{Name: labelName, DType: graph.Int64, Rows: given.Rows + 1}
	switch given.DType {
	case graph.Bool, graph.Uint8:
		c.Values = graph.Bytes(labels[uint8, int64](given))
	case graph.Int8:
		c.Values = graph.Bytes(labels[int8, int64](given))
	case graph.Int16:
		c.Values = graph.Bytes(labels[int16, int64](given))
	case graph.Uint16:
		c.Values = graph.Bytes(labels[uint16, int64](given))
	case graph.Int32:
		c.Values = graph.Bytes(labels[int32, int64](given))
	case graph.Uint32:
		c.Values = graph.Bytes(labels[uint32, int64](given))
	case graph.Int64:
		c.Values = graph.Bytes(labels[int64, int64](given))
	case graph.Uint64:
		c.Values = graph.Bytes(labels[uint64, int64](given))
	case graph.Float32:
		c.DType, c.Values = given.DType, graph.Bytes(labels[float32, float32](given))
	case graph.Float64:
		c.DType, c.Values = given.DType, graph.Bytes(labels[float64, float64](given))
	default:
		return nil, fmt.Errorf("column %q of the links: found dtype %s, expected a number, as negatives have the label 0; import the label as a number, or sample without negatives", given.Name, given.DType)
	}
	return c, nil
}

// labels is the labels of links, and the label of a negative.
func labels[T graph.Numbers, U int64 | float32 | float64](given *graph.Column) []U {
	values := graph.View[T](given.Values)
	out := make([]U, 0, len(values)+1)
	more := U(0)
	if len(values) > 0 && slices.Min(values) == 0 {
		more = 1
	}
	for _, v := range values {
		out = append(out, U(v)+more)
	}
	return append(out, 0)
}
