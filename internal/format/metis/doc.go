// Package metis reads and writes graphs in the text form of METIS, KaHIP and
// KaMinPar: undirected, simple, nodes numbered from 1.
//
//	% a comment
//	n m [fmt [ncon]]
//	[size] [weight ...] neighbour [weight] neighbour [weight] ...
//
// The first line that is no comment has the number of nodes, the number of edges,
// each counted once, fmt of up to three digits 0 or 1, and the number of weights of a
// node. The digits of fmt say, from the left, that nodes have sizes, that nodes have
// weights, that edges have weights. Then each line is a node; an empty one has no
// neighbours. Lines that start with '%' are comments, wherever they are. A file that
// starts as gzip does is inflated.
//
// Read checks what METIS takes for granted: the counts of the header, that each edge is
// listed at both ends with one weight, no loops, no neighbour twice. Errors name file
// and line.
//
// Read parses blocks of 1 MiB in several goroutines. Memory: the arrays, as far as the
// file has numbers for them, and 4 bytes a node while edges are compared.
//
// The package knows bytes only: it imports internal/* and the standard library.
package metis
