package collection

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/export"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/pack/layout"
	"github.com/graphmill/graphmill/sample/output"
	"github.com/graphmill/graphmill/store"
	"github.com/graphmill/graphmill/store/shards"
)

// Names of files of joined packs.
const (
	schemaFile = "schema.pbtxt"
	// ConstraintsFile is what TF-GNN pads the Examples to.
	ConstraintsFile = "size_constraints.json"
)

// joinedBytes is about what a chunk of joined packs holds.
const joinedBytes = 4 << 20

// chunkOf is how many packs a chunk has.
func chunkOf(s *store.Store, packs int64) int64 {
	c, size := s.Collection, int64(0)
	columns := func(cs []*graph.Column) {
		for _, x := range cs {
			size += x.Bytes()
		}
	}
	columns(c.Context)
	for _, n := range c.Nodes {
		columns(n.Columns)
		size += n.NodeID.Bytes()
	}
	for _, e := range c.Edges {
		columns(e.Columns)
		size += e.Src.Bytes() + e.Dst.Bytes() + e.EdgeID.Bytes()
	}
	return min(max(joinedBytes/(size/packs+1), 1), fillPacks)
}

// joinedChunk is the packs of a chunk.
type joinedChunk struct {
	dealt
	packs   *joined
	records *shards.Chunk                   // of Examples
	encode  func(graph int) ([]byte, error) // of packs
}

// gather joins the packs of the chunk.
func (k *joinedChunk) gather(d *layout.Deal, ids graph.DType) error {
	k.deal(d)
	k.bytes = appendIDs(k.bytes[:0], k.ids, ids)
	k.packs.reset()
	at := 0
	for i, n := range k.lengths {
		if err := k.packs.add(k.ids[at : at+n]); err != nil {
			return fmt.Errorf("pack %d: %w", k.first+int64(i), err)
		}
		at += n
	}
	return nil
}

// Joined writes the packs of an epoch as a collection into w, which the caller seals
// with what it returns: a graph a pack, whose components are its graphs, in order;
// beside it the files of Fill. left names what is known of the graphs and has no
// place in packs. The caller has checked the collection (store.Check).
func Joined(ctx context.Context, fsys fsx.FS, w *store.Writer, l *layout.Layout, s *store.Store, g *layout.Graphs, seed, epoch uint64, opt Options) (meta *store.Meta, left []string, err error) {
	out, err := newJoinedWriter(w, s.Collection)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, out.close()) }()
	newChunk := func() *joinedChunk { return &joinedChunk{packs: newJoined(s.Collection)} }
	err = run(ctx, w, l, s, g, seed, epoch, opt, newChunk, func(*joinedChunk) error { return nil }, func(k *joinedChunk) error { return out.write(k.packs) })
	if err != nil {
		return nil, nil, err
	}
	if meta, err = out.finish(); err != nil {
		return nil, nil, err
	}
	if name := s.Meta.Schema; name != "" {
		b, err := fsx.ReadFile(fsys, filepath.Join(s.Dir, filepath.FromSlash(name)), 1<<30)
		if err != nil {
			return nil, nil, err
		}
		meta.Schema = schemaFile
		if err := w.WriteFile(schemaFile, b); err != nil {
			return nil, nil, err
		}
	}
	return meta, unjoined(s), nil
}

// unjoined names what packs do not have of a collection.
func unjoined(s *store.Store) []string {
	var left []string
	for _, n := range s.Collection.Nodes {
		if n.NumSampled != nil {
			left = append(left, n.Type+": num_sampled_nodes")
		}
	}
	for _, e := range s.Collection.Edges {
		if e.NumSampled != nil {
			left = append(left, e.Type.String()+": num_sampled_edges")
		}
	}
	ops := 0
	for name := range s.Meta.Context.Arrays {
		if strings.HasPrefix(name, "op_") {
			ops++
		}
	}
	if ops > 0 {
		left = append(left, fmt.Sprintf("context: %d arrays of ops", ops))
	}
	if s.Collection.ExampleForm != nil {
		left = append(left, "context: example_form")
	}
	return left
}

// run gathers packs in several goroutines: work, then sink in order. The files of
// Fill are written beside.
func run(ctx context.Context, w *store.Writer, l *layout.Layout, s *store.Store, g *layout.Graphs, seed, epoch uint64, opt Options,
	newChunk func() *joinedChunk, work, sink func(*joinedChunk) error) (err error) {
	d := l.Deal(g, seed, epoch)
	packs := chunkOf(s, d.Packs())
	fill, err := newFillWriter(w, l)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fill.close()) }()
	next := int64(0)
	err = ordered.Run(ctx, opt.threads(), func() struct{} { return struct{}{} }, newChunk, ordered.Stages[struct{}, *joinedChunk]{
		Fill: func(k *joinedChunk) error { return k.next(&next, packs, d.Packs()) },
		Work: func(_ struct{}, k *joinedChunk) error {
			if err := k.gather(d, fill.dtype); err != nil {
				return err
			}
			return work(k)
		},
		Sink: func(k *joinedChunk) error {
			opt.tell(len(k.lengths))
			if err := sink(k); err != nil {
				return err
			}
			return fill.write(&k.dealt)
		},
	})
	if err != nil {
		return err
	}
	return fill.end(l, g, Epochs{seed, epoch, 1})
}

