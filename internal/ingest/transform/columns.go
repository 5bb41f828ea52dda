package transform

import (
	"context"
	"errors"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// Changed are the files of columns that Columns writes anew, as in the metadata of the graph.
func (t *Transform) Changed(of *store.Meta) map[string]bool {
	files := map[string]bool{}
	for _, n := range t.nodes {
		for _, name := range n.normal {
			files[of.Nodes[n.n.Type].Columns[name].File] = true
		}
	}
	for _, e := range t.edges {
		for _, name := range e.normal {
			files[of.Edges[e.e.Type.String()].Columns[name].File] = true
		}
	}
	return files
}

// Columns writes the changed and the added columns, and their entries in meta, where Options.Edges is false: all other
// files of the new store are taken from the graph's.
func (t *Transform) Columns(ctx context.Context, w *store.Writer, meta *store.Meta) error {
	for _, n := range t.nodes {
		if err := n.write(ctx, w, store.NodesDir(n.n.Type), meta.Nodes[n.n.Type].Columns); err != nil {
			return err
		}
	}
	for _, e := range t.edges {
		if err := e.write(ctx, w, store.EdgesDir(e.e.Type), meta.Edges[e.e.Type.String()].Columns); err != nil {
			return err
		}
	}
	return nil
}

// write writes the changed and the added columns of a type.
func (r *rows) write(ctx context.Context, w *store.Writer, dir string, metas map[string]store.ColumnMeta) error {
	names := r.normal
	names = names[:len(names):len(names)]
	for i := range r.splits {
		names = append(names, r.splits[i].name)
	}
	for _, name := range names {
		d, shape := graph.Int32, []int(nil)
		if c := graph.FindColumn(r.columns, name); c != nil {
			d, shape = c.DType, c.Shape
		}
		out, err := w.Column(store.ColumnDir(dir, name), name, d, shape)
		if err != nil {
			return err
		}
		v := &r.vectors([]table.Column{{Name: name}})[0]
		for row := 0; row < r.count && err == nil; {
			v.reset()
			for end := min(row+chunkRows, r.count); row < end; row++ {
				v.add(row)
			}
			if err = ctx.Err(); err == nil {
				err = out.Append(v.out.Data, nil)
			}
		}
		m, cerr := out.Close()
		if err := errors.Join(err, cerr); err != nil {
			return err
		}
		if a := r.addedAs(name); a != nil {
			if m.Categories, err = w.Categories(store.ColumnDir(dir, name), name, a.texts()); err != nil {
				return err
			}
		}
		metas[name] = m
	}
	return nil
}
