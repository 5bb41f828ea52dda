package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dgfGraph is the folder of a graph of Google's DGF, or its schema.json. The edge set NAME from S to T is the edge type S:NAME:T. Ids
// are strings; integers are read as their decimal text.
type dgfGraph struct{}

func (dgfGraph) name() string { return "dgf" }
func (dgfGraph) about() string {
	return "the folder of schema.json and metadata.json of Google's DGF, or that schema.json"
}
func (dgfGraph) becomes() string {
	return "a node type for each node set, an edge type for each edge set, with their features"
}
func (dgfGraph) detect(path string, names []string) bool {
	if names == nil {
		return filepath.Base(path) == dgf.SchemaFile
	}
	return slices.Contains(names, dgf.SchemaFile) && (slices.Contains(names, dgf.MetadataFile) || slices.Contains(names, dgf.SnapshotsDir) || slices.Contains(names, dgf.NodeSetsDir))
}

func (dgfGraph) sniff(fsys vfs.FS, path string, names []string) (bool, error) {
	if names != nil {
		path = filepath.Join(path, dgf.SchemaFile)
	}
	text, err := head(fsys, path)
	return dgf.IsSchema(text), err
}

func (dgfGraph) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsInteger || o.NumNodes > 0 {
		return nil, usagef("found integer ids or `NumNodes` with a graph of DGF, expected neither, as its ids are strings")
	}
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	file := path
	if info.IsDir() {
		file = filepath.Join(path, dgf.SchemaFile)
	}
	d := dgfReader{p: newOpener(fsys, file, o), gaps: newGaps(o), s: &Source{Primary: graph.Out}}
	if err := d.read(); err != nil {
		if errors.Is(err, dgf.ErrFormat) {
			return nil, sourcef("%w", err)
		}
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(d.schema.NodeSets)) {
		if err := d.nodes(ctx, name, d.schema.NodeSets[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.schema.EdgeSets)) {
		if err := d.edges(ctx, name, d.schema.EdgeSets[name]); err != nil {
			return nil, err
		}
	}
	d.s.Files = d.p.files
	return d.s, d.gaps.check()
}

type dgfReader struct {
	p      *opener
	gaps   *gaps
	s      *Source
	schema *dgf.Schema
}

func (d *dgfReader) warn(format string, a ...any) {
	d.s.Warnings = append(d.s.Warnings, fmt.Sprintf(format, a...))
}

// read reads the schema and the metadata, and refuses what is not one graph in Parquet files.
func (d *dgfReader) read() error {
	text, err := vfs.ReadFile(d.p.fsys, d.p.meta, dgf.MaxBytes)
	if err != nil {
		return err
	}
	if d.schema, err = dgf.ParseSchema(d.p.meta, text); err != nil {
		return err
	}
	file := filepath.Join(filepath.Dir(d.p.meta), dgf.MetadataFile)
	if there, err := vfs.Exists(d.p.fsys, file); err != nil {
		return err
	} else if !there {
		snapshots, err := vfs.Exists(d.p.fsys, filepath.Join(filepath.Dir(d.p.meta), dgf.SnapshotsDir))
		if err != nil {
			return err
		}
		if snapshots {
			return sourcef("%s: found graph snapshots, expected one graph; write what dgf.io.read_graph_snapshots_as_temporal_graph returns with dgf.io.write_graph, or import one of the folders in %s", d.p.dir, dgf.SnapshotsDir)
		}
		return sourcef("%s: found no such file beside %s, expected it; copy it from where the graph was written", file, dgf.SchemaFile)
	}
	d.p.use(file)
	if text, err = vfs.ReadFile(d.p.fsys, file, dgf.MaxBytes); err != nil {
		return err
	}
	m, err := dgf.ParseMetadata(file, text)
	if err != nil {
		return err
	}
	if m.Container != dgf.Parquet {
		return sourcef("%s: found the container %q, expected %s; read the graph with DGF and write it with dgf.io.write_graph(graph, schema, FOLDER)", file, m.Container, dgf.Parquet)
	}
	if m.Timestamp != nil {
		d.warn("%s: the timestamp %d of the graph is left out", file, *m.Timestamp)
	}
	return nil
}

func (d *dgfReader) nodes(ctx context.Context, name string, set *dgf.NodeSet) error {
	place := fmt.Sprintf("%s: node set %q", d.p.meta, name)
	if err := graph.CheckName(name); err != nil {
		return sourcef("%s: %w; rename it", place, err)
	}
	key, err := set.ID()
	if err != nil {
		return sourcef("%s: %w", place, err)
	}
	t, err := d.open(place, dgf.NodeSetsDir, name)
	if err != nil {
		return err
	}
	n := assemble.Nodes{Type: name, Table: t, ID: keyColumn(key, false)}
	if t == nil {
		n.Table = noNodes{d.p.meta}
	} else if err := checkDGFKey(place, t, key); err != nil {
		return err
	}
	if n.Columns, err = d.features(ctx, place, t, set.Features, key); err != nil {
		return err
	}
	d.s.Input.Nodes = append(d.s.Input.Nodes, n)
	return nil
}

