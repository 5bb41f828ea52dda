package table

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/graph"
)

// ChunkSize is the number of bytes of a file that a worker reads at a time.
const ChunkSize = 1 << 20

// MaxRecord is the most bytes of a record, and the most values of a row.
const MaxRecord = 16 << 20

// Field is a column that the files of a table declare.
type Field struct {
	Name string
	// DType is Invalid if the format does not declare it (CSV).
	DType graph.DType
	// Shape is the shape of one row, if the format declares it.
	Shape []int
	// Unit is set if the format declares a column of times. DType is Int64 then.
	Unit graph.Unit
	// Category is set if the format declares that the strings are categories. DType is String then.
	Category bool
	// Inferred says that DType follows from the first cells.
	Inferred bool
	// Ignored says that the file marks the field as one to leave out.
	Ignored bool
	// Separator, if it is not 0, alone separates the texts of a list.
	Separator byte
	// Escapes says that `\;` in a list that ';' separates is a ';' of a value.
	Escapes bool
	// Zone is that of times in text that have none; nil: UTC.
	Zone *time.Location
}

// Empty says how an empty cell is handled.
type Empty uint8

// An empty cell is an error, or marks the row in Chunk.Absent, or has the value Column.Fill.
const (
	EmptyError Empty = iota
	EmptyAbsent
	EmptyFill
)

// Column asks for a column of a table. Ids are columns too: Uint64 if they are numbers, String if they are keys. An
// empty cell of a String column is the empty string, unless it is an id for which Empty says otherwise.
type Column struct {
	Name  string
	DType graph.DType
	// Shape is the shape of one row: empty for a scalar, -1 for a variable dimension. An empty cell of a shape with a
	// variable dimension has no values.
	Shape []int
	Empty Empty
	Fill  string
	// ID makes an empty String cell subject to Empty.
	ID bool
	// Inferred makes the text of a number an error if the dtype, which follows from the first cells, loses a part of it: 2^24 or more
	// that Float32 rounds, or leading zeros of an integer.
	Inferred bool
	// Separator, if it is not 0, is the only separator of the texts of a list without brackets, and one more between numbers.
	Separator byte
	// Escapes says that `\;` in a list that ';' separates is a ';' of a value.
	Escapes bool
	// Whole reads whole numbers with a point, such as 2.0, as integers, also where the column has texts.
	Whole bool
	// Given says that Empty and Fill were asked for in this column itself. An empty cell of any dtype is subject to Empty
	// then, and a Fill that is no value of the column is an error of each scan. Otherwise only numbers, bools and shapes
	// of several strings are subject to Empty, an empty time is graph.NoTime, an empty category -1, and a Fill that is no
	// value of the column is an error where a cell is empty.
	Given bool
	// Unit asks for times, of dtype Int64: from text in ISO 8601 (package isotime) or in integers of the unit, from
	// declared times, which are converted, and from integers as they are.
	Unit graph.Unit
	// Zone is that of times in text that have none; nil: UTC.
	Zone *time.Location
	// Categories asks for the codes of texts, of dtype Int32.
	Categories *Categories
	// Missing asks whether the cell of another column is empty. DType is Bool; Name is the name of the new column.
	Missing *Column
	// From are scalar fields of the table whose values, side by side, are the values of a row. Nil means the field Name.
	From []string
	// Mark asks for Vector.Empty. ScanValues sets it.
	Mark bool
	// Underflows, if not nil, counts the values of a float64 array or Parquet column whose Float32 is 0 or subnormal
	// and differs from the value. They lose more digits than others, or all. A scan adds to it.
	Underflows *atomic.Uint64
}

// Vector holds the values of one column for the rows of a chunk.
type Vector struct {
	// Data holds the values, little-endian and row-major, or the bytes of the strings. It is 8-byte aligned.
	Data []byte
	// Lengths has one list for each variable dimension, the outermost first, as store.ColumnWriter takes them. It is
	// nil if the shape is fixed. To interpret it, let n be the number of rows of the chunk and go through the shape
	// from the left: a fixed dimension d multiplies n by d; a variable dimension has n lengths, and their sum is the
	// new n. The final n is the number of values.
	Lengths [][]uint32
	// Ends holds, for strings, the end of each value in Data.
	Ends []uint32

	// Empty are the rows whose cells are empty, ascending, for a column with Mark.
	Empty []uint32
}

// ID is the bytes of the id of a row, in a vector of strings or of integers of eight bytes.
func (v *Vector) ID(row int, dtype graph.DType) []byte {
	if dtype != graph.String {
		return v.Data[8*row : 8*row+8]
	}
	start := uint32(0)
	if row > 0 {
		start = v.Ends[row-1]
	}
	return v.Data[start:v.Ends[row]]
}

// Chunk is a run of rows. It belongs to the scan and is valid until the callback returns.
type Chunk struct {
	// First is the number of the first row in the table, from 0.
	First   uint64
	Rows    int
	Columns []Vector // one per column asked for
	// File is the file of the rows; empty if they are in several.
	File string
	// Bytes is the share of the rows in Table.Bytes; 0 if it is unknown, as for compressed files.
	Bytes int64
	// Absent marks the rows with an empty cell in a column with EmptyAbsent. It is nil if there are none.
	Absent []bool
	// Ragged are the rows with another number of cells than there are columns, or with a stray quote, ascending, in text that is opened
	// so that they are no errors.
	Ragged []uint32
}

// Table is the rows of one file, or of the shards of one table.
type Table interface {
	// Fields are the declared columns, in file order.
	Fields() []Field
	// Files are the paths that the table reads, in order.
	Files() []string
	// Bytes is the size of the files, for progress and for choosing bucket counts.
	Bytes() int64
	// Scan reads the columns asked for and calls fn for each chunk, from up to threads goroutines at once; worker,
	// which is below threads, identifies the goroutine. The first error of fn, of the files or of ctx ends the scan
	// and is returned after every goroutine has ended. Scan returns the number of rows.
	Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (rows uint64, err error)
	// Where names the place of a row for an error, "edges.csv:17", or of its cell in a column if the format has
	// places of cells, "edges.csv:17:3". It may read the file again.
	Where(row uint64, column string) string
}

// Unreadable names the columns of a table that cannot be read, and what they are.
func Unreadable(t Table) []string {
	if u, ok := t.(interface{ Unreadable() []string }); ok {
		return u.Unreadable()
	}
	return nil
}

// Unnamed returns the numbers, from 1, of the columns of text without a name in which the first MiB has values.
func Unnamed(t Table) []int {
	if u, ok := t.(interface{ Unnamed() []int }); ok {
		return u.Unnamed()
	}
	return nil
}
