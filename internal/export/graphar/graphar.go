package graphar

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// Options say how chunks are cut.
type Options struct {
	Name string
	// VertexChunk and EdgeChunk are the rows of a chunk; 0: the defaults of GraphAr.
	VertexChunk, EdgeChunk int
	// Progress, if not nil, is called with numbers of rows that were written.
	Progress func(rows int)
}

// The rows of chunks that GraphAr's own tools write by default.
const (
	vertexChunk = 1 << 18
	edgeChunk   = 1 << 22
)

// pageRows is the number of rows that are encoded at a time.
const pageRows = 1 << 14

// Result says what was written.
type Result struct {
	Nodes, Edges uint64
	Files        int
	// Left are columns that have no place in GraphAr, and Changed are columns in another dtype.
	Left, Changed []string
	// Nulls are numbers and bools with nulls: an import has to know what these mean.
	Nulls []string
}

// exporter writes a graph.
type exporter struct {
	w   *store.Writer
	s   *store.Store
	o   Options
	r   *Result
	enc *parquet.PageEncoder
	ctx context.Context //nolint:containedctx // of one call of Write
}

// Rows is the number of rows of nodes and edges, for progress.
func Rows(g *graph.Graph) (n uint64) {
	for _, t := range g.Nodes {
		n += uint64(t.Count)
	}
	for _, e := range g.Edges {
		n += uint64(e.Count)
	}
	return n
}

// Write writes the graph of a store into w. The caller seals w.
func Write(ctx context.Context, w *store.Writer, s *store.Store, o Options) (*Result, error) {
	if s.Graph == nil {
		return nil, fmt.Errorf("%s: found a collection, expected a store, as GraphAr has one graph; export it with `To` tfrecord", s.Dir)
	}
	if o.VertexChunk == 0 {
		o.VertexChunk = vertexChunk
	}
	if o.EdgeChunk == 0 {
		o.EdgeChunk = edgeChunk
	}
	if err := errors.Join(s.Check(ctx), s.Release()); err != nil {
		return nil, err
	}
	enc, err := parquet.NewPageEncoder()
	if err != nil {
		return nil, err
	}
	x := &exporter{w: w, s: s, o: o, r: &Result{}, enc: enc, ctx: ctx}
	for _, c := range s.Graph.Context {
		x.r.Left = append(x.r.Left, "context."+c.Name)
	}
	var vertices, edges []string
	for _, n := range s.Graph.Nodes {
		name, err := x.vertices(n)
		if err != nil {
			return nil, err
		}
		vertices = append(vertices, name)
	}
	for _, e := range s.Graph.Edges {
		name, err := x.edges(e)
		if err != nil {
			return nil, err
		}
		edges = append(edges, name)
	}
	list := func(names []string) string {
		if len(names) == 0 {
			return " []\n"
		}
		text := "\n"
		for _, n := range names {
			text += "  - " + quoted(n) + "\n"
		}
		return text
	}
	return x.r, x.text(store.FileName(o.Name)+".graph.yml", "name: "+quoted(o.Name)+"\nvertices:"+list(vertices)+"edges:"+list(edges)+"version: gar/v1\n")
}

// quoted is a text in quotes. YAML reads the quoted texts of JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // no text has one
		return `""`
	}
	return string(b)
}

// text writes a file.
func (x *exporter) text(name, content string) error {
	f, err := x.w.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(content))
	x.r.Files++
	return errors.Join(err, f.Close())
}

// count writes a file with a number.
func (x *exporter) count(name string, n int) error {
	return x.text(name, string(binary.LittleEndian.AppendUint64(nil, uint64(n))))
}

