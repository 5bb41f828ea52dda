// Package parts opens partitioned graphs, as DGL's partition_graph and dispatch, and
// Graphmill's, write them: a configuration, and for each part a graph and two files of
// features.
//
// A Folder maps the graphs of all parts; nothing is read that is not asked for. What
// arrays there are, their dtypes and lengths are checked when a part is opened, what
// is in them is not: ids can be out of range.
//
// The package imports format/dgl, internal/vfs, internal/tagged and the standard
// library.
package parts
