// Package predictions writes arrays with a row per node, edge or pair of nodes of a store, such as what a model computed, as a table under the
// original ids: Parquet, Arrow, CSV, or a table of a database.
//
//	blocks of rows: numbers of the nodes, edges or pairs, and their rows of the arrays
//	cells: the values of each column for the rows of a block; ids, arrays, texts of classes, columns of the store
//	a sink: encodes the cells of several blocks at a time, and takes blocks in order
//
// The rows of pairs can also be made: FindTop finds the items with the highest products of embeddings for each source, by
//
//	tiles of sources, with the links that are left out and a heap of the best items for each
//	blocks of items, which all sources of a tile are compared with, by several threads
//
// A score is a sum in float64 in one order, so neither tiles nor blocks nor threads change a bit of it.
//
// The size of a block depends on the columns alone, so the bytes of a file depend neither on the number of threads nor on the memory.
package predictions