// writeChunk writes rows [from, to) of columns as a file.
func (x *exporter) writeChunk(name string, columns []*column, from, to int) error {
	f, err := x.w.Create(name)
	if err != nil {
		return err
	}
	x.r.Files++
	fields := make([]parquet.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	p, err := parquet.NewWriter(f, fields)
	pages := make([]parquet.Page, len(columns))
	for at := from; err == nil && at < to; at += pageRows {
		end := min(at+pageRows, to)
		for i, c := range columns {
			var rows parquet.Rows
			if rows, err = c.rows(at, end); err != nil {
				err = fmt.Errorf("%s: %s: %w", x.s.Dir, c.of, err)
				break
			}
			var b []byte
			if b, pages[i], err = x.enc.Append(nil, &fields[i], &rows); err != nil {
				break
			}
			pages[i].Bytes = b
		}
		if err == nil {
			err = p.Add(pages)
		}
		if err == nil {
			err = x.ctx.Err()
		}
	}
	if err == nil {
		err = p.Close()
	}
	return errors.Join(err, f.Close(), x.s.Release())
}

// properties is the YAML of a group of properties.
func properties(columns []*column, primary bool) string {
	if len(columns) == 0 {
		return "" // GraphAr's own reader refuses an empty list
	}
	var b strings.Builder
	b.WriteString("property_groups:\n  - prefix: properties/\n    file_type: parquet\n    properties:\n")
	for i, c := range columns {
		fmt.Fprintf(&b, "      - name: %s\n        data_type: %s\n        is_primary: %v\n", quoted(c.field.Name), c.typ, primary && i == 0)
		if primary && i > 0 || !primary {
			b.WriteString("        is_nullable: true\n")
		}
	}
	return b.String()
}

// vertices writes a node type, and returns the name of its YAML.
func (x *exporter) vertices(n *graph.Nodes) (string, error) {
	name := store.FileName(n.Type)
	id := "id"
	for graph.FindColumn(n.Columns, id) != nil {
		id = "_" + id
	}
	columns := []*column{numbers(id, n.Count, func(row int) int64 { return int64(row) })}
	if n.IDs != nil {
		c, ok := x.column(n.Type, n.IDs, nil)
		if !ok {
			return "", fmt.Errorf("%s: found ids of %s of node type %s, expected strings or integers; import the nodes again with `IDs` string", x.s.Dir, n.IDs.DType, n.Type)
		}
		c.field.Name = id
		columns[0] = c
	}
	columns = append(columns, x.columns(n.Type, n.Columns)...)
	prefix := "vertex/" + name + "/"
	for k := 0; k*x.o.VertexChunk < n.Count; k++ {
		from := k * x.o.VertexChunk
		to := min(from+x.o.VertexChunk, n.Count)
		if err := x.writeChunk(fmt.Sprintf("%sproperties/chunk%d", prefix, k), columns, from, to); err != nil {
			return "", err
		}
		x.told(to - from)
	}
	x.r.Nodes += uint64(n.Count)
	if err := x.count(prefix+"vertex_count", n.Count); err != nil {
		return "", err
	}
	file := name + ".vertex.yml"
	return file, x.text(file, fmt.Sprintf("type: %s\nchunk_size: %d\nprefix: %s\n%sversion: gar/v1\n", quoted(n.Type), x.o.VertexChunk, quoted(prefix), properties(columns, true)))
}

func (x *exporter) told(rows int) {
	if x.o.Progress != nil {
		x.o.Progress(rows)
	}
}

// edges writes an edge type, and returns the name of its YAML.
func (x *exporter) edges(e *graph.Edges) (string, error) {
	name := strings.TrimPrefix(store.EdgesDir(e.Type), "edges/")
	a := e.Adj[e.Primary]
	near := a.Indptr.Len() - 1
	ends := &nearRows{a: a}
	nearEnd := numbers("_graphArDstIndex", e.Count, ends.row)
	farEnd := numbers("_graphArSrcIndex", e.Count, func(row int) int64 { return int64(a.Far.At(row)) })
	list, aligned := "ordered_by_dest/", "dst"
	if e.Primary == graph.Out {
		nearEnd.field.Name, farEnd.field.Name = farEnd.field.Name, nearEnd.field.Name
		list, aligned = "ordered_by_source/", "src"
	}
	adjacency := []*column{farEnd, nearEnd}
	if e.Primary == graph.Out {
		slices.Reverse(adjacency)
	}
	columns := x.columns(e.Type.String(), slices.DeleteFunc(slices.Clone(e.Columns), func(c *graph.Column) bool { return c.Name == graph.PositionColumn }))
	prefix := "edge/" + name + "/"
	base := prefix + list
	for part := 0; part*x.o.VertexChunk < near; part++ {
		first, last := part*x.o.VertexChunk, min((part+1)*x.o.VertexChunk, near)
		from, to := int(a.Indptr.At(first)), int(a.Indptr.At(last))
		offsets := numbers("_graphArOffset", last-first+1, func(row int) int64 { return int64(a.Indptr.At(first+row)) - int64(from) })
		if err := x.writeChunk(fmt.Sprintf("%soffset/chunk%d", base, part), []*column{offsets}, 0, last-first+1); err != nil {
			return "", err
		}
		if err := x.count(fmt.Sprintf("%sedge_count%d", base, part), to-from); err != nil {
			return "", err
		}
		for k := 0; from+k*x.o.EdgeChunk < to; k++ {
			begin := from + k*x.o.EdgeChunk
			end := min(begin+x.o.EdgeChunk, to)
			if err := x.writeChunk(fmt.Sprintf("%sadj_list/part%d/chunk%d", base, part, k), adjacency, begin, end); err != nil {
				return "", err
			}
			if len(columns) > 0 {
				if err := x.writeChunk(fmt.Sprintf("%sproperties/part%d/chunk%d", base, part, k), columns, begin, end); err != nil {
					return "", err
				}
			}
			x.told(end - begin)
		}
	}
	x.r.Edges += uint64(e.Count)
	if err := x.count(base+"vertex_count", near); err != nil {
		return "", err
	}
	file := name + ".edge.yml"
	return file, x.text(file, fmt.Sprintf("src_type: %s\nedge_type: %s\ndst_type: %s\nchunk_size: %d\nsrc_chunk_size: %d\ndst_chunk_size: %[5]d\ndirected: true\nprefix: %[6]s\nadj_lists:\n  - ordered: true\n    aligned_by: %[7]s\n    prefix: %[8]s\n    file_type: parquet\n%[9]sversion: gar/v1\n",
		quoted(e.Type.Src), quoted(e.Type.Rel), quoted(e.Type.Dst), x.o.EdgeChunk, x.o.VertexChunk, quoted(prefix), aligned, list, properties(columns, false)))
}

// nearRows finds the near ends of rows that ascend.
type nearRows struct {
	a    *graph.Adjacency
	near int
}

func (n *nearRows) row(row int) int64 {
	for n.a.Indptr.At(n.near) > uint64(row) {
		n.near--
	}
	for n.a.Indptr.At(n.near+1) <= uint64(row) {
		n.near++
	}
	return int64(n.near)
}
