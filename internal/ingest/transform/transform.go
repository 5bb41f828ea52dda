package transform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrOption is the error of options that do not fit the graph.
var ErrOption = errors.New("option")

func optionf(format string, a ...any) error { return tagged.Errorf(ErrOption, format, a...) }

// Merge says what becomes of edges of one type with equal ends.
type Merge uint8

// MergeNone keeps them. MergeSum and MergeCount keep the first: with the sums of the columns, or with their number in
// the column CountColumn. MergeEqual keeps the first of those that also have equal columns.
const (
	MergeNone Merge = iota
	MergeSum
	MergeCount
	MergeEqual
)

// Columns that transforms add.
const (
	CountColumn = "count"
	SplitColumn = "split"
)

// Options say what to change. The zero value changes nothing.
type Options struct {
	SelfLoops        bool
	Merge            Merge
	LargestComponent bool
	Splits           []Split
	// Normalise are columns of numbers, as COLUMN or TYPE.COLUMN.
	Normalise []string
	// Seed is the random seed of splits without a column.
	Seed uint64
	// Memory bounds what the values of classes and groups and the ids of files take, in bytes; 0: no bound.
	Memory int64
	// Touched, if not nil, is called with the bytes of the graph that were read since its last call, so that the caller can
	// give mapped pages back. Several goroutines call it.
	Touched func(bytes int64) error
}

// None says whether the options change nothing.
func (o *Options) None() bool {
	return !o.SelfLoops && o.Merge == MergeNone && !o.LargestComponent && len(o.Splits) == 0 && len(o.Normalise) == 0
}

// Edges says whether the options change which nodes and edges there are, and not only their columns.
func (o *Options) Edges() bool { return o.SelfLoops || o.Merge != MergeNone || o.LargestComponent }

// NodeBytes is the memory that the changes take per node.
func (o *Options) NodeBytes() int64 {
	switch {
	case o.LargestComponent:
		return 8
	case slices.ContainsFunc(o.Splits, func(s Split) bool { return s.Stratify != "" || s.Group != "" }):
		return 5
	case len(o.Splits) > 0:
		return 1
	}
	return 0
}

// Result counts what was changed.
type Result struct {
	Nodes, Kept uint64 // of LargestComponent: nodes before and after
	Components  uint64
	Loops       map[string]uint64 // self-loops added, by edge type; complete after the build
	Merged      map[string]uint64 // edges that went into an earlier one, by edge type; complete after the build
}

// Transform is a graph and what to change about it.
type Transform struct {
	g     *graph.Graph
	o     Options
	nodes []*nodeTable
	edges []*edgeTable
	res   Result
}

