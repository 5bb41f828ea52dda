package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/positions"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Names of the files that describe the tables.
const (
	GraphFile  = "graph.yaml"
	ReadmeFile = "README.md"
)

// MaxShards is the number of shards that the five digits in a file name can count.
const MaxShards = 99999

// Options say how tables are written.
type Options struct {
	Name string // of the store, for the README
	// Shell puts flags in the places of fields in the commands that README.md and graph.yaml show; nil leaves the fields.
	Shell   func(line string) string
	Shards  int   // files of a table; at least 1
	Threads int   // at least 1
	Memory  int64 // bytes of peak RSS; 0: no bound. It changes no byte of the output.
	// Progress, if not nil, receives numbers of rows that are done, which are Rows in all.
	Progress func(rows int)
}

// Result describes what was written.
type Result struct {
	Tables       []Table
	Nodes, Edges uint64
	Bytes        int64
	// Notes say what the tables hold in another form than the store, or not at all.
	Notes []string
}

// Table is a table that was written.
type Table struct {
	// Name is its file, or the pattern of its files if there are several shards.
	Name  string
	Of    string // the type
	Edges bool
	Rows  uint64
	Bytes int64
	// Keys are the columns of numbers and ids, before those of the type.
	Keys []string

	columns []column
	yaml    string // of the type, in graph.yaml
}

// Rows is the sum of all rows that Options.Progress receives.
func Rows(g *graph.Graph) (rows int64) {
	for _, n := range g.Nodes {
		rows += int64(n.Count)
	}
	for _, e := range g.Edges {
		rows += int64(e.Count)
	}
	return rows
}

// What a run holds beside its blocks: a row group with its pages, mapped pages of the store, an encoder per thread, and the sort of edges.
const (
	groupBytes  = 24 << 20
	mappedBytes = 10 << 20
	threadBytes = 8 << 20
	sortBytes   = 8 << 20
	// copies is how often the values of a block are in memory: gathered, as Parquet has them, and encoded.
	copies = 4
)

// check refuses a bound that is too small for a store of some bytes, and returns the bytes that are left for the sort of edges.
func (o *Options) check(size int64) (sorting int64, err error) {
	blocks := groupBytes + copies*int64(ordered.Slots(o.Threads))*blockBytes
	least := int64(limits.ProcessBytes) + mappedBytes + sortBytes + threadBytes*int64(o.Threads) + min(blocks, copies*size)
	if o.Memory > 0 && o.Memory < least {
		return 0, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s with %d threads; give more `Memory` or fewer `Threads`", human.Bytes(o.Memory), human.Bytes(least), o.Threads)
	}
	if o.Memory == 0 {
		return 1 << 30, nil
	}
	return o.Memory - least, nil
}

// Write writes the graph of a store into w. The caller seals w. fsys is the file system of w.
func Write(ctx context.Context, fsys vfs.FS, w *store.Writer, s *store.Store, o Options) (*Result, error) {
	size, err := store.Size(fsys, s.Dir)
	if err != nil {
		return nil, err
	}
	sorting, err := o.check(size)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Check(ctx), s.Release()); err != nil {
		return nil, err
	}
	features, err := widening.Read(fsys, s.Dir)
	if err != nil {
		return nil, err
	}
	x := &exporter{fsys: fsys, w: w, s: s, o: &o, sorting: sorting, r: &Result{}, yaml: yamlBytes}
	most := int64(0)
	if o.Memory > 0 {
		x.sorting = sorting / 2
		most = mappedBytes + x.sorting
	}
	x.pages = newMapped(s, size, most)
	for _, n := range s.Graph.Nodes {
		columns, err := features.Nodes(n)
		if err == nil {
			err = x.writeNodes(ctx, n, columns)
		}
		if err != nil {
			return nil, fmt.Errorf("node type %s: %w", n.Type, err)
		}
	}
	for _, e := range s.Graph.Edges {
		columns, err := features.Edges(e)
		if err == nil {
			err = x.writeEdges(ctx, e, columns)
		}
		if err != nil {
			return nil, fmt.Errorf("edge type %s: %w", e.Type, err)
		}
	}
	if len(s.Graph.Context) > 0 {
		if err := x.writeContext(ctx, s.Graph.Context); err != nil {
			return nil, fmt.Errorf("context: %w", err)
		}
	}
	if err := w.WriteFile(GraphFile, x.graphYAML()); err != nil {
		return nil, err
	}
	return x.r, w.WriteFile(ReadmeFile, x.readme())
}

// exporter writes one graph.
type exporter struct {
	fsys    vfs.FS
	w       *store.Writer
	s       *store.Store
	o       *Options
	sorting int64 // bytes for the sort of edges
	pages   *mapped
	r       *Result
	yaml    int // bytes that graph.yaml may still have
}

func (x *exporter) note(format string, a ...any) {
	x.r.Notes = append(x.r.Notes, fmt.Sprintf(format, a...))
}

