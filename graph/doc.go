// Package graph is the model in memory: typed nodes and edges, their columns,
// and the adjacency that sampling walks.
//
// # Words
//
// A graph has node types ("paper") and edge types ("paper:cites:paper": source
// type, relation, destination type). Types are kept in byte order of their
// names, and that order counts wherever an order matters: files, op numbers,
// DGL ids. A homogeneous graph has the node type "_N" and the edge type
// "_N:_E:_N".
//
// Nodes of a type are numbered 0..n-1: the type-wise id. Edges of a type are
// numbered by (primary end, input order): the primary end is the destination
// when Primary is In, the source when it is Out. So an edge's id is its place
// in the neighbour array of the primary direction, and sampling reads no id
// map. The other direction, where it exists, carries edge ids, ascending within
// a node.
//
// A column is a feature, label, time or weight: a typed array with one row a
// node or edge, in id order. Numbers are little-endian bytes as in the file they
// come from, so that a column can be a view of a memory map.
//
// # Ownership
//
// The slices of a graph are read-only views; who made them (package store, a
// builder) says how long they live. Nothing here copies.
//
// The package imports nothing of this module but the standard library, and does
// no I/O.
package graph
