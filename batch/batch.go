package batch

import "github.com/graphmill/graphmill/graph"

// Tail is what becomes of items that do not fill a batch, and of batches that
// do not go round among the ranks.
type Tail uint8

// Keep gives the last batch as short as it is, and to some ranks one batch more.
// Drop leaves both out. Pad fills the batch up with zeros, and gives ranks
// that have a batch less one of padding alone, so that all batches have one shape and all
// ranks as many. Error refuses items that leave either.
const (
	Keep Tail = iota
	Drop
	Pad
	Error
)

var tails = [...]string{"keep", "drop", "pad", "error"}

func (t Tail) String() string { return tails[t] }

// Batch is some rows of the columns. It is valid until the next one is asked for.
type Batch struct {
	Epoch uint64
	// Number is the batch's in the epoch, over all ranks.
	Number int
	// Items are the rows, or groups, in the batch, in order; padding has none.
	Items []uint64
	// Columns are the rows of each column, in the order in which the columns were given.
	// With Padded groups a row is a group: its shape has the longest group's length in
	// front.
	Columns []graph.Column
	// Rows is how many rows the columns have, padding included.
	Rows int
	// Ptr bounds the rows of each group: group g of the batch is the rows [Ptr[g], Ptr[g+1]),
	// or, Padded, has Ptr[g+1]-Ptr[g] rows at the beginning of its place. nil for rows.
	Ptr []uint64
	// Mask says which rows are real: nil when all are. With Padded groups it has one value
	// a place, group after group.
	Mask []bool
}
