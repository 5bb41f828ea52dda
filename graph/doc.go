// Package graph is the model in memory: typed nodes and edges, their columns, and the adjacency that sampling walks.
//
// # Words
//
// A graph has node types ("paper") and edge types ("paper:cites:paper": source type, relation, destination type). Types
// are in byte order of their names. This order holds wherever an order matters: in files, op numbers and DGL ids. A
// homogeneous graph has the node type "_N" and the edge type "_N:_E:_N".
//
// Nodes of a type are numbered 0..n-1: the type-wise id. Edges of a type are numbered by (primary end, input order).
// The primary end is the destination where Primary is In, and the source where it is Out. So the id of an edge is its
// place in the neighbour array of the primary direction, and sampling reads no id map. The other direction, where it
// exists, has edge ids, which ascend within a node.
//
// A column is a feature, label, time or weight: a typed array with one row per node or edge, in the order of ids.
// Numbers are little-endian bytes as in their files, so that a column can be a view of a memory map.
//
// # Ownership
//
// The slices of a graph are read-only views. Their maker (package store, a builder) defines how long they live. This
// package copies nothing.
package graph
