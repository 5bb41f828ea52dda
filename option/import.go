package option

import "io"

// RMAT are the parameters of an R-MAT graph.
type RMAT struct {
	Build
	Scale      int    // required: the graph has 2^Scale nodes
	EdgeFactor int    // edges per node; 0 is 16
	Seed       uint64 // random seed
}

// Community are the parameters of a community graph. The default of DuplicateEdges and SelfLoops is PolicyDrop
// here, because the graph is defined with each pair once and without loops.
type Community struct {
	Build
	Nodes int    // required: number of nodes
	Seed  uint64 // random seed
}

// Like are the parameters of a graph with the published sizes of a data set.
type Like struct {
	Build
	// Name is required: a data set, such as "ogbn-products", or "ogbn-products/8" for an eighth of all its counts.
	Name string
	// FeatureDType is the dtype of the features: "float32" (the default), "float16", or "none" for a store without features.
	FeatureDType string
	// Symmetrise adds the reverse of each edge between nodes of one type, as trainings on citations mostly do.
	Symmetrise bool
	Seed       uint64 // random seed
}

// Policy says how an import treats rows that break a rule.
type Policy string

// The policies. Each field of this type says which of them it takes, and which is its default.
const (
	PolicyError Policy = "error" // stop with an error that names file, line and column
	PolicyDrop  Policy = "drop"  // drop the rows, and count them
	PolicyKeep  Policy = "keep"  // keep the rows
	PolicyZeros Policy = "zeros" // add each missing node, with zeros in its columns
	PolicyAdd   Policy = "add"   // add the rows that are missing
	PolicySum   Policy = "sum"   // keep the first row, with the sums of the columns of all
	PolicyCount Policy = "count" // keep the first row, with the number of all in a column "count"
	// PolicyDropEqual drops rows that are equal to an earlier one in all columns, where 0 equals -0 and NaN equals NaN.
	PolicyDropEqual Policy = "drop-equal"
)

// Build are the options that all operations share that make a store from edges.
type Build struct {
	Run

	// Both stores the adjacency of both directions, not only of the primary one.
	Both bool
	// DuplicateEdges says how to treat edges with equal ends: PolicyKeep (the default), PolicyDrop (which keeps the first),
	// PolicyDropEqual, PolicyError, PolicySum or PolicyCount.
	DuplicateEdges Policy
	// SelfLoops says how to treat edges from a node to itself: PolicyKeep (the default), PolicyDrop, PolicyError, or
	// PolicyAdd, which gives one to each node that has none, in edge types between nodes of one type.
	SelfLoops Policy

	Transforms
}

