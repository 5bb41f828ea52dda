package appending

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
)

// fit makes the tables of a source ask for the columns of the store, and refuses those that cannot.
func (a *appending) fit(src *ingest.Source) error {
	switch {
	case src.Collection != nil:
		return fmt.Errorf("found many graphs, expected tables of one; import them to a collection")
	case src.Input.Context != nil:
		return fmt.Errorf("found a table of the context, expected tables of nodes and edges alone; leave it out")
	case !src.Features.None() && a.features == nil:
		return fmt.Errorf("found features, expected tables alone, because the store has none; leave the features out")
	}
	t := &src.Transforms
	if len(t.Splits) > 0 && a.store.Meta.Made.Options["split"] != "" {
		text := "the splits of the graph.yaml do not count: new rows get their parts by those of the store, or the tables have them"
		operation.Note(&a.o.Run, "%s", text)
		a.report.Note(text)
		t.Splits = nil
	}
	if t.LargestComponent || len(t.Splits) > 0 || len(t.Normalise) > 0 || t.SelfLoops != "" && t.SelfLoops != "keep" || t.DuplicateEdges != "" && t.DuplicateEdges != "keep" {
		return fmt.Errorf("found transforms, which look at all rows at once, expected none in an append; leave them out")
	}
	for i := range src.Input.Nodes {
		n := &src.Input.Nodes[i]
		k := a.store.Graph.NodeType(n.Type)
		open := k >= 0 && a.store.Meta.Nodes[n.Type].Open()
		if n.Table == nil {
			continue
		}
		if a.changes() {
			if err := a.checkChanged(n.Table, "nodes of type "+n.Type, k >= 0, n.ID.Name != ""); err != nil {
				return err
			}
		}
		if k < 0 {
			continue
		}
		of := a.store.Graph.Nodes[k]
		columns, err := a.fitColumns(n.Type, n.Table, n.Columns, of.Columns)
		if err != nil {
			return fmt.Errorf("node type %s: %w", n.Type, err)
		}
		n.Columns = columns
		if n.ID.Name != "" && !open {
			if n.ID.DType = graph.Uint64; of.IDs != nil {
				n.ID.DType = of.IDs.DType
			}
		}
	}
	for i := range src.Input.Edges {
		e := &src.Input.Edges[i]
		for _, end := range []struct {
			column *table.Column
			of     string
		}{{&e.Src, e.Type.Src}, {&e.Dst, e.Type.Dst}} {
			if k := a.store.Graph.NodeType(end.of); k >= 0 && end.column.Name != "" && !a.store.Meta.Nodes[end.of].Open() {
				end.column.DType = graph.Uint64
				if ids := a.store.Graph.Nodes[k].IDs; ids != nil {
					end.column.DType = ids.DType
				}
			}
		}
		of := a.edgesOf(e.Type)
		if a.changes() {
			if err := a.checkChanged(e.Table, "edges of type "+e.Type.String(), of != nil, e.Src.Name != "" && e.Dst.Name != ""); err != nil {
				return err
			}
		}
		if of == nil {
			if e.Type.Rel == graph.HomogeneousEdge.Rel { // an edge list that names no type
				return fmt.Errorf("found edges of type %s, expected one of the store: %s; name the types of the ends with `SrcType` and `DstType`, or the edge type in a graph.yaml", e.Type, strings.Join(a.edgeTypes(), ", "))
			}
			continue
		}
		columns, err := a.fitColumns(e.Type.String(), e.Table, e.Columns, of.Columns)
		if err != nil {
			return fmt.Errorf("edge type %s: %w", e.Type, err)
		}
		e.Columns = columns
	}
	return nil
}

// checkChanged refuses a table of changes whose type the store does not have, or that does not say which rows change.
func (a *appending) checkChanged(t table.Table, of string, there, named bool) error {
	switch {
	case !there:
		return fmt.Errorf("%s: found %s to change, expected a type of the store; correct the name", t.Files()[0], of)
	case !named:
		return fmt.Errorf("%s: found row numbers for %s to change, expected columns of ids that say which ones change; name them", t.Files()[0], of)
	}
	return nil
}

