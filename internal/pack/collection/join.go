package collection

import (
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/tagged"
)

// joined has packs as a collection in memory: each pack is a graph whose components are the graphs of the
// pack. Its buffers are reused, and its pointers stay valid.
type joined struct {
	graph.Collection
	from *graph.Collection
	// seeds are the indices of the node types of seeds.
	seeds []int
	base  []uint64 // by node type: nodes before a graph in its pack
	parts int      // components of all packs
}

// newJoined makes an empty one with the types and columns of a collection, in its order, without the data on
// how its graphs were sampled.
func newJoined(from *graph.Collection) *joined {
	j := &joined{from: from, base: make([]uint64, len(from.Nodes))}
	j.SeedType = from.SeedType
	j.Context = emptyColumns(from.Context)
	place := map[string]int{}
	for i, n := range from.Nodes {
		place[n.Type] = i
		j.Nodes = append(j.Nodes, &graph.CollectionNodes{Type: n.Type, Columns: emptyColumns(n.Columns)})
	}
	for _, e := range from.Edges {
		j.Edges = append(j.Edges, &graph.CollectionEdges{Type: e.Type, Columns: emptyColumns(e.Columns)})
	}
	for _, t := range from.SeedType {
		j.seeds = append(j.seeds, place[t])
	}
	return j
}

func emptyColumns(columns []*graph.Column) []*graph.Column {
	var out []*graph.Column
	for _, c := range columns {
		out = append(out, &graph.Column{Name: c.Name, DType: c.DType, Shape: c.Shape, Offsets: make([]graph.Index, len(c.Offsets))})
	}
	return out
}

// beginOffsets starts a list of offsets with a 0.
func beginOffsets(x graph.Index) graph.Index { return graph.Index{U64: append(x.U64[:0], 0)} }

// endOffset returns the last of a list of offsets.
func endOffset(x graph.Index) uint64 { return x.U64[len(x.U64)-1] }

// emptied returns an index without elements, of the same width as like.
func emptied(x, like graph.Index) graph.Index {
	if like.U32 != nil {
		return graph.Index{U32: x.U32[:0]}
	}
	return graph.Index{U64: x.U64[:0]}
}

// reset empties everything.
func (j *joined) reset() {
	columns := func(cs []*graph.Column) {
		for _, c := range cs {
			c.Rows, c.Values = 0, c.Values[:0]
			for k := range c.Offsets {
				c.Offsets[k] = beginOffsets(c.Offsets[k])
			}
			if c.DType == graph.String {
				c.StringOffsets = beginOffsets(c.StringOffsets)
			}
		}
	}
	j.Graphs, j.parts, j.ComponentPtr = 0, 0, beginOffsets(j.ComponentPtr)
	columns(j.Context)
	for i, n := range j.Nodes {
		n.Count, n.GraphPtr, n.ComponentPtr = 0, beginOffsets(n.GraphPtr), beginOffsets(n.ComponentPtr)
		n.NodeID = emptied(n.NodeID, j.from.Nodes[i].NodeID)
		columns(n.Columns)
	}
	for i, e := range j.Edges {
		e.Count, e.GraphPtr, e.ComponentPtr = 0, beginOffsets(e.GraphPtr), beginOffsets(e.ComponentPtr)
		e.Src.U32, e.Dst.U32 = e.Src.U32[:0], e.Dst.U32[:0]
		e.EdgeID = emptied(e.EdgeID, j.from.Edges[i].EdgeID)
		columns(e.Columns)
	}
	j.SeedPtr, j.SeedLocal.U32, j.NegativeLocal.U32 = beginOffsets(j.SeedPtr), j.SeedLocal.U32[:0], j.NegativeLocal.U32[:0]
}

// add appends a pack.
func (j *joined) add(graphs []uint64) error {
	clear(j.base)
	for _, g := range graphs {
		if err := j.graph(int(g)); err != nil {
			return err
		}
	}
	j.Graphs++
	for _, n := range j.Nodes {
		n.GraphPtr.U64 = append(n.GraphPtr.U64, uint64(n.Count))
	}
	for _, e := range j.Edges {
		e.GraphPtr.U64 = append(e.GraphPtr.U64, uint64(e.Count))
	}
	j.ComponentPtr.U64 = append(j.ComponentPtr.U64, uint64(j.parts))
	if j.from.SeedPtr.Len() > 0 {
		j.SeedPtr.U64 = append(j.SeedPtr.U64, uint64(len(j.SeedLocal.U32)/max(1, len(j.seeds))))
	}
	return nil
}

