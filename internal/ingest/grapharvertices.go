package ingest

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/ingest/yamlfile"
)

// graphArVertices is a type of vertices whose chunks are being opened.
type graphArVertices struct {
	file, prefix string
	count, chunk uint64 // vertices, and vertices of a chunk
	known        bool   // the file vertex_count says count
}

// check says whether there is a chunk for each range of vertices.
func (v *graphArVertices) check(folder string, files []string) error {
	if want := (v.count + v.chunk - 1) / v.chunk; v.known && uint64(len(files)) != want {
		return sourcef("%s: found %d chunks in %s, expected %d for %d vertices; copy the whole graph", v.file, len(files), folder, want, v.count)
	}
	return nil
}

// addVertices adds a type of vertices.
func (r *graphArReader) addVertices(ctx context.Context, file string) error {
	y, keys, err := r.read(file)
	if err != nil {
		return err
	}
	typ, err := keys.text(y, "type", "label")
	if err != nil {
		return err
	}
	if err := graph.CheckName(typ); err != nil {
		return sourcef("%s: %w; rename the type", file, err)
	}
	v := &graphArVertices{file: file}
	if v.chunk, err = graphArCount(y, keys, "chunk_size"); err != nil {
		return err
	}
	r.types[typ] = v.chunk
	if v.prefix, err = keys.text(y, "prefix", ""); err != nil {
		return err
	}
	v.prefix = filepath.Join(r.prefix, cmp.Or(v.prefix, typ))
	groups, err := graphArGroups(y, keys)
	if err != nil {
		return err
	}
	if v.count, v.known, err = r.count(filepath.Join(v.prefix, "vertex_count")); err != nil {
		return err
	}
	var tables []table.Table
	for _, g := range groups {
		files, err := r.chunks(filepath.Join(v.prefix, g.prefix))
		if err == nil {
			err = v.check(g.prefix, files)
		}
		if err != nil {
			return err
		}
		if len(files) == 0 {
			continue
		}
		t, err := r.table(files, g.kind)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	labels, t, err := r.labels(y, keys, v)
	if err != nil {
		return err
	}
	if t != nil {
		tables, groups = append(tables, t), append(groups, labels)
	}
	n := assemble.Nodes{Type: typ, ID: table.Column{DType: graph.Uint64}}
	switch {
	case tables == nil && v.count == 0 && !v.known:
		return sourcef("%s: found neither chunks of properties nor the file vertex_count, expected one of them; copy the whole graph", file)
	case tables == nil && v.count == 0:
		n.Table = noNodes{file}
	case tables == nil:
		n.Count = v.count
	default:
		n.Table = countedTable{tables[0], v.count, v.known, file}
		if len(tables) > 1 {
			n.Table = countedTable{views.InStep(tables...), v.count, v.known, file}
		}
		if n.Columns, err = r.columns(ctx, n.Table, groups); err != nil {
			return err
		}
	}
	r.s.Input.Nodes = append(r.s.Input.Nodes, n)
	return nil
}

// The folder with the chunks of labels, and what the names of their columns begin with here.
const (
	graphArLabels = "labels"
	graphArLabel  = "labels."
)

// labels opens the labels that vertices have beside their type: chunks in Parquet with a column of bools for each label, whatever the type of the other chunks is. The
// columns get names that no property has, labels.LABEL. A nil table: there are none.
func (r *graphArReader) labels(y yamlfile.File, keys graphArKeys, v *graphArVertices) (g graphArGroup, _ table.Table, err error) {
	names, err := keys.texts(y, graphArLabels, "the name of a label")
	if err != nil || names == nil {
		return g, nil, err
	}
	files, err := r.chunks(filepath.Join(v.prefix, graphArLabels))
	if err != nil {
		return g, nil, err
	}
	if len(files) == 0 {
		if v.count > 0 || !v.known {
			r.m.note("%s: found no chunks of the labels %s, which are left out", v.file, table.List(some(names)))
		}
		return g, nil, nil
	}
	if err := v.check(graphArLabels, files); err != nil {
		return g, nil, err
	}
	r.s.use(files)
	t, err := columnfiles.OpenParquet(r.fsys, files)
	if err != nil {
		return g, nil, err
	}
	of := map[string]string{}
	for _, name := range names {
		if i := slices.IndexFunc(t.Fields(), func(f table.Field) bool { return f.Name == name }); i < 0 {
			return g, nil, sourcef("%s: found the columns %s, expected the label %q among them; write the graph again", files[0], table.List(some(namesOf(t.Fields()))), name)
		} else if f := t.Fields()[i]; f.DType != graph.Bool || len(f.Shape) > 0 {
			return g, nil, sourcef("%s: found %s in the column of the label %q, expected bools; write the graph again", files[0], f.DType, name)
		}
		of[graphArLabel+name] = name
		g.properties = append(g.properties, graphArProperty{name: graphArLabel + name})
	}
	return g, views.Named(t, of), nil
}
