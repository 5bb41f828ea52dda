// Package columnfiles reads tables of Parquet and Arrow files.
//
// OpenParquet makes a table from the top-level columns of Parquet files that are numbers, bools, byte strings, or
// lists of them in any depth: see format/parquet. A column can be read as other dtypes, as with npy. The levels of
// lists are the dimensions of the shape. One level can also hold the flat values of several dimensions, of which only
// the first may be variable, and a single value is a row of shape [1]. A null row is an empty cell; null within a
// list is an error. Row numbers count from 0 in each file. A column of type null, which pandas writes for tables
// without rows, has empty cells of any dtype and shape.
//
// OpenArrow makes a table from the columns of files and streams of Arrow IPC, in the same way: see format/arrow.
// Workers scan whole record batches.
package columnfiles
