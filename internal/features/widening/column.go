package widening

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Column is a column of a type as outputs have it: one of the store, or a feature whose numbers the store holds in pieces.
type Column struct {
	// Column is the store's, or the name, dtype, shape and number of rows of the feature, without values.
	*graph.Column
	// Pieces are the columns of the store that hold the numbers of the feature, in their order; nil for a column of the store.
	Pieces  []*graph.Column
	parts   []Part
	numbers *Numbers
}

// Features lists the columns of the types of a store with its features in place of their pieces. It is safe for concurrent use. A nil
// Features is of a store without any.
type Features struct {
	file    *features.File
	numbers Numbers
}

// Read reads the features of the store in a folder.
func Read(fsys vfs.FS, dir string) (*Features, error) {
	file, err := features.ReadFile(fsys, dir)
	return Of(file), err
}

// Of are the features of a store that were read; nil for none.
func Of(file *features.File) *Features {
	if file == nil {
		return nil
	}
	return &Features{file: file}
}

// Nodes returns the columns of a node type: the columns of the store in their order, without pieces, and each feature in pieces before the first
// column with a later name.
func (f *Features) Nodes(n *graph.Nodes) ([]*Column, error) {
	if f == nil {
		return Own(n.Columns), nil
	}
	columns, err := f.columns(n.Columns, f.file.Nodes[n.Type])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Type, err)
	}
	return columns, nil
}

// Edges is Nodes of an edge type.
func (f *Features) Edges(e *graph.Edges) ([]*Column, error) {
	if f == nil {
		return Own(e.Columns), nil
	}
	columns, err := f.columns(e.Columns, f.file.Edges[e.Type.String()])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Type, err)
	}
	return columns, nil
}

// Among is Edges of some columns of an edge type, or of rows of them: it has the features whose pieces are among the columns.
func (f *Features) Among(typ string, columns []*graph.Column) ([]*Column, error) {
	if f == nil || f.file.Edges[typ] == nil {
		return Own(columns), nil
	}
	there, pieced := map[string]*features.Feature{}, graph.Pieced(columns)
	for name, made := range f.file.Edges[typ].Features {
		if slices.Contains(pieced, name) {
			there[name] = made
		}
	}
	out, err := f.columns(columns, &features.Type{Features: there})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", typ, err)
	}
	return out, nil
}

// Parts are the pieces of a feature; nil for one with a column of its own name.
func Parts(name string, f *features.Feature) ([]Part, error) {
	if len(f.Pieces) == 1 && f.Pieces[0].Column == name {
		return nil, nil
	}
	dtype, err := graph.ParseDType(f.DType)
	if err != nil {
		return nil, err
	}
	parts := make([]Part, len(f.Pieces))
	for i := range f.Pieces {
		parts[i] = Part{Column: f.Pieces[i].Column, Piece: &f.Pieces[i], DType: dtype}
	}
	return parts, nil
}

// Own are the columns of a type without features in pieces: the columns of a store, less the pieces.
func Own(columns []*graph.Column) (out []*Column) {
	for _, c := range WithoutPieces(columns) {
		out = append(out, &Column{Column: c})
	}
	return out
}

// WithoutPieces are the columns of a store that are no pieces of features.
func WithoutPieces(columns []*graph.Column) []*graph.Column {
	return slices.DeleteFunc(slices.Clone(columns), func(c *graph.Column) bool {
		_, piece := graph.PieceOf(c.Name)
		return piece
	})
}

func (f *Features) columns(columns []*graph.Column, t *features.Type) ([]*Column, error) {
	out := Own(columns)
	if t == nil {
		return out, nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Features)) {
		wide, err := f.wide(name, t.Features[name], columns)
		if err != nil {
			return nil, fmt.Errorf("feature %q: %w", name, err)
		}
		if wide == nil {
			continue
		}
		at := slices.IndexFunc(out, func(c *Column) bool { return strings.Compare(c.Name, name) >= 0 })
		switch {
		case at < 0:
			at = len(out)
		case out[at].Name == name:
			return nil, fmt.Errorf("feature %q: found a column of this name beside its pieces, expected one of both; graphmill verify finds damage", name)
		}
		out = slices.Insert(out, at, wide)
	}
	return out, nil
}

// wide returns the column of a feature; nil for one with a column of its own name.
func (f *Features) wide(name string, of *features.Feature, columns []*graph.Column) (*Column, error) {
	parts, err := Parts(name, of)
	if err != nil || parts == nil {
		return nil, err
	}
	wide := &Column{Column: &graph.Column{Name: name, DType: parts[0].DType}, parts: parts, numbers: &f.numbers}
	width := 0
	for i := range parts {
		c := graph.FindColumn(columns, parts[i].Column)
		if c == nil {
			return nil, fmt.Errorf("found no column %q, expected it in a store with the feature; graphmill verify finds damage", parts[i].Column)
		}
		if err := parts[i].Check(c); err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		wide.Rows, width = c.Rows, width+parts[i].Numbers(c)
		wide.Pieces = append(wide.Pieces, c)
	}
	wide.Shape = []int{width}
	return wide, nil
}

// Wide says whether the column is a feature in pieces, which has no values of its own.
func (c *Column) Wide() bool { return c.Pieces != nil }

// StoredBytes is the size of the values in the store.
func (c *Column) StoredBytes() (n int64) {
	if !c.Wide() {
		return c.Bytes()
	}
	for _, p := range c.Pieces {
		n += p.Bytes()
	}
	return n
}

// RowsBytes is the size of the values of all rows as outputs have them.
func (c *Column) RowsBytes() int64 {
	if !c.Wide() {
		return c.Bytes()
	}
	return int64(c.Rows) * int64(c.RowBytes())
}

// NumberBytes is the most memory that a writer of a feature needs, apart from rows.
func (c *Column) NumberBytes() (n int64) {
	for i := range c.parts {
		n += c.parts[i].NumberBytes()
	}
	return n
}

// Writer returns the function that writes rows of a feature in pieces as numbers of a dtype: the column's, or float32. It is safe for
// concurrent use. from are columns that stand for the pieces, in their order; their values are read at each call. Nil takes the pieces.
func (c *Column) Writer(dtype graph.DType, from []*graph.Column) Write {
	if from == nil {
		from = c.Pieces
	}
	var writes []Write
	at := 0
	for i := range c.parts {
		p, of := &c.parts[i], from[i]
		writes = append(writes, p.Writer(of, func() []byte { return of.Values }, c.numbers, Place{DType: dtype, At: at, Values: c.RowValues()}))
		at += p.Numbers(of)
	}
	return func(dst []byte, rows graph.Index) {
		for _, write := range writes {
			write(dst, rows)
		}
	}
}

// CheckOffsets is CheckOffsets of a column of the store. The pieces of a feature have a fixed shape and were checked.
func (c *Column) CheckOffsets() error {
	if c.Wide() {
		return nil
	}
	return c.Column.CheckOffsets()
}
