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

// worker writes the edges into nodes of one type, a segment at a time. It belongs to one goroutine.
type worker struct {
	g      *group
	files  []*partFile
	buffer int // values of each list
	memory []uint64
	free   []uint64  // the unused end of memory
	lanes  []lane    // by edge type, then by part
	rows   []rowLane // of each part; none if only one edge type leads to the nodes: then its lanes are the rows
	ptrs   []stream  // of each part, the offsets of its CSC
	halo   haloWriter
	ids    []uint64 // for consecutive numbers

	// Of the segment:
	t      int      // type of its nodes
	into   []inList // by edge type into the nodes
	counts []uint64 // edges so far, by edge type into the nodes and part

	fetched uint64 // keeps the loads of bitset.fetch in the program
}

// inList is the edges of one type into the nodes of a block.
type inList struct {
	*reader
	id   []uint32 // new ids of the nodes of the source type
	part []uint16 // and their parts
	// The lists of the block, as reader.block returns them.
	offsets []uint64
	far     []uint32
}

// inRun is the edges of one type into one node.
type inRun struct {
	*inList
	j       int      // number of the edge type among those into the node type
	sources []uint32 // ids in the source type
	place   uint64   // of the first edge in the list of the edge type
	edge    uint64   // new id of the first edge
	p       uint16   // part of the node
	v       uint32   // new id of the node
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
		workers[i] = &worker{g: g, files: files, buffer: buffer, halo: h, ids: make([]uint64, buffer)}
	}
	return g.each(ctx, func(ctx context.Context, w, i int) error {
		return workers[w].writeSegment(ctx, i)
	})
}

// cut takes the next n values of the worker's memory.
func (w *worker) cut(n int) []uint64 {
	b := w.free[:n:n]
	w.free = w.free[n:]
	return b
}

// prepare sets the buffers of w to the beginning of a segment.
func (w *worker) prepare(segment int) {
	g, buffer := w.g, w.buffer
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
		f := w.files[p]
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
	w.t, w.into, w.counts = s.t, w.into[:0], append(w.counts[:0], counts...)
	for _, r := range g.readers(s.t) {
		from, to := g.num.base[r.src], g.num.base[r.src+1]
		w.into = append(w.into, inList{reader: r, id: g.num.id[from:to], part: g.num.part[from:to]})
	}
}

// writeSegment writes the edges into the nodes of segment i.
func (w *worker) writeSegment(ctx context.Context, i int) error {
	w.prepare(i)
	g, s := w.g, w.g.segs[i]
	step, bytes := blockNodes, make([]int, len(w.into)) // bytes read per original id
	if g.opt.OriginalEdges {
		for j, l := range w.into {
			nodes, each := g.gather(l.incoming, 8, l.position.Bytes())
			step, bytes[j] = min(step, nodes), each
		}
	}
	for from := s.from; from < s.to; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+step, s.to)
		read := 0
		for j := range w.into {
			l := &w.into[j]
			var err error
			if l.offsets, l.far, err = l.block(from, to); err != nil {
				return err
			}
			read += 8*len(l.offsets) + (4+bytes[j])*len(l.far)
		}
		if err := w.writeBlock(from, to); err != nil {
			return err
		}
		if err := g.read(read); err != nil {
			return err
		}
	}
	return w.flush()
}

