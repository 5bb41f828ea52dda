package features

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/structure"
)

// Rows are rows of a type: those for which keep is true. keep stands for the rows from first on, and comes as true.
type Rows func(first int, keep []bool)

// Set sets keep for the rows from first on. Rows that are nil are all.
func (r Rows) Set(first int, keep []bool) {
	for i := range keep {
		keep[i] = true
	}
	if r != nil {
		r(first, keep)
	}
}

// Table is the columns of a type that features are made of.
type Table struct {
	Type    string // for errors
	Columns []*graph.Column
	Rows    int
	// Structures are the numbers that parts have in place of a column: AddStructure adds them.
	Structures map[string]*Structure
	Fit        Rows   // the rows of the fit; nil: all
	Of         string // what the rows of the fit are called in errors; "": the table
}

// Structure is the numbers of a structure: a column of float64, [nodes, numbers].
type Structure struct {
	Structured
	Column *graph.Column
}

// AddStructure adds the numbers that parts of this structure are made of.
func (t *Table) AddStructure(s *structure.Spec, x *Structure) {
	if t.Structures == nil {
		t.Structures = map[string]*Structure{}
	}
	t.Structures[structureKey(s)] = x
}

// HasStructure says whether the numbers of a structure are there.
func (t *Table) HasStructure(s *structure.Spec) bool { return t.Structures[structureKey(s)] != nil }

// columnOf is the column of a part.
func (t *Table) columnOf(p *Part) (*graph.Column, error) {
	if p.Structure == nil {
		return p.columnOf(t.Columns)
	}
	if x := t.Structures[structureKey(p.Structure)]; x != nil {
		return x.Column, nil
	}
	return nil, specErrorf("found structure %s of edges, expected it of nodes; leave it out", p.Structure.Structure)
}

// fitOf names the rows of the fit.
func (t *Table) fitOf() string {
	if t.Of == "" {
		return "the table"
	}
	return t.Of
}