// constraints is what TF-GNN's SizeConstraints takes, by set.
type constraints struct {
	Components int            `json:"total_num_components"`
	Nodes      map[string]int `json:"total_num_nodes"`
	Edges      map[string]int `json:"total_num_edges"`
}

// Records writes the packs of an epoch as TFRecords into w, which the caller seals: a
// GraphTensor a pack, with a component a graph, their schema, and the files of Fill.
// Where the limits name every type, ConstraintsFile has the sizes that every pack
// fits, with room for TF-GNN's padding.
func Records(ctx context.Context, fsys fsx.FS, w *store.Writer, l *layout.Layout, s *store.Store, g *layout.Graphs, seed, epoch uint64, files shards.Options, opt Options) (left []string, err error) {
	e, left, err := export.NewEncoding(fsys, s)
	if err != nil {
		return nil, err
	}
	files.Records = uint64(l.Meta.Packs)
	out, err := shards.New(w, files)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	newChunk := func() *joinedChunk {
		k := &joinedChunk{packs: newJoined(s.Collection), records: out.NewChunk()}
		k.encode = e.Of(&k.packs.Collection)
		return k
	}
	encode := func(k *joinedChunk) error {
		for i := range k.packs.Graphs {
			record, err := k.encode(i)
			if err == nil {
				err = k.records.Append(record, uint64(k.first)+uint64(i))
			}
			if err != nil {
				return fmt.Errorf("pack %d: %w", k.first+int64(i), err)
			}
		}
		return k.records.End()
	}
	if err := run(ctx, w, l, s, g, seed, epoch, opt, newChunk, encode, func(k *joinedChunk) error { return out.Write(k.records) }); err != nil {
		return nil, err
	}
	if err := out.Finish(); err != nil {
		return nil, err
	}
	if shape, err := NewShape(l, s.Collection); err == nil {
		c := constraints{Components: shape.Graphs, Nodes: map[string]int{}, Edges: map[string]int{}}
		nodes, edges := e.Sets()
		for name, i := range nodes {
			c.Nodes[name] = shape.Nodes[s.Collection.Nodes[i].Type]
		}
		for name, i := range edges {
			c.Edges[name] = shape.Edges[s.Collection.Edges[i].Type.String()]
		}
		text, err := json.MarshalIndent(c, "", " ")
		if err != nil {
			return nil, err
		}
		if err := w.WriteFile(ConstraintsFile, append(text, '\n')); err != nil {
			return nil, err
		}
	} else {
		left = append(left, ConstraintsFile+", for which each type needs a limit")
	}
	return left, w.WriteFile(output.SchemaFile, tfgnn.AppendText(nil, e.Schema()))
}

// joinedWriter appends packs to the arrays of a collection.
type joinedWriter struct {
	w       *store.Writer
	meta    *store.Meta
	arrays  []joinedArray
	columns []joinedColumn
	scratch []byte
	packs   int
}

// joinedArray is an array and what a chunk has for it: offsets, or values.
type joinedArray struct {
	array *store.Array
	of    func(*joined) graph.Index
	ptr   bool
	last  uint64 // of offsets
}

type joinedColumn struct {
	writer  *store.ColumnWriter
	of      func(*joined) *graph.Column
	name    string
	meta    map[string]store.ColumnMeta
	lengths [][]uint32
	ends    []uint32
}

