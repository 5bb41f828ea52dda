// Package unigraph writes the tables of TF-GNN unigraphs: a GraphSchema and, for each set with a table, its rows as
// CSV, TFRecord or Parquet files.
//
//   - FromStore writes a store: schema.pbtxt and all its tables, each as one file or as shards.
//   - Convert writes a unigraph again with all its tables in another format.
//
// The first columns are #id for nodes, and #source and #target for edges, all of them strings. The other columns are
// features, sorted by name. docs/unigraph.md specifies how each format stores values, vectors and lists.
//
// # Order, memory, bytes
//
// Several goroutines encode rows, each a chunk of the input at a time, and the chunks are written in input order.
// Chunks that are early wait in memory and, beyond 64 MiB, in an unnamed file of the output folder. The files depend
// on the rows and on the chunks of the input, which follow from the input alone, so equal inputs give equal bytes for
// any number of threads. Shards are contiguous ranges of rows whose lengths differ by at most one.
//
// # Inexpressible values
//
// A value that a format cannot hold is an error that names the row: in TFRecord files, a float64 that is not a
// float32; in CSV files, a string that is not UTF-8, and a vector with a string that contains both kinds of quotes.
package unigraph
