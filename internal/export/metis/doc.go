// Package metis writes the graph of a store as a METIS .graph file: undirected and
// simple, its nodes type after type in byte order of the types, each pair of neighbours
// once, without loops and weights. That is the graph that package partition cuts, and
// the numbers of its nodes are those of an assignment's Part.
//
// The graph is made in memory: 8 bytes a pair, and 8 an edge meanwhile, which lie in a
// temporary file where the memory is bounded.
//
// The package imports partition/undirected, format/metis, store and internal/*.
package metis
