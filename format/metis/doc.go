// Package metis reads and writes graphs in the text format of METIS, KaHIP and KaMinPar. The graphs are undirected
// and simple, with nodes numbered from 1.
//
//	% a comment
//	n m [fmt [ncon]]
//	[size] [weight ...] neighbour [weight] neighbour [weight] ...
//
// The first line that is not a comment has the number of nodes, the number of edges (each counted once), fmt of up to
// three digits 0 or 1, and the number of weights per node. The digits of fmt say, from the left, that nodes have
// sizes, that nodes have weights, and that edges have weights. Each following line is a node; an empty line is a node
// without neighbours. Lines that start with '%' are comments, wherever they are. A file that starts like gzip is
// decompressed.
//
// Read checks everything that METIS assumes: the counts of the header, that each edge is listed at both ends with the
// same weight, that there are no loops, and that no neighbour is repeated. Errors name file and line.
//
// Read parses blocks of 1 MiB in several goroutines. Its memory is the arrays, which grow only as far as the
// file has numbers for them, and 4 bytes per node while edges are compared.
//
// Scan reads a file of any size in bounded memory, and checks the lines and the counts, but not the other end of each
// edge.
//
// The API may change in any version: see package format.
package metis
