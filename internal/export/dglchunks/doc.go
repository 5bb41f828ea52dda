// Package dglchunks writes a store in DGL's chunked graph format, as its partitioning and dispatching tools read it:
// metadata.json and the chunks of edges and features. docs/format-chunked.md specifies every file.
//
// Ids are the type-wise ids of the store. Edges are in the order of their input, so that a graph that was imported
// from chunks is written as equal chunks. The chunks of a type differ by at most one row, and none is empty: a type
// with fewer rows than chunks has fewer files, since DGL's tools fail on an empty one.
//
// DGL's tools accept uint8, int8, int32, int64 and floats of 16 to 64 bits. Other numbers are written as the next
// dtype that can hold them, and bools as uint8; Result names these columns. Strings, columns with rows of variable
// size and original ids do not fit into the format and are named too.
//
// Edges are sorted by buckets of positions, in memory or in a temporary file. Several goroutines encode buckets,
// which are written in order. Equal stores give equal bytes for any number of threads and any memory.
package dglchunks
