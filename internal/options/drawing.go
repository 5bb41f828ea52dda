package options

// Picture are the options of draw.
var Picture = []Option{
	{Field: "Subgraph", Group: GroupSource, Common: true, Value: "N", Help: "number of the subgraph of a collection, from 0"},
	{Field: "Store", Group: GroupSource, Common: true, Kind: Folder, Help: "store that the collection was sampled from, for ids, --label and --colour"},
	{Field: "Label", Group: GroupOutput, Common: true, Value: "COLUMN", Help: "column to write beside the nodes, or id for their original ids"},
	{Field: "Colour", Group: GroupOutput, Common: true, Value: "COLUMN", Help: "column that gives nodes their colour (default: their type)"},
}
