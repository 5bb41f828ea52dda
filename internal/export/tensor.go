package export

import (
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
)

// ownEncoder encodes the graphs of a collection with its own schema.
type ownEncoder struct {
	*own
	w       example.Writer
	floats  examplecolumns.Narrowed
	g       *example.GraphTensor
	context []tensor
	nodes   []nodesTensors
	edges   []edgesTensors
}

type nodesTensors struct {
	of      *graph.CollectionNodes
	set     *example.NodeSet
	tensors []tensor
}

type edgesTensors struct {
	of      *graph.CollectionEdges
	set     *example.EdgeSet
	tensors []tensor
}

// tensor is a feature to fill and the column that its values come from. The buffers hold values that cannot be used
// in place.
type tensor struct {
	t      *example.Tensor
	c      *graph.Column
	key    string // key of the feature
	ints   []int64
	floats []float32
}

func (o *own) newEncoder() encoder {
	e := &ownEncoder{own: o, g: o.codec.New()}
	tensors := func(kind, set string, features map[string]*example.Tensor, columns []*graph.Column) []tensor {
		var ts []tensor
		for _, c := range columns {
			ts = append(ts, tensor{t: features[c.Name], c: c, key: tfgnn.FeatureKey(kind, set, c.Name)})
		}
		return ts
	}
	e.context = tensors("context", "", e.g.Context, o.ctx)
	for _, s := range o.nodes {
		set := e.g.NodeSets[s.name]
		e.nodes = append(e.nodes, nodesTensors{o.c.Nodes[s.number], set, tensors("nodes", s.name, set.Features, s.columns)})
	}
	for _, s := range o.edges {
		set := e.g.EdgeSets[s.name]
		e.edges = append(e.edges, edgesTensors{o.c.Edges[s.number], set, tensors("edges", s.name, set.Features, s.columns)})
	}
	return e
}

func (e *ownEncoder) encode(g int) ([]byte, error) {
	from, to := g, g+1 // components
	if p := e.c.ComponentPtr; p.Len() > 0 {
		from, to = int(p.At(g)), int(p.At(g+1))
	}
	for i := range e.context {
		e.context[i].fill(from, to, &e.floats)
	}
	for i := range e.nodes {
		n := &e.nodes[i]
		first, last := int(n.of.GraphPtr.At(g)), int(n.of.GraphPtr.At(g+1))
		n.set.Sizes = sizes(n.set.Sizes[:0], n.of.ComponentPtr, from, to, last-first)
		for k := range n.tensors {
			n.tensors[k].fill(first, last, &e.floats)
		}
	}
	for i := range e.edges {
		n := &e.edges[i]
		first, last := int(n.of.GraphPtr.At(g)), int(n.of.GraphPtr.At(g+1))
		n.set.Sizes = sizes(n.set.Sizes[:0], n.of.ComponentPtr, from, to, last-first)
		n.set.SourceIndex = local(n.set.SourceIndex[:0], n.of.Src, first, last)
		n.set.TargetIndex = local(n.set.TargetIndex[:0], n.of.Dst, first, last)
		for k := range n.tensors {
			n.tensors[k].fill(first, last, &e.floats)
		}
	}
	if err := e.floats.Err(); err != nil {
		return nil, err
	}
	e.g.Form = e.one
	if e.form != nil {
		e.g.Form = e.form[g*e.width : (g+1)*e.width]
	}
	return e.codec.Encode(&e.w, e.g)
}

func (e *ownEncoder) narrowed() *examplecolumns.Narrowed { return &e.floats }

// sizes returns the number of items of each component.
func sizes(dst []int64, ptr graph.Index, from, to, all int) []int64 {
	if ptr.Len() == 0 {
		return append(dst, int64(all))
	}
	for i := from; i < to; i++ {
		dst = append(dst, int64(ptr.At(i+1)-ptr.At(i)))
	}
	return dst
}

func local(dst []int64, x graph.Index, first, last int) []int64 {
	if x.U32 != nil {
		return widen(dst, x.U32[first:last])
	}
	for i := first; i < last; i++ {
		dst = append(dst, int64(x.At(i)))
	}
	return dst
}

func widen[T example.Integer](dst []int64, values []T) []int64 {
	for _, v := range values {
		dst = append(dst, int64(v))
	}
	return dst
}

// fill gives the tensor the rows [first, last) of its column. It adds the losses of doubles to n.
func (t *tensor) fill(first, last int, n *examplecolumns.Narrowed) {
	c := t.c
	t.t.Items = last - first
	from, to, k := first, last, 0
	for _, d := range c.Shape {
		if d != -1 {
			from, to = from*d, to*d
			continue
		}
		lengths := t.t.Lengths[k][:0]
		for i := from; i < to; i++ {
			lengths = append(lengths, int64(c.Offsets[k].At(i+1)-c.Offsets[k].At(i)))
		}
		t.t.Lengths[k] = lengths
		from, to = int(c.Offsets[k].At(from)), int(c.Offsets[k].At(to))
		k++
	}
	switch c.DType {
	case graph.String:
		t.t.Texts = t.t.Texts[:0]
		for i := from; i < to; i++ {
			t.t.Texts = append(t.t.Texts, c.Text(i))
		}
	case graph.Int64, graph.Uint64: // uint64 keeps its bits
		t.t.Ints = view[int64](c, from, to)
	case graph.Bool, graph.Uint8:
		t.widened(func(d []int64) []int64 { return widen(d, view[uint8](c, from, to)) })
	case graph.Int8:
		t.widened(func(d []int64) []int64 { return widen(d, view[int8](c, from, to)) })
	case graph.Int16:
		t.widened(func(d []int64) []int64 { return widen(d, view[int16](c, from, to)) })
	case graph.Uint16:
		t.widened(func(d []int64) []int64 { return widen(d, view[uint16](c, from, to)) })
	case graph.Int32:
		t.widened(func(d []int64) []int64 { return widen(d, view[int32](c, from, to)) })
	case graph.Uint32:
		t.widened(func(d []int64) []int64 { return widen(d, view[uint32](c, from, to)) })
	case graph.Float32:
		t.t.Floats = view[float32](c, from, to)
	case graph.Float64:
		n.Look(t.key, view[float64](c, from, to))
		t.shortened(c, from, to)
	case graph.Float16:
		t.floats = short(t.floats[:0], view[uint16](c, from, to), example.Float16)
		t.t.Floats = t.floats
	case graph.BFloat16:
		t.floats = short(t.floats[:0], view[uint16](c, from, to), example.BFloat16)
		t.t.Floats = t.floats
	}
}

// view returns a view of the values [from, to) of a column.
func view[T graph.Numbers](c *graph.Column, from, to int) []T {
	return graph.View[T](c.Values)[from:to]
}

func (t *tensor) widened(f func([]int64) []int64) {
	t.ints = f(t.ints[:0])
	t.t.Ints = t.ints
}

func (t *tensor) shortened(c *graph.Column, from, to int) {
	t.floats = short(t.floats[:0], view[uint64](c, from, to), examplecolumns.Shorten)
	t.t.Floats = t.floats
}

func short[T uint16 | uint64](dst []float32, values []T, convert func(T) float32) []float32 {
	for _, v := range values {
		dst = append(dst, convert(v))
	}
	return dst
}
