// Package undirected holds the graph that is cut: simple, undirected, weighted.
//
// A Graph lists each pair of neighbours from both ends, so that what a partitioner
// asks of a node lies in one run of an array. Loops are absent and a pair is there once,
// whatever the graph it was made from said and how often: the cut of a directed
// or typed graph counts each pair of neighbours once. Nodes of a typed graph are
// numbered type after type, in byte order of the types, as DGL's homogeneous ids.
//
// Build makes one from the edges of a store; FromPairs from pairs in memory.
// Evaluate measures what a division into parts cuts and how even it is.
//
// The package imports graph, store, draw, internal/extsort, internal/vfs and the standard
// library.
package undirected
