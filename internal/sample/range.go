package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// RangeEdges are the edges of consecutive nodes along an edge type in one direction, node by node.
type RangeEdges struct {
	First  uint32   // the first node
	Indptr []uint32 // offsets in Far: one more than there are nodes, and the first is 0
	Far    []uint32
	// EdgeID is empty where ids count from FirstID; U64 where the edge type is wide (Sampler.Wide).
	EdgeID  graph.Index
	FirstID uint64
	// Columns has a row per edge, in the order of Far, of each column that the ops read (Sampler.Columns).
	Columns []*graph.Column
}

// Range draws for consecutive nodes, whose edges alone it has. It is immutable and safe for concurrent use.
type Range struct {
	edges RangeEdges
	wide  bool  // Sampler.Wide
	ops   []*op // by op from 0; nil for an op that walks elsewhere
}

// apart says whether the edge ids do not count from FirstID. That does not matter for a range without edges.
func (e *RangeEdges) apart() bool { return e.EdgeID.Len() > 0 }

// Columns is the names of the edge columns that ops read of an edge type, given by number, in a direction.
func (s *Sampler) Columns(edges int, dir graph.Direction) []string {
	var names []string
	for i := range s.ops {
		p := &s.plan.Ops[i]
		if s.ops[i].edges != edges || p.Dir != dir {
			continue
		}
		if p.Column != "" {
			names = append(names, p.Column)
		}
		if times := s.plan.timeColumn(p.Edges); times != "" {
			names = append(names, times)
		}
	}
	return names
}

// Range compiles the ops along an edge type, given by number, in a direction for the edges of consecutive nodes. It
// checks the edges, and keeps their slices.
func (s *Sampler) Range(edges int, dir graph.Direction, e RangeEdges) (*Range, error) {
	of := s.g.Edges[edges]
	near, far := s.g.Nodes[s.g.NodeType(of.Type.Near(dir))], s.g.Nodes[s.g.NodeType(of.Type.Far(dir))]
	n := len(e.Indptr) - 1
	switch {
	case n < 0 || int(e.First)+n > near.Count:
		return nil, fmt.Errorf("%s: found %d offsets from node %d, expected up to %d nodes", of.Type, n+1, e.First, near.Count)
	case e.apart() && e.EdgeID.Len() != len(e.Far) || !e.apart() && (e.FirstID > uint64(of.Count) || len(e.Far) > of.Count-int(e.FirstID)):
		return nil, fmt.Errorf("%s: found %d neighbours and %d edge ids from %d, expected at most %d of each", of.Type, len(e.Far), e.EdgeID.Len(), e.FirstID, of.Count)
	case len(e.EdgeID.U32) > 0 && isWide(of) || len(e.EdgeID.U64) > 0 && !isWide(of):
		return nil, fmt.Errorf("%s: found %d edge ids of 32 bits and %d of 64, expected those that %d edges take", of.Type, len(e.EdgeID.U32), len(e.EdgeID.U64), of.Count)
	case e.Indptr[0] != 0:
		return nil, fmt.Errorf("%s: found offset %d, expected 0 first", of.Type, e.Indptr[0])
	}
	if err := (graph.Index{U32: e.Indptr}).CheckOffsets(len(e.Far)); err != nil {
		return nil, fmt.Errorf("%s: nodes from %d: %w", of.Type, e.First, err)
	}
	if err := checkBelow(of, graph.Index{U32: e.Far}, "neighbour", far.Count); err != nil {
		return nil, err
	}
	if err := checkBelow(of, e.EdgeID, "edge id", of.Count); err != nil {
		return nil, err
	}
	part := &graph.Edges{Type: of.Type, Count: len(e.Far), Columns: e.Columns}
	adj := &adjacency{first: e.First, indptr: graph.Index{U32: e.Indptr}, far: e.Far}
	r, columns := &Range{edges: e, wide: isWide(of), ops: make([]*op, len(s.ops))}, newColumnCache(nil)
	for i := range s.ops {
		if s.ops[i].edges != edges || s.ops[i].dir != dir {
			continue
		}
		o := s.ops[i]
		o.adj = adj
		if err := o.compile(&opSource{s.plan, &s.plan.Ops[i], part, columns}); err != nil {
			return nil, err
		}
		r.ops[i] = &o
	}
	return r, nil
}

