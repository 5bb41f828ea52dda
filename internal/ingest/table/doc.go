// Package table says what an input table is: rows of typed columns, in one file, in shards, or in folders. The packages below it
// read the kinds of files: textfiles (CSV, JSON lines and other text), arrayfiles (npy), examplefiles (TFRecord) and columnfiles
// (Parquet, Arrow). Package tablefiles finds the files of a table and opens them by their kind.
//
// A Table lists the fields that its files declare, scans the columns that are asked for, and names the place of a row
// for errors. A scan reads chunks of rows with several workers at once and bounded memory. Each chunk has the number
// of its first row, so that a consumer can restore the input order. Rows and their numbers do not depend on the
// number of threads, and neither does the error: of several bad rows the first is reported.
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
// Package views makes tables of other tables. Packages ingest and ingest/assemble give them a meaning (ids, ends of edges,
// features).
package table
