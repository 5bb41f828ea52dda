// Package table reads input tables: rows of typed columns out of CSV, npy,
// TFRecord and Parquet files, whole or in shards.
//
// A Table says what fields its files declare, scans the columns that are asked
// for, and names the place of a row for messages. A scan reads chunks of rows
// with several workers at once and bounded memory; each chunk carries the number
// of its first row, so a consumer can restore the input order whatever order the
// chunks come in. The same rows with the same numbers come at any thread count,
// and so does the error: of several bad rows the first is reported.
//
// # CSV
//
// OpenCSV reads .csv, .tsv and .txt files, plain or compressed (.gz, .zst), in
// UTF-8, with or without a byte order mark. Quoting is RFC 4180's: a field may
// be enclosed in double quotes, in which a quote is written twice and
// delimiters and line ends stand for themselves. A quote inside a bare field is
// an error. Lines end in LF or CRLF; the last one needs no end. Lines without
// any character are skipped. A record is at most 16 MiB.
//
// The delimiter is a tab for .tsv. For the others the first line decides: the
// first of ',', tab, ';' and '|' that it has outside of quotes; a .txt line
// without any of them has fields separated by runs of spaces and tabs, and so
// has a .txt line whose tabs and spaces separate numbers only. Lines of a .txt
// file that start with '#' or '%' are comments where they come before the first
// other line; behind it they are data.
//
// Without names from the caller the first line is a header. It is refused if a
// cell of it is a number, which headers rarely hold and data mostly do.
//
// Spaces around numbers are ignored; in strings they count.
//
// A cell holds the values of a vector separated by spaces, commas or ';', bare or
// in brackets: "1 2 3", "[1, 2, 3]". Strings are separated by ';' if there is one,
// else by spaces; in brackets by commas, and can be in quotes. A shape of several
// dimensions can have a pair of brackets for each, "[[1 2] [3 4]]", and must where
// they alone tell the rows apart: "[[1 2] [] [3]]" of shape [-1, -1]. An empty cell
// of a shape with a variable dimension has no values.
//
// # TFRecord
//
// OpenTFRecord reads tf.train.Examples, a row each. A feature of the row is a
// column: int64_list for integers and bools, float_list for floats, bytes_list for
// strings; its values are flat, row-major. The lengths of variable dimension i of
// the shape, counted from 1, are in the feature NAME.d<i>, as in the Example of a
// graph with one item. They can be left out where they follow from the number of
// values: where there is one variable dimension, and the dimensions in front of it
// are 1; and in a row without values.
//
// # Parquet
//
// OpenParquet makes a table of the top-level columns of Parquet files that are
// numbers, bools, byte strings, or lists of them, in any depth: see
// format/parquet. A column can be read as another dtype as one of npy can. The
// levels of lists are the dimensions of the shape; one level can also hold flat
// values of several dimensions, at most the first of them variable, and a single
// value is a row of shape [1]. A row that is null is an empty cell; null within a
// list is an error. Row numbers count from 0, in a file. A column of the type null, as
// pandas writes where there are no rows, has empty cells of any dtype and shape.
//
// # npy
//
// OpenNpy makes a table of arrays with equal first dimensions, a column an
// array. OpenPairs reads the ends of edges out of one array, OpenCSC out of an
// index pointer and indices. OpenRaw makes a table of what lies in other files as
// arrays do, in one piece or in several.
//
// The package knows files, rows and values; what they mean (ids, ends of edges,
// features) is the business of packages ingest and ingest/build. It imports
// graph (for dtypes), format/* and internal/*.
package table
