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
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Encoding is how the subgraphs of a plan become Examples. It is made once and shared by all workers.
type Encoding struct {
	g      *graph.Graph
	plan   *sample.Plan
	opt    *RecordsOptions
	group  int // components of an Example
	tables []usedTable
	fields []field // by key, in byte order
	schema *tfgnnpb.GraphSchema
	// Of links with negatives: whether they have labels of their own, and the row of the label of a negative (labelColumn).
	labelled bool
	none     uint32
	// rounded are the columns with float64 values that float32 rounds, as "owner: column x".
	rounded []string
}

// field is one feature of an Example.
type field struct {
	name string
	key  example.Key
	// rows is the rows that write gets. A feature without rows is not written, unless always is set.
	rows   func(*content) graph.Index
	write  examplecolumns.Write
	always bool
}

// Schema is the schema of the Examples. The caller must not change it.
func (n *Encoding) Schema() *tfgnnpb.GraphSchema { return n.schema }

// Rounded is the columns, as "paper: column x", with values that Examples round.
func (n *Encoding) Rounded() []string { return n.rounded }

// Encode is the bytes of a subgraph, valid until the next call. A float64 beyond the range of float32 is a
// examplecolumns.ErrOverflow. e counts values that underflow.
func (n *Encoding) Encode(e *examplecolumns.Encoder, sub *sample.Subgraph) ([]byte, error) {
	return n.encode(e, &content{nodes: sub.Nodes, edges: sub.Edges, first: []uint32{0}, count: sub.NodesByHop[n.g.NodeType(n.plan.SeedType[0])][:1]})
}

func (n *Encoding) encode(e *examplecolumns.Encoder, c *content) ([]byte, error) {
	e.W.Reset()
	n.place(c)
	for i := len(n.fields) - 1; i >= 0; i-- {
		f := &n.fields[i]
		if rows := f.rows(c); rows.Len() > 0 || f.always {
			f.write(e, f.key, rows)
		}
	}
	return e.W.Close(), e.Err()
}

// NewEncoding plans the Examples of a plan with single seeds over a graph with its features. ids lists the node types with original ids
// to write. With weights, subgraphs have the weights of edges, and so have Examples.
func NewEncoding(g *graph.Graph, features *widening.Features, plan *sample.Plan, ids []string, weights bool) (*Encoding, error) {
	if plan.Link() {
		return nil, fmt.Errorf("found link seeds, expected single seeds: the columns of the links are not in the subgraphs; sample with `Format` tfrecord")
	}
	return newEncoding(g, plan, &RecordsOptions{Features: features, IDs: ids, weights: weights})
}

