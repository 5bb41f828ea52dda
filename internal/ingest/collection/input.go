package collection

import (
	"errors"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// What errors are, by errors.Is.
var (
	// ErrFormat: tables that do not make a collection. Errors of their bytes are of
	// package table.
	ErrFormat = errors.New("bad collection")
	// ErrMemory: a budget that cannot hold the least.
	ErrMemory = errors.New("memory budget too small")
)

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// Input is the tables of a collection.
type Input struct {
	// Context is tables with a row a graph; none is no columns.
	Context []Rows
	Nodes   []Nodes
	Edges   []Edges
}

// Rows is a table and the columns of it that are kept.
type Rows struct {
	Table   table.Table
	Columns []Column
}

// Column is a column of a table.
type Column struct {
	table.Column
	// Fields are scalar fields of the table whose values, side by side, are the row;
	// Shape is their number then. nil: the field of the column's name.
	Fields []string
	// CountNaN counts values that are not a number in Result.NaN.
	CountNaN bool
}

// SplitKind says what the column of a Split holds.
type SplitKind uint8

// Offsets are one more than graphs, from 0; Counts one a graph; IDs one a row, the
// graph that it is of.
const (
	NoSplit SplitKind = iota
	Offsets
	Counts
	IDs
)

// Split says which rows are of which graph.
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
	// Tables have a row a node.
	Tables []Rows
}

// Edges is an edge type.
type Edges struct {
	Type graph.EdgeType
	// Split is NoSplit where ends are global, or Parent is set.
	Split Split
	// Rows has a row an edge, in the order of the graphs, and Beside are more tables
	// with the same rows; with Parent Rows has a row a node and no columns.
	Rows
	Beside []Rows
	// Src and Dst are fields of the table. With Parent only that is: a field of the
	// source type's nodes.
	Src, Dst, Parent string
	// Global says that ends count over all graphs, from Base.
	Global bool
	Base   uint64
	// Symmetrise adds the reverse of each edge behind it.
	Symmetrise bool
	// ToParent turns the edges of Parent round: from each node to its parent.
	ToParent bool
}

// Options say how tables are read.
type Options struct {
	Threads int   // 0 is 1
	Memory  int64 // bytes; 0 is no bound
	// Progress is told of rows that were read; nil tells nobody. Several goroutines
	// call it.
	Progress func(rows int64)
}

// Result is what an import made.
type Result struct {
	Meta *store.Meta // but for Made
	// Nodes and Edges are the sizes of the graphs.
	Nodes, Edges report.Histogram
	// NaN counts the values that are not a number, by column.
	NaN []Counted
	// Underflows are as those of package assemble.
	Underflows map[string]uint64
}

// Counted is a number of times that a thing was found.
type Counted struct {
	Name  string
	Count uint64
}