// flush writes what the buffers of w hold.
func (w *worker) flush() error {
	for j := range w.into {
		for p := range w.files {
			if err := w.flushLane(j, p); err != nil {
				return err
			}
		}
	}
	for p := range w.rows {
		if err := w.flushRows(p); err != nil {
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

// writeBlock writes the edges into the nodes [from, to), whose lists w.into has.
func (w *worker) writeBlock(from, to int) error {
	g := w.g
	csc := g.opt.Formats&dgl.CSC != 0
	base := g.num.base[w.t]
	for v := from; v < to; v++ {
		p, id := g.num.part[base+v], g.num.id[base+v]
		if csc && g.has(p) {
			if err := w.beginRow(int(p) - g.from); err != nil {
				return err
			}
		}
		for j := range w.into {
			l := &w.into[j]
			begin, end := l.offsets[v-from], l.offsets[v-from+1]
			if begin == end {
				continue
			}
			n := &w.counts[j*g.num.parts+int(p)]
			run := inRun{inList: l, j: j, sources: l.far[begin-l.offsets[0] : end-l.offsets[0]], place: begin, p: p, v: id}
			run.edge = g.edgeStart[int(p)*len(g.edges)+g.into[w.t][j]] + *n
			*n += end - begin
			if err := w.writeRun(&run); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginRow puts where the next row of the CSC of part from+i begins.
func (w *worker) beginRow(i int) error {
	if len(w.rows) > 0 {
		return w.ptrs[i].put(w.rows[i].at + uint64(w.rows[i].n))
	}
	return w.ptrs[i].put(w.lanes[i].row + uint64(w.lanes[i].n))
}

// writeRun gives edges to the part that owns them, and to the halos that they are in.
func (w *worker) writeRun(run *inRun) error {
	g := w.g
	if g.has(run.p) {
		if err := w.own(run); err != nil {
			return err
		}
	}
	leaving := g.opt.Leaving && g.opt.Hops > 0
	if leaving {
		if err := w.putLeaving(run); err != nil {
			return err
		}
	}
	for i, set := range g.expanded {
		if set.has(run.v) {
			if err := w.putExpanded(run, i, leaving); err != nil {
				return err
			}
		}
	}
	return nil
}

// putLeaving puts each edge that leaves a part of the group into the halo of this part.
func (w *worker) putLeaving(run *inRun) error {
	g := w.g
	for x, u := range run.sources {
		if int(u) >= len(run.id) {
			return run.noSource(u)
		}
		if q := run.part[u]; q != run.p && g.has(q) {
			if err := w.halo.put(g, int(q)-g.from, run.edge+uint64(x), run.id[u], run.v); err != nil {
				return err
			}
		}
	}
	return nil
}

// putExpanded puts the edges into the halo of part from+i, without those that putLeaving put there.
func (w *worker) putExpanded(run *inRun, i int, leaving bool) error {
	lo, hi := w.g.num.owned(w.g.from + i)
	for x, u := range run.sources {
		if int(u) >= len(run.id) {
			return run.noSource(u)
		}
		if leaving && run.id[u]-lo < hi-lo {
			continue
		}
		if err := w.halo.put(w.g, i, run.edge+uint64(x), run.id[u], run.v); err != nil {
			return err
		}
	}
	return nil
}

// own adds the in-edges of one node to the lanes of the part that owns it.
func (w *worker) own(run *inRun) error {
	g, p := w.g, int(run.p)
	i := p - g.from
	lo, hi := g.num.owned(p)
	l := &w.lanes[run.j*(g.to-g.from)+i]
	reached := g.reached[i]
	dst := uint64(run.v - lo)
	place := run.place
	for left := run.sources; len(left) > 0; {
		if l.n == len(l.src) {
			if err := w.flushLane(run.j, i); err != nil {
				return err
			}
		}
		n := min(len(left), len(l.src)-l.n)
		src, dsts := l.src[l.n:l.n+n], l.dst[l.n:l.n+n]
		// Three loops, each of which waits for memory in one place: the processor fetches many new ids, and then many ranks, at a time.
		for k, u := range left[:n] {
			if int(u) >= len(run.id) {
				return run.noSource(u)
			}
			src[k], dsts[k] = uint64(run.id[u]), dst
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
			if err := run.original(l.orig[l.n:l.n+n], place); err != nil {
				return err
			}
		}
		if len(w.rows) > 0 {
			if err := w.addRow(i, src, l.edge+uint64(l.n)); err != nil {
				return err
			}
		}
		l.n += n
		place += uint64(n)
		left = left[n:]
	}
	return nil
}

// original fills out with the original ids of the edges from place on.
func (r *reader) original(out []uint64, place uint64) error {
	for k := range out {
		e, err := r.edge(place + uint64(k))
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

// addRow appends edges to the CSC of a part; first is the local id of the first edge.
func (w *worker) addRow(p int, sources []uint64, first uint64) error {
	l := &w.rows[p]
	for len(sources) > 0 {
		if l.n == len(l.sources) {
			if err := w.flushRows(p); err != nil {
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

func (w *worker) flushRows(p int) error {
	l, f := &w.rows[p], w.files[p]
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

// flushLane writes the lane of part from+p; j is the number of its edge type among those into the node type.
func (w *worker) flushLane(j, p int) error {
	g := w.g
	l, f := &w.lanes[j*(g.to-g.from)+p], w.files[p]
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
		e := g.into[w.t][j]
		if _, err := f.edges.WriteAt(graph.Bytes(l.orig[:l.n]), f.origEdges[e]+8*int64(l.edge-g.firstEdge(g.from+p, e))); err != nil {
			return err
		}
	}
	l.edge += uint64(l.n)
	l.row += uint64(l.n)
	l.n = 0
	return nil
}
