// Package graphml reads GraphML: nodes and edges one after the other, with the values of their keys.
//
// A file has keys, which declare the names and types of values, and one graph. Nested graphs, hyperedges and ports are
// refused, and so are documents with declarations of entities. The text is UTF-8, ISO-8859-1 or US-ASCII. Keys without a name, as yEd writes them for drawings, are
// skipped with all that is in their values.
//
// A Reader holds one node or edge. A text of more than 16 MiB, a piece of markup of more than 1 MiB, more than limits.Names keys, and elements
// within each other more than 64 deep, are errors, so that no document makes it hold more. Errors name the line.
//
// The API may change in any version: see package format.
package graphml
