package options

// Profile are the options of info. The command has Columns.
var Profile = []Option{
	{Field: "Columns", Keyword: "graphmill info --columns", Group: GroupCheck, Common: true, Help: "summarise the values of each column: missing, distinct, where numbers lie, the most frequent"},
	{Field: "Like", Group: GroupCheck, Kind: Folder, Common: true, Help: "with --columns: how far each column is from the one of the same name in another store"},
}
