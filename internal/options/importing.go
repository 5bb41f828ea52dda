package options

import "slices"

// Build are the options of commands that make a store from edges.
var Build = []Option{
	{Field: "Both", Group: GroupGraph, Common: true, Help: "store the adjacency of both directions, not only of the primary one"},
	{Field: "DuplicateEdges", Group: GroupGraph, Common: true, Default: "keep", Form: Checked, Value: "keep|drop|drop-equal|error|sum|count", Choices: []string{"keep", "drop", "drop-equal", "error", "sum", "count"}, Help: "how to treat edges with equal ends; drop keeps the first, drop-equal the first of those with equal columns, sum adds up its columns, count adds a column count"},
	{Field: "SelfLoops", Group: GroupGraph, Common: true, Default: "keep", Form: Checked, Choices: []string{"keep", "drop", "error", "add"}, Help: "how to treat edges from a node to itself; add gives one to each node that has none"},
	{Field: "LargestComponent", Group: GroupGraph, Help: "keep only the nodes and edges of the largest component"},
	{Field: "Splits", Flag: "split", Group: GroupGraph, Common: true, Value: "SPLIT", Help: "add a column split to a type, such as paper=0.8,0.1,0.1; at random, or in the order of a column (paper.year=0.8,0.1,0.1), or at two of its values (paper.year@2018,2020); with keys after semicolons, also by class, group, files, masks or folds, or like the nodes (\"paper=0.8,0.1,0.1;stratify=label\", docs/graph-yaml.md has all); can be repeated"},
	{Field: "SplitSeed", Group: GroupGraph, Help: "random seed of --split"},
	{Field: "Normalise", Group: GroupGraph, Value: "COLUMN", Form: Repeated, Help: "column whose rows to divide by the sum of their absolute values: feat, or paper.feat; can be repeated"},
}

// Import are the options of import. The command has ListFormats.
var Import = []Option{
	{Field: "Schema", Group: GroupSource, Common: true, Value: "FILE", Help: "GraphSchema of TFRecords: a file, or the folder that holds it (required for TFRecords)"},
	{Field: "Lenient", Group: GroupSource, Help: "repair Examples that are not valid GraphTensors where that is possible, and count them (default: stop with an error)"},
	{Field: "ListFormats", Keyword: "graphmill import --list-formats", Group: GroupSource, Common: true, Help: "print the formats of SRC, and what they become, and end; with --json as JSON"},
	{Field: "Format", Group: GroupSource, Common: true, Help: "name of the format of SRC, as --list-formats has it (default: recognised by name and content)"},
	{Field: "TimeColumn", Group: GroupSource, Value: "TABLE.COLUMN", Form: Repeated, Help: "column of a database that is the time of the nodes and edges of its table: TABLE.COLUMN; can be repeated"},
	{Field: "Columns", Group: GroupColumns, Common: true, Value: "COLUMNS", Help: "names of the columns of an edge list without a header, or a selection of those of its header; a dtype may follow a name: src,dst,weight:float32,at:datetime[ms],kind:category"},
	{Field: "Src", Group: GroupColumns, Common: true, Value: "COLUMN", Help: "column of an edge list that has the sources (default: a usual name, such as src or Source)"},
	{Field: "Dst", Group: GroupColumns, Common: true, Value: "COLUMN", Help: "column of an edge list that has the destinations (default: a usual name, such as dst or target)"},
	{Field: "SrcType", Group: GroupColumns, Value: "TYPE", Help: "node type of the sources of an edge list, such as user (default: _N)"},
	{Field: "DstType", Group: GroupColumns, Value: "TYPE", Help: "node type of the destinations of an edge list, such as item (default: _N)"},
	{Field: "IDs", Group: GroupColumns, Choices: []string{"auto", "integer", "string"}, Default: "auto", Help: "type of the ids: auto, integer or string"},
	{Field: "Delimiter", Group: GroupColumns, Choices: []string{"tab", "space"}, Value: "C", Help: "delimiter of text tables: one character, tab or space (default: recognised)"},
	{Field: "ArrayDelimiter", Group: GroupColumns, Choices: []string{"tab", "space"}, Value: "C", Help: "what separates the values of lists, and several labels, in files of Neo4j's importer and of APOC: one character, tab or space (default: ;)"},
	{Field: "Indptr", Group: GroupSource, Value: "FILE", Help: ".npy file with the index pointer of a sparse matrix, one row per destination; give it with --indices instead of SRC"},
	{Field: "Indices", Group: GroupSource, Value: "FILE", Help: ".npy file with the indices (sources) of a sparse matrix"},
	{Field: "NumNodes", Group: GroupGraph, Common: true, Help: "number of nodes of a source without a node table (default: largest id + 1)"},
	{Field: "Relations", Group: GroupGraph, Choices: []string{"types", "column"}, Help: "what the relations of triples become: types, an edge type each; or column, a column of one edge type (default: types for up to 1,000 relations)"},
	{Field: "Symmetrise", Group: GroupGraph, Common: true, Help: "add the reverse of each edge; if source and destination differ in type, the reverse edges have the type dst:rev_REL:src"},
	{Field: "Homogeneous", Group: GroupGraph, Help: "merge all node types into _N and all edge types into _N:_E:_N, in the order of their names"},
	{Field: "NoPositions", Group: GroupGraph, Help: "leave out the position of each edge in the input: 4 bytes per edge less, or 8 from 2^32 rows on; outputs then have the edge ids of the store"},
	{Field: "Primary", Group: GroupGraph, Choices: []string{"in", "out"}, Help: "direction by which edges are numbered and stored: in or out (default: out for unigraphs, else in)"},
	{Field: "DanglingEdges", Group: GroupGraph, Common: true, Default: "error", Form: Checked, Choices: []string{"error", "drop", "zeros"}, Help: "how to treat edges with an end that no node table has; zeros adds the node, with zeros in its columns"},
	{Field: "DuplicateNodes", Group: GroupGraph, Default: "error", Form: Checked, Choices: []string{"error", "drop"}, Help: "how to treat rows of a node table with the id of an earlier row"},
	{Field: "Missing", Group: GroupColumns, Common: true, Value: "WHAT=VALUE", Form: Repeated, Help: "what empty cells mean, or VALUE alone for all of them; WHAT is a dtype, float, int, bool, string, datetime, category or a column; VALUE is a value, error, or column, which adds a column NAME_missing (default: an error for numbers and bools)"},
	{Field: "Vectors", Flag: "vector", Group: GroupColumns, Value: "NAME=COLUMNS", Form: Repeated, Help: "join columns of an edge list to one, as NAME=FIRST:LAST, NAME=PATTERN or NAME=A,B,C; a dtype may follow NAME: feat:float32=f*"},
	{Field: "Features", Group: GroupColumns, Common: true, Value: "FILE", Help: "file with the features of the types, model input that is made of columns: the keys fit, nodes and edges of a graph.yaml (docs/features.md)"},
	{Field: "Like", Group: GroupColumns, Common: true, Value: "STORE", Help: "apply the features of another store to the columns of SRC, with what was fitted there"},
	{Field: "AllowOutside", Group: GroupSource, Help: "let a metadata file name files outside its folder, and databases on servers"},
}

