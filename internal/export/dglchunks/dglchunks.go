package dglchunks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/graphmill/graphmill/format/dglchunks"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// maxChunks is the number of chunks that the five digits in a file name can count.
const maxChunks = 100_000

// Options say how a graph is cut and written.
type Options struct {
	// Name is the graph_name of the metadata, by which DGL identifies the graph.
	Name   string
	Chunks int // at least 1
	// Edges is dglchunks.CSV, Numpy or Parquet; Features is Numpy or Parquet. DGL's tools cannot read edges from
	// arrays.
	Edges, Features string
	Threads         int   // at least 1
	Memory          int64 // bytes of peak RSS; 0: 1 GiB
	// Progress, if not nil, receives the number of rows of each step: the rows of nodes and edges, once per column.
	Progress func(rows int)
}

// Check checks that the options are valid together.
func (o *Options) Check() error {
	switch {
	case o.Chunks < 1 || o.Chunks > maxChunks:
		return fmt.Errorf("found %d chunks, expected 1 to %d", o.Chunks, maxChunks)
	case !slices.Contains([]string{dglchunks.CSV, dglchunks.Numpy, dglchunks.Parquet}, o.Edges):
		return fmt.Errorf("found edges as %q, expected csv, numpy or parquet", o.Edges)
	case !slices.Contains([]string{dglchunks.Numpy, dglchunks.Parquet}, o.Features):
		return fmt.Errorf("found features as %q, expected numpy or parquet", o.Features)
	case o.Name == "" || !utf8.ValidString(o.Name):
		return fmt.Errorf("found graph name %q, expected one that is not empty", o.Name)
	}
	return nil
}

// Result describes what was written.
type Result struct {
	Nodes, Edges uint64
	Rows         uint64 // rows of all files
	Files        int
	// Left lists the columns and ids that do not fit into the format, "paper.title", and what columns lose: "the unit of
	// paper.at". Changed lists the columns that are written with another dtype, with both dtypes.
	Left, Changed []string
}

// Rows is the sum of all rows that Options.Progress receives.
func Rows(g *graph.Graph) uint64 {
	rows := uint64(0)
	for _, n := range g.Nodes {
		rows += uint64(n.Count) * uint64(len(fitting(widening.Own(n.Columns)))+len(graph.Pieced(n.Columns)))
	}
	for _, e := range g.Edges {
		rows += uint64(e.Count)
	}
	return rows
}

// columns are the columns of the types of a graph, with the features that the store holds in pieces.
type columns struct{ nodes, edges [][]*widening.Column }

func columnsOf(g *graph.Graph, features *widening.Features) (c columns, err error) {
	c = columns{make([][]*widening.Column, len(g.Nodes)), make([][]*widening.Column, len(g.Edges))}
	for i, n := range g.Nodes {
		if c.nodes[i], err = features.Nodes(n); err != nil {
			return c, err
		}
	}
	for i, e := range g.Edges {
		if c.edges[i], err = features.Edges(e); err != nil {
			return c, err
		}
	}
	return c, nil
}

// bytes is the size of the values of all rows, with both ends of edges as 64-bit integers.
func (c *columns) bytes(g *graph.Graph) (n int64) {
	for _, e := range g.Edges {
		n += 16 * int64(e.Count)
	}
	for _, all := range slices.Concat(c.nodes, c.edges) {
		for _, x := range fitting(all) {
			n += x.RowsBytes()
		}
	}
	return n
}

// numberBytes is the most memory that widening features takes, apart from rows.
func (c *columns) numberBytes() (n int64) {
	for _, x := range slices.Concat(slices.Concat(c.nodes, c.edges)...) {
		n += x.NumberBytes()
	}
	return n
}

// fitting returns the columns that the format can hold.
func fitting(columns []*widening.Column) (out []*widening.Column) {
	for _, c := range columns {
		if c.Name != graph.PositionColumn && c.DType != graph.String && !c.Ragged() {
			out = append(out, c)
		}
	}
	return out
}

// What Parquet takes more than other formats: a row group and its pages, and per thread an encoder and its buffers.
const parquetBytes, parquetThreadBytes = 30 << 20, 8 << 20

