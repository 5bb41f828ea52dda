package option

// Column say how the values of a column are read, for AddColumn and ReplaceColumn. The zero value reads a .npy file whose rows are in
// the order of the nodes or edges, or a table with the ids of the nodes.
type Column struct {
	Run

	// Column is the column of the table that has the values; "" is the one with the name of the column to write or, if there is none,
	// the only one beside the ids.
	Column string
	// ID is the column of the table that has the ids of the nodes; "" is one with a usual name, such as id.
	ID string
	// Ordered says that the rows of the table are in the order of the nodes. Those of edges, and of a .npy file, always are in the order
	// of the edge ids and of the nodes.
	Ordered bool
	// DType is the dtype of the values, with a shape if wanted: "float32", "category", "datetime[ms]", "float32[3]"; "" is what
	// they look like.
	DType string
	// RowOffsets and StringOffsets are the .npy files with the offsets of the lists (one per variable dimension, the outermost first) and of
	// the strings in a .npy file, in the layout of the columns of a store. DType is required with them.
	RowOffsets    []string
	StringOffsets string
	// Missing says what empty cells mean, as for Import, and gives nodes without a row the same values. Without a rule for the
	// column, a node without a row is an error.
	Missing []string
	// UnknownIDs says how to treat rows with an id that no node has: PolicyError (the default) or PolicyDrop.
	UnknownIDs Policy
	// DuplicateNodes says how to treat rows whose id an earlier row has: PolicyError (the default) or PolicyDrop.
	DuplicateNodes Policy
	// Source names the columns of the type that a program made the values from. The lineage shows them in place of the file, which is
	// then taken for a temporary one.
	Source []string
}
