// Package collection makes a collection of graphs out of tables: the rows of all
// graphs lie one behind the other, and something says which graph a row is of.
//
//	w, err := store.Create(vfs.OS, out, false)
//	defer w.Abort()
//	result, err := collection.Import(ctx, w, input, collection.Options{Threads: 2})
//	err = w.Seal(ctx, result.Meta, threads)
//	err = w.Publish()
//
// # What an input says
//
// A Split says which rows are of which graph: offsets, counts, or the graph of each
// row. Graphs come in the order of their rows; rows that go back to an earlier graph
// are an error. The number of graphs is that of the context's rows, of offsets or
// counts, or else one more than the largest graph of a row; all must agree.
//
// Ends of edges count from the first node of their graph (local) or of all graphs
// (global). Global ones tell the graph of an edge where no Split does. Parents are a
// column of the nodes: an edge from the parent of each node to the node, but for
// roots, whose parent is -1 or the node itself.
//
// Symmetrise puts the reverse of each edge right behind it, with the same columns,
// self-loops too: as OGB does.
//
// # Memory and order
//
// Tables are read once, in order, several at a time, and written as they are read. What
// is held is the offsets of the graphs, 8 bytes a graph and type, and while they grow
// twice that. The collection does not depend on the number of threads, and neither does
// the error: of several bad types the first is reported.
//
// Errors name the file and the row.
//
// The package imports store, graph, report, ingest/table and internal/*.
package collection