// Append are the options of append: those of import that say how tables are read.
var Append = append(rowsOf(Import, "Format", "Columns", "Src", "Dst", "SrcType", "DstType", "IDs", "Delimiter", "ArrayDelimiter", "Missing", "Vectors", "AllowOutside"),
	Option{Field: "Drop", Group: GroupSource, Common: true, Value: "SRC", Help: "edges to drop first, in tables like those of SRC: each edge with the ends of a row; of a table of nodes, all edges of each node"},
	Option{Field: "Change", Group: GroupSource, Common: true, Value: "SRC", Help: "new values of columns, in place of SRC: a row per node, with its id, or per edge, with its ends, and the columns that change"},
	Option{Field: "Follow", Group: GroupSource, Common: true, Kind: Folder, Value: "FOLDER", Help: "append what comes to a folder, in the order of the names, each once, in place of SRC, or, as - with a graph.yaml as SRC, lines of JSON of the standard input; a folder has files of edges, and folders with a graph.yaml, of which NAME.drop.csv and NAME.change are as of --drop and --change; of a graph.yaml, the new rows of its queries, whose marks say which are new, and of a table of a lake, its new rows; lines are rows, in the envelope of kcat -J if they have one, and change events of Debezium"},
	Option{Field: "Every", Group: GroupSource, Common: true, Help: "how often --follow looks, such as 10s; of lines, how long after the first one a batch is appended (default: once, and the command ends, or 10s for lines)"},
	Option{Field: "Rows", Group: GroupSource, Common: true, Value: "N", Positive: true, Default: "100000", Help: "lines after which a batch of --follow - is appended, whatever --every says"},
	Option{Field: "Compact", Group: GroupOutput, Common: true, Help: "make the store one piece after an append once it has 64 segments, or half of at least a million edges or 64 MiB in segments"})

// Snapshot are the options of snapshot.
var Snapshot = []Option{
	{Field: "Segments", Group: GroupSource, Common: true, Help: "number of the segments, from the first on, that the store has (default: 0, as it was imported)"},
	{Field: "AsOf", Group: GroupSource, Common: true, Value: "TIME", Help: "in place of --segments: the last version that had appeared at a time, such as 2026-11-30T12:00:00Z, or a date, which is its first moment in UTC; or the one with a checksum, as the lineage of an output names it"},
}

// rowsOf are the rows of a table for the given fields.
func rowsOf(of []Option, fields ...string) (rows []Option) {
	for _, o := range of {
		if slices.Contains(fields, o.Field) {
			rows = append(rows, o)
		}
	}
	return rows
}

// RMAT are the parameters of an R-MAT graph.
var RMAT = []Option{
	{Field: "Scale", Group: GroupSource, Common: true, Help: "the graph has 2^scale nodes (required)"},
	{Field: "EdgeFactor", Group: GroupSource, Common: true, Help: "edges per node"},
	{Field: "Seed", Group: GroupSource, Common: true, Help: "random seed"},
}

// LikeNames are the data sets of Like.
var LikeNames = []string{"ogbn-products", "ogbn-arxiv", "ogbn-papers100M", "ogbn-mag", "igb-small", "igb-medium", "igb-large", "igbh-small", "igbh-medium", "igbh-large", "igbh-full", "reddit"}

// Like are the parameters of a graph with the sizes of a data set, which is an argument of the command.
var Like = []Option{
	{Field: "FeatureDType", Flag: "feature-dtype", Keyword: "feature_dtype", Group: GroupSource, Common: true, Default: "float32", Form: Checked, Choices: []string{"float32", "float16", "none"}, Help: "dtype of the features; none leaves them out"},
	{Field: "Symmetrise", Group: GroupSource, Common: true, Help: "add the reverse of each edge between nodes of one type, as trainings on citations mostly do"},
	{Field: "Seed", Group: GroupSource, Common: true, Help: "random seed"},
}

// Community are the parameters of a community graph.
var Community = []Option{
	{Field: "Nodes", Group: GroupSource, Common: true, Help: "number of nodes (required)"},
	{Field: "Nodes", Flag: "n", Group: GroupSource, Help: "the same as --nodes"},
	{Field: "Seed", Group: GroupSource, Common: true, Help: "random seed"},
}
