package unigraph

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// conversion is a table and the sets that read it.
type conversion struct {
	table   table.Table
	stem    string
	sets    []string
	columns []tableColumn
	meta    []*tfgnnpb.Metadata
}

// Convert writes a unigraph, which ingest.Open has opened, into w: all tables, and the schema, in which only the
// names of the tables change. The caller seals w. fsys is the file system of w and of the source. Sets that share a
// table also share the new one.
func Convert(ctx context.Context, fsys vfs.FS, w *store.Writer, src *ingest.Source, opt Options) (*Result, error) {
	if err := opt.Check(); err != nil {
		return nil, err
	}
	schema, _, _, err := tfgnnfiles.ReadSchema(fsys, src.Files[0])
	if err != nil {
		return nil, err
	}
	r := &Result{Schema: schema}
	tables, err := conversions(schema, src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Files[0], err)
	}
	for _, c := range tables {
		for _, m := range c.meta {
			m.Filename = proto.String(opt.pattern(c.stem))
		}
		if left := c.left(); len(left) > 0 {
			r.warn("%s: the columns %s are left out: the schema does not declare them", c.table.Files()[0], strings.Join(left, ", "))
		}
		if err := r.write(ctx, fsys, w, c.stem, c.sets, c.table, c.columns, opt); err != nil {
			return nil, err
		}
	}
	return r, w.WriteFile(SchemaFile, tfgnn.AppendText(nil, schema))
}

// conversions lists the tables of a source, each once.
func conversions(schema *tfgnnpb.GraphSchema, src *ingest.Source) ([]*conversion, error) {
	var all []*conversion
	add := func(t table.Table, stem, set string, meta *tfgnnpb.Metadata, ids []tableColumn, features []table.Column) error {
		i := slices.IndexFunc(all, func(c *conversion) bool { return c.table == t })
		if i < 0 {
			i = len(all)
			all = append(all, &conversion{table: t, stem: stem})
		}
		if meta == nil {
			return fmt.Errorf("found no set %q with a table, expected one; the schema changed while it was read", set)
		}
		c := all[i]
		c.sets, c.meta = append(c.sets, set), append(c.meta, meta)
		for _, f := range features {
			ids = append(ids, tableColumn{f.Name, f})
		}
		for _, x := range ids {
			have := slices.IndexFunc(c.columns, func(o tableColumn) bool { return o.Name == x.Name })
			if have < 0 {
				c.columns = append(c.columns, x)
			} else if !reflect.DeepEqual(c.columns[have], x) {
				return fmt.Errorf("found %s, which the sets %s read, with column %q in different ways, expected one dtype and shape; declare it the same way in all sets, or give each set its own table", t.Files()[0], strings.Join(c.sets, ", "), x.Name)
			}
		}
		return nil
	}
	if c := src.Input.Context; c != nil {
		if err := add(c.Table, "context", "context", schema.GetContext().GetMetadata(), nil, c.Columns); err != nil {
			return nil, err
		}
	}
	for _, n := range src.Input.Nodes {
		if n.Table == nil {
			continue
		}
		meta := schema.GetNodeSets()[n.Type].GetMetadata()
		if err := add(n.Table, "nodes-"+store.FileName(n.Type), n.Type, meta, []tableColumn{{idName, n.ID}}, n.Columns); err != nil {
			return nil, err
		}
	}
	for _, e := range src.Input.Edges {
		name := e.Type.Rel
		meta := schema.GetEdgeSets()[name].GetMetadata()
		from, to := e.Src, e.Dst
		if slices.ContainsFunc(meta.GetExtra(), func(x *tfgnnpb.Metadata_KeyValue) bool {
			return x.GetKey() == "edge_type" && x.GetValue() == "reversed"
		}) {
			from, to = to, from // in the order of the table
		}
		if err := add(e.Table, "edges-"+store.FileName(name), name, meta, []tableColumn{{sourceName, from}, {targetName, to}}, e.Columns); err != nil {
			return nil, err
		}
	}
	order := []string{idName, sourceName, targetName}
	rank := func(c tableColumn) int {
		if i := slices.Index(order, c.Name); i >= 0 {
			return i
		}
		return len(order)
	}
	for _, c := range all {
		slices.SortFunc(c.columns, func(a, b tableColumn) int {
			return cmp.Or(rank(a)-rank(b), strings.Compare(a.Name, b.Name))
		})
	}
	return all, nil
}

// left names the columns of the table that no set declares.
func (c *conversion) left() []string {
	known := map[string]bool{}
	for _, x := range c.columns {
		known[x.From.Name] = true
		for i := range x.From.Shape {
			known[tfgnn.RaggedKey(x.From.Name, i+1)] = true
		}
	}
	left := map[string]bool{}
	for _, f := range c.table.Fields() {
		if !known[f.Name] {
			left[fmt.Sprintf("%q", f.Name)] = true
		}
	}
	if p, ok := c.table.(*columnfiles.Columnar); ok {
		for _, name := range p.Unreadable() {
			left[name] = true
		}
	}
	return slices.Sorted(maps.Keys(left))
}
