package appending

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
)

// splitRules finds, by type, the rules by which rows of the tables of a source get their parts: of types whose tables do not say them.
func (a *appending) splitRules(src *ingest.Source) error {
	made := a.store.Meta.Made
	if made.Splits == nil {
		return nil
	}
	var asked []option.Split
	if err := store.DecodeJSON(made.Splits, &asked); err != nil {
		return fmt.Errorf("%s: %w: the splits of its import: %w", a.store.Dir, store.ErrDamaged, err)
	}
	var splits []transform.Split
	for i := range asked {
		splits = append(splits, operation.SplitTransform(&asked[i]))
	}
	seed, err := strconv.ParseUint(made.Options["split_seed"], 10, 64)
	if err != nil {
		return nil
	}
	rules, err := transform.Rules(a.store.Graph, splits, seed)
	if err != nil {
		return fmt.Errorf("%s: %w", a.store.Dir, err)
	}
	for _, e := range src.Input.Edges { // reverse edges are in the part of their edges
		for _, of := range src.Input.Edges {
			if r := rules[of.Type.String()]; r != nil && of.Table == e.Table && of.Src.Name == e.Dst.Name && of.Dst.Name == e.Src.Name && of.Type.Src == e.Type.Dst && of.Type.Dst == e.Type.Src && rules[e.Type.String()] == nil {
				rules[e.Type.String()] = r
			}
		}
	}
	a.rules, a.ruled = rules, map[string]*transform.Rule{}
	return nil
}

// rule makes the rows of a table of a type, which has the columns had in the store, get their parts by its rule, and says whether they do: whether there is one, and the table has
// no column of parts.
func (a *appending) rule(typ string, t table.Table, have []table.Column, had []*graph.Column) bool {
	r := a.rules[typ]
	if c := graph.FindColumn(had, transform.SplitColumn); c == nil || c.Categories == nil {
		return false
	}
	named := func(name string) bool { return name == transform.SplitColumn }
	if r == nil || a.changes() || slices.ContainsFunc(have, func(c table.Column) bool { return named(c.Name) }) || slices.ContainsFunc(t.Fields(), func(f table.Field) bool { return named(f.Name) }) {
		return false
	}
	a.ruled[typ] = r
	return true
}

// withParts builds a store of an input whose rows get their parts by rules, if some do.
func (b *building) withParts(ctx context.Context, w *store.Writer, in *assemble.Input, build func(*store.Writer) (*store.Meta, error)) (_ *store.Meta, err error) {
	if len(b.ruled) == 0 {
		return build(w)
	}
	raw, err := w.Within("undivided")
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, raw.Abort)
	meta, err := build(raw)
	if err != nil {
		return nil, err
	}
	s, err := raw.Opened(ctx, meta, b.o.Threads)
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, s.Close)
	for _, n := range s.Graph.Nodes {
		tabled := slices.ContainsFunc(in.Nodes, func(x assemble.Nodes) bool { return x.Type == n.Type && x.Table != nil })
		if r := b.ruled[n.Type]; r != nil && tabled {
			had := uint64(b.types[n.Type].had)
			of := b.store.Graph.Nodes[b.store.Graph.NodeType(n.Type)]
			number := func(row int) uint64 { return had + uint64(row) }
			if err := writeParts(w, store.NodesDir(n.Type), meta.Nodes[n.Type].Columns, r, n.Columns, n.Count, of.Columns, number); err != nil {
				return nil, fmt.Errorf("node type %s: %w", n.Type, err)
			}
		}
	}
	for _, e := range s.Graph.Edges {
		name := e.Type.String()
		r, of := b.ruled[name], b.edgesOf(e.Type)
		if r == nil {
			continue
		}
		first, err := b.store.RowsBefore(name)
		if err != nil {
			return nil, err
		}
		position := graph.FindColumn(e.Columns, graph.PositionColumn)
		if position == nil && r.By == "" {
			return nil, fmt.Errorf("edge type %s: found edges without positions in the input, expected them, because their parts are drawn by them; add a column %q to the table", name, transform.SplitColumn)
		}
		number := func(row int) uint64 { return first + store.PositionAt(position, row) }
		if err := writeParts(w, store.EdgesDir(e.Type), meta.Edges[name].Columns, r, e.Columns, e.Count, of.Columns, number); err != nil {
			return nil, fmt.Errorf("edge type %s: %w", name, err)
		}
	}
	return meta, w.TakeAll(raw)
}

// writeParts writes the column of parts of new rows, with the categories that the store has in this column, to a folder of w, and adds it to columns.
func writeParts(w *store.Writer, dir string, columns map[string]store.ColumnMeta, r *transform.Rule, new []*graph.Column, rows int, had []*graph.Column, number func(row int) uint64) error {
	categories := graph.FindColumn(had, transform.SplitColumn).Categories
	var codes [3]int32
	var names []string
	for i := range categories.Rows {
		names = append(names, string(categories.Text(i)))
	}
	for p, name := range transform.Parts {
		codes[p] = int32(slices.Index(names, name))
	}
	part, err := r.Of(new, number)
	if err != nil {
		return err
	}
	values := make([]int32, rows)
	for row := range values {
		values[row] = -1
		if p := part(row); p >= 0 {
			values[row] = codes[p]
		}
	}
	c, err := w.Column(dir, transform.SplitColumn, graph.Int32, nil)
	if err != nil {
		return err
	}
	err = c.Append(graph.Bytes(values), nil)
	meta, closed := c.Close()
	if err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	meta.Categories, err = w.Categories(dir, transform.SplitColumn, names)
	columns[transform.SplitColumn] = meta
	return err
}