// newEncoding plans Examples.
func newEncoding(g *graph.Graph, plan *sample.Plan, opt *RecordsOptions) (*Encoding, error) {
	n := &Encoding{g: g, plan: plan, opt: opt, group: max(opt.Components, 1), schema: &tfgnnpb.GraphSchema{
		NodeSets: map[string]*tfgnnpb.NodeSet{},
		EdgeSets: map[string]*tfgnnpb.EdgeSet{},
		Info:     &tfgnnpb.OriginInfo{GraphType: tfgnnpb.GraphType_SUBGRAPH.Enum(), RootSet: []string{examplecolumns.NodeSet(plan.SeedType[0])}},
	}}
	if err := n.check(); err != nil {
		return nil, err
	}
	if err := n.context(); err != nil {
		return nil, err
	}
	nodes, edges := Reach(g, plan)
	taken := map[string]string{}
	for _, i := range nodes {
		if err := distinct("node", taken, examplecolumns.NodeSet(g.Nodes[i].Type), g.Nodes[i].Type); err != nil {
			return nil, err
		}
		if err := n.nodes(g.Nodes[i], i); err != nil {
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
	if plan.Link() {
		if err := n.readout(); err != nil {
			return nil, err
		}
	}
	n.schema = n.describe()
	// This finds names that would give two features the same key.
	if _, err := tfgnn.CheckSchema(n.schema); err != nil {
		return nil, err
	}
	slices.SortFunc(n.fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	return n, nil
}

// check refuses options that do not fit the plan or the graph.
func (n *Encoding) check() error {
	for _, t := range n.opt.IDs {
		if i := n.g.NodeType(t); i < 0 || n.g.Nodes[i].IDs == nil || n.g.Nodes[i].IDs.DType != graph.String {
			return fmt.Errorf("found node type %q to write the ids of, expected one with string ids in the store; leave it out of `IDs`", t)
		}
	}
	bySeed := n.plan.Scope == sample.ScopeSeed
	switch {
	case n.group > 1 && !bySeed:
		return tagged.Errorf(sample.ErrPlan, "found scope %s with %d components per Example, expected scope seed: a component is the subgraph of a seed; give `Scope` seed, or leave `Components` out", n.plan.Scope, n.group)
	case n.opt.SeedIDs && n.plan.Link():
		return tagged.Errorf(sample.ErrPlan, "found `SeedIDs` with links, expected seeds that are single nodes: a link has two seed nodes, and the context names one seed by sample_id and seed_id; leave `SeedIDs` out")
	case n.opt.SeedIDs && !bySeed:
		return tagged.Errorf(sample.ErrPlan, "found several seed nodes per subgraph, expected scope seed: the context names one seed by sample_id and seed_id; give `Scope` seed, or leave `SeedIDs` out")
	}
	return nil
}

func (n *Encoding) add(name string, rows func(*content) graph.Index, write examplecolumns.Write) {
	n.fields = append(n.fields, field{name: name, key: example.NewKey(name), rows: rows, write: write})
}

// addSet is add for a feature of a set. With TFGNN it is always written, because tfgnn_sampler writes it for empty
// sets, too.
func (n *Encoding) addSet(name string, rows func(*content) graph.Index, write examplecolumns.Write) {
	n.add(name, rows, write)
	n.fields[len(n.fields)-1].always = n.opt.Compat == TFGNN
}

// size adds the #size of a set: the number of its rows or, where there may be several components, the size in each.
func (n *Encoding) size(kind, set string, rows, sizes func(*content) graph.Index) {
	name := tfgnn.FeatureKey(kind, set, tfgnn.SizeName)
	if n.group > 1 {
		n.addSet(name, sizes, writeLocal)
		return
	}
	n.addSet(name, rows, writeSize)
}

func writeSize(e *examplecolumns.Encoder, k example.Key, rows graph.Index) {
	e.W.Int(k, int64(rows.Len()))
}

func writeLocal(e *examplecolumns.Encoder, k example.Key, rows graph.Index) {
	example.Ints(&e.W, k, rows.U32)
}

// writeFloats writes the words of floats.
func writeFloats(e *examplecolumns.Encoder, k example.Key, words graph.Index) {
	example.Floats(&e.W, k, graph.View[float32](graph.Bytes(words.U32)))
}

// narrow is rows of 32 bits.
func narrow(rows []uint32) graph.Index { return graph.Index{U32: rows} }

func (n *Encoding) nodes(t *graph.Nodes, number int) error {
	name := examplecolumns.NodeSet(t.Type)
	set := &tfgnnpb.NodeSet{Features: map[string]*tfgnnpb.Feature{}}
	n.schema.NodeSets[name] = set
	rows := func(c *content) graph.Index { return narrow(c.nodes[number]) }
	n.size("nodes", name, rows, func(c *content) graph.Index { return narrow(c.nodeSizes[number]) })
	declared := n.opt.Schema.GetNodeSets()[name].GetFeatures()
	columns, err := n.opt.Features.Nodes(t)
	if err != nil {
		return err
	}
	columns = n.declared(columns, declared)
	withIDs := slices.Contains(n.opt.IDs, t.Type)
	// tfgnn_sampler keeps the ids of sets without features to join.
	latent := n.opt.Compat == TFGNN && n.opt.Schema != nil && len(declared) == 0 && t.IDs != nil && t.IDs.DType == graph.String
	if withIDs || latent {
		ids := *t.IDs
		ids.Name = tfgnn.IDName
		// Where it joins features, the ids of nodes without a row are empty.
		if n.opt.Compat == TFGNN && !latent && t.Added > 0 {
			ids = withoutTexts(ids, t.Count-t.Added)
		}
		columns = append(columns, &widening.Column{Column: &ids})
	}
	var fetched RowTable
	if from := n.rows(); from != nil {
		fetched = from.Nodes(number)
	}
	return n.columns("nodes", name, t.Type, columns, set.Features, rows, fetched)
}

// withoutTexts is a column of strings with empty rows from first on.
func withoutTexts(c graph.Column, first int) graph.Column {
	offsets := make([]uint64, c.StringOffsets.Len())
	for i := range offsets {
		offsets[i] = c.StringOffsets.At(min(i, first))
	}
	c.StringOffsets = graph.Index{U64: offsets}
	c.Values = c.Values[:offsets[first]]
	return c
}

func (n *Encoding) edges(t *graph.Edges, number int, name string) error {
	set := &tfgnnpb.EdgeSet{
		Features: map[string]*tfgnnpb.Feature{},
		Source:   proto.String(examplecolumns.NodeSet(t.Type.Src)),
		Target:   proto.String(examplecolumns.NodeSet(t.Type.Dst)),
	}
	n.schema.EdgeSets[name] = set
	rows := func(c *content) graph.Index { return c.edges[number].ID }
	n.size("edges", name, rows, func(c *content) graph.Index { return narrow(c.edgeSizes[number]) })
	n.addSet(tfgnn.FeatureKey("edges", name, tfgnn.SourceName), func(c *content) graph.Index { return narrow(c.edges[number].Src) }, writeLocal)
	n.addSet(tfgnn.FeatureKey("edges", name, tfgnn.TargetName), func(c *content) graph.Index { return narrow(c.edges[number].Dst) }, writeLocal)
	if n.opt.weights {
		if graph.FindColumn(t.Columns, sample.WeightsColumn) != nil {
			return fmt.Errorf("%s: found the column %s in addition to the weights of edges, which have that name, expected another one; rename it", t.Type, sample.WeightsColumn)
		}
		n.addSet(tfgnn.FeatureKey("edges", name, sample.WeightsColumn), func(c *content) graph.Index { return narrow(weightWords(&c.edges[number])) }, writeFloats)
		set.Features[sample.WeightsColumn] = examplecolumns.Proto(&graph.Column{DType: graph.Float32})
	}
	var fetched RowTable
	if from := n.rows(); from != nil {
		fetched = from.Edges(number)
	}
	columns, err := n.opt.Features.Edges(t)
	if err != nil {
		return err
	}
	return n.columns("edges", name, t.Type.String(), n.declared(columns, n.opt.Schema.GetEdgeSets()[name].GetFeatures()), set.Features, rows, fetched)
}

// declared is the columns that TF-GNN's samplers write: those that the schema declares, if it is known.
func (n *Encoding) declared(columns []*widening.Column, features map[string]*tfgnnpb.Feature) []*widening.Column {
	if n.opt.Compat == Own || n.opt.Schema == nil {
		return columns
	}
	return slices.DeleteFunc(columns, func(c *widening.Column) bool { return features[c.Name] == nil })
}

// Writes says whether Examples may have the values of a column, as they are or widened: all but the columns that Graphmill adds for
// itself.
func Writes(c *graph.Column) bool {
	return c.Name != graph.PositionColumn && c.Name != sample.OnesColumn
}

func (n *Encoding) columns(kind, set, owner string, columns []*widening.Column, features map[string]*tfgnnpb.Feature, rows func(*content) graph.Index, fetched RowTable) error {
	for _, c := range columns {
		if !Writes(c.Column) {
			continue
		}
		if _, twice := features[c.Name]; twice {
			return fmt.Errorf("%s: found column %q in addition to the original ids, expected one of them; do not write the ids", owner, c.Name)
		}
		features[c.Name] = examplecolumns.Proto(c.Column)
		if c.Wide() {
			write, places, err := n.wide(c, fetched, rows)
			if err != nil {
				return err
			}
			n.addSet(tfgnn.FeatureKey(kind, set, c.Name), places, write)
			continue
		}
		from, places, err := n.source(c.Column, fetched, rows)
		if err != nil {
			return err
		}
		parts, err := examplecolumns.Parts(tfgnn.FeatureKey(kind, set, c.Name), from)
		if err != nil {
			return fmt.Errorf("%s: column %q: %w", owner, c.Name, err)
		}
		for _, p := range parts {
			n.addSet(p.Key, places, p.Write)
		}
		if rounds, err := n.rounds(c.Column); err != nil {
			return err
		} else if rounds {
			n.rounded = append(n.rounded, owner+": column "+c.Name)
		}
	}
	return nil
}
