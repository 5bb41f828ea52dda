package batch

import "github.com/graphmill/graphmill/graph"

// Batch is some rows of the columns. It is valid until the next one is requested.
type Batch struct {
	Epoch uint64
	// Number is the number of the batch in the epoch, over all ranks.
	Number int
	// Items are the rows, or groups, in the batch, in order. Padding has no items.
	Items []uint64
	// Columns are the rows of each column, in the order of the given columns. With Padded groups a row is a group: the
	// length of the longest group comes first in its shape.
	Columns []graph.Column
	// Rows is the number of rows of the columns, padding included.
	Rows int
	// Ptr bounds the rows of each group: group g of the batch has the rows [Ptr[g], Ptr[g+1]). With Padded it has
	// Ptr[g+1]-Ptr[g] rows at the beginning of its place. It is nil for batches of rows.
	Ptr []uint64
	// Mask says which rows are real. It is nil where all are. With Padded groups it has one value per place, group
	// after group.
	Mask []bool
}
