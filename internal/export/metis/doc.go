// Package metis writes the graph of a store as a METIS .graph file. The graph is undirected and simple: its nodes are
// the nodes of all types, one type after the other in sorted order, and each pair of neighbours is one edge, without
// loops and weights. It is the graph that package partition cuts, and its node numbers are the indices of an
// assignment's Part.
//
// The graph is made in memory. It takes 8 bytes per pair, and while it is made 8 bytes per edge, which are in a
// temporary file if the memory is bounded.
package metis
