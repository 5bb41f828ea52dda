package dglchunks

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// File is the name of the metadata file in the folder of a graph.
const File = "metadata.json"

// ErrFormat is wrapped by errors about metadata that do not describe a graph.
var ErrFormat = errors.New("no chunked graph")

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// The formats of files.
const (
	CSV     = "csv"
	Numpy   = "numpy"
	Parquet = "parquet"
)

// Metadata is metadata.json.
type Metadata struct {
	GraphName string
	Nodes     []Nodes // in the order of the file, which is also the order of homogeneous ids
	Edges     []Edges
	// Unused are the keys of the top level that have no meaning here.
	Unused []string
}

// Counts holds the number of rows of a type.
type Counts struct {
	Total uint64
	// Chunks are the rows of each chunk, whose sum is Total. It is nil if only Total is known.
	Chunks []uint64
}

// Nodes is a node type.
type Nodes struct {
	Type string
	Counts
	Data []Data
}

// Edges is an edge type. Type is "src:rel:dst".
type Edges struct {
	Type string
	Counts
	Files
	Data []Data
}

// Data is a feature.
type Data struct {
	Name string
	Files
}

// Files lists the chunks of edges or of a feature, in order.
type Files struct {
	Format string // CSV, Numpy or Parquet
	// Delimiter separates the fields of a CSV file. It is empty if the metadata do not give it.
	Delimiter string
	Paths     []string // with '/', relative to the folder of the metadata, or absolute
}