// fitColumns gives the columns of a table the dtypes, units and categories that those of the store have. Both must have the same names, but that a table of changes may have some of
// them alone, unless features are made of them, and that a split may divide new rows by its rule.
func (a *appending) fitColumns(typ string, t table.Table, have []table.Column, want []*graph.Column) ([]table.Column, error) {
	made, ruled := a.featuresOf(typ), a.rule(typ, t, have, want)
	want = slices.DeleteFunc(withoutFeatures(want, made), func(c *graph.Column) bool {
		return c.Name == graph.PositionColumn || c.Name == transform.SplitColumn && ruled
	})
	some := a.changes() && made == nil
	for _, c := range have {
		if graph.FindColumn(want, c.Name) == nil {
			return nil, fmt.Errorf("%s: found the column %q, expected the columns of the store (%s); leave it out", t.Files()[0], c.Name, namesOf(want))
		}
	}
	fields := t.Fields()
	var columns []table.Column
	for _, w := range want {
		c := table.Column{Name: w.Name, Shape: w.Shape}
		i := slices.IndexFunc(have, func(c table.Column) bool { return c.Name == w.Name })
		if i >= 0 {
			c = have[i]
		} else if !slices.ContainsFunc(fields, func(f table.Field) bool { return f.Name == w.Name }) {
			// A column that says which values of another are missing changes with it.
			of, marks := strings.CutSuffix(w.Name, features.MarkSuffix)
			marks = marks && w.DType == graph.Bool && (slices.ContainsFunc(have, func(c table.Column) bool { return c.Name == of }) || slices.ContainsFunc(fields, func(f table.Field) bool { return f.Name == of }))
			if some && !marks || a.changes() && w.Name == transform.SplitColumn { // no feature is made of a split
				continue
			}
			if some {
				return nil, fmt.Errorf("%s: found %q without %q, expected both, because the store has both; give `Missing`, or missing: column in the graph.yaml, as the import had it", t.Files()[0], of, w.Name)
			}
			return nil, fmt.Errorf("%s: found no column %q, expected it, because the store has it; add it to the table", t.Files()[0], w.Name)
		}
		if !slices.Equal(c.Shape, w.Shape) {
			return nil, fmt.Errorf("%s: found %q with the shape %v, expected %v as in the store; write the table with this shape", t.Files()[0], c.Name, c.Shape, w.Shape)
		}
		declared := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == c.Name && f.DType != graph.Invalid && !f.Inferred }) >= 0
		switch {
		case w.Categories != nil:
			texts := make([]string, w.Categories.Rows)
			for k := range texts {
				texts[k] = string(w.Categories.Text(k))
			}
			categories := &table.Categories{}
			if isSplit(texts) { // another part is a mistake
				var err error
				if categories, err = table.NewCategories(texts); err != nil {
					return nil, err
				}
			} else {
				a.growing = append(a.growing, growing{categories, texts, fmt.Sprintf("%s: column %q", t.Files()[0], c.Name)})
			}
			c.DType, c.Categories, c.Unit = graph.Int32, categories, ""
		case w.Unit != "":
			c.DType, c.Unit, c.Categories = graph.Int64, w.Unit, nil
		case declared && c.Categories == nil && c.Unit == "" && c.DType != w.DType:
			return nil, fmt.Errorf("%s: found %q of %s, expected %s as in the store; write the table with this dtype", t.Files()[0], c.Name, c.DType, w.DType)
		default:
			c.DType, c.Unit, c.Categories = w.DType, "", nil
		}
		columns = append(columns, c)
	}
	if a.changes() && len(columns) == 0 {
		return nil, fmt.Errorf("%s: found no column to change, expected one of the store (%s); add it to the table", t.Files()[0], namesOf(want))
	}
	return columns, nil
}

// isSplit says whether categories are the parts of a split.
func isSplit(texts []string) bool {
	parts := slices.Clone(transform.Parts[:])
	return slices.Equal(slices.Sorted(slices.Values(texts)), slices.Sorted(slices.Values(parts)))
}

// growing is a column of categories: those of the store, and where the tables have it.
type growing struct {
	found *table.Categories
	had   []string
	where string
}

// addCategories puts the categories that the tables alone have after those of the store, once they are collected, so that no code changes.
func (a *appending) addCategories() {
	for _, g := range a.growing {
		known := map[string]bool{}
		for _, text := range g.had {
			known[text] = true
		}
		var added []string
		for _, text := range g.found.Texts() {
			if !known[text] {
				added = append(added, text)
			}
		}
		g.found.Set(append(slices.Clone(g.had), added...))
		if len(added) > 0 {
			shown := added[:min(len(added), 5)]
			text := fmt.Sprintf("%s has %s that the store does not have, with codes after those of the store: %s", g.where, human.Exact(int64(len(added)))+" "+human.Things(int64(len(added)), "categories"), strings.Join(shown, ", "))
			if len(shown) < len(added) {
				text += " and others"
			}
			operation.Warn(&a.o.Run, "%s", text)
			a.report.Note(text)
		}
	}
}

// edgeTypes are the names of the edge types of the store.
func (a *appending) edgeTypes() (names []string) {
	for _, e := range a.store.Graph.Edges {
		names = append(names, e.Type.String())
	}
	return names
}

// namesOf lists columns for an error.
func namesOf(columns []*graph.Column) string {
	text := ""
	for i, c := range columns {
		if i > 0 {
			text += ", "
		}
		text += c.Name
	}
	if text == "" {
		return "none"
	}
	return text
}
