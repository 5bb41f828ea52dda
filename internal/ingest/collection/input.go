package collection

import (
	"errors"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/report"
)

// The kinds of errors, for errors.Is.
var (
	// errFormat: the tables do not make a collection. Errors about the bytes of tables come from package table.
	errFormat = errors.New("bad collection")
	// errMemory: the memory budget is below the minimum.
	errMemory = tagged.Errorf(limits.ErrMemory, "memory budget too small")
)

func badf(format string, a ...any) error { return tagged.Errorf(errFormat, format, a...) }

// Input holds the tables of a collection.
type Input struct {
	// Context holds tables with one row per graph. Without tables the context has no columns.
	Context []Rows
	Nodes   []Nodes
	Edges   []Edges
}

// Rows is a table, and the columns of it that are kept.
type Rows struct {
	Table   table.Table
	Columns []Column
}

// Column is a column of a table.
type Column struct {
	table.Column
	// Fields are scalar fields of the table whose values, side by side, are a row of the column; Shape is their
	// number then. nil means the field with the column's name.
	Fields []string
	// CountNaN counts the values that are NaN in Result.NaN.
	CountNaN bool
}

// SplitKind says what the column of a Split contains.
type SplitKind uint8

// Offsets contains one number more than there are graphs, from 0 on. Counts contains one number per graph. IDs
// contains the graph of each row.
const (
	NoSplit SplitKind = iota
	Offsets
	Counts
	IDs
)

// Split says which rows belong to which graph.
type Split struct {
	Kind   SplitKind
	Table  table.Table
	Column string
	// Base is the first of the IDs: 0 or 1.
	Base uint64
}

// Nodes is a node type.
type Nodes struct {
	Type  string
	Split Split
	// Tables have one row per node.
	Tables []Rows
}

// Edges is an edge type.
type Edges struct {
	Type graph.EdgeType
	// Split is NoSplit if ends are global or Parent is set.
	Split Split
	// Rows has one row per edge, in the order of the graphs. Beside holds more tables with the same rows. With
	// Parent, Rows has one row per node and no columns.
	Rows
	Beside []Rows
	// Src and Dst are fields of the table. Parent is used without them and is a field of the source type's nodes.
	Src, Dst, Parent string
	// Global says that ends count over all graphs, from Base on.
	Global bool
	Base   uint64
	// Symmetrise adds the reverse of each edge after it.
	Symmetrise bool
	// ToParent reverses the edges of Parent: they lead from each node to its parent.
	ToParent bool
}

// Options say how tables are read.
type Options struct {
	Threads int   // 0: 1
	Memory  int64 // bytes; 0: no bound
	Held    int64 // bytes of Memory that the tables of the input take
	// Progress, if not nil, receives the number of rows of each step. Several goroutines call it.
	Progress func(rows int64)
}

// Result describes what an import made.
type Result struct {
	Meta *store.Meta // all of it except Made
	// Nodes and Edges are the sizes of the graphs.
	Nodes, Edges report.Histogram
	// NaN counts the values that are NaN, by column.
	NaN []Counted
	// Underflows is as in package assemble.
	Underflows map[string]uint64
}

// Counted is a name and how often it was found.
type Counted struct {
	Name  string
	Count uint64
}
