package example

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// Role is the meaning of the values of a key.
type Role uint8

// The roles.
const (
	Size    Role = iota // number of items of a set in each component
	Source              // source nodes of edges
	Target              // target nodes of edges
	Values              // values of a feature
	Lengths             // row lengths of a variable dimension of a feature
)

// Piece is the part of a GraphTensor that a key belongs to.
type Piece uint8

// The pieces.
const (
	Context Piece = iota
	Nodes
	Edges
)

// String is the first part of the keys of the piece: "context", "nodes" or "edges".
func (p Piece) String() string { return [...]string{"context", "nodes", "edges"}[p] }

// KeyInfo describes one key that an Example of a schema can have.
type KeyInfo struct {
	Key     string
	List    Kind // kind of its list of values
	Role    Role
	Piece   Piece
	Set     string // "" for the context
	Feature string // of Values and Lengths
	Dim     int    // of Lengths: the tensor dimension; 1 is the first after the items
}

// Codec encodes and decodes the GraphTensors of one schema. It is immutable and can be used by many goroutines at
// once.
type Codec struct {
	schema *tfgnnpb.GraphSchema
	keys   []KeyInfo
	slots  []slot // one per key
	sets   []set  // the context, node sets and edge sets, each by name
	nodes  int    // sets[1:nodes] are node sets
	feats  []feature
}

// slot is what the codec needs to know of a key.
type slot struct {
	key     Key
	set     int
	feature int // of Values and Lengths
	level   int // of Lengths: index among the feature's lists of lengths
}

// set is one set, or the context.
type set struct {
	piece                Piece
	name                 string
	size, source, target int // slots; source and target of an edge set only
	from, to             int // of an edge set: the node sets of its ends
	first, last          int // feats[first:last] are the set's
}

// where names the set in errors.
func (s *set) where() string {
	switch s.piece {
	case Nodes:
		return fmt.Sprintf("node set %q", s.name)
	case Edges:
		return fmt.Sprintf("edge set %q", s.name)
	}
	return "context"
}

// feature is one feature of a set.
type feature struct {
	name    string
	dtype   tfgnnpb.DataType
	list    Kind
	shape   []int
	values  int   // slot
	lengths []int // slots
	lo, hi  int64 // bounds of integer values, both included
}

// listOf returns the kind of list that holds values of a dtype, or None if TF-GNN does not know the dtype.
func listOf(d tfgnnpb.DataType) Kind {
	switch d {
	case tfgnnpb.DataType_DT_STRING:
		return BytesList
	case tfgnnpb.DataType_DT_HALF, tfgnnpb.DataType_DT_BFLOAT16, tfgnnpb.DataType_DT_FLOAT, tfgnnpb.DataType_DT_DOUBLE:
		return FloatList
	}
	if _, _, ok := intRange(d); ok {
		return Int64List
	}
	return None
}

// intRange returns the least and the largest value of an integer dtype, as an Example stores it.
func intRange(d tfgnnpb.DataType) (lo, hi int64, ok bool) {
	switch d {
	case tfgnnpb.DataType_DT_BOOL:
		return 0, 1, true
	case tfgnnpb.DataType_DT_INT8:
		return math.MinInt8, math.MaxInt8, true
	case tfgnnpb.DataType_DT_INT16:
		return math.MinInt16, math.MaxInt16, true
	case tfgnnpb.DataType_DT_INT32:
		return math.MinInt32, math.MaxInt32, true
	case tfgnnpb.DataType_DT_UINT8:
		return 0, math.MaxUint8, true
	case tfgnnpb.DataType_DT_UINT16:
		return 0, math.MaxUint16, true
	case tfgnnpb.DataType_DT_UINT32:
		return 0, math.MaxUint32, true
	case tfgnnpb.DataType_DT_INT64, tfgnnpb.DataType_DT_UINT64:
		return math.MinInt64, math.MaxInt64, true
	}
	return 0, 0, false
}

// NewCodec compiles a schema, which must pass tfgnn.CheckSchema.
func NewCodec(schema *tfgnnpb.GraphSchema) (*Codec, error) {
	if _, err := tfgnn.CheckSchema(schema); err != nil {
		return nil, err
	}
	c := &Codec{schema: proto.Clone(schema).(*tfgnnpb.GraphSchema)}
	schema = c.schema
	c.set(set{}, schema.GetContext().GetFeatures())
	at := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(schema.NodeSets)) {
		at[name] = len(c.sets)
		c.set(set{piece: Nodes, name: name}, schema.NodeSets[name].GetFeatures())
	}
	c.nodes = len(c.sets)
	for _, name := range slices.Sorted(maps.Keys(schema.EdgeSets)) {
		e := schema.EdgeSets[name]
		c.set(set{piece: Edges, name: name, from: at[e.GetSource()], to: at[e.GetTarget()]}, e.GetFeatures())
	}
	for i := range c.feats {
		if f := &c.feats[i]; f.list == None {
			return nil, fmt.Errorf("%s: found dtype %s, expected one that TF-GNN reads: %w", c.keys[f.values].Key, f.dtype, ErrGraph)
		}
	}
	c.order()
	return c, nil
}

