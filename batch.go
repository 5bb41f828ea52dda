package graphmill

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// Batch is a sampled batch: a set of named arrays. The iterator owns the batch and its arrays, which are valid until the
// next step; Clone returns a copy that stays valid.
//
// The names of the arrays are
//
//	input_id                index of each seed in the list of seeds
//	seed_local              local id of each seed; for links, of source and target alternately
//	nodes/TYPE/n_id         id of each node in the store; the index in this array is the local id
//	nodes/TYPE/by_hop       number of nodes per hop, the seeds first
//	nodes/TYPE/x/COLUMN     a feature, one row per node
//	edges/TYPE/edge_index   local ids, shape (2, edges): the sources, then the destinations
//	edges/TYPE/e_id         position of each edge in the input of the import, or its id in the store
//	edges/TYPE/by_hop       number of edges per hop
//	edges/TYPE/x/COLUMN     a feature, one row per edge
//
// In TYPE and COLUMN, % is written %25, and / is written %2F.
//
// Edges have no by_hop with Subgraph bidirectional and induced. Some options add arrays: ScopeSeed adds nodes/TYPE/batch (the index of each node's seed in the batch), Before adds
// seed_time, Age adds nodes/TYPE/x/age and edges/TYPE/x/age, seeds that are links add links/COLUMN, Negatives adds negative_local (local ids of the negatives of each link, as
// seed_local) and, where links have several numbers of them, negative_end (by link, the number of negatives up to its last one), and Ops adds ops/K/frontier, ops/K/edge_index and ops/K/e_id for op K.
type Batch struct {
	Epoch  uint64 // number of the epoch
	Number int    // number of the batch in the epoch, counted over all ranks

	columns []*graph.Column
}

// Column returns the array with a name, nil if the batch has no such array.
func (b *Batch) Column(name string) *graph.Column { return graph.FindColumn(b.columns, name) }

// Columns returns all arrays of the batch. Their order depends only on the store and the options.
func (b *Batch) Columns() []*graph.Column { return b.columns }

// Seeds returns the local id of each seed; for links, the local ids of source and target alternately.
func (b *Batch) Seeds() []int64 { return b.ints("seed_local") }

// Nodes returns the ids in the store of the nodes of a type. The index in the slice is the local id.
func (b *Batch) Nodes(typ string) []int64 { return b.ints("nodes/" + escapedName(typ) + "/n_id") }

// Edges returns the local ids of the sources and destinations of the edges of a type, such as "src:rel:dst".
func (b *Batch) Edges(typ string) (src, dst []int64) {
	both := b.ints("edges/" + escapedName(typ) + "/edge_index")
	return both[:len(both)/2], both[len(both)/2:]
}

// escapedName is a type or column in the name of an array.
func escapedName(name string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(name)
}

// Clone returns a copy of the batch that stays valid after the iterator's next step.
func (b *Batch) Clone() *Batch {
	c := &Batch{Epoch: b.Epoch, Number: b.Number}
	for _, column := range b.columns {
		kept := *column
		kept.Values = slices.Clone(column.Values)
		c.columns = append(c.columns, &kept)
	}
	return c
}

func (b *Batch) ints(name string) []int64 {
	c := b.Column(name)
	if c == nil {
		return nil
	}
	return graph.View[int64](c.Values)
}

// Column returns a column of the nodes or edges of a type in a batch, as numbers of its dtype: row after row, each of as many numbers
// as the column's shape says. A column of bools is uint8, and one of float16 or bfloat16 is uint16. typ is a node type, or an edge type
// "src:rel:dst". The numbers are valid as long as the batch is. A column that the batch does not have, or has with another dtype, is an
// error.
func Column[T graph.Numbers](b *Batch, typ, name string) ([]T, error) {
	path := "/" + escapedName(typ) + "/x/" + escapedName(name)
	c := b.Column("nodes" + path)
	if c == nil {
		c = b.Column("edges" + path)
	}
	if c == nil {
		return nil, fmt.Errorf("batch %d: found no column %q of %s, expected one that the batch has; name it in `Features`, `EdgeFeatures` or `Joined`", b.Number, name, typ)
	}
	asked, has := reflect.TypeFor[T]().Kind().String(), c.DType.String()
	switch c.DType {
	case graph.Bool:
		has = "uint8"
	case graph.Float16, graph.BFloat16:
		has = "uint16"
	}
	if asked != has {
		return nil, fmt.Errorf("batch %d: found %s for column %q of %s, expected %s, since its dtype is %s; read it as that", b.Number, asked, name, typ, has, c.DType)
	}
	return graph.View[T](c.Values), nil
}
