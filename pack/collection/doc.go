// Package collection sees the graphs of a collection as what is packed: the sizes
// of each graph in the components that are named.
//
// The package imports pack, graph and internal/*.
package collection
