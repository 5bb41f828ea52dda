package chunked

import (
	"errors"
	"strings"

	"github.com/graphmill/graphmill/internal/tagged"
)

// File is the name of the metadata in the folder of a graph.
const File = "metadata.json"

// ErrFormat is wrapped by errors about metadata that describe no graph.
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
	Nodes     []Nodes // in the order of the file, which is that of homogeneous ids
	Edges     []Edges
	// Unused are the keys of the top level that mean nothing here.
	Unused []string
}

// Counts are the numbers of rows of a type.
type Counts struct {
	Total uint64
	// Chunks add up to Total; nil: only Total is known.
	Chunks []uint64
}

// Nodes is a node type.
type Nodes struct {
	Type string
	Counts
	Data []Data
}

// Edges is an edge type, "src:rel:dst".
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

// Files are the chunks of edges or of a feature, in order.
type Files struct {
	Format string // CSV, Numpy or Parquet
	// Delimiter is between the fields of a CSV file; "": the metadata do not say.
	Delimiter string
	Paths     []string // with '/', relative to the folder of the metadata, or absolute
}

// Ends are the node types of an edge type.
func (e *Edges) Ends() (src, dst string) {
	names := strings.Split(e.Type, ":")
	return names[0], names[2]
}
