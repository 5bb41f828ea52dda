package option

// Formats of Export, in addition to FormatTFRecord.
const (
	FormatChunked Format = "chunked" // a store in DGL's chunked graph format, for its partitioning tools
	FormatMETIS   Format = "metis"   // a store as a .graph file of METIS
	FormatParquet Format = "parquet" // a store as Parquet tables that DuckDB and Spark join
	FormatDGF     Format = "dgf"     // a store as a graph of Google's DGF
	FormatGraphAr Format = "graphar" // a store as a graph of Apache GraphAr, in Parquet

	FormatGraphML  Format = "graphml"   // a small store, or a few subgraphs, as GraphML
	FormatNodeLink Format = "node-link" // ... as the JSON of networkx and D3
)

// Export say in which format a collection or store is written.
type Export struct {
	Run
	// To is required: FormatTFRecord for a collection, FormatChunked, FormatMETIS, FormatParquet, FormatDGF or FormatGraphAr for a store, FormatGraphML or FormatNodeLink for either.
	To Format
	// Shards is the number of files of FormatTFRecord, and of each table of FormatParquet and FormatDGF; 0 is 1.
	Shards int

	// Store is the store that the collection was sampled from, whose columns are joined by FormatTFRecord, FormatGraphML and FormatNodeLink; "" joins none.
	Store string

	// Options of FormatGraphML and FormatNodeLink.

	// Subgraphs are numbers of graphs of a collection, such as "0,5,7"; "" is all.
	Subgraphs string
	MostNodes int // more nodes are an error; 0 is 10,000

	// Options of FormatTFRecord.

	Name string // prefix of the file names; "" is "samples.tfrecord"
	Gzip bool   // compress the records

	// Options of FormatChunked, of which GraphName is one of FormatGraphAr, too.

	GraphName string // name of the graph in DGL; "" is the name of the store
	Chunks    int    // number of files per edge type and per feature; 0 is 1
	Edges     string // "csv" (the default), "numpy" or "parquet"; DGL's tools read csv and parquet
	Features  string // "numpy" (the default) or "parquet"
}

// Chunk say how the edges of a store are divided into chunks.
type Chunk struct {
	Run
	// ChunkSize is the size of a chunk in bytes, a multiple of 4096; 0 is 512 MiB.
	ChunkSize int64
	// Direction is DirectionIn (a chunk lists each node's sources) or DirectionOut (its destinations); "" is the primary
	// direction of the store.
	Direction Direction
}

// UnigraphTables say how the tables of a unigraph are written.
type UnigraphTables struct {
	Run
	// To is the format of the tables, one of TablesFormats; "" is csv.
	To string
	// Shards is the number of files per table, such as 8 for NAME-00000-of-00008 and so on; 0 is one file NAME.
	Shards int
	Gzip   bool // compress csv and tfrecord files
	// RoundDoubles rounds float64 to float32 in tfrecord. Without it, a value that would lose digits is an error.
	RoundDoubles bool

	// The remaining fields apply only to ConvertUnigraph.

	// Missing says what empty cells mean, as for Import, except that no columns are added.
	Missing      []string
	AllowOutside bool // let the schema name files outside its folder
}
