// Package walk makes random walks: uniform, by weights, node2vec's, along a metapath, with restarts. What a walk is, is
// defined by testdata/reference/walks.py of package sample. A walk is a function of the graph, the rules, the random seed, the
// epoch, its start node and its number, so it does not depend on threads or on which other walks are made.
//
// A Walker is a set of rules compiled against a graph. A Context moves some hundred walks at the same time, one step each in
// turn: the cache lines that they need next are then fetched side by side, and not one after the other.
//
// An output has walks.npy, one row of node ids per walk, and walks.json (docs/walks.md).
package walk
