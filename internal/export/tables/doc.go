// Package tables writes a store as Parquet tables that databases join: a table per node type and per edge type, with numbers and original ids, and a
// graph.yaml that imports the folder as an equal store. docs/parquet.md specifies the columns.
//
//	blocks of rows: numbers of nodes, or edges with both ends in the order of their input
//	pages: the values of each column for the rows of a block, as Parquet has them
//	files: the blocks in order, divided into shards
//
// # Order, memory, bytes
//
// Several goroutines encode blocks, which are written in order. The rows of a block follow from the columns and the number of shards alone, so equal
// stores give equal bytes for any number of threads and any memory. Edges are sorted into the order of their input by buckets of positions, in memory or in
// an unnamed file of the output folder.
//
// # Values
//
// Missing times and categories are null, and so are rows that a column NAME_missing marks, where they have the value of an empty cell. Half floats
// become float32, seconds become milliseconds, as Parquet has none, and lists of times become integers; Result.Notes says so. Parquet keeps all else.
package tables
