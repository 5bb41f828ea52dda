package ingest

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/examplefiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// unigraph is a graph of TF-GNN: a GraphSchema whose sets name their tables. The edge set NAME from S to T is the
// edge type S:NAME:T. Ids are strings.
type unigraph struct{}

func (unigraph) name() string  { return "unigraph" }
func (unigraph) about() string { return "a GraphSchema .pbtxt, or the folder of one" }
func (unigraph) becomes() string {
	return "a node type for each node set, an edge type for each edge set, with their features"
}
func (unigraph) detect(path string, names []string) bool {
	schema := func(n string) bool { return filepath.Ext(n) == ".pbtxt" }
	return schema(path) && names == nil || slices.ContainsFunc(names, schema)
}

func (unigraph) open(_ context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsInteger || o.NumNodes > 0 {
		return nil, usagef("found integer ids or `NumNodes` with a unigraph, expected neither, as its ids are strings")
	}
	schema, file, warnings, err := tfgnnfiles.ReadSchema(fsys, path)
	if err != nil {
		return nil, sourcef("%w", err)
	}
	u := unigraphReader{p: newOpener(fsys, file, o), o: o, gaps: newGaps(o), s: &Source{Primary: graph.Out, Warnings: warnings}}
	if err := u.context(schema.GetContext()); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(schema.GetNodeSets())) {
		if err := u.nodes(name, schema.GetNodeSets()[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.GetEdgeSets())) {
		if err := u.edges(name, schema.GetEdgeSets()[name]); err != nil {
			return nil, err
		}
	}
	u.s.Files = u.p.files
	return u.s, u.gaps.check()
}

type unigraphReader struct {
	p    *opener
	o    Options
	gaps *gaps
	s    *Source
}

func (u *unigraphReader) warn(format string, a ...any) {
	u.s.Warnings = append(u.s.Warnings, u.p.meta+": "+fmt.Sprintf(format, a...))
}

// open opens the table of a set. It returns nil if the set does not name one.
func (u *unigraphReader) open(m *tfgnnpb.Metadata) (table.Table, []looks, error) {
	if m.GetFilename() == "" {
		return nil, nil, nil
	}
	t, err := u.p.open([]string{m.GetFilename()}, textfiles.CSVOptions{Header: true, Delimiter: u.o.Delimiter}, "")
	if err != nil {
		return nil, nil, err
	}
	fields := make([]looks, len(t.Fields()))
	for i, f := range t.Fields() {
		fields[i].Field = f
	}
	return t, fields, nil
}

func (u *unigraphReader) context(c *tfgnnpb.Context) error {
	place := u.p.meta + ": context"
	t, fields, err := u.open(c.GetMetadata())
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if t == nil {
		return nil
	}
	columns, err := u.features(place, t, fields, c.GetFeatures())
	u.s.Input.Context = &assemble.Context{Table: t, Columns: columns}
	return err
}

func (u *unigraphReader) nodes(name string, set *tfgnnpb.NodeSet) error {
	place := fmt.Sprintf("%s: node set %q", u.p.meta, name)
	if set.GetFeatures()[tfgnn.IDName] != nil {
		u.s.DeclaredIDs = append(u.s.DeclaredIDs, name)
	}
	t, fields, err := u.open(set.GetMetadata())
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if t == nil {
		if tfgnn.IsAuxiliary(name) {
			u.warn("the auxiliary node set %q is left out: it has no table", name)
			return nil
		}
		if n := len(set.GetFeatures()); n > 0 && (n > 1 || set.GetFeatures()[tfgnn.IDName] == nil) {
			u.warn("the %d features of node set %q are left out: it has no table", n, name)
		}
		u.s.Input.Nodes = append(u.s.Input.Nodes, assemble.Nodes{Type: name, ID: table.Column{DType: graph.String}})
		return nil
	}
	n := assemble.Nodes{Type: name, Table: t}
	if len(fields) > 0 {
		id, err := pick(t, fields, "", idNames)
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		n.ID = keyColumn(id.Name, false)
	} else { // a TFRecord table without rows
		n.ID = keyColumn(tfgnn.IDName, false)
	}
	if n.Columns, err = u.features(place, t, fields, set.GetFeatures()); err != nil {
		return err
	}
	u.s.Input.Nodes = append(u.s.Input.Nodes, n)
	return nil
}