func (d *dgfReader) edges(ctx context.Context, name string, set *dgf.EdgeSet) error {
	place := fmt.Sprintf("%s: edge set %q", d.p.meta, name)
	if err := graph.CheckName(name); err != nil {
		return sourcef("%s: %w; rename it", place, err)
	}
	t, err := d.open(place, dgf.EdgeSetsDir, name)
	if err != nil {
		return err
	}
	e := assemble.Edges{Type: graph.EdgeType{Src: set.Source, Rel: name, Dst: set.Target}, Table: t, Src: keyColumn(dgf.SourceName, false), Dst: keyColumn(dgf.TargetName, false)}
	if t == nil {
		e.Table = noNodes{d.p.meta} // nor has it edges
	} else {
		for _, end := range []string{dgf.SourceName, dgf.TargetName} {
			if err := checkDGFKey(place, t, end); err != nil {
				return err
			}
		}
	}
	if e.Columns, err = d.features(ctx, place, t, set.Features, dgf.SourceName, dgf.TargetName); err != nil {
		return err
	}
	d.s.Input.Edges = append(d.s.Input.Edges, e)
	return nil
}

// checkDGFKey refuses a table without a column of ids.
func checkDGFKey(place string, t table.Table, name string) error {
	fields := t.Fields()
	at := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == name })
	if at < 0 {
		return sourcef("%s: found no column %q in %s, expected it among %s; write the graph again", place, name, t.Files()[0], table.List(some(namesOfFields(fields))))
	}
	if f := fields[at]; len(f.Shape) > 0 || f.Unit != "" || f.DType != graph.String && !f.DType.IsInt() && f.DType != graph.Invalid {
		return sourcef("%s: found ids of %s in column %q of %s, expected bytes or integers; write the graph again", place, described(f), name, t.Files()[0])
	}
	return nil
}

func namesOfFields(fields []table.Field) []string {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// described says what a field has, for errors.
func described(f table.Field) string {
	text := f.DType.String()
	if f.Unit != "" {
		text = "times"
	}
	for range f.Shape {
		text = "lists of " + text
	}
	return text
}

// dgfDTypes are the dtypes of the formats.
var dgfDTypes = map[dgf.Format]graph.DType{dgf.Integer32: graph.Int32, dgf.Integer64: graph.Int64, dgf.Float32: graph.Float32, dgf.Float64: graph.Float64, dgf.Bytes: graph.String, dgf.Bool: graph.Bool}

// features returns the columns of a set, without those of ids. t is nil for a set without rows. DGF takes the dtypes of the table
// where they differ from those of the schema, and so do the columns.
func (d *dgfReader) features(ctx context.Context, place string, t table.Table, features map[string]*dgf.Feature, keys ...string) ([]table.Column, error) {
	var cols []table.Column
	for _, name := range slices.Sorted(maps.Keys(features)) {
		if slices.Contains(keys, name) {
			continue
		}
		f := features[name]
		c := table.Column{Name: name, DType: dgfDTypes[f.Format], Shape: slices.Clone([]int(f.Shape))}
		if t != nil {
			if err := d.stored(ctx, place, t, f, &c); err != nil {
				return nil, err
			}
		}
		own := ""
		if value, _, _ := d.gaps.rule(&c, ""); value == "" && c.DType.IsFloat() && !slices.Contains(c.Shape, -1) {
			own = "nan" // as DGF reads null
		}
		cols = append(cols, d.gaps.fill(c, own)...)
	}
	return cols, nil
}

// stored gives a column the dtype and, where the schema does not know it, the shape that the table has.
func (d *dgfReader) stored(ctx context.Context, place string, t table.Table, f *dgf.Feature, c *table.Column) error {
	fields := t.Fields()
	at := slices.IndexFunc(fields, func(f table.Field) bool { return f.Name == c.Name })
	if at < 0 {
		return sourcef("%s: feature %q: found no such column in %s, expected it among %s; correct the schema or the table%s", place, c.Name, t.Files()[0], table.List(some(namesOfFields(fields))), unreadableOr(t, c.Name, suggest.Hint(c.Name, namesOfFields(fields))))
	}
	has := fields[at]
	if has.DType == graph.Invalid { // it has no values
		return nil
	}
	if has.DType != c.DType || has.Unit != "" {
		d.warn("%s: feature %q has the format %s in the schema, and is read as %s, which %s has", place, c.Name, f.Format, described(table.Field{DType: has.DType, Unit: has.Unit}), t.Files()[0])
		c.DType, c.Unit = has.DType, has.Unit
	}
	if f.Shape == nil && len(has.Shape) > 0 {
		d.warn("%s: feature %q has no shape in the schema, and is read as %s, which %s has", place, c.Name, described(has), t.Files()[0])
		if c.Shape = has.Shape; len(has.Shape) == 1 {
			width, err := table.Width(ctx, t, has)
			if err != nil {
				return err
			}
			c.Shape = []int{cmp.Or(width, -1)}
		}
	}
	if len(has.Shape) != len(c.Shape) {
		return sourcef("%s: feature %q: found %s in %s, expected the shape %v of the schema; correct the schema or the table", place, c.Name, described(has), t.Files()[0], c.Shape)
	}
	return nil
}

// unreadableOr is a hint that the column of a name is one that cannot be read, or another hint.
func unreadableOr(t table.Table, name, hint string) string {
	for _, text := range table.Unreadable(t) {
		if strings.HasPrefix(text, name) {
			return "; it has a column that cannot be read: " + text
		}
	}
	return hint
}
