// Package appending adds tables to a store as segments, and makes stores of segments one piece again.
//
// Append reads tables as an import of them would, and writes what is new of the graph that all tables make: new nodes, whose numbers follow those of the store, and
// new edges, after those of the store in the list of each node. What the import of the store was asked to do with rows is done with the new ones as well. Options that look at
// all rows at once (duplicate edges, components, shares of splits) cannot go on, and such a store is refused.
//
// What comes to a folder, to the tables of a database or as lines is appended step by step (follow, feedLines). A batch of lines can need several segments, which are appended to a
// copy of the store, of hard links, and then appear together.
//
// Compact writes the graph of all segments as a store without segments.
package appending
