// Package parts opens partitioned graphs in the format that DGL's partition_graph and dispatch,
// and Graphmill, write: a configuration, and for each part a graph and two files of features.
//
// A Folder maps the graphs of all parts and reads nothing ahead. Opening a part checks which arrays
// it has, their dtypes and their lengths. It does not check their values: ids can be out of range.
package parts
