// Package dgl reads and writes the bytes of DGL's files: tensor dicts (node_feat.dgl and others), graphs
// (save_graphs, version 2: graph.dgl, graph.bin) and the configuration of a partitioned graph (<graph_name>.json).
// docs/format-dgl.md specifies every byte.
//
// # Writing
//
// Sizes come first: DictLayout and GraphLayout compute the place of each array of a file, its Slot, and WriteLiterals
// writes all bytes between the slots. The slots can then be written with WriteAt in any order and by several
// goroutines at once. The caller chooses the order of the tensors and nothing else, so that equal data give equal
// bytes.
//
// # Reading
//
// OpenDict and OpenGraphs read headers only. An Array says where its data are, which the caller reads. Files are not
// trusted: a number in a header is checked against the size of the file before it is used to allocate memory or to
// seek. The caller must check the data of arrays: ids can be out of range, and offsets can descend.
//
// The API may change in any version: see package format.
package dgl
