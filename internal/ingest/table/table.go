package table

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
)

// Field is a column that the files of a table declare.
type Field struct {
	Name string
	// DType is Invalid where the format does not say (CSV).
	DType graph.DType
	// Shape is the shape of one row where the format says it.
	Shape []int
}

// Empty says what an empty cell means.
type Empty uint8

// An empty cell is an error, or the row is marked in Chunk.Absent, or the cell
// has the value Column.Fill.
const (
	EmptyError Empty = iota
	EmptyAbsent
	EmptyFill
)

// Column asks for a column of a table. Ids are columns too: Uint64 where they
// are numbers, String where they are keys. An empty cell of a String column is
// the empty string, except where Empty says otherwise for an id.
type Column struct {
	Name  string
	DType graph.DType
	// Shape of one row: empty for a scalar; a dimension is variable where it is -1.
	// An empty cell of a shape with a variable dimension is one without values.
	Shape []int
	Empty Empty
	Fill  string
	// ID makes an empty String cell subject to Empty.
	ID bool
	// Underflows, where it is not nil, counts the values of a float64 array or Parquet
	// column that are 0 or subnormal as Float32, and not equal: they lose more digits
	// than others, or all. A scan adds to it.
	Underflows *atomic.Uint64
}

// Vector is the values of one column in the rows of a chunk.
type Vector struct {
	// Data holds the values, little-endian and row-major, or the bytes of the
	// strings. Its first byte is 8-byte aligned.
	Data []byte
	// Lengths has a list for each variable dimension, the outermost first, as
	// store.ColumnWriter takes them; nil where the shape is fixed. Going through the
	// shape from the left, n starts as the rows of the chunk; a fixed dimension d
	// makes it n*d, a variable one has n lengths and makes it their sum. What n is
	// in the end is the number of values.
	Lengths [][]uint32
	// Ends is, for strings, the end of each value in Data.
	Ends []uint32
}

// Chunk is a run of rows. It belongs to the scan and is valid until the callback
// returns.
type Chunk struct {
	// First is the number in the table of the first row, from 0.
	First   uint64
	Rows    int
	Columns []Vector // as asked for
	// Bytes is what the rows take of Table.Bytes; 0 where that is not known, as of
	// compressed files.
	Bytes int64
	// Absent marks rows that have an empty cell in a column with EmptyAbsent; nil
	// where there is none.
	Absent []bool
}

// Table is the rows of one file, or of the shards of one.
type Table interface {
	// Fields are the declared columns, in file order.
	Fields() []Field
	// Files are the paths that the table reads, in order.
	Files() []string
	// Bytes is the size of the files, for progress and for choosing bucket counts.
	Bytes() int64
	// Scan reads the columns asked for and calls fn for each chunk, from up to
	// threads goroutines at once; worker, below threads, tells them apart. The
	// first error of fn, of the files or of ctx ends the scan and is returned
	// after every goroutine has ended. It returns the number of rows.
	Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (rows uint64, err error)
	// Where names the place of a row for a message, "edges.csv:17", or of its cell
	// in a column where the format has places of cells, "edges.csv:17:3". It may
	// read the file again.
	Where(row uint64, column string) string
}