// Take is the far ends and the ids of the edges that op (from 1) takes of node v of a range, in the order of the draws.
// key is the key of the op (Sampler.Key), and t is the time of the seed. The results are valid until the next call.
func (c *Context) Take(r *Range, op int, key uint64, t Time, v uint32) (far []uint32, ids graph.Index) {
	o, e := r.ops[op-1], &r.edges
	v -= e.First
	start := e.Indptr[v]
	d := e.Indptr[v+1] - start
	need := int(o.picks(d))
	if len(c.pos) < 3*need {
		c.pos = make([]uint32, 6*need)
	}
	pos, far, id := c.pos[:need], c.pos[need:2*need:2*need], c.pos[2*need:3*need:3*need]
	if o.plain() {
		o.byDegree.choose(&c.picker, key, v+e.First, d, pos)
		for i := range pos {
			pos[i] += start
		}
	} else {
		if len(c.near) < need {
			c.near = make([]uint32, 2*need)
		}
		c.sub.Input.Time = t
		b := c.block(0, 1)
		b.local[0], b.node[0], b.start[0], b.degree[0], b.base[0] = 0, v, start, d, 0
		pos = pos[:c.pick(o, key, b, pos, c.near[:need])]
	}
	far, id = far[:len(pos)], id[:len(pos)]
	for i, p := range pos {
		far[i] = e.Far[p]
	}
	switch {
	case r.wide:
		return far, graph.Index{U64: c.wideIDs(e, pos)}
	case e.apart():
		for i, p := range pos {
			id[i] = e.EdgeID.U32[p]
		}
	default:
		for i, p := range pos {
			id[i] = uint32(e.FirstID) + p
		}
	}
	return far, graph.Index{U32: id}
}

// wideIDs is the ids of the edges at positions in a range of a wide edge type.
func (c *Context) wideIDs(e *RangeEdges, pos []uint32) []uint64 {
	c.places = slices.Grow(c.places[:0], len(pos))[:len(pos)]
	for i, p := range pos {
		if c.places[i] = e.FirstID + uint64(p); e.apart() {
			c.places[i] = e.EdgeID.U64[p]
		}
	}
	return c.places
}

// Cut is the edges of n nodes of the graph from first on, along an edge type, given by number, in a direction. It is
// for Range. Where the graph has them in the width that the edge type takes, they are its slices. A direction that is not stored is an ErrFetch.
func (s *Sampler) Cut(edges int, dir graph.Direction, first, n int) (RangeEdges, error) {
	of := s.g.Edges[edges]
	a := of.Adj[dir]
	if a == nil {
		return RangeEdges{}, tagged.Errorf(ErrFetch, "%s: found no %s-edges in the store, expected them: no process has the whole graph to build them from; import with `Both` to store them", of.Type, dir)
	}
	if first < 0 || n < 0 || first+n >= a.Indptr.Len() {
		return RangeEdges{}, fmt.Errorf("%s: found nodes %d to %d, expected up to %d", of.Type, first, first+n, a.Indptr.Len()-1)
	}
	from, to := a.Indptr.At(first), a.Indptr.At(first+n)
	if from > to || to > uint64(a.Far.Len()) || a.EdgeID.Len() > 0 && to > uint64(a.EdgeID.Len()) {
		return RangeEdges{}, fmt.Errorf("%s: found offsets %d and %d of nodes %d and %d, expected them to ascend up to %d", of.Type, from, to, first, first+n, a.Far.Len())
	}
	if to-from > math.MaxUint32 {
		return RangeEdges{}, tagged.Errorf(ErrTooLarge, "%s: found %d edges of nodes %d to %d, expected fewer than 2^32 in a range", of.Type, to-from, first, first+n)
	}
	e := RangeEdges{First: uint32(first), Indptr: make([]uint32, n+1), Far: narrow(slicePart(a.Far, from, to)), FirstID: from}
	for i := range e.Indptr {
		e.Indptr[i] = uint32(a.Indptr.At(first+i) - from)
	}
	if a.EdgeID.Len() > 0 {
		e.EdgeID = sized(slicePart(a.EdgeID, from, to), isWide(of))
		if err := checkBelow(of, e.EdgeID, "edge id", of.Count); err != nil {
			return RangeEdges{}, err
		}
	}
	for _, name := range s.Columns(edges, dir) {
		if graph.FindColumn(e.Columns, name) != nil {
			continue
		}
		c := *graph.FindColumn(of.Columns, name)
		width := c.RowBytes()
		if len(c.Values) < of.Count*width {
			return RangeEdges{}, fmt.Errorf("%s: found %d bytes in column %q, expected %d", of.Type, len(c.Values), name, of.Count*width)
		}
		if a.EdgeID.Len() == 0 {
			c.Values = c.Values[int(from)*width : int(to)*width]
		} else {
			values := make([]byte, 0, e.EdgeID.Len()*width)
			for i := range e.EdgeID.Len() {
				values = append(values, c.Values[int(e.EdgeID.At(i))*width:][:width]...)
			}
			c.Values = values
		}
		c.Rows = int(to - from)
		e.Columns = append(e.Columns, &c)
	}
	return e, nil
}

// slicePart is a part of an index.
func slicePart(x graph.Index, from, to uint64) graph.Index {
	if x.U64 == nil {
		return graph.Index{U32: x.U32[from:to:to]}
	}
	return graph.Index{U64: x.U64[from:to:to]}
}
