package dispatch

import (
	"context"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
)

// lane collects the owned edges of one part and edge type: equal positions of its lists are one edge.
type lane struct {
	src, dst, orig []uint64
	n              int
	edge           uint64 // local id of the first edge in the lane
	row            uint64 // position of the first edge in the CSC, if the part has no rowLane
}

// rowLane collects the owned rows of one part's CSC.
type rowLane struct {
	sources, ids []uint64
	n            int
	at           uint64 // position of the first entry
}

// worker has the buffers of one goroutine, which writes the edges into nodes of one type.
type worker struct {
	memory []uint64
	free   []uint64  // the unused end of memory
	lanes  []lane    // by edge type, then by part
	rows   []rowLane // of each part; none if only one edge type leads to the nodes: then its lanes are the rows
	ptrs   []stream  // of each part, the offsets of its CSC
	halo   haloWriter
	ids    []uint64 // for consecutive numbers

	fetched uint64 // keeps the loads of bitset.fetch in the program
}

// writeEdges is the second pass over all edges: it writes the edges that the parts own, and gives the halo
// edges to halo.
func (g *group) writeEdges(ctx context.Context, files []*partFile, halo *haloEdges, buffer int) error {
	workers := make([]*worker, g.opt.Threads)
	for i := range workers {
		h, err := halo.writer()
		if err != nil {
			return err
		}
		workers[i] = &worker{halo: h, ids: make([]uint64, buffer)}
	}
	return g.each(ctx, func(ctx context.Context, w, i int) error {
		return workers[w].segment(ctx, g, files, i, buffer)
	})
}

// cut takes the next n values of the worker's memory.
func (w *worker) cut(n int) []uint64 {
	b := w.free[:n:n]
	w.free = w.free[n:]
	return b
}

// prepare sets the buffers of w to the beginning of a segment.
func (w *worker) prepare(g *group, files []*partFile, segment, buffer int) {
	s := g.segs[segment]
	into, parts := g.into[s.t], g.to-g.from
	lists := 2
	if g.opt.OriginalEdges {
		lists = 3
	}
	single := len(into) == 1
	csc := g.opt.Formats&dgl.CSC != 0
	each := lists*len(into) + 1
	if csc && !single {
		each += 2
	}
	if need := each * parts * buffer; len(w.memory) < need {
		w.memory = make([]uint64, need)
	}
	w.free = w.memory
	w.lanes, w.rows, w.ptrs = w.lanes[:0], w.rows[:0], w.ptrs[:0]
	counts := g.counts[segment]
	place := make([]uint64, parts) // of each part, in the CSC
	for p := range parts {
		place[p] = g.rowStart(g.from+p, s.t)
		for j := range into {
			place[p] += counts[j*g.num.parts+g.from+p]
		}
	}
	for j, e := range into {
		for p := range parts {
			l := lane{src: w.cut(buffer), dst: w.cut(buffer), row: place[p]}
			if g.opt.OriginalEdges {
				l.orig = w.cut(buffer)
			}
			l.edge = g.firstEdge(g.from+p, e) + counts[j*g.num.parts+g.from+p]
			w.lanes = append(w.lanes, l)
		}
	}
	for p := range parts {
		f := files[p]
		ptr := stream{file: f.graph, buf: w.cut(buffer)}
		if csc {
			row := int64(g.num.start[(g.from+p)*g.num.types+s.t] - g.num.start[(g.from+p)*g.num.types] + s.nodes[g.from+p])
			ptr.at = f.csc.ptr + 8*row
			if !single {
				w.rows = append(w.rows, rowLane{sources: w.cut(buffer), ids: w.cut(buffer), at: place[p]})
			}
		}
		w.ptrs = append(w.ptrs, ptr)
	}
}

