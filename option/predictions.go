package option

// Predictions say how arrays with a row per node, edge or pair of nodes of a store are written under the original ids.
type Predictions struct {
	Run

	// Type is a node type, an edge type "src:rel:dst" or the relation of one, or two node types, "src:dst", whose nodes are pairs that
	// need not be edges; "" is the only node type of the store.
	Type string
	// Arrays are the columns to write, "NAME=FILE.npy": numbers or bools, [rows] or [rows, values of a vector].
	Arrays []string
	// Classes are columns of Arrays whose integers are codes of the categories of a column of the store, "NAME=COLUMN": the texts of the
	// categories are written, and nothing for -1.
	Classes []string
	// Nodes is a .npy file with the node or the edge id of each row of the arrays; "" means that they have a row per node or edge, in order. Of
	// pairs it has the sources and targets, [2, rows].
	Nodes string
	// Rows is a condition "COLUMN=VALUE" that the nodes or edges of the rows must fulfil; "" takes all.
	Rows string
	// With are columns of the store to write beside the arrays.
	With []string
	// IDName is the name of the column with the original ids of nodes; "" is id. Edges and pairs have the columns source and target.
	IDName string
	// IntegerIDs writes ids that the store has as texts of integers as integers, as the tables that it was made from may have them.
	IntegerIDs bool
	// EdgeIDs writes the ids of the edges too, as the column edge_id.
	EdgeIDs bool
	// Table is the name of the table to write, if the output is a database.
	Table string
	// Top, if not 0, writes a row for each of this many targets with the highest scores of each source, in place of Arrays: the product of the
	// embeddings of both. Type is then two node types, "user:item", or an edge type that has them as ends.
	Top int
	// SourceEmbeddings and TargetEmbeddings are .npy files [nodes, d] of numbers, for Top.
	SourceEmbeddings string
	TargetEmbeddings string
	// Similarity is "dot", or "cosine", which divides the products by the lengths; "" is "dot".
	Similarity string
	// Known are edges whose links Top leaves out, "TYPE" or "TYPE:COLUMN=VALUE"; several conditions on one edge type are alternatives.
	Known []string
}