// Write writes the graph of a store into w. The caller seals w. fsys is the file system of w.
func Write(ctx context.Context, fsys vfs.FS, w *store.Writer, s *store.Store, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store, as a chunked graph is one graph; export it with `To` tfrecord", s.Dir)
	}
	if err := errors.Join(s.Check(ctx), s.Release()); err != nil {
		return nil, err
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	features, err := widening.Read(fsys, s.Dir)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(s.Graph, features)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	fixed := int64(limits.ProcessBytes) + columns.numberBytes()
	if o.Edges == dglchunks.Parquet || o.Features == dglchunks.Parquet {
		// A row group, and the encoders. They may not depend on the bound, because the bytes of the files would.
		fixed += min(parquetBytes, 2*columns.bytes(s.Graph)) + parquetThreadBytes*int64(o.Threads)
		if o.Memory < fixed {
			return nil, tagged.Errorf(limits.ErrMemory, "found `Memory` %s, expected at least %s for Parquet with %d threads; give more `Memory` or fewer `Threads`", human.Bytes(o.Memory), human.Bytes(fixed), o.Threads)
		}
	}
	o.Memory = max(o.Memory-fixed, limits.ProcessBytes) // for buffers
	x := &exporter{fsys: fsys, w: w, s: s, o: &o, r: &Result{}}
	m := &dglchunks.Metadata{GraphName: o.Name}
	for _, c := range s.Graph.Context {
		x.r.Left = append(x.r.Left, "context."+c.Name)
	}
	for i, n := range s.Graph.Nodes {
		out := dglchunks.Nodes{Type: n.Type, Counts: o.cut(n.Count)}
		x.r.Nodes += uint64(n.Count)
		if n.IDs != nil {
			x.r.Left = append(x.r.Left, "original ids of "+n.Type)
		}
		files, err := x.files("node_data/"+store.FileName(n.Type)+"/", n.Type, columns.nodes[i], out.Counts, &out.Data)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if err := x.nodes(ctx, f, n.Count); err != nil {
				return nil, err
			}
		}
		m.Nodes = append(m.Nodes, out)
	}
	for i, e := range s.Graph.Edges {
		out := dglchunks.Edges{Type: e.Type.String(), Counts: o.cut(e.Count)}
		x.r.Edges += uint64(e.Count)
		name := store.EdgesDir(e.Type)
		ends := newSeries(w, name, o.Edges, out.Chunks)
		ends.dtype, ends.shape = graph.Int64, []int{2}
		files, err := x.files("edge_data/"+name[len("edges/"):]+"/", out.Type, columns.edges[i], out.Counts, &out.Data)
		if err != nil {
			return nil, err
		}
		if err := x.edges(ctx, e, append([]*series{ends}, files...)); err != nil {
			return nil, err
		}
		out.Files = ends.spec()
		x.r.Files += len(out.Paths)
		m.Edges = append(m.Edges, out)
	}
	b, err := m.JSON()
	if err != nil {
		return nil, err
	}
	return x.r, w.WriteFile(dglchunks.File, b)
}

// cut returns the chunks of the given number of rows: at most Chunks, none of them empty.
func (o *Options) cut(rows int) dglchunks.Counts {
	c := dglchunks.Counts{Total: uint64(rows)}
	n := min(o.Chunks, rows)
	for i := range n {
		c.Chunks = append(c.Chunks, uint64(rows/n))
		if i < rows%n {
			c.Chunks[i]++
		}
	}
	return c
}

// exporter writes one graph.
type exporter struct {
	fsys vfs.FS
	w    *store.Writer
	s    *store.Store
	o    *Options
	r    *Result
	read int64 // bytes read from maps since they were last released
}

// wide maps each dtype that DGL's tools cannot read to the one that replaces it.
var wide = map[graph.DType]graph.DType{
	graph.Bool: graph.Uint8, graph.Int16: graph.Int32, graph.Uint16: graph.Int32, graph.Uint32: graph.Int64, graph.Uint64: graph.Int64, graph.BFloat16: graph.Float32,
}

// files begins the files of the columns of a type, and describes them in data.
func (x *exporter) files(dir, of string, columns []*widening.Column, n dglchunks.Counts, data *[]dglchunks.Data) ([]*series, error) {
	fit := fitting(columns)
	for _, c := range columns {
		if c.Name != graph.PositionColumn && !slices.Contains(fit, c) {
			x.r.Left = append(x.r.Left, of+"."+c.Name)
		}
	}
	var out []*series
	for _, c := range fit {
		if !utf8.ValidString(c.Name) {
			return nil, fmt.Errorf("%s: found column %q, expected a name in UTF-8; rename the column", of, c.Name)
		}
		if err := c.CheckOffsets(); err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", of, c.Name, err)
		}
		f := newSeries(x.w, dir+store.FileName(c.Name), x.o.Features, n.Chunks)
		f.column, f.dtype, f.shape = c, c.DType, c.Shape
		f.of = of + "." + c.Name
		if meaning := store.Meaning(c.Column); n.Total == 0 { // no file has its dtype
			x.r.Left = append(x.r.Left, f.of+", which has no rows")
		} else if meaning != "" {
			x.r.Left = append(x.r.Left, meaning+" "+f.of)
		}
		if d, ok := wide[c.DType]; ok {
			f.dtype = d
			x.r.Changed = append(x.r.Changed, fmt.Sprintf("%s: %s as %s", f.of, c.DType, d))
		}
		out = append(out, f)
		*data = append(*data, dglchunks.Data{Name: c.Name, Files: f.spec()})
		x.r.Files += len(n.Chunks)
	}
	return out, nil
}

// release releases the memory of maps from time to time.
func (x *exporter) release(read int) error {
	if x.read += int64(read); x.read < min(x.o.Memory/4, 256<<20) {
		return nil
	}
	x.read = 0
	return x.s.Release()
}

var errOver = errors.New("found a number above the largest int64, expected a smaller one, as DGL's tools cannot read uint64; import the column as int64 or float64")

const maxInt64 = uint64(math.MaxInt64)
