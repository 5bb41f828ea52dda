package options

// Export are the options of export.
var Export = []Option{
	{Field: "To", Group: GroupOutput, Common: true, Choices: []string{"tfrecord", "parquet", "chunked", "metis", "dgf", "graphar", "graphml", "node-link"}, Value: "FORMAT", Help: "format to write: tfrecord, parquet, chunked, metis, dgf, graphar, graphml or node-link (required)"},
	{Field: "Store", Group: GroupOutput, Common: true, Kind: Folder, Help: "tfrecord, graphml, node-link: store that the collection was sampled from, to join its columns"},
	{Field: "Shards", Group: GroupOutput, Common: true, Default: "1", Positive: true, Help: "tfrecord: number of files; parquet, dgf: of files per table or set"},
	{Field: "Subgraphs", Group: GroupOutput, Common: true, Value: "N,N", Help: "graphml, node-link: subgraphs of a collection (default: all)"},
	{Field: "MostNodes", Group: GroupOutput, Default: "10,000", Positive: true, Help: "graphml, node-link: more nodes are an error"},
	{Field: "Name", Group: GroupOutput, Help: "tfrecord: prefix of the file names (default \"samples.tfrecord\")"},
	{Field: "Gzip", Group: GroupOutput, Help: "tfrecord: compress the records"},
	{Field: "GraphName", Group: GroupOutput, Help: "chunked, graphar: name of the graph (default: name of the store)"},
	{Field: "Chunks", Group: GroupOutput, Common: true, Default: "1", Positive: true, Help: "chunked: number of files per edge type and per feature"},
	{Field: "Edges", Group: GroupOutput, Choices: []string{"csv", "numpy", "parquet"}, Default: "csv", Help: "chunked: format of edges: csv, numpy or parquet; DGL's tools read csv and parquet"},
	{Field: "Features", Group: GroupOutput, Choices: []string{"numpy", "parquet"}, Default: "numpy", Help: "chunked: format of features: numpy or parquet"},
}

// OverwriteTable is the option of an operation that writes a file or a table of a database.
var OverwriteTable = []Option{{Field: "Overwrite", Flag: "force", Group: GroupOutput, Common: true, Help: "replace an existing file or table"}}

// Predictions are the options of export predictions.
var Predictions = []Option{
	{Field: "Type", Group: GroupSource, Common: true, Value: "TYPE", Kind: Types, Help: "node type or edge type SRC:REL:DST that the arrays have rows of, or node types SRC:DST of pairs (default: the only node type)"},
	{Field: "Arrays", Flag: "column", Group: GroupSource, Common: true, Value: "NAME=FILE.npy", Form: Repeated, Help: "column to write, and its numbers: [rows] or [rows, values of a vector]; once per column"},
	{Field: "Classes", Group: GroupSource, Common: true, Value: "NAME=COLUMN", Form: Repeated, Help: "column whose integers are classes, and the column of categories in the store whose texts are written in their place; -1 is missing"},
	{Field: "Nodes", Group: GroupSource, Common: true, Value: "FILE.npy", Help: "node, or edge id, of each row of the arrays (default: a row per node or edge, in the order of the store); of pairs [2, rows]"},
	{Field: "Rows", Group: GroupColumns, Common: true, Value: "COLUMN=VALUE", Help: "write only the rows of nodes or edges with a value in a column of the store, such as split=test"},
	{Field: "With", Keyword: "include", Group: GroupColumns, Common: true, Value: "COLUMNS", Form: Slice, Help: "columns of the store to write beside the arrays; of edges also #input_position, their row in the input"},
	{Field: "IDName", Group: GroupColumns, Common: true, Value: "NAME", Default: "id", Help: "name of the column of the original ids of nodes; edges have the columns source and target"},
	{Field: "IntegerIDs", Group: GroupColumns, Common: true, Help: "write ids that the store has as texts of integers as integers"},
	{Field: "EdgeIDs", Group: GroupColumns, Help: "also write the ids of the edges, as the column edge_id"},
	{Field: "Top", Group: GroupTop, Common: true, Value: "K", Help: "write the K targets with the highest products of embeddings for each source: the columns source, target, rank and score (--type user:item)"},
	{Field: "SourceEmbeddings", Group: GroupTop, Common: true, Value: "FILE.npy", Help: "numbers [nodes, d] of the sources"},
	{Field: "TargetEmbeddings", Group: GroupTop, Common: true, Value: "FILE.npy", Help: "numbers [nodes, d] of the targets"},
	{Field: "Similarity", Group: GroupTop, Choices: []string{"dot", "cosine"}, Default: "dot", Form: Checked, Help: "score: dot, the product, or cosine, which is divided by the lengths"},
	{Field: "Known", Group: GroupTop, Common: true, Value: "TYPE", Form: Repeated, Help: "edge type whose links are left out, or TYPE:COLUMN=VALUE for those with a value; may be repeated"},
	{Field: "Table", Group: GroupOutput, Common: true, Value: "NAME", Help: "name of the table to write to a database"},
}

// Chunk are the options of chunk.
var Chunk = []Option{
	{Field: "ChunkSize", Group: GroupOutput, Default: "512MiB", Positive: true, Help: "size of a chunk, a multiple of 4096 bytes"},
	{Field: "Direction", Group: GroupOutput, Choices: []string{"in", "out"}, Help: "neighbours to write: in (each node's sources) or out (its destinations) (default: primary direction of the store)"},
}

// UnigraphTables are the options of the commands that write the tables of a unigraph. To is a flag of each command.
var UnigraphTables = []Option{
	{Field: "Shards", Group: GroupOutput, Common: true, Positive: true, Help: "number of files per table, such as 8 for NAME-00000-of-00008 and so on (default: one file NAME)"},
	{Field: "Gzip", Group: GroupOutput, Common: true, Help: "compress csv and tfrecord files"},
	{Field: "RoundDoubles", Group: GroupOutput, Help: "tfrecord: round float64 to float32; without it a value that would lose digits is an error; values beyond the range of float32 are always an error"},
}

// ReadUnigraph are the options of the commands that read the tables of a unigraph.
var ReadUnigraph = []Option{
	{Field: "Missing", Group: GroupSource, Value: "WHAT=VALUE", Form: Repeated, Help: "what empty cells mean: WHAT=VALUE, where WHAT is a dtype, float, int, bool, string or a feature; or VALUE for all (default: an error, and the empty string)"},
	{Field: "AllowOutside", Group: GroupSource, Help: "let the schema name files outside its folder"},
}
