package assemble

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/progress"
)

// Input holds the tables of one graph.
type Input struct {
	Nodes   []Nodes
	Edges   []Edges
	Context *Context // nil: none
}

// Context is the table of the features of the graph as a whole.
type Context struct {
	Table   table.Table
	Columns []table.Column
}

// Nodes is a node type.
type Nodes struct {
	Type string
	// Table has one row per node, in the order of the type-wise ids. Nil means that there is no table and that the
	// nodes are known from the ends of edges. Integer ids are then kept (count = largest + 1, or Count). String ids
	// are numbered by first appearance, with tables in the order of Input.Edges, and source before target.
	Table table.Table
	// ID is the column of the original ids. If its name is empty, the row number is the id. Integer ids that equal
	// the row numbers are not kept as a column.
	ID table.Column
	// Count, if not 0, is the number of nodes of a type without a table.
	Count   uint64
	Columns []table.Column
	// OfStore says that the rows are nodes of a store, whose columns may include those that a build adds.
	OfStore bool
}

// Filter keeps the rows whose column, read as text, has a given value.
type Filter struct {
	Column, Value string
	// Own numbers the rows of the edge type among those that the filter keeps, and not among all of the table. The edge
	// types that filter a column of one table with Own are cut from it in one pass, so that a table with very many of
	// them is not read for each. Their columns have fixed shapes.
	Own bool
}

// Edges is an edge type and the table of its edges. Several edge types may read the same table. Each edge type has
// one entry.
type Edges struct {
	Type  graph.EdgeType
	Table table.Table
	// Src and Dst are the columns of the ends. An empty name means the row number (for an edge from a node table's
	// foreign key). It has the dtype of the node type's ID: Uint64 or String. A row that is Absent (an empty foreign
	// key) gives no edge and is counted.
	Src, Dst table.Column
	Where    *Filter
	// Symmetrise adds the reverse of each edge that is not a self-loop, directly after it in input order. Both have
	// the row's columns. The two ends must have the same node type.
	Symmetrise bool
	Columns    []table.Column
	// OfStore says that the rows are edges of a store: the ends are type-wise ids, as Uint64, even if the node types have
	// keys, and the columns may include those that a build adds. The column graph.PositionColumn among them then has the
	// positions in the input, instead of the row numbers.
	OfStore bool
	// Made is the number of rows, where they are made and not read, else 0. The numbers of such rows mean nothing to anyone, so
	// the store gets no graph.PositionColumn. All edge types of an input have made rows, or none has.
	Made uint64
}

// Policy says how to handle rows that break a rule.
type Policy uint8

// Error refuses the input and names the first such row. Drop leaves the rows out and counts them. Keep keeps them.
// Zeros, for dangling edges, adds the missing nodes, as Options says.
const (
	Error Policy = iota
	Drop
	Keep
	Zeros
)

// Options are the options of a build.
type Options struct {
	Primary     graph.Direction
	Both        bool // also store the other direction
	Homogeneous bool // all types become _N, sorted by name
	NoPositions bool // edge types get no graph.PositionColumn
	// Listed writes, in place of the offsets of all near nodes, those of the nodes that have edges: the arrays "nodes", ascending, and "starts", nodes + 1 offsets. Time and bytes then follow from
	// the edges alone. It goes with neither Both nor Homogeneous, and only with DuplicateEdges Keep.
	Listed bool
	// DanglingEdges is Error, Drop or Zeros. With Zeros, an id that edges name and the node table lacks becomes a
	// node after the nodes of the table, numbered by first appearance as in Nodes.Table. Its columns are zeros, empty
	// strings and empty lists. Integer ids are then keys even if they equal the row numbers. Nothing can be added to
	// a table without a column of ids.
	DanglingEdges  Policy
	DuplicateNodes Policy // Error or Drop (the first row of an id is kept)
	DuplicateEdges Policy // Keep, Drop (the first is kept) or Error
	SelfLoops      Policy // Keep, Drop or Error
	Threads        int    // 0: 1; a small Memory can lower it
	Memory         int64  // bytes of peak RSS; 0: 1 GiB of buffers, beyond which files are used
	Held           int64  // bytes of Memory that the tables of the input take
	TempDir        string // empty: the folder that is being written
	// Progress, if not nil, is called from time to time with the progress of a stage ("nodes paper", "edges a:r:b",
	// ...). The unit is "rows", or "bytes" of the tables if the number of rows is unknown; total is 0 if neither
	// total is known. Several goroutines call it.
	Progress func(stage string, done, total int64, unit string)
	// Foreseen, if not nil, receives an estimate of the work of the stages of Progress before the first one begins.
	Foreseen func([]progress.Stage)

	work int64 // for tests: bytes of all buffers
	wide bool  // for tests: make records for ids of more than 32 bits
}
