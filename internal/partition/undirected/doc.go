// Package undirected holds the graph that is cut: simple, undirected and weighted.
//
// A Graph lists each pair of neighbours at both ends, so that the neighbours of a node are one run of
// an array. It has no loops and lists a pair once, however often and in whichever direction the
// original graph has it: the cut of a directed or typed graph counts each pair of neighbours once.
// Nodes of a typed graph are numbered type after type, in byte order of the types, like DGL's
// homogeneous ids.
//
// Build builds a Graph from the edges of a store, FromPairs from pairs in memory. Spill builds one in
// a temporary file, and a Reader makes the rows of ranges of nodes, for workers that have a range
// each. Evaluate measures the cut and the balance of a division into parts.
package undirected
