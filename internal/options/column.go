package options

// Column are the options of column add and column replace.
var Column = []Option{
	{Field: "Column", Group: GroupColumns, Common: true, Value: "COLUMN", Help: "column of the table that has the values (default: NAME, or the only column beside the ids)"},
	{Field: "ID", Group: GroupColumns, Common: true, Value: "COLUMN", Help: "column of the table that has the ids of the nodes (default: a usual name, such as id)"},
	{Field: "Ordered", Group: GroupColumns, Common: true, Help: "the rows of the table are in the order of the nodes, without ids; those of a .npy file, and of edges, always are"},
	{Field: "DType", Flag: "dtype", Keyword: "dtype", Group: GroupColumns, Common: true, Value: "DTYPE", Help: "dtype of the values, such as float32, category, datetime[ms] or float32[3] (default: what they look like)"},
	{Field: "RowOffsets", Group: GroupColumns, Value: "FILE", Form: Repeated, Help: "of lists in a .npy file: .npy file with their offsets, as a store has; once per variable dimension of --dtype"},
	{Field: "StringOffsets", Group: GroupColumns, Value: "FILE", Help: "of strings in a .npy file of their bytes: .npy file with their offsets"},
	{Field: "Missing", Group: GroupColumns, Common: true, Value: "WHAT=VALUE", Form: Repeated, Help: "what empty cells mean, and the values of nodes without a row: VALUE, or WHAT=VALUE, as for graphmill import (default: a node without a row is an error)"},
	{Field: "UnknownIDs", Group: GroupGraph, Common: true, Default: "error", Form: Checked, Choices: []string{"error", "drop"}, Help: "how to treat rows with an id that no node has"},
	{Field: "DuplicateNodes", Group: GroupGraph, Default: "error", Form: Checked, Choices: []string{"error", "drop"}, Help: "how to treat rows with the id of an earlier row"},
	{Field: "Source", Group: GroupColumns, Value: "COLUMNS", Help: "columns of TYPE that a program made FILE from, for the report and its --lineage"},
}
