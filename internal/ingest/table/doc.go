// Package table reads input tables: rows of typed columns from CSV, JSON lines, npy, TFRecord, Parquet and Arrow files, in
// one file, in shards, or in folders.
//
// A Table lists the fields that its files declare, scans the columns that are asked for, and names the place of a row
// for errors. A scan reads chunks of rows with several workers at once and bounded memory. Each chunk has the number
// of its first row, so that a consumer can restore the input order. Rows and their numbers do not depend on the
// number of threads, and neither does the error: of several bad rows the first is reported.
//
// # CSV
//
// OpenCSV reads .csv, .tsv and .txt files, plain or compressed (.gz, .zst), in UTF-8, with or without a byte order
// mark; other bytes in the first MiB, or in a chunk of which texts are read, are an error. Quoting follows RFC 4180: a field may be enclosed in double quotes, inside which a quote is written twice,
// and delimiters and line ends stand for themselves. A quote inside an unquoted field is an error. Lines end in LF, which may
// follow CRs; the last line needs no end. Another CR in an unquoted field is an error, and so is a file whose lines end in CR alone. Empty lines are skipped. A record has at most 16 MiB.
//
// The delimiter is a tab for .tsv. For the other extensions the first line decides: the delimiter is the first of
// ',', tab, ';' and '|' that it contains outside quotes. The fields of a .txt file are separated by runs of spaces
// and tabs if its first line contains none of these, or if its tabs and spaces separate numbers only. Lines of a .txt
// file that start with '#' or '%' are comments if they come before the first other line; after it they are data.
//
// A line "sep=;" before all others says the delimiter. Lines that start with '#' before the first other line are comments in the
// other files too, up to one that has as many cells as the first line without '#'.
//
// Columns without a name in the header are no fields. If the lines have one cell more than the header, a column without a name is
// at their end, if all of those cells in the head of the file are empty, or else at their start, if those cells differ.
//
// Unless the caller names the columns, the first line is a header. A header with a cell that is a number is refused,
// since headers rarely contain numbers and data mostly do.
//
// Spaces around numbers, around ids without quotes and around names of columns without quotes are ignored; in other strings they
// count.
//
// A cell holds the values of a vector separated by spaces, commas or ';', without brackets or in brackets: "1 2 3",
// "[1, 2, 3]". Strings are separated by ';' if there is one, and otherwise by spaces; in brackets they are separated
// by commas and may be in quotes. A shape of several dimensions can have nested brackets, "[[1 2] [3 4]]", and must
// have them if only they determine the rows: "[[1 2] [] [3]]" of shape [-1, -1]. An empty cell of a shape with a
// variable dimension has no values.
//
// # TFRecord
//
// OpenTFRecord reads tf.train.Examples, one row per Example. A column is a feature of the row: an int64_list for
// integers and bools, a float_list for floats, a bytes_list for strings. Its values are flat and row-major. The
// lengths of variable dimension i of the shape, counted from 1, are in the feature NAME.d<i>, as in the Example of a
// graph with one item. They may be omitted in a row without values, and where they follow from the number of values:
// if there is one variable dimension, and all dimensions before it are 1.
//
// # Parquet
//
// OpenParquet makes a table from the top-level columns of Parquet files that are numbers, bools, byte strings, or
// lists of them in any depth: see format/parquet. A column can be read as other dtypes, as with npy. The levels of
// lists are the dimensions of the shape. One level can also hold the flat values of several dimensions, of which only
// the first may be variable, and a single value is a row of shape [1]. A null row is an empty cell; null within a
// list is an error. Row numbers count from 0 in each file. A column of type null, which pandas writes for tables
// without rows, has empty cells of any dtype and shape.
//
// # Arrow
//
// OpenArrow makes a table from the columns of files and streams of Arrow IPC, in the same way: see format/arrow.
// Workers scan whole record batches.
//
// # JSON lines
//
// OpenJSONLines reads one object per line, plain or compressed. The columns are the keys of the objects in the first MiB. A
// number or a string is read like a cell of CSV, true and false are 1 and 0, and an array is a vector, of nested arrays if
// the shape has several dimensions. Null and a missing key are empty cells. NaN, Infinity and -Infinity are numbers, as
// Python writes them. A key twice in an object, a string that is not UTF-8, and a new key after the first MiB are errors.
//
// # Open
//
// Open recognises the kind of files by their extension, or by their first bytes where that says nothing. Package tablefiles
// finds the files of a table. Folders KEY=VALUE between a named folder and a file are columns of the table.
//
// # npy
//
// OpenNpy makes a table from arrays with equal first dimensions, one column per array. A column of strings or lists is an
// array of bytes or values with arrays of offsets: see Lists. OpenPairs reads the ends of
// edges from one array, OpenCSC from an index pointer and indices. OpenRaw makes a table from data that other files
// store like arrays, in one piece or in several.
//
// # Values
//
// Tables read numbers, bools and strings. The scans of all tables make other values from these, chunk by chunk (values.go): times
// (Column.Unit) from text in ISO 8601 or from integers, codes of categories (Column.Categories) from strings or integers,
// marks of empty cells (Column.Missing), and vectors of several fields (Column.From). A new table calls ScanValues in its
// Scan. Collect finds the categories of columns; it holds each text once, and about 64 bytes more per text and worker.
//
// # Parts
//
// Divide cuts a table into Parts that several processes read on their own. The rows of a Part keep their numbers, so the numbers of
// text must be counted first: Measure counts a part without knowing whether it starts inside quotes, and Settle decides.
//
// The package reads files, rows and values. Package views makes tables of other tables. Packages ingest and ingest/assemble
// give them a meaning (ids, ends of edges, features).
package table