// graph appends a graph to the current pack.
func (j *joined) graph(g int) error {
	first, last := g, g+1 // components
	if p := j.from.ComponentPtr; p.Len() > 0 {
		first, last = int(p.At(g)), int(p.At(g+1))
	}
	j.parts += last - first
	appendColumns(j.Context, j.from.Context, first, last)
	if j.from.SeedPtr.Len() > 0 {
		k := len(j.seeds)
		from, to := span(j.from.SeedPtr, uint64(g))
		for i := k * from; i < k*to; i++ {
			j.SeedLocal.U32 = append(j.SeedLocal.U32, uint32(j.from.SeedLocal.At(i)+j.base[j.seeds[i%k]]))
		}
		for i, end := j.from.Negatives*k*from, j.from.Negatives*k*to; i < end; i++ {
			j.NegativeLocal.U32 = append(j.NegativeLocal.U32, uint32(j.from.NegativeLocal.At(i)+j.base[j.seeds[i%k]]))
		}
	}
	for i, e := range j.from.Edges {
		from, to := span(e.GraphPtr, uint64(g))
		x := j.Edges[i]
		x.ComponentPtr.U64 = appendComponents(x.ComponentPtr.U64, e.ComponentPtr, first, last, to-from)
		x.Count += to - from
		x.Src.U32 = appendShifted(x.Src.U32, e.Src, from, to, j.of(e.Type.Src))
		x.Dst.U32 = appendShifted(x.Dst.U32, e.Dst, from, to, j.of(e.Type.Dst))
		x.EdgeID = appendIndex(x.EdgeID, e.EdgeID, from, to)
		appendColumns(x.Columns, e.Columns, from, to)
	}
	for i, n := range j.from.Nodes {
		from, to := span(n.GraphPtr, uint64(g))
		x := j.Nodes[i]
		x.ComponentPtr.U64 = appendComponents(x.ComponentPtr.U64, n.ComponentPtr, first, last, to-from)
		x.Count += to - from
		x.NodeID = appendIndex(x.NodeID, n.NodeID, from, to)
		appendColumns(x.Columns, n.Columns, from, to)
		if j.base[i] += uint64(to - from); j.base[i] > math.MaxUint32 {
			return tagged.Errorf(layout.ErrLayout, "found a pack of more than 2^32 - 1 nodes of type %s, expected fewer; make a layout with a limit of num_nodes", n.Type)
		}
	}
	return nil
}

// of is the number of nodes of a type before the current graph.
func (j *joined) of(nodeType string) uint32 {
	for i, n := range j.Nodes {
		if n.Type == nodeType {
			return uint32(j.base[i])
		}
	}
	return 0
}

// appendComponents appends the ends of components.
func appendComponents(dst []uint64, ptr graph.Index, first, last, items int) []uint64 {
	at := dst[len(dst)-1]
	if ptr.Len() == 0 {
		return append(dst, at+uint64(items))
	}
	for i := first; i < last; i++ {
		dst = append(dst, at+ptr.At(i+1)-ptr.At(first))
	}
	return dst
}

func appendShifted(dst []uint32, x graph.Index, from, to int, by uint32) []uint32 {
	if x.U32 != nil {
		for _, v := range x.U32[from:to] {
			dst = append(dst, v+by)
		}
		return dst
	}
	for i := from; i < to; i++ {
		dst = append(dst, uint32(x.U64[i])+by)
	}
	return dst
}

func appendIndex(dst, x graph.Index, from, to int) graph.Index {
	switch {
	case x.U32 != nil:
		dst.U32 = append(dst.U32, x.U32[from:to]...)
	case x.U64 != nil:
		dst.U64 = append(dst.U64, x.U64[from:to]...)
	}
	return dst
}

// appendColumns appends the rows [first, last) of each column.
func appendColumns(dst, src []*graph.Column, first, last int) {
	for i, c := range src {
		x := dst[i]
		x.Rows += last - first
		from, to, k := first, last, 0
		for _, d := range c.Shape {
			if d != -1 {
				from, to = from*d, to*d
				continue
			}
			x.Offsets[k], from, to = appendOffsets(x.Offsets[k], c.Offsets[k], from, to)
			k++
		}
		if c.DType == graph.String {
			x.StringOffsets, from, to = appendOffsets(x.StringOffsets, c.StringOffsets, from, to)
			x.Values = append(x.Values, c.Values[from:to]...)
			continue
		}
		size := c.DType.Size()
		x.Values = append(x.Values, c.Values[from*size:to*size]...)
	}
}

// appendOffsets appends the ends of the elements [from, to), and returns the range that they bound.
func appendOffsets(dst, x graph.Index, from, to int) (_ graph.Index, first, last int) {
	at := endOffset(dst) - x.At(from)
	for i := from; i < to; i++ {
		dst.U64 = append(dst.U64, at+x.At(i+1))
	}
	return dst, int(x.At(from)), int(x.At(to))
}
