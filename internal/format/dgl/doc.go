// Package dgl reads and writes the bytes of DGL's files: tensor dicts
// (node_feat.dgl and others), graphs (save_graphs, version 2: graph.dgl, graph.bin)
// and the configuration of a partitioned graph (<graph_name>.json). docs/format-dgl.md
// gives every byte.
//
// # Writing
//
// Sizes come first: DictLayout and GraphLayout say where each array of a file
// lies, its Slot, and WriteLiterals writes all bytes between them. Slots can then be
// written with WriteAt in any order, by several goroutines at once. The order of
// the tensors is the caller's; nothing else is, so that equal data are equal bytes.
//
// # Reading
//
// OpenDict and OpenGraphs read headers only: an Array has the place of its data,
// which the caller reads. A file is not believed: no number of a header is allocated by
// or sought to before it was held against the size of the file. The data of arrays are the caller's to check:
// ids can be out of range, offsets can descend.
//
// The package imports internal/vfs, internal/tagged and the standard library.
package dgl
