package output

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/graph/feature"
	"github.com/graphmill/graphmill/sample"
)

// numSeeds is the context feature that tells how many of the first nodes of the
// root set are seeds, where a subgraph may have several.
const numSeeds = "num_seeds"

// Encoding is how the subgraphs of a plan become Examples: made once, shared by
// all workers.
type Encoding struct {
	fields []field // by key, in byte order
	schema *tfgnnpb.GraphSchema
}

// field is one feature of an Example.
type field struct {
	name string
	key  example.Key
	// rows picks what write is given; no rows, no feature.
	rows  func(*sample.Subgraph) []uint32
	write feature.Write
}

// Schema is the schema of the Examples. The caller does not change it.
func (n *Encoding) Schema() *tfgnnpb.GraphSchema { return n.schema }

// Encode gives the bytes of a subgraph, valid until the next call.
func (n *Encoding) Encode(e *feature.Encoder, sub *sample.Subgraph) []byte {
	e.W.Reset()
	for i := len(n.fields) - 1; i >= 0; i-- {
		f := &n.fields[i]
		if rows := f.rows(sub); len(rows) > 0 {
			f.write(e, f.key, rows)
		}
	}
	return e.W.Close()
}

// NewEncoding plans the Examples of a plan over a graph. ids lists the node types
// whose original ids are written.
func NewEncoding(g *graph.Graph, plan *sample.Plan, ids []string) (*Encoding, error) {
	if plan.Link() {
		return nil, fmt.Errorf("found link seeds, which need TF-GNN's readout sets, expected single seeds; write a collection")
	}
	n := &Encoding{schema: &tfgnnpb.GraphSchema{
		NodeSets: map[string]*tfgnnpb.NodeSet{},
		EdgeSets: map[string]*tfgnnpb.EdgeSet{},
		Info:     &tfgnnpb.OriginInfo{GraphType: tfgnnpb.GraphType_SUBGRAPH.Enum(), RootSet: []string{nodeSet(plan.SeedType[0])}},
	}}
	for _, t := range ids {
		if i := g.NodeType(t); i < 0 || g.Nodes[i].IDs == nil || g.Nodes[i].IDs.DType != graph.String {
			return nil, fmt.Errorf("found node type %q to write the ids of, expected one with string ids in the store", t)
		}
	}
	nodes, edges := Reach(g, plan)
	if plan.Scope != sample.ScopeSeed {
		n.seedCount(g.NodeType(plan.SeedType[0]))
	}
	taken := map[string]string{}
	for _, i := range nodes {
		if err := distinct("node", taken, nodeSet(g.Nodes[i].Type), g.Nodes[i].Type); err != nil {
			return nil, err
		}
		if err := n.nodes(g.Nodes[i], i, slices.Contains(ids, g.Nodes[i].Type)); err != nil {
			return nil, err
		}
	}
	taken = map[string]string{}
	names := edgeSets(g, edges)
	for _, i := range edges {
		if err := distinct("edge", taken, names[i], g.Edges[i].Type.String()); err != nil {
			return nil, err
		}
		if err := n.edges(g.Edges[i], i, names[i]); err != nil {
			return nil, err
		}
	}
	// Names that give two features one key are found here.
	if _, err := tfgnn.CheckSchema(n.schema); err != nil {
		return nil, err
	}
	slices.SortFunc(n.fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return n, nil
}

func (n *Encoding) add(name string, rows func(*sample.Subgraph) []uint32, write feature.Write) {
	n.fields = append(n.fields, field{name, example.NewKey(name), rows, write})
}

func writeSize(e *feature.Encoder, k example.Key, rows []uint32) { e.W.Int(k, int64(len(rows))) }

func writeLocal(e *feature.Encoder, k example.Key, rows []uint32) { example.Ints(&e.W, k, rows) }

func (n *Encoding) seedCount(seedType int) {
	n.schema.Context = &tfgnnpb.Context{Features: map[string]*tfgnnpb.Feature{numSeeds: {
		Description: proto.String("how many of the first nodes of the root set are seeds"),
		Dtype:       tfgnnpb.DataType_DT_INT64.Enum(),
	}}}
	// A dense context feature must always be there, and its rows are one count.
	n.add(tfgnn.FeatureKey("context", "", numSeeds),
		func(sub *sample.Subgraph) []uint32 { return sub.NodesByHop[seedType][:1] }, writeLocal)
}

func (n *Encoding) nodes(t *graph.Nodes, number int, withIDs bool) error {
	name := nodeSet(t.Type)
	set := &tfgnnpb.NodeSet{Features: map[string]*tfgnnpb.Feature{}}
	n.schema.NodeSets[name] = set
	rows := func(sub *sample.Subgraph) []uint32 { return sub.Nodes[number] }
	n.add(tfgnn.FeatureKey("nodes", name, tfgnn.SizeName), rows, writeSize)
	columns := t.Columns
	if withIDs {
		ids := *t.IDs
		ids.Name = tfgnn.IDName
		columns = append(slices.Clone(columns), &ids)
	}
	return n.columns("nodes", name, t.Type, columns, set.Features, rows)
}

func (n *Encoding) edges(t *graph.Edges, number int, name string) error {
	set := &tfgnnpb.EdgeSet{
		Features: map[string]*tfgnnpb.Feature{},
		Source:   proto.String(nodeSet(t.Type.Src)),
		Target:   proto.String(nodeSet(t.Type.Dst)),
	}
	n.schema.EdgeSets[name] = set
	rows := func(sub *sample.Subgraph) []uint32 { return sub.Edges[number].ID }
	n.add(tfgnn.FeatureKey("edges", name, tfgnn.SizeName), rows, writeSize)
	n.add(tfgnn.FeatureKey("edges", name, tfgnn.SourceName), func(sub *sample.Subgraph) []uint32 { return sub.Edges[number].Src }, writeLocal)
	n.add(tfgnn.FeatureKey("edges", name, tfgnn.TargetName), func(sub *sample.Subgraph) []uint32 { return sub.Edges[number].Dst }, writeLocal)
	return n.columns("edges", name, t.Type.String(), t.Columns, set.Features, rows)
}

func (n *Encoding) columns(kind, set, owner string, columns []*graph.Column, features map[string]*tfgnnpb.Feature, rows func(*sample.Subgraph) []uint32) error {
	for _, c := range columns {
		if c.Name == inputPosition || c.Name == sample.OnesColumn {
			continue
		}
		if _, twice := features[c.Name]; twice {
			return fmt.Errorf("%s: found column %q beside the original ids, expected one of them; do not write the ids", owner, c.Name)
		}
		parts, err := feature.Parts(tfgnn.FeatureKey(kind, set, c.Name), c)
		if err != nil {
			return fmt.Errorf("%s: column %q: %w", owner, c.Name, err)
		}
		for _, p := range parts {
			n.add(p.Key, rows, p.Write)
		}
		features[c.Name] = feature.Proto(c)
	}
	return nil
}
