// Package chunked writes a store in DGL's chunked graph format, as its partitioning
// and dispatching tools read it: metadata.json and the chunks of edges and features.
// docs/format-chunked.md gives every file.
//
// Ids are the type-wise ids of the store; edges are in the order of their input, so
// that a graph that came from chunks goes back into equal ones. The chunks of a type
// differ by at most one row, and none is empty: a type with fewer rows than chunks has
// fewer files, for DGL's tools stop at an empty one.
//
// DGL's tools take uint8, int8, int32, int64 and floats of 16 to 64 bits. Other numbers
// are written in the next dtype that holds them, and bools as uint8; Result names them.
// Strings, columns with variable rows and original ids have no place in the format and
// are named too.
//
// Edges are put into their order by buckets of positions, in memory or a temporary file;
// a bucket is encoded by one of several goroutines, and written in order. Equal stores
// give equal bytes at any number of threads and any memory.
//
// The package imports store, graph, format/* and internal/*.
package chunked
