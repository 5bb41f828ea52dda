// Package chunked holds the metadata of DGL's chunked graph format: metadata.json,
// which lists the files that the edges and features of a graph are cut into.
// docs/format-chunked.md gives every key.
//
// Two spellings of the counts are about: lists of counts a chunk
// (num_nodes_per_chunk), which DGL's guide and its chunk_graph.py have, and a count a
// type (num_nodes_per_type), which its partitioning and dispatching tools read. Read
// takes either, or both if they agree; JSON writes both.
//
// The package knows the metadata only, neither files nor values. It imports
// internal/* and the standard library.
package chunked