// set adds a set with its keys and the keys of its features.
func (c *Codec) set(s set, features map[string]*tfgnnpb.Feature) {
	own := func(name string, role Role) {
		c.key(KeyInfo{Key: tfgnn.FeatureKey(s.piece.String(), s.name, name), List: Int64List, Role: role, Piece: s.piece, Set: s.name}, slot{set: len(c.sets)})
	}
	if s.piece != Context {
		own(tfgnn.SizeName, Size)
	}
	if s.piece == Edges {
		own(tfgnn.SourceName, Source)
		own(tfgnn.TargetName, Target)
	}
	s.first = len(c.feats)
	for _, name := range slices.Sorted(maps.Keys(features)) {
		f := feature{name: name, dtype: features[name].GetDtype(), shape: []int{}, values: len(c.keys)}
		f.list = listOf(f.dtype)
		f.lo, f.hi, _ = intRange(f.dtype)
		key := tfgnn.FeatureKey(s.piece.String(), s.name, name)
		info := KeyInfo{Key: key, List: f.list, Role: Values, Piece: s.piece, Set: s.name, Feature: name}
		c.key(info, slot{set: len(c.sets), feature: len(c.feats)})
		for i, d := range features[name].GetShape().GetDim() {
			f.shape = append(f.shape, int(d.GetSize()))
			if d.GetSize() == -1 {
				info.Key, info.List, info.Role, info.Dim = tfgnn.RaggedKey(key, i+1), Int64List, Lengths, i+1
				c.key(info, slot{set: len(c.sets), feature: len(c.feats), level: len(f.lengths)})
				f.lengths = append(f.lengths, 0)
			}
		}
		c.feats = append(c.feats, f)
	}
	s.last = len(c.feats)
	c.sets = append(c.sets, s)
}

func (c *Codec) key(info KeyInfo, s slot) {
	s.key = NewKey(info.Key)
	c.keys, c.slots = append(c.keys, info), append(c.slots, s)
}

// order sorts the keys and tells sets and features the positions of theirs.
func (c *Codec) order() {
	by := make([]int, len(c.keys))
	for i := range by {
		by[i] = i
	}
	keys, slots := c.keys, c.slots
	slices.SortFunc(by, func(a, b int) int {
		if keys[a].Key < keys[b].Key {
			return -1
		}
		return 1
	})
	c.keys, c.slots = make([]KeyInfo, len(keys)), make([]slot, len(keys))
	for i, old := range by {
		info, s := keys[old], slots[old]
		c.keys[i], c.slots[i] = info, s
		switch info.Role {
		case Size:
			c.sets[s.set].size = i
		case Source:
			c.sets[s.set].source = i
		case Target:
			c.sets[s.set].target = i
		case Values:
			c.feats[s.feature].values = i
		case Lengths:
			c.feats[s.feature].lengths[s.level] = i
		}
	}
}

// Keys lists every key that an Example of the schema can have, sorted. The caller must not change the slice.
func (c *Codec) Keys() []KeyInfo { return c.keys }

// FormSize is the number of bytes of a Form.
func (c *Codec) FormSize() int { return (len(c.keys) + 1 + 3) / 4 }

// form returns the code of key i in a Form.
func form(f []byte, i int) int { return int(f[i>>2]>>(i&3*2)) & 3 }

// binding is what a Codec keeps in a GraphTensor to fill it: the parts of the GraphTensor in the codec's order, and
// buffers.
type binding struct {
	codec   *Codec
	decoder Decoder
	found   []*Feature // feature of each key in the record; nil: none
	nodes   []*NodeSet // of sets[1:nodes]
	edges   []*EdgeSet // of sets[nodes:]
	tensors []*Tensor  // of feats
	totals  []int      // items of each set
}

// New makes an empty GraphTensor with all sets and features of the schema, for Decode to fill. Its maps and the
// values that they point to stay the same, and every Decode reuses the memory of the values.
func (c *Codec) New() *GraphTensor {
	b := &binding{codec: c, found: make([]*Feature, len(c.keys)), totals: make([]int, len(c.sets))}
	g := &GraphTensor{NodeSets: map[string]*NodeSet{}, EdgeSets: map[string]*EdgeSet{}, bound: b}
	for i := range c.sets {
		s := &c.sets[i]
		features := map[string]*Tensor{}
		for _, f := range c.feats[s.first:s.last] {
			t := &Tensor{DType: f.dtype, Shape: slices.Clone(f.shape), Lengths: make([][]int64, len(f.lengths))}
			features[f.name] = t
			b.tensors = append(b.tensors, t)
		}
		switch s.piece {
		case Context:
			g.Context = features
		case Nodes:
			n := &NodeSet{Features: features}
			g.NodeSets[s.name], b.nodes = n, append(b.nodes, n)
		case Edges:
			e := &EdgeSet{Source: c.sets[s.from].name, Target: c.sets[s.to].name, Features: features}
			g.EdgeSets[s.name], b.edges = e, append(b.edges, e)
		}
	}
	return g
}

// sizes points to a set's sizes; it returns nil for the context.
func (b *binding) sizes(i int) *[]int64 {
	switch s := &b.codec.sets[i]; s.piece {
	case Nodes:
		return &b.nodes[i-1].Sizes
	case Edges:
		return &b.edges[i-b.codec.nodes].Sizes
	}
	return nil
}