// Import say how a source is read. The zero value recognises the format and columns of most sources.
type Import struct {
	Build

	// Format is the format of the source, one of DescribeImportFormats; "" recognises it by the name and content.
	Format string
	// Columns names the columns of an edge list without a header, or selects columns of one with a header. A name may have
	// a dtype: "src,dst,weight:float32". "" takes all columns of the header.
	Columns string
	// Src and Dst name the columns of an edge list that hold the sources and destinations; "" finds usual
	// names such as src and dst, or source and target.
	Src, Dst string
	// SrcType and DstType name the node types of the ends of an edge list; "" is _N. With equal names, equal ids are one node.
	SrcType, DstType string
	// IDs is the type of the ids: "auto" (the default), "integer" or "string".
	IDs string
	// Delimiter separates the columns of text tables: one character, "tab" or "space"; "" recognises it.
	Delimiter string
	// ArrayDelimiter separates the values of lists, and several labels, in the files of Neo4j's importer and of APOC: one character, "tab" or "space"; "" is ";".
	ArrayDelimiter string
	// Indptr and Indices are the .npy files of a sparse matrix in CSR form with one row per destination. The argument
	// source of Import is "" then.
	Indptr, Indices string
	// NumNodes is the number of nodes of a source without a node table; 0 is the largest id + 1.
	NumNodes uint64
	// Symmetrise adds the reverse of each edge. Where source and destination differ in type, the reverse edges have the
	// type dst:rev_REL:src.
	Symmetrise bool
	// Homogeneous merges all node types into _N and all edge types into _N:_E:_N, in the order of their names.
	Homogeneous bool
	// NoPositions leaves out the position of each edge in the input (the column #input_position), which takes 4 bytes per
	// edge, or 8 where the input has 2^32 rows or more. Outputs then have the edge ids of the store instead of positions, and
	// what needs the order of the edges in the input is an error.
	NoPositions bool
	// Primary is the direction by which edges are numbered and stored: DirectionIn or DirectionOut; "" is DirectionOut for
	// unigraphs and DirectionIn for all other sources.
	Primary Direction
	// DanglingEdges says how to treat edges with an end that no node table has: PolicyError (the default), PolicyDrop or
	// PolicyZeros.
	DanglingEdges Policy
	// DuplicateNodes says how to treat rows of a node table whose id an earlier row has: PolicyError (the default) or
	// PolicyDrop.
	DuplicateNodes Policy
	// Missing says what empty cells mean, each "WHAT=VALUE" or "VALUE" for all, or several with commas between. WHAT is a
	// dtype, a kind of dtypes (float, int, bool, string, datetime, category) or a column. VALUE is the value of the cell,
	// "error", or "column": then the cell is zero, NaN for floats, and a column of bools, NAME_missing, says which cells
	// were empty. The most specific rule holds. Without a rule, an empty cell of numbers or bools is an error, a missing
	// time is graph.NoTime, a missing category -1, and a string is empty.
	Missing []string
	// Vectors join columns of an edge list to vectors: "feat=f0:f127" for a range of columns in the order of the file,
	// "feat=f*" for a pattern, "feat=a,b,c", each with a dtype if wanted: "feat:float32=f*". The columns are not imported
	// on their own.
	Vectors []string
	// Relations says what the relations of triples (RDF, or head, relation and tail) become: "types", an edge type each;
	// "column", a column relation of one edge type; "" is types for up to 1,000 relations, and otherwise a column.
	Relations string
	// Features is a file with the features of the types: the keys fit, nodes and edges of a graph.yaml, whose types have the key features. It replaces those of a
	// graph.yaml. A feature is a column that a model takes; see docs/features.md.
	Features string
	// Like is a store whose features the new one has: what was fitted for it is applied to the columns of the source, and nothing is fitted. It replaces the features of
	// a graph.yaml.
	Like string
	// AllowOutside lets a metadata file name files outside its folder, and databases on servers.
	AllowOutside bool

	// Schema is the GraphSchema of TFRecords: a file, or the folder that holds it. It is required for TFRecords, which
	// become a collection.
	Schema string
	// More lists further files of TFRecords or of an edge list, which are read after the source.
	More []string
	// Input is what the source "-" reads, a table of edges. Format says its kind: csv, tsv, txt, jsonl, arrow or parquet. It is
	// copied to an unnamed file in the folder of the output, which is gone when Import returns.
	Input io.Reader
	// Lenient repairs Examples that are not valid GraphTensors where that is possible, and counts them. Without it, such an
	// Example is an error.
	Lenient bool
	// TimeColumn are the columns of a database, TABLE.COLUMN, that are the times of the nodes and edges of their table.
	TimeColumn []string
}

// Transforms are changes that an import makes to a graph after it has read all of it. The zero value makes none. Those that
// change which edges there are make the import write the graph twice, first to a folder beside the output.
type Transforms struct {
	// LargestComponent keeps only the largest component: the nodes that edges of all types connect, in both directions.
	LargestComponent bool
	// Splits add a column "split" to node or edge types, with the categories train, valid and test. A row in none of
	// them has -1. Folds, and masks of vectors, add the columns "split_0", "split_1" and so on.
	Splits []Split
	// SplitSeed is the random seed of the splits without a column that decides.
	SplitSeed uint64
	// Normalise divides the rows of these columns by the sum of their absolute values. A column is COLUMN, or TYPE.COLUMN
	// if several node types have it; an edge type is src:rel:dst.
	Normalise []string
}
