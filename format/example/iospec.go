package example

import (
	"slices"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// IOFeature says how a parser reads one value key of the Examples of a schema, in terms of tf.io: what
// tfgnn.get_io_spec returns for it.
type IOFeature struct {
	Key   string
	DType tfgnnpb.DataType // of the list: DT_INT64, DT_FLOAT or DT_STRING

	// Fixed says that the key always has the same number of values: a FixedLenFeature of Shape, whose first dimension
	// is the one component. The key must be present unless Zero is set; then zero is its default.
	Fixed bool
	Shape []int
	Zero  bool

	// Without Fixed it is a RaggedFeature. Partitions are the dimensions after the items, outermost first, and
	// RowSplits is the dtype of the row splits.
	Partitions []Partition
	RowSplits  tfgnnpb.DataType
}

// Relaxed returns f for Examples of several components, where no number of values is fixed, as
// spec.relax(num_components=True) does.
func (f IOFeature) Relaxed() IOFeature {
	if !f.Fixed {
		return f
	}
	relaxed := IOFeature{Key: f.Key, DType: f.DType, RowSplits: tfgnnpb.DataType_DT_INT32}
	for _, d := range f.Shape[1:] {
		relaxed.Partitions = append(relaxed.Partitions, Partition{Length: d})
	}
	return relaxed
}

// Partition is one dimension of a RaggedFeature: the key of its row lengths, or a
// uniform row length.
type Partition struct {
	Key    string
	Length int // if there is no key
}

// IOSpec says how to parse the Examples of a schema, with one entry per value key, sorted by key.
func (c *Codec) IOSpec() []IOFeature {
	var spec []IOFeature
	splits := c.rowSplits()
	for i, info := range c.keys {
		switch info.Role {
		case Size:
			spec = append(spec, IOFeature{Key: info.Key, DType: tfgnnpb.DataType_DT_INT64, Fixed: true, Shape: []int{1}, Zero: true})
		case Source, Target:
			spec = append(spec, IOFeature{Key: info.Key, DType: tfgnnpb.DataType_DT_INT64, RowSplits: tfgnnpb.DataType_DT_INT32})
		case Values:
			spec = append(spec, c.ioFeature(i, &c.feats[c.slots[i].feature], splits))
		}
	}
	return spec
}

// rowSplits is the dtype of TF-GNN's row splits, one for the whole graph: the schema's int32, unless a set without
// ragged features, or the endpoints of an edge set, have their default int64.
func (c *Codec) rowSplits() tfgnnpb.DataType {
	ragged := func(f feature) bool { return len(f.lengths) > 0 }
	for _, s := range c.sets[1:] {
		if s.piece == Edges || !slices.ContainsFunc(c.feats[s.first:s.last], ragged) {
			return tfgnnpb.DataType_DT_INT64
		}
	}
	return tfgnnpb.DataType_DT_INT32
}

func (c *Codec) ioFeature(slot int, f *feature, splits tfgnnpb.DataType) IOFeature {
	info := c.keys[slot]
	io := IOFeature{Key: info.Key, DType: map[Kind]tfgnnpb.DataType{
		BytesList: tfgnnpb.DataType_DT_STRING, FloatList: tfgnnpb.DataType_DT_FLOAT, Int64List: tfgnnpb.DataType_DT_INT64}[info.List]}
	if len(f.lengths) == 0 && info.Piece == Context {
		io.Fixed, io.Shape = true, append([]int{1}, f.shape...)
		return io
	}
	io.RowSplits = splits
	if len(f.lengths) == 0 {
		io.RowSplits = tfgnnpb.DataType_DT_INT32
	}
	level := 0
	for _, d := range f.shape {
		if d != -1 {
			io.Partitions = append(io.Partitions, Partition{Length: d})
			continue
		}
		io.Partitions = append(io.Partitions, Partition{Key: c.keys[f.lengths[level]].Key})
		level++
	}
	return io
}