// writeNodes writes a node type.
func (x *exporter) writeNodes(ctx context.Context, n *graph.Nodes, columns []*widening.Column) error {
	t := &Table{Of: n.Type, Rows: uint64(n.Count)}
	names := newNames(columns)
	t.key(names.free("node"), nil, ownRows)
	if n.IDs != nil {
		t.key(names.free("id"), n.IDs, ownRows)
	}
	if err := x.addColumns(t, n.Type, columns); err != nil {
		return err
	}
	if n.Added > 0 {
		x.note("the last %d nodes of %s had no row in their table; here they have a row", n.Added, n.Type)
	}
	t.yaml = x.nodesYAML(n, t)
	x.r.Nodes += uint64(n.Count)
	return x.write(ctx, "nodes-"+store.FileName(n.Type), t, &counted{rows: n.Count})
}

// writeEdges writes an edge type.
func (x *exporter) writeEdges(ctx context.Context, e *graph.Edges, columns []*widening.Column) (err error) {
	t := &Table{Of: e.Type.String(), Edges: true, Rows: uint64(e.Count)}
	names := newNames(columns)
	t.key(names.free("edge"), nil, ownRows)
	t.key(names.free("source"), nil, sourceRows)
	t.key(names.free("target"), nil, targetRows)
	g := x.s.Graph
	src, dst := g.Nodes[g.NodeType(e.Type.Src)], g.Nodes[g.NodeType(e.Type.Dst)]
	if src.IDs != nil {
		t.key(names.free("source_id"), src.IDs, sourceRows)
	}
	if dst.IDs != nil {
		t.key(names.free("target_id"), dst.IDs, targetRows)
	}
	if err := x.addColumns(t, e.Type.String(), columns); err != nil {
		return err
	}
	t.yaml = x.edgesYAML(t, src.IDs != nil, dst.IDs != nil)
	x.r.Edges += uint64(e.Count)
	var order rowOrder = &counted{rows: e.Count}
	inInput, err := positions.Of(e)
	if err != nil {
		return err
	}
	if inInput.Len() > 0 {
		sorted, err := x.sortEdges(ctx, e, inInput)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, sorted.close()) }()
		order = sorted
	}
	return x.write(ctx, "edges-"+store.EdgesDir(e.Type)[len("edges/"):], t, &withEnds{rowOrder: order, edges: e})
}

// writeContext writes the columns of the graph as a whole, which graph.yaml has no place for.
func (x *exporter) writeContext(ctx context.Context, columns []*graph.Column) error {
	t := &Table{Of: "context", Rows: uint64(columns[0].Rows)}
	if err := x.addColumns(t, "context", widening.Own(columns)); err != nil {
		return err
	}
	x.note("context.parquet has columns of the graph as a whole, which an import leaves out")
	return x.write(ctx, "context", t, &counted{rows: columns[0].Rows})
}

// addColumns adds the columns of a type.
func (x *exporter) addColumns(t *Table, of string, columns []*widening.Column) error {
	if !utf8.ValidString(of) {
		return fmt.Errorf("found the name %q, expected one in UTF-8; rename the type", of)
	}
	for _, c := range columns {
		if c.Name == graph.PositionColumn {
			continue
		}
		if !utf8.ValidString(c.Name) || c.Name == "" {
			return fmt.Errorf("found column %q, expected a name in UTF-8 that is not empty; rename the column", c.Name)
		}
		if err := c.CheckOffsets(); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		made, err := storeColumn(c, columns)
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		if made.note != "" {
			x.note("%s.%s: %s", of, c.Name, made.note)
		}
		t.columns = append(t.columns, made)
	}
	return nil
}

// write writes a table as the files of its shards.
func (x *exporter) write(ctx context.Context, stem string, t *Table, order rowOrder) error {
	t.Name = stem + ".parquet"
	if x.o.Shards > 1 {
		t.Name = fmt.Sprintf("%s-?????-of-%05d.parquet", stem, x.o.Shards)
	}
	f := &files{x: x, stem: stem, t: t, fields: make([]parquet.Field, len(t.columns))}
	for i := range t.columns {
		f.fields[i] = t.columns[i].field
	}
	step := t.step()
	next := uint64(0)
	err := ordered.Run(ctx, x.o.Threads, func() *worker { return &worker{} }, func() *block { return &block{} }, ordered.Stages[*worker, *block]{
		Fill: func(b *block) error {
			if next == t.Rows {
				return io.EOF
			}
			b.shard = shardOf(t.Rows, x.o.Shards, next)
			n := int(min(uint64(step), shardEnd(t.Rows, x.o.Shards, b.shard)-next))
			next += uint64(n)
			return order.fill(ctx, b, n)
		},
		Work: func(_ context.Context, w *worker, b *block) error {
			if ends, ok := order.(*withEnds); ok {
				ends.find(b)
			}
			return w.encode(b, t.columns, f.fields, x.pages)
		},
		Sink: func(b *block) error {
			if x.o.Progress != nil {
				x.o.Progress(len(b.rows))
			}
			return f.add(b)
		},
	})
	if err = errors.Join(err, f.end(err != nil)); err != nil {
		return err
	}
	x.r.Bytes += t.Bytes
	x.r.Tables = append(x.r.Tables, *t)
	return nil
}
