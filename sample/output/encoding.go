package output

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/sample"
)

// numSeeds is the context feature that tells how many of the first nodes of the
// root set are seeds, where a subgraph may have several.
const numSeeds = "num_seeds"

// encoding is how the subgraphs of a plan become Examples: made once, shared by
// all workers.
type encoding struct {
	fields []field // by key, in byte order
	schema *tfgnnpb.GraphSchema
}

// field is one feature of an Example.
type field struct {
	name string
	key  example.Key
	// rows picks what write is given; no rows, no feature.
	rows  func(*sample.Subgraph) []uint32
	write func(e *encoder, key example.Key, rows []uint32)
}

// encoder is the buffers of one worker.
type encoder struct {
	w        example.Writer
	elements []uint64 // of the rows of a column with a variable dimension
	lengths  []uint64
}

// encode gives the bytes of a subgraph, valid until the next call.
func (n *encoding) encode(e *encoder, sub *sample.Subgraph) []byte {
	e.w.Reset()
	for i := len(n.fields) - 1; i >= 0; i-- {
		f := &n.fields[i]
		if rows := f.rows(sub); len(rows) > 0 {
			f.write(e, f.key, rows)
		}
	}
	return e.w.Close()
}

// newEncoding plans the Examples of a sampler. ids lists the node types whose
// original ids are written.
func newEncoding(s *sample.Sampler, ids []string) (*encoding, error) {
	g, plan := s.Graph(), s.Plan()
	if plan.Link() {
		return nil, fmt.Errorf("found link seeds, which need TF-GNN's readout sets, expected single seeds; write a collection")
	}
	n := &encoding{schema: &tfgnnpb.GraphSchema{
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

func (n *encoding) add(name string, rows func(*sample.Subgraph) []uint32, write func(*encoder, example.Key, []uint32)) {
	n.fields = append(n.fields, field{name, example.NewKey(name), rows, write})
}

func writeSize(e *encoder, k example.Key, rows []uint32) { e.w.Int(k, int64(len(rows))) }

func writeLocal(e *encoder, k example.Key, rows []uint32) { example.Ints(&e.w, k, rows) }

func (n *encoding) seedCount(seedType int) {
	n.schema.Context = &tfgnnpb.Context{Features: map[string]*tfgnnpb.Feature{numSeeds: {
		Description: proto.String("how many of the first nodes of the root set are seeds"),
		Dtype:       tfgnnpb.DataType_DT_INT64.Enum(),
	}}}
	// A dense context feature must always be there, and its rows are one count.
	n.add(tfgnn.FeatureKey("context", "", numSeeds),
		func(sub *sample.Subgraph) []uint32 { return sub.NodesByHop[seedType][:1] }, writeLocal)
}

func (n *encoding) nodes(t *graph.Nodes, number int, withIDs bool) error {
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

func (n *encoding) edges(t *graph.Edges, number int, name string) error {
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

func (n *encoding) columns(kind, set, owner string, columns []*graph.Column, features map[string]*tfgnnpb.Feature, rows func(*sample.Subgraph) []uint32) error {
	for _, c := range columns {
		if c.Name == inputPosition || c.Name == sample.OnesColumn {
			continue
		}
		if _, twice := features[c.Name]; twice {
			return fmt.Errorf("%s: found column %q beside the original ids, expected one of them; do not write the ids", owner, c.Name)
		}
		write, err := columnWriter(c)
		if err != nil {
			return fmt.Errorf("%s: column %q: %w", owner, c.Name, err)
		}
		key := tfgnn.FeatureKey(kind, set, c.Name)
		n.add(key, rows, write)
		if c.Ragged() {
			n.add(tfgnn.RaggedKey(key, 1), rows, lengthWriter(c))
		}
		feature := &tfgnnpb.Feature{Dtype: dtypes[c.DType].Enum()}
		if len(c.Shape) > 0 {
			feature.Shape = &tfgnnpb.TensorShapeProto{}
			for _, d := range c.Shape {
				feature.Shape.Dim = append(feature.Shape.Dim, &tfgnnpb.TensorShapeProto_Dim{Size: proto.Int64(int64(d))})
			}
		}
		features[c.Name] = feature
	}
	return nil
}

var dtypes = map[graph.DType]tfgnnpb.DataType{
	graph.Bool:     tfgnnpb.DataType_DT_BOOL,
	graph.Int8:     tfgnnpb.DataType_DT_INT8,
	graph.Int16:    tfgnnpb.DataType_DT_INT16,
	graph.Int32:    tfgnnpb.DataType_DT_INT32,
	graph.Int64:    tfgnnpb.DataType_DT_INT64,
	graph.Uint8:    tfgnnpb.DataType_DT_UINT8,
	graph.Uint16:   tfgnnpb.DataType_DT_UINT16,
	graph.Uint32:   tfgnnpb.DataType_DT_UINT32,
	graph.Uint64:   tfgnnpb.DataType_DT_UINT64,
	graph.Float16:  tfgnnpb.DataType_DT_HALF,
	graph.BFloat16: tfgnnpb.DataType_DT_BFLOAT16,
	graph.Float32:  tfgnnpb.DataType_DT_FLOAT,
	graph.Float64:  tfgnnpb.DataType_DT_DOUBLE,
	graph.String:   tfgnnpb.DataType_DT_STRING,
}

// columnWriter writes the given rows of a column. A variable first dimension is
// flattened: the rows become those of their elements.
func columnWriter(c *graph.Column) (func(*encoder, example.Key, []uint32), error) {
	width, shape := 1, c.Shape
	if c.Ragged() {
		shape = shape[1:]
	}
	for _, d := range shape {
		if d < 1 {
			return nil, fmt.Errorf("found shape %v, expected a variable dimension only in front, and no empty one", c.Shape)
		}
		width *= d
	}
	if err := checkOffsets(c, width); err != nil {
		return nil, err
	}
	switch c.DType {
	case graph.Bool, graph.Uint8:
		return intWriter[uint8](c, width), nil
	case graph.Int8:
		return intWriter[int8](c, width), nil
	case graph.Int16:
		return intWriter[int16](c, width), nil
	case graph.Int32:
		return intWriter[int32](c, width), nil
	case graph.Int64, graph.Uint64: // of which uint64 keeps its bits
		return intWriter[int64](c, width), nil
	case graph.Uint16:
		return intWriter[uint16](c, width), nil
	case graph.Uint32:
		return intWriter[uint32](c, width), nil
	case graph.Float16:
		return floatWriter(c, width, example.Float16), nil
	case graph.BFloat16:
		return floatWriter(c, width, example.BFloat16), nil
	case graph.Float64:
		return floatWriter(c, width, example.Narrow), nil
	case graph.Float32:
		if c.Ragged() {
			return func(e *encoder, k example.Key, rows []uint32) {
				example.Float32Rows(&e.w, k, c.Values, width, e.flatten(c, rows))
			}, nil
		}
		return func(e *encoder, k example.Key, rows []uint32) { example.Float32Rows(&e.w, k, c.Values, width, rows) }, nil
	case graph.String:
		if c.StringOffsets.U64 != nil {
			return textWriter(c, width, c.StringOffsets.U64), nil
		}
		return textWriter(c, width, c.StringOffsets.U32), nil
	}
	return nil, fmt.Errorf("found dtype %s, expected one that TF-GNN knows", c.DType)
}

// checkOffsets says whether the offsets of a column lead to its elements, of width
// values each, and these to its bytes: what is joined is not looked at again.
func checkOffsets(c *graph.Column, width int) error {
	values := len(c.Values) / max(c.DType.Size(), 1)
	if c.DType == graph.String {
		values = max(c.StringOffsets.Len()-1, 0)
		if err := c.StringOffsets.CheckOffsets(len(c.Values)); err != nil {
			return err
		}
	}
	if c.Ragged() {
		return c.RowOffsets.CheckOffsets(values / width)
	}
	return nil
}

func intWriter[T example.Integer](c *graph.Column, width int) func(*encoder, example.Key, []uint32) {
	values := view[T](c)
	if c.Ragged() {
		return func(e *encoder, k example.Key, rows []uint32) {
			example.IntRows(&e.w, k, values, width, e.flatten(c, rows))
		}
	}
	return func(e *encoder, k example.Key, rows []uint32) { example.IntRows(&e.w, k, values, width, rows) }
}

func floatWriter[T float64 | uint16](c *graph.Column, width int, convert func(T) float32) func(*encoder, example.Key, []uint32) {
	values := view[T](c)
	if c.Ragged() {
		return func(e *encoder, k example.Key, rows []uint32) {
			example.FloatRows(&e.w, k, values, width, e.flatten(c, rows), convert)
		}
	}
	return func(e *encoder, k example.Key, rows []uint32) {
		example.FloatRows(&e.w, k, values, width, rows, convert)
	}
}

func textWriter[O example.Offset](c *graph.Column, width int, offsets []O) func(*encoder, example.Key, []uint32) {
	if c.Ragged() {
		return func(e *encoder, k example.Key, rows []uint32) {
			example.TextRows(&e.w, k, c.Values, offsets, width, e.flatten(c, rows))
		}
	}
	return func(e *encoder, k example.Key, rows []uint32) {
		example.TextRows(&e.w, k, c.Values, offsets, width, rows)
	}
}

// flatten lists the elements of rows with a variable number of them.
func (e *encoder) flatten(c *graph.Column, rows []uint32) []uint64 {
	e.elements = e.elements[:0]
	for _, r := range rows {
		for i := c.RowOffsets.At(int(r)); i < c.RowOffsets.At(int(r)+1); i++ {
			e.elements = append(e.elements, i)
		}
	}
	return e.elements
}

// lengthWriter writes the number of elements of each row.
func lengthWriter(c *graph.Column) func(*encoder, example.Key, []uint32) {
	return func(e *encoder, k example.Key, rows []uint32) {
		e.lengths = e.lengths[:0]
		for _, r := range rows {
			e.lengths = append(e.lengths, c.RowOffsets.At(int(r)+1)-c.RowOffsets.At(int(r)))
		}
		example.Ints(&e.w, k, e.lengths)
	}
}

// view is the values of a column of numbers.
func view[T graph.Numbers](c *graph.Column) []T { return graph.View[T](c.Values) }

// shardOf is the shard of subgraph number i of total: shards are contiguous ranges
// whose lengths differ by at most one.
func shardOf(i, total uint64, shards int) int {
	return sort.Search(shards, func(s int) bool { return shardEnd(s, total, shards) > i })
}

// shardEnd is the number of the first subgraph behind a shard.
func shardEnd(shard int, total uint64, shards int) uint64 {
	k := uint64(shards)
	return total/k*uint64(shard+1) + min(total%k, uint64(shard+1))
}
