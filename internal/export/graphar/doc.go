// Package graphar writes a store as a graph of Apache GraphAr: NAME.graph.yml, a file of YAML for each type, and chunks in Parquet.
//
// Vertices are the nodes in the order of their type-wise ids, with their original ids, or else these numbers, as the primary property. Edges
// are in the order of their ids, which follows the primary direction: ordered_by_dest for in, ordered_by_source for out, with offsets.
//
// GraphAr has no integers of other sizes than 32 and 64 bits, and no floats of 16 bits: these are written in the next size. Categories are texts. Times in
// seconds and milliseconds are timestamps, and others integers. What does not fit, such as lists of lists, is named in Result.Left.
//
// One goroutine writes. Its memory is a page of each column, and a row group.
package graphar
