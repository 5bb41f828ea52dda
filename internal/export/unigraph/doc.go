// Package unigraph writes the tables of TF-GNN unigraphs: a GraphSchema and, for
// each set that has one, a table of its rows as CSV, TFRecord or Parquet files.
//
//   - Write writes the rows of one table.Table, in order, as one file or shards.
//   - FromStore and FromGraph write a store: schema.pbtxt and all its tables.
//   - Convert writes a unigraph again with all its tables in another format.
//
// The first columns are #id of nodes, #source and #target of edges: strings. The
// others are features, by name. docs/unigraph.md says how each format has values,
// vectors and lists.
//
// # Order, memory, bytes
//
// Rows are encoded by several goroutines, a chunk of the input each, and written
// in input order. Chunks that are early wait in memory, and beyond 64 MiB in an
// unnamed file of the output folder. Files depend on the rows and on where the
// input's chunks end, which follows from the input alone: equal inputs give
// equal bytes at any number of threads. Shards are contiguous ranges of rows whose
// lengths differ by at most one.
//
// # Nothing silent
//
// What a format cannot hold is an error that names the row: a float64 that is no
// float32, in a TFRecord; a string that is no UTF-8, in a CSV file; a string with
// both kinds of quotes, in a vector of a CSV file.
//
// The package imports ingest, ingest/table, store, graph and graph/feature,
// format/* and internal/*.
package unigraph