func (u *unigraphReader) edges(name string, set *tfgnnpb.EdgeSet) error {
	place := fmt.Sprintf("%s: edge set %q", u.p.meta, name)
	t, fields, err := u.open(set.GetMetadata())
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	if t == nil {
		if tfgnn.IsAuxiliary(name) {
			u.warn("the auxiliary edge set %q is left out: it has no table", name)
			return nil
		}
		return sourcef("%s: found no filename in its metadata, expected the table of its edges; add the filename of its table", place)
	}
	e := assemble.Edges{Type: graph.EdgeType{Src: set.GetSource(), Rel: name, Dst: set.GetTarget()}, Table: t}
	e.Src, e.Dst = keyColumn(tfgnn.SourceName, false), keyColumn(tfgnn.TargetName, false)
	if len(fields) > 0 {
		src, err := pick(t, fields, "", []string{tfgnn.SourceName, "source"})
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		dst, err := pick(t, fields, "", []string{tfgnn.TargetName, "target"})
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		e.Src, e.Dst = keyColumn(src.Name, false), keyColumn(dst.Name, false)
	}
	if reversed(set.GetMetadata()) {
		e.Src, e.Dst = e.Dst, e.Src
	}
	if e.Columns, err = u.features(place, t, fields, set.GetFeatures()); err != nil {
		return err
	}
	if f := field(fields, "#weight"); f != nil && set.GetFeatures()["#weight"] == nil {
		e.Columns = append(e.Columns, u.gaps.fill(table.Column{Name: f.Name, DType: graph.Float32}, "")...)
	}
	u.s.Input.Edges = append(u.s.Input.Edges, e)
	return nil
}

// reversed says whether a table has the edges of the set in the opposite direction, so that one table can serve both
// directions.
func reversed(m *tfgnnpb.Metadata) bool {
	return slices.ContainsFunc(m.GetExtra(), func(kv *tfgnnpb.Metadata_KeyValue) bool {
		return kv.GetKey() == "edge_type" && kv.GetValue() == "reversed"
	})
}

// features returns the columns of a set. "#id" is the key itself, which every store keeps.
func (u *unigraphReader) features(place string, t table.Table, fields []looks, features map[string]*tfgnnpb.Feature) ([]table.Column, error) {
	var cols []table.Column
	for _, name := range slices.Sorted(maps.Keys(features)) {
		if name == tfgnn.IDName {
			continue
		}
		f := features[name]
		d := examplecolumns.DType(f.GetDtype())
		if d == graph.Invalid {
			return nil, sourcef("%s: feature %q: found dtype %s, expected a number, bool or string", place, name, f.GetDtype())
		}
		c := table.Column{Name: name, DType: d}
		for _, dim := range f.GetShape().GetDim() {
			c.Shape = append(c.Shape, int(dim.GetSize()))
		}
		filled := u.gaps.fill(c, "")
		if len(fields) > 0 && field(fields, name) == nil {
			// Rows of a TFRecord table can lack a list without values, or a feature whose empty cells have a value.
			// The first row does not show the feature then.
			_, records := t.(*examplefiles.TFRecord)
			hint := suggest.Hint(name, fieldNames(fields))
			if !records || filled[0].Empty == table.EmptyError && !slices.Contains(c.Shape, -1) {
				return nil, sourcef("%s: feature %q: found no such column in %s, expected it among %s; correct the schema or the table%s", place, name, t.Files()[0], table.List(some(fieldNames(fields))), hint)
			}
			if hint != "" {
				u.s.Warnings = append(u.s.Warnings, fmt.Sprintf("%s: feature %q is not in the first row of %s%s", place, name, t.Files()[0], hint))
			}
		}
		cols = append(cols, filled...)
	}
	return cols, nil
}