// segment writes the edges into the nodes of segment i.
func (w *worker) segment(ctx context.Context, g *group, files []*partFile, i, buffer int) error {
	w.prepare(g, files, i, buffer)
	s := g.segs[i]
	readers := g.readers(s.t)
	counts := append([]uint64(nil), g.counts[i]...) // edges so far, by edge type and part
	offsets := make([][]uint64, len(readers))
	far := make([][]uint32, len(readers))
	step, bytes := blockNodes, make([]int, len(readers)) // bytes read per original id
	if g.opt.OriginalEdges {
		for j, r := range readers {
			nodes, each := g.gather(r.incoming, 8, r.position.Bytes())
			step, bytes[j] = min(step, nodes), each
		}
	}
	for from := s.from; from < s.to; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+step, s.to)
		read := 0
		for j, r := range readers {
			var err error
			if offsets[j], far[j], err = r.block(from, to); err != nil {
				return err
			}
			read += 8*len(offsets[j]) + (4+bytes[j])*len(far[j])
		}
		if err := w.block(g, files, s.t, from, to-from, readers, offsets, far, counts); err != nil {
			return err
		}
		if err := g.read(read); err != nil {
			return err
		}
	}
	parts := g.to - g.from
	for j := range readers {
		for p := range parts {
			if err := w.flush(g, files, g.into[s.t][j], j, p); err != nil {
				return err
			}
		}
	}
	for p := range w.rows {
		if err := w.flushRows(files, p); err != nil {
			return err
		}
	}
	for p := range w.ptrs {
		if err := w.ptrs[p].flush(); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) block(g *group, files []*partFile, t, first, nodes int, readers []*reader, offsets [][]uint64, far [][]uint32, counts []uint64) error {
	csc := g.opt.Formats&dgl.CSC != 0
	leaving := g.opt.Leaving && g.opt.Hops > 0
	base := g.num.base[t] + first
	for k := range nodes {
		p, id := g.num.part[base+k], g.num.id[base+k]
		lo, hi := g.num.owned(int(p))
		mine := g.has(p)
		i := int(p) - g.from
		if mine && csc {
			var at uint64
			if len(w.rows) > 0 {
				at = w.rows[i].at + uint64(w.rows[i].n)
			} else {
				at = w.lanes[i].row + uint64(w.lanes[i].n)
			}
			if err := w.ptrs[i].put(at); err != nil {
				return err
			}
		}
		for j, r := range readers {
			begin, end := offsets[j][k], offsets[j][k+1]
			if begin == end {
				continue
			}
			run := far[j][begin-offsets[j][0] : end-offsets[j][0]]
			sources := g.num.id[g.num.base[r.src]:g.num.base[r.src+1]]
			gid := g.edgeStart[int(p)*len(g.edges)+g.into[t][j]] + counts[j*g.num.parts+int(p)]
			counts[j*g.num.parts+int(p)] += end - begin
			if mine {
				if err := w.own(g, files, t, i, j, r, run, sources, begin, id, lo, hi); err != nil {
					return err
				}
			}
			if leaving {
				part := g.num.part[g.num.base[r.src]:g.num.base[r.src+1]]
				for x, u := range run {
					if int(u) >= len(sources) {
						return r.noSource(u)
					}
					if q := part[u]; q != p && g.has(q) {
						if err := w.halo.put(g, int(q)-g.from, gid+uint64(x), sources[u], id); err != nil {
							return err
						}
					}
				}
			}
			for q, set := range g.expanded {
				if !set.has(id) {
					continue
				}
				for x, u := range run {
					if int(u) >= len(sources) {
						return r.noSource(u)
					}
					if qlo, qhi := g.num.owned(g.from + q); leaving && sources[u]-qlo < qhi-qlo {
						continue
					}
					if err := w.halo.put(g, q, gid+uint64(x), sources[u], id); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// own adds the in-edges of one node to the lanes of the part that owns it.
func (w *worker) own(g *group, files []*partFile, t, i, j int, r *reader, run, sources []uint32, begin uint64, id, lo, hi uint32) error {
	parts := g.to - g.from
	l := &w.lanes[j*parts+i]
	reached := g.reached[i]
	dst := uint64(id - lo)
	for len(run) > 0 {
		if l.n == len(l.src) {
			if err := w.flush(g, files, g.into[t][j], j, i); err != nil {
				return err
			}
		}
		n := min(len(run), len(l.src)-l.n)
		src, dsts := l.src[l.n:l.n+n], l.dst[l.n:l.n+n]
		// Three loops, each of which waits for memory in one place: the processor fetches many new ids, and then many ranks, at a time.
		for k, u := range run[:n] {
			if int(u) >= len(sources) {
				return r.noSource(u)
			}
			src[k], dsts[k] = uint64(sources[u]), dst
		}
		sum := uint64(0)
		for _, v := range src {
			if s := uint32(v); s-lo >= hi-lo {
				sum += reached.fetch(s)
			}
		}
		w.fetched += sum
		for k, v := range src {
			if s := uint32(v); s-lo < hi-lo {
				src[k] = uint64(s - lo)
			} else {
				src[k] = uint64(hi - lo + reached.rank(s))
			}
		}
		if l.orig != nil {
			if err := r.original(l.orig[l.n:l.n+n], begin); err != nil {
				return err
			}
		}
		if len(w.rows) > 0 {
			if err := w.row(files, i, src, l.edge+uint64(l.n)); err != nil {
				return err
			}
		}
		l.n += n
		begin += uint64(n)
		run = run[n:]
	}
	return nil
}

// original fills out with the original ids of the edges from begin on.
func (r *reader) original(out []uint64, begin uint64) error {
	for k := range out {
		e, err := r.edge(begin + uint64(k))
		switch {
		case err != nil:
			return err
		case r.position.U32 != nil:
			e = uint64(r.position.U32[e])
		case r.position.U64 != nil:
			e = r.position.U64[e]
		}
		out[k] = e
	}
	return nil
}

// row appends edges to the CSC of a part; first is the local id of the first edge.
func (w *worker) row(files []*partFile, p int, sources []uint64, first uint64) error {
	l := &w.rows[p]
	for len(sources) > 0 {
		if l.n == len(l.sources) {
			if err := w.flushRows(files, p); err != nil {
				return err
			}
		}
		n := copy(l.sources[l.n:], sources)
		for k := range n {
			l.ids[l.n+k] = first + uint64(k)
		}
		l.n += n
		first += uint64(n)
		sources = sources[n:]
	}
	return nil
}

func (w *worker) flushRows(files []*partFile, p int) error {
	l, f := &w.rows[p], files[p]
	if l.n == 0 {
		return nil
	}
	if _, err := f.graph.WriteAt(graph.Bytes(l.sources[:l.n]), f.csc.idx+8*int64(l.at)); err != nil {
		return err
	}
	if _, err := f.graph.WriteAt(graph.Bytes(l.ids[:l.n]), f.csc.eid+8*int64(l.at)); err != nil {
		return err
	}
	l.at += uint64(l.n)
	l.n = 0
	return nil
}

// flush writes the lane of edge type e in part p; j is the type's number among those into the node type.
func (w *worker) flush(g *group, files []*partFile, e, j, p int) error {
	l, f := &w.lanes[j*(g.to-g.from)+p], files[p]
	if l.n == 0 {
		return nil
	}
	src, at := graph.Bytes(l.src[:l.n]), 8*int64(l.edge)
	if f.pairs != nil {
		if _, err := f.pairs.WriteAt(src, f.src+at); err != nil {
			return err
		}
		if _, err := f.pairs.WriteAt(graph.Bytes(l.dst[:l.n]), f.dst+at); err != nil {
			return err
		}
	}
	if len(w.rows) == 0 && g.opt.Formats&dgl.CSC != 0 {
		for k := range w.ids[:l.n] {
			w.ids[k] = l.edge + uint64(k)
		}
		if _, err := f.graph.WriteAt(src, f.csc.idx+8*int64(l.row)); err != nil {
			return err
		}
		if _, err := f.graph.WriteAt(graph.Bytes(w.ids[:l.n]), f.csc.eid+8*int64(l.row)); err != nil {
			return err
		}
	}
	if l.orig != nil {
		if _, err := f.edges.WriteAt(graph.Bytes(l.orig[:l.n]), f.origEdges[e]+8*int64(l.edge-g.firstEdge(g.from+p, e))); err != nil {
			return err
		}
	}
	l.edge += uint64(l.n)
	l.row += uint64(l.n)
	l.n = 0
	return nil
}
