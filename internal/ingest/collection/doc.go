// Package collection makes a collection of graphs from tables. The rows of the graphs follow one another in each
// table, and a Split says which rows belong to which graph.
//
//	w, err := store.Create(vfs.OS, out, false)
//	defer w.Abort()
//	result, err := collection.Import(ctx, w, input, collection.Options{Threads: 2})
//	err = w.Seal(ctx, result.Meta, threads)
//	err = w.Publish()
//
// # The input
//
// A Split gives the rows of each graph: by offsets, by counts, or by the graph of each row. Graphs are in the order
// of their rows; rows that return to an earlier graph are an error. The number of graphs is the number of the context's
// rows, of the offsets or of the counts, and otherwise one more than the largest graph of a row. All of these must
// agree.
//
// The ends of edges count from the first node of their graph (local) or of all graphs (global). Global ends give the
// graph of an edge where there is no Split. Parents are a column of the nodes: there is an edge from the parent of
// each node to the node, except for roots, whose parent is -1 or the node itself.
//
// Symmetrise puts the reverse of each edge directly after it, with the same columns, for self-loops too, as OGB does.
//
// # Memory and order
//
// Tables are read once, in order, several at a time, and are written as they are read. An import holds the offsets of
// the graphs, which take 8 bytes per graph and type, and twice that while they grow. The collection does not depend
// on the number of threads, and neither does the error: of several types with errors the first is reported.
//
// Errors name the file and the row.
package collection
