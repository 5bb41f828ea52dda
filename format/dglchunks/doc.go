// Package dglchunks reads and writes the metadata of DGL's chunked graph format: metadata.json, which lists the files
// that hold the edges and features of a graph. docs/format-chunked.md specifies every key.
//
// There are two ways to give the counts: a list of counts per chunk (num_nodes_per_chunk), as in DGL's guide and its
// chunk_graph.py, and one count per type (num_nodes_per_type), which DGL's partitioning and dispatching tools read.
// Read accepts either, or both if they agree. JSON writes both.
//
// The package reads and writes the metadata only, not the files that they list.
//
// The API may change in any version: see package format.
package dglchunks
