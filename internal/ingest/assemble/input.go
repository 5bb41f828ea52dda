package assemble

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Input is the tables of one graph.
type Input struct {
	Nodes   []Nodes
	Edges   []Edges
	Context *Context // nil: none
}

// Context is the table of what belongs to the graph as a whole.
type Context struct {
	Table   table.Table
	Columns []table.Column
}

// Nodes is a node type.
type Nodes struct {
	Type string
	// Table holds a row a node, in the order of the type-wise ids. Nil: there is
	// no table, and nodes are known from the ends of edges: integer ids are kept
	// (count = largest + 1, or Count), string ids are numbered by first
	// appearance, tables in the order of Input.Edges, source before target.
	Table table.Table
	// ID is the column of the original ids. With an empty name the row number is
	// the id. Integer ids that are the row numbers are not kept as a column.
	ID table.Column
	// Count, where not 0, is the number of nodes of a type without a table.
	Count   uint64
	Columns []table.Column
}

// Filter keeps the rows whose column, read as text, has a value.
type Filter struct {
	Column, Value string
}

// Edges is an edge type and the table of its edges. Several entries may read the
// same table; each edge type has one entry.
type Edges struct {
	Type  graph.EdgeType
	Table table.Table
	// Src and Dst are the columns of the ends. An empty name is the row number (an
	// edge out of a node table's foreign key). Their dtype is that of the node
	// type's ID: Uint64 or String. A row that is Absent (an empty foreign key)
	// gives no edge and is counted.
	Src, Dst table.Column
	Where    *Filter
	// Symmetrise adds to each edge that is not a self-loop its reverse, just
	// behind it in input order; both have the row's columns. Needs one node type.
	Symmetrise bool
	Columns    []table.Column
}

// Policy says what to do with rows that break a rule.
type Policy uint8

// Error refuses the input, naming the first such row; Drop leaves the rows out
// and counts them; Keep takes them as they are. Zeros, of dangling edges, adds
// the nodes that the node tables lack, as Options says.
const (
	Error Policy = iota
	Drop
	Keep
	Zeros
)

// Options of a build.
type Options struct {
	Primary     graph.Direction
	Both        bool // store the other direction too
	Homogeneous bool // all types into _N, in the order of their names
	// DanglingEdges is Error, Drop or Zeros. With Zeros an id that edges name and
	// the node table lacks is a node behind those of the table, numbered by first
	// appearance as in Nodes.Table; its columns are zeros, empty strings and empty
	// lists. Integer ids are then keys, even where they are the row numbers. A table
	// without a column of ids cannot be added to.
	DanglingEdges  Policy
	DuplicateNodes Policy // Error or Drop (the first row of an id is kept)
	DuplicateEdges Policy // Keep, Drop (the first is kept) or Error
	SelfLoops      Policy // Keep, Drop or Error
	Threads        int    // 0: 1; a small Memory can lower it
	Memory         int64  // bytes of peak RSS; 0: 1 GiB of buffers, beyond which files are used
	Held           int64  // bytes of Memory that the tables of the input take
	TempDir        string // empty: the folder that is being written
	// Progress, if not nil, is told from time to time how far a stage ("nodes
	// paper", "edges a:r:b", ...) is, in "rows", or in "bytes" of the tables where
	// the number of rows is not known; total is 0 where neither is. Calls come from
	// several goroutines.
	Progress func(stage string, done, total int64, unit string)

	work int64 // tests: bytes of all buffers
	wide bool  // tests: records as for ids of more than 32 bits
}
