package dispatch

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/store"
)

// incoming is an edge type as lists of in-edges: the in-edges of node v are far[indptr.At(v):indptr.At(v+1)],
// by ascending edge id.
type incoming struct {
	name     string
	src, dst int // node types
	count    int
	indptr   graph.Index
	far      graph.Index
	id       graph.Index // edge ids; empty when they equal the positions in far
	position graph.Index // by edge id, the original id of the edge; empty: equal to the edge id
}

// openIncoming reads the lists of an edge type from the store; a store need not have the in-edges. originals says whether the parts
// have the original ids of edges.
func openIncoming(g *graph.Graph, e *graph.Edges, originals bool) (*incoming, error) {
	in := &incoming{name: e.Type.String(), src: g.NodeType(e.Type.Src), dst: g.NodeType(e.Type.Dst), count: e.Count}
	if originals {
		var err error
		if in.position, err = parts.Originals(e); err != nil {
			return nil, err
		}
	}
	if a := e.Adj[graph.In]; a != nil {
		in.indptr, in.far, in.id = a.Indptr, a.Far, a.EdgeID
	}
	return in, nil
}

// reader reads the in-edges of one type by blocks of destinations. It checks the ids that it reads, because
// they are used as indices.
type reader struct {
	*incoming
	sources int // nodes of the source type
	dir     string
	offsets []uint64
	wide    []uint32
}

// blockNodes is the number of destinations of a block.
const blockNodes = 2048

// block returns the in-edges of the nodes [from, to): the in-edges of node from+i are
// far[offsets[i]-offsets[0]:offsets[i+1]-offsets[0]]. The slices are valid until the next call.
func (r *reader) block(from, to int) (offsets []uint64, far []uint32, err error) {
	r.offsets = r.offsets[:0]
	if x := r.indptr.U32; x != nil {
		for _, v := range x[from : to+1] {
			r.offsets = append(r.offsets, uint64(v))
		}
	} else {
		r.offsets = append(r.offsets, r.indptr.U64[from:to+1]...)
	}
	last := r.offsets[0]
	for i, v := range r.offsets {
		if v < last || v > uint64(r.count) {
			return nil, nil, r.damaged("found offset %d of node %d after %d, expected offsets that ascend to %d", v, from+i, last, r.count)
		}
		last = v
	}
	lo, hi := r.offsets[0], last
	if lo == hi {
		return r.offsets, nil, nil
	}
	if x := r.far.U32; x != nil {
		return r.offsets, x[lo:hi], nil
	}
	r.wide = r.wide[:0]
	for _, v := range r.far.U64[lo:hi] {
		r.wide = append(r.wide, uint32(min(v, 1<<32-1))) // an id that does not fit is out of range and stays so
	}
	return r.offsets, r.wide, nil
}

// edge is the id of the edge at a place in far.
func (r *reader) edge(at uint64) (uint64, error) {
	if r.id.Len() == 0 {
		return at, nil
	}
	e := r.id.At(int(at))
	if e >= uint64(r.count) {
		return 0, r.damaged("found edge id %d, expected one below %d", e, r.count)
	}
	return e, nil
}

func (r *reader) damaged(format string, a ...any) error {
	return fmt.Errorf("%s: %s: %w: "+format, append([]any{r.dir, r.name, store.ErrDamaged}, a...)...)
}

// noSource is the error for a source id that is out of range.
func (r *reader) noSource(u uint32) error {
	return r.damaged("found source %d, expected one below %d", u, r.sources)
}

// readers returns the readers of the edge types into type t.
func (d *dispatcher) readers(t int) []*reader {
	var list []*reader
	for _, e := range d.into[t] {
		in := d.edges[e]
		list = append(list, &reader{incoming: in, sources: d.g.Nodes[in.src].Count, dir: d.dir})
	}
	return list
}

// each calls work for all segments, on several goroutines.
func (d *dispatcher) each(ctx context.Context, work func(ctx context.Context, worker, segment int) error) error {
	return spread(ctx, d.opt.Threads, len(d.segs), work)
}
