package option

import (
	"io"
	"time"
)

// Append say how tables are read that are added to a store. The zero value recognises most of them. What the import of the store was asked to do with rows that
// break a rule holds for the new rows as well.
type Append struct {
	Run

	// Format, Columns, Src, Dst, SrcType, DstType, IDs, Delimiter, ArrayDelimiter, Missing, Vectors and AllowOutside are those of Import. The types and columns are those of the
	// store.
	Format           string
	Columns          string
	Src, Dst         string
	SrcType, DstType string
	IDs              string
	Delimiter        string
	ArrayDelimiter   string
	Missing          []string
	Vectors          []string
	AllowOutside     bool
	// Drop is a source of edges and nodes of the store, in tables as those that are added. Each edge with the ends of a row is dropped, before others are added,
	// and so is each edge of a node that a table of nodes lists; the node stays. An edge that the store does not have is an error. With it, the source of Append
	// can be "": then nothing is added.
	Drop string
	// Change is a source of nodes and edges of the store, in tables as those that are added, with new values of their columns: of all columns, or of some alone where no features are
	// made of them. Nodes are named by their ids, and edges by their ends: all edges with the ends of a row change. A node or an edge that the store does not have is an error, and
	// so are two rows for one. The source of Append is "" with it.
	Change string
	// Follow is a folder whose sources are appended as they come, in the order of their names, in place of the source of Append: files of edges, those that are there at a
	// time as one segment, and folders with a graph.yaml, which is the last file to appear in each. Each is taken once, whatever ends the process. Files are not changed
	// once they have their names. A name with ".drop" or ".change" at its end, or before its ending, says that the source is one of Drop or Change. Names that begin with '.' or '_', or end in .tmp or .partial, are left alone. Follow can also be a graph.yaml whose queries have marks, or
	// the folder of a lake's table: the rows after the marks are appended. Follow "-" reads lines of JSON from Input: rows, in the envelope of kcat -J if they have one, and change events of Debezium. The source of Append is
	// a graph.yaml then, whose tables, by the names of their files without endings, say which types the rows of a table have; the files need not exist. docs/growing.md has the forms.
	Follow string
	// Every is how often Follow looks, or asks its queries; 0: once, and Append then ends. With Follow "-", a batch of lines is appended Every after its first line came; 0: 10 s.
	Every time.Duration
	// Rows is the number of lines of Follow "-" after which a batch is appended, whatever Every says; 0: 100,000.
	Rows int
	// Input is what Follow "-" reads, until its end. The lines of a batch appear in one step, and with them their places: lines whose topic, partition and offset the store has, or an
	// offset below, are left out. After an error or the end of the context, the last Read of Input may still go on.
	Input io.Reader
	// Compact compacts the store after an append, also of Follow, once it has 64 segments, or half of at least a million edges or 64 MiB in segments.
	Compact bool
	// More lists further files of an edge list, which are read after the source.
	More []string
}

// Snapshot says which version of a store is meant. The zero value is the store as it was imported, or compacted.
type Snapshot struct {
	Run

	// Segments is the number of segments, from the first on, that the version has.
	Segments int
	// AsOf is, in place of Segments, a time such as 2026-11-30T12:00:00Z, or a date, which is its first moment in UTC, for the last version that had appeared then; or the checksum
	// of the version's manifest, with which outputs name it in their lineage.
	AsOf string
}