func newJoinedWriter(w *store.Writer, c *graph.Collection) (_ *joinedWriter, err error) {
	o := &joinedWriter{w: w, meta: &store.Meta{Format: 1, Kind: store.KindCollection, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{},
		Context: &store.ContextMeta{SeedType: c.SeedType, Columns: map[string]store.ColumnMeta{}, Arrays: map[string]string{}}}}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	array := func(arrays map[string]string, dir, name string, dtype graph.DType, of func(*joined) graph.Index) {
		if err != nil {
			return
		}
		arrays[name] = dir + "/" + name + ".npy"
		x := joinedArray{of: of, ptr: strings.HasSuffix(name, "_ptr")}
		if x.array, err = w.Array(arrays[name], dtype); err != nil {
			return
		}
		o.arrays = append(o.arrays, x)
		if x.ptr {
			_, err = x.array.Write(make([]byte, 8))
		}
	}
	columns := func(meta map[string]store.ColumnMeta, dir string, cs []*graph.Column, of func(*joined) []*graph.Column) {
		for i, c := range cs {
			if err != nil {
				return
			}
			x := joinedColumn{of: func(j *joined) *graph.Column { return of(j)[i] }, name: c.Name, meta: meta, lengths: make([][]uint32, len(c.Offsets))}
			if x.writer, err = w.Column(store.ColumnDir(dir, c.Name), c.Name, c.DType, c.Shape); err == nil {
				o.columns = append(o.columns, x)
			}
		}
	}
	ctx := o.meta.Context
	array(ctx.Arrays, "context", "component_ptr", graph.Uint64, func(j *joined) graph.Index { return j.ComponentPtr })
	if c.SeedPtr.Len() > 0 {
		array(ctx.Arrays, "context", "seed_ptr", graph.Uint64, func(j *joined) graph.Index { return j.SeedPtr })
		array(ctx.Arrays, "context", "seed_local", graph.Uint32, func(j *joined) graph.Index { return j.SeedLocal })
	}
	columns(ctx.Columns, "context", c.Context, func(j *joined) []*graph.Column { return j.Context })
	for i, n := range c.Nodes {
		m := &store.NodesMeta{Arrays: map[string]string{}, Columns: map[string]store.ColumnMeta{}}
		o.meta.Nodes[n.Type] = m
		dir := store.NodesDir(n.Type)
		array(m.Arrays, dir, "graph_ptr", graph.Uint64, func(j *joined) graph.Index { return j.Nodes[i].GraphPtr })
		array(m.Arrays, dir, "component_ptr", graph.Uint64, func(j *joined) graph.Index { return j.Nodes[i].ComponentPtr })
		if n.NodeID.Len() > 0 {
			array(m.Arrays, dir, "node_id", width(n.NodeID), func(j *joined) graph.Index { return j.Nodes[i].NodeID })
		}
		columns(m.Columns, dir, n.Columns, func(j *joined) []*graph.Column { return j.Nodes[i].Columns })
	}
	for i, e := range c.Edges {
		m := &store.EdgesMeta{Arrays: map[string]string{}, Columns: map[string]store.ColumnMeta{}}
		o.meta.Edges[e.Type.String()] = m
		dir := store.EdgesDir(e.Type)
		array(m.Arrays, dir, "graph_ptr", graph.Uint64, func(j *joined) graph.Index { return j.Edges[i].GraphPtr })
		array(m.Arrays, dir, "component_ptr", graph.Uint64, func(j *joined) graph.Index { return j.Edges[i].ComponentPtr })
		array(m.Arrays, dir, "src", graph.Uint32, func(j *joined) graph.Index { return j.Edges[i].Src })
		array(m.Arrays, dir, "dst", graph.Uint32, func(j *joined) graph.Index { return j.Edges[i].Dst })
		if e.EdgeID.Len() > 0 {
			array(m.Arrays, dir, "edge_id", width(e.EdgeID), func(j *joined) graph.Index { return j.Edges[i].EdgeID })
		}
		columns(m.Columns, dir, e.Columns, func(j *joined) []*graph.Column { return j.Edges[i].Columns })
	}
	return o, err
}

// write appends the packs of a chunk.
func (o *joinedWriter) write(j *joined) error {
	o.packs += j.Graphs
	o.meta.Context.Count = o.packs
	for _, n := range j.Nodes {
		o.meta.Nodes[n.Type].Count += n.Count
	}
	for _, e := range j.Edges {
		o.meta.Edges[e.Type.String()].Count += e.Count
	}
	for i := range o.arrays {
		x := &o.arrays[i]
		index := x.of(j)
		b := part(index, 0, index.Len())
		if x.ptr {
			b = o.scratch[:0]
			for _, v := range index.U64[1:] {
				b = binary.LittleEndian.AppendUint64(b, x.last+v)
			}
			o.scratch = b
			x.last += end(index)
		}
		if _, err := x.array.Write(b); err != nil {
			return err
		}
	}
	for i := range o.columns {
		if err := o.columns[i].append(j); err != nil {
			return err
		}
	}
	return nil
}

func (x *joinedColumn) append(j *joined) error {
	c := x.of(j)
	for k, list := range c.Offsets {
		x.lengths[k] = x.lengths[k][:0]
		for i, v := range list.U64[1:] {
			n := v - list.U64[i]
			if n > math.MaxUint32 {
				return tagged.Errorf(layout.ErrLayout, "column %s: found a row of %d values, expected fewer than 2^32", c.Name, n)
			}
			x.lengths[k] = append(x.lengths[k], uint32(n))
		}
	}
	x.ends = x.ends[:0]
	if c.DType == graph.String {
		if len(c.Values) > math.MaxUint32 {
			return tagged.Errorf(layout.ErrLayout, "column %s: found %d bytes of strings in a pack, expected fewer than 2^32; make a layout with lower limits", c.Name, len(c.Values))
		}
		for _, v := range c.StringOffsets.U64[1:] {
			x.ends = append(x.ends, uint32(v))
		}
	}
	return x.writer.Append(c.Values, x.ends, x.lengths...)
}

// finish completes what graph.json says.
func (o *joinedWriter) finish() (*store.Meta, error) {
	for len(o.columns) > 0 {
		x := o.columns[0]
		o.columns = o.columns[1:]
		m, err := x.writer.Close()
		if err != nil {
			return nil, err
		}
		x.meta[x.name] = m
	}
	return o.meta, nil
}

func (o *joinedWriter) close() error {
	var err error
	for _, x := range o.arrays {
		err = errors.Join(err, x.array.Close())
	}
	for _, x := range o.columns {
		_, e := x.writer.Close()
		err = errors.Join(err, e)
	}
	o.arrays, o.columns = nil, nil
	return err
}
