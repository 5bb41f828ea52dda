package collection

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// joinedWriter appends packs to the arrays of a collection.
type joinedWriter struct {
	w       *store.Writer
	meta    *store.Meta
	arrays  []joinedArray
	columns []joinedColumn
	scratch []byte
	packs   int
}

// joinedArray is an array and the function that returns its part for a chunk: offsets, or values.
type joinedArray struct {
	array *store.Array
	of    func(*joined) graph.Index
	ptr   bool
	last  uint64 // of the offsets
}

type joinedColumn struct {
	writer  *store.ColumnWriter
	of      func(*joined) *graph.Column
	name    string
	dir     string
	like    *graph.Column // the column of the collection
	meta    map[string]store.ColumnMeta
	lengths [][]uint32
	ends    []uint32
}

func newJoinedWriter(w *store.Writer, c *graph.Collection) (_ *joinedWriter, err error) {
	o := &joinedWriter{w: w, meta: &store.Meta{Format: store.Format, Kind: store.KindCollection, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{},
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
			x := joinedColumn{of: func(j *joined) *graph.Column { return of(j)[i] }, name: c.Name, dir: dir, like: c, meta: meta, lengths: make([][]uint32, len(c.Offsets))}
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
	if c.Negatives > 0 {
		ctx.Negatives = c.Negatives
		array(ctx.Arrays, "context", "negative_local", graph.Uint32, func(j *joined) graph.Index { return j.NegativeLocal })
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
			x.last += endOffset(index)
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

// finish completes the metadata of graph.json.
func (o *joinedWriter) finish() (*store.Meta, error) {
	for len(o.columns) > 0 {
		x := o.columns[0]
		o.columns = o.columns[1:]
		m, err := x.writer.Close()
		if err == nil {
			err = o.w.Mean(store.ColumnDir(x.dir, x.name), &m, x.like)
		}
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
