package store

import (
	"fmt"
	"math"
	"sort"

	"github.com/graphmill/graphmill/graph"
)

func (s *Store) column(name string, c ColumnMeta, rows int) (*graph.Column, error) {
	dtype, err := graph.ParseDType(c.DType)
	if err != nil {
		return nil, err
	}
	col := &graph.Column{Name: name, DType: dtype, Shape: c.Shape, Rows: rows}
	m, err := s.mapFile(c.File, true)
	if err != nil {
		return nil, err
	}
	col.Values = m.data
	// elements is the number of elements of the last variable dimension. Each has the shape fixed.
	fixed, elements, values := c.Shape, rows, rows
	for i, d := range c.Shape {
		switch {
		case d == -1 && len(col.Offsets) < len(c.RowOffsets):
			x, err := s.index(c.RowOffsets[len(col.Offsets)], values+1)
			if err != nil {
				return nil, err
			}
			col.Offsets = append(col.Offsets, x)
			fixed, elements, values = c.Shape[i+1:], last(x), last(x)
		case d < 1 || values > maxCount/d:
			return nil, fmt.Errorf("column %q: found shape %v with row offsets %q, expected positive dimensions, or -1 with row offsets", name, c.Shape, c.RowOffsets)
		default:
			values *= d
		}
	}
	if len(col.Offsets) != len(c.RowOffsets) {
		return nil, fmt.Errorf("column %q: found shape %v with row offsets %q, expected as many variable dimensions", name, c.Shape, c.RowOffsets)
	}
	wantShape, wantDescr := append([]int{elements}, fixed...), Descr(dtype)
	if dtype == graph.String {
		if col.StringOffsets, err = s.index(c.StringOffsets, values+1); err != nil {
			return nil, err
		}
		wantShape, wantDescr = []int{last(col.StringOffsets)}, "u1"
	}
	if m.Descr != wantDescr || fmt.Sprint(m.Shape) != fmt.Sprint(wantShape) {
		return nil, fmt.Errorf("%s: found %s %v, expected %s %v", c.File, m.Descr, m.Shape, wantDescr, wantShape)
	}
	return col, s.meaning(col, c)
}

// meaning sets the unit and the categories of a column.
func (s *Store) meaning(col *graph.Column, c ColumnMeta) (err error) {
	if c.Unit != "" {
		if col.Unit, err = graph.ParseUnit(c.Unit); err == nil && col.DType != graph.Int64 {
			err = fmt.Errorf("found a unit with dtype %s, expected int64", col.DType)
		}
		if err != nil {
			return fmt.Errorf("column %q: %w", col.Name, err)
		}
	}
	if c.Categories == nil {
		return nil
	}
	texts := *c.Categories
	if col.DType != graph.Int32 || texts.DType != graph.String.String() || len(texts.Shape) > 0 || texts.Categories != nil {
		return fmt.Errorf("column %q: found categories of %s %v for dtype %s, expected strings for int32", col.Name, texts.DType, texts.Shape, col.DType)
	}
	offsets, err := s.index(texts.StringOffsets, -1)
	if err != nil {
		return err
	}
	if offsets.Len() == 0 || offsets.Len()-1 > math.MaxInt32 {
		return fmt.Errorf("%s: found %d offsets, expected 1 to 2147483648", texts.StringOffsets, offsets.Len())
	}
	col.Categories, err = s.column(col.Name, texts, offsets.Len()-1)
	return err
}

func (s *Store) columns(metas map[string]ColumnMeta, rows int) ([]*graph.Column, error) {
	var cols []*graph.Column
	for name, m := range metas {
		c, err := s.column(name, m, rows)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	sort.Slice(cols, func(i, j int) bool { return cols[i].Name < cols[j].Name })
	return cols, nil
}

func (s *Store) openGraph() error {
	s.Graph = &graph.Graph{}
	if m := s.Meta.Context; m != nil {
		var err error
		if s.Graph.Context, err = s.columns(m.Columns, m.Count); err != nil {
			return err
		}
	}
	for name, m := range s.Meta.Nodes {
		cols, err := s.columns(m.Columns, m.Count)
		if err != nil {
			return err
		}
		if m.Added < 0 || m.Added > max(m.Count, 0) {
			return fmt.Errorf("node type %s: found %d added nodes, expected at most all %d", name, m.Added, m.Count)
		}
		n := &graph.Nodes{Type: name, Count: m.Count, Columns: cols, Added: m.Added}
		if m.IDs != nil {
			if n.IDs, err = s.column("#id", *m.IDs, m.Count); err != nil {
				return err
			}
		}
		s.Graph.Nodes = append(s.Graph.Nodes, n)
	}
	for name, m := range s.Meta.Edges {
		open := s.openEdges
		if s.merged.changes(name) {
			open = s.mergeEdges
		}
		e, err := open(name, m)
		if err != nil {
			return fmt.Errorf("edge type %s: %w", name, err)
		}
		s.Graph.Edges = append(s.Graph.Edges, e)
	}
	s.Graph.Sort()
	return nil
}

// newEdges are the edges of a type that are still to be opened. The store has the types of their ends.
func (s *Store) newEdges(name string, m *EdgesMeta) (*graph.Edges, error) {
	t, err := graph.ParseEdgeType(name)
	if err != nil {
		return nil, err
	}
	for _, end := range []string{t.Src, t.Dst} {
		if s.Meta.Nodes[end] == nil {
			return nil, fmt.Errorf("found no node type %q", end)
		}
	}
	e := &graph.Edges{Type: t, Count: m.Count, NoPositions: m.NoPositions}
	e.Primary, err = graph.ParseDirection(m.Primary)
	return e, err
}

func (s *Store) openEdges(name string, m *EdgesMeta) (*graph.Edges, error) {
	e, err := s.newEdges(name, m)
	if err != nil {
		return nil, err
	}
	if s.listed != nil && m.Arrays["nodes"] != "" {
		return e, s.openListed(e, m)
	}
	t := e.Type
	for i, d := range []graph.Direction{e.Primary, 1 - e.Primary} {
		prefix := [...]string{"", "other_"}[i]
		if i == 1 && m.Arrays["other_indptr"] == "" {
			break
		}
		near := s.Meta.Nodes[t.Near(d)].Count
		a := &graph.Adjacency{}
		if a.Indptr, err = s.need(m.Arrays, prefix+"indptr", near+1); err != nil {
			return nil, err
		}
		if a.Indptr.At(0) != 0 || last(a.Indptr) != m.Count {
			return nil, fmt.Errorf("found offsets from %d to %d, expected 0 to %d", a.Indptr.At(0), last(a.Indptr), m.Count)
		}
		if a.Far, err = s.need(m.Arrays, prefix+"far", m.Count); err != nil {
			return nil, err
		}
		if i == 1 {
			if a.EdgeID, err = s.need(m.Arrays, "other_edge_id", m.Count); err != nil {
				return nil, err
			}
		}
		e.Adj[d] = a
	}
	e.Columns, err = s.columns(m.Columns, m.Count)
	return e, err
}