// New checks the options, finds the components and divides rows. The graph must stay open until the tables of Input are
// read.
func New(ctx context.Context, g *graph.Graph, o Options) (*Transform, error) {
	t, err := checked(g, o)
	if err != nil {
		return nil, err
	}
	if err := t.split(ctx); err != nil {
		return nil, err
	}
	if o.LargestComponent {
		if err := t.largest(ctx); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Check checks the options against the types and columns of a graph, whose values it does not read.
func Check(g *graph.Graph, o Options) error {
	_, err := checked(g, o)
	return err
}

// checked returns the transform of options that fit the columns of the graph.
func checked(g *graph.Graph, o Options) (*Transform, error) {
	t := &Transform{g: g, o: o}
	t.o.Splits = slices.Clone(o.Splits)
	for _, n := range g.Nodes {
		t.nodes = append(t.nodes, &nodeTable{t: t, n: n, rows: rowsOf(n.Columns, n.Count)})
	}
	for _, e := range g.Edges {
		x := &edgeTable{t: t, e: e, rows: rowsOf(e.Columns, e.Count), src: g.NodeType(e.Type.Src), dst: g.NodeType(e.Type.Dst)}
		x.loops = o.SelfLoops && x.src == x.dst
		t.edges = append(t.edges, x)
	}
	if err := t.normalise(); err != nil {
		return nil, err
	}
	for i := range t.o.Splits {
		if err := t.checkSplit(&t.o.Splits[i]); err != nil {
			return nil, err
		}
	}
	if o.Merge == MergeCount {
		for _, x := range t.edges {
			if graph.FindColumn(x.e.Columns, CountColumn) != nil {
				return nil, optionf("edge type %s: found a column %s, expected none for the number of merged edges; merge with the sums of columns, or rename the column", x.e.Type, CountColumn)
			}
		}
	}
	return t, nil
}

// normalise marks the columns to normalise.
func (t *Transform) normalise() error {
	for _, name := range t.o.Normalise {
		typ, column := t.apart(name)
		r, err := t.find(typ, column)
		if err != nil {
			return fmt.Errorf("normalise %s: %w", name, err)
		}
		c := graph.FindColumn(r.columns, column)
		if c.Ragged() || c.DType != graph.Float32 && c.DType != graph.Float64 {
			return optionf("normalise %s: found %s of shape %v, expected float32 or float64 of fixed shape; import the column with that dtype", name, c.DType, c.Shape)
		}
		r.normal = append(r.normal, column)
	}
	return nil
}

// each calls a function for all types.
func (t *Transform) each(fn func(typ string, r *rows)) {
	for _, n := range t.nodes {
		fn(n.n.Type, &n.rows)
	}
	for _, e := range t.edges {
		fn(e.e.Type.String(), &e.rows)
	}
}

// apart takes TYPE, COLUMN or TYPE.COLUMN apart. Both names can contain dots, so the types decide: the longest that fits.
func (t *Transform) apart(of string) (typ, column string) {
	column = of
	t.each(func(name string, _ *rows) {
		rest, ok := strings.CutPrefix(of, name)
		if ok && len(name) >= len(typ) && (rest == "" || rest[0] == '.') {
			typ, column = name, strings.TrimPrefix(rest, ".")
		}
	})
	return typ, column
}

// find returns the rows that have a column. An empty type is the only node type that has it.
func (t *Transform) find(typ, column string) (*rows, error) {
	var found []*rows
	var types []string
	t.each(func(name string, r *rows) {
		if (name == typ || typ == "" && !strings.Contains(name, ":")) && graph.FindColumn(r.columns, column) != nil {
			found, types = append(found, r), append(types, name)
		}
	})
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, optionf("found the column in the node types %s, expected one; name the type, as in %s.%s", strings.Join(types, ", "), types[0], column)
	}
	return nil, optionf("found no such column, expected one of %s", strings.Join(t.columnNames(typ), ", "))
}

// columnNames lists the columns of a type, or of all node types.
func (t *Transform) columnNames(typ string) []string {
	var names []string
	t.each(func(name string, r *rows) {
		for _, c := range r.columns {
			switch {
			case strings.HasPrefix(c.Name, "#"):
			case name == typ:
				names = append(names, c.Name)
			case typ == "" && !strings.Contains(name, ":"):
				names = append(names, name+"."+c.Name)
			}
		}
	})
	if names == nil {
		return []string{"its columns, of which it has none"}
	}
	return names
}

// touched tells the caller what was read.
func (t *Transform) touched(bytes int64) error {
	if t.o.Touched == nil {
		return nil
	}
	return t.o.Touched(bytes)
}

// Result returns the counts.
func (t *Transform) Result() Result {
	r := t.res
	r.Loops, r.Merged = map[string]uint64{}, map[string]uint64{}
	for _, e := range t.edges {
		if n := e.added.Load(); n > 0 {
			r.Loops[e.e.Type.String()] = n
		}
		if n := e.merged.Load(); n > 0 {
			r.Merged[e.e.Type.String()] = n
		}
	}
	return r
}

// Input returns the tables of the changed graph.
func (t *Transform) Input() assemble.Input {
	var in assemble.Input
	if len(t.g.Context) > 0 {
		rows := rowsOf(t.g.Context, t.g.Context[0].Rows)
		in.Context = &assemble.Context{Table: &nodeTable{t: t, rows: rows}, Columns: rows.ask()}
	}
	for _, n := range t.nodes {
		x := assemble.Nodes{Type: n.n.Type, Table: n, Columns: n.ask(), OfStore: true}
		switch {
		case n.n.IDs != nil:
			x.ID = table.Column{Name: idField, DType: n.n.IDs.DType, ID: true}
		case n.to != nil:
			x.ID = table.Column{Name: rowField, DType: graph.Uint64, ID: true}
		default:
			x.ID = table.Column{DType: graph.Uint64}
		}
		in.Nodes = append(in.Nodes, x)
	}
	for _, e := range t.edges {
		in.Edges = append(in.Edges, assemble.Edges{Type: e.e.Type, Table: e, OfStore: true, Columns: e.ask(),
			Src: table.Column{Name: srcField, DType: graph.Uint64}, Dst: table.Column{Name: dstField, DType: graph.Uint64}})
	}
	return in
}

// Finish copies what the metadata of the graph say besides the arrays to the metadata of the new store. It is called after Build.
func (t *Transform) Finish(to, of *store.Meta) {
	for i, n := range t.g.Nodes {
		m, old := to.Nodes[n.Type], of.Nodes[n.Type]
		m.Types = slices.Clone(old.Types)
		m.Added = int(t.nodes[i].below(n.Count) - t.nodes[i].below(n.Count-n.Added))
	}
	for _, e := range t.g.Edges {
		to.Edges[e.Type.String()].Types = slices.Clone(of.Edges[e.Type.String()].Types)
	}
}

// rowPlace names a row for an error.
func rowPlace(typ string, row uint64) string { return fmt.Sprintf("%s: row %d", typ, row) }
