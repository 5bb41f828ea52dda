package batch

import "github.com/graphmill/graphmill/graph"

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
