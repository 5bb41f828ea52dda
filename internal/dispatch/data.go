package dispatch

import (
	"context"
	"encoding/binary"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
)

// slot returns a stream to a slot of the graph.
func (f *partFile) slot(name string, buf []uint64) *stream {
	return &stream{file: f.graph, at: f.layout.Slot(name).Offset, buf: buf}
}

// writeData writes the data that do not depend on the edges: the data of all nodes and of owned edges, and the
// empty rows of the CSC.
func (f *partFile) writeData(g *group, buf []uint64) error {
	lo, hi := g.num.owned(f.p)
	reached := g.reached[f.p-g.from]
	ids := f.slot("ndata/"+idData, buf)
	if err := ids.iota(uint64(lo), uint64(hi)); err != nil {
		return err
	}
	if err := reached.members(func(id uint32) error { return ids.put(uint64(id)) }); err != nil {
		return err
	}
	if err := ids.flush(); err != nil {
		return err
	}
	// The halo's values are 0, because unwritten bytes of the file are 0.
	if err := fill(f.slot("ndata/"+innerNodeData, buf), uint8(1), f.ownNodes); err != nil {
		return err
	}
	if err := fill(f.slot("edata/"+innerEdgeData, buf), uint8(1), int(f.ownEdges)); err != nil {
		return err
	}
	first := g.firstOf(f.p)
	edges := f.slot("edata/"+idData, buf)
	if err := edges.iota(first, first+f.ownEdges); err != nil {
		return err
	}
	if err := edges.flush(); err != nil {
		return err
	}
	if g.typed() {
		if err := f.writeTypes(g, buf); err != nil {
			return err
		}
	}
	if g.opt.PartIDs {
		ids := f.slot("ndata/"+partIDData, buf)
		if err := fill(ids, uint64(f.p), f.ownNodes); err != nil {
			return err
		}
		if err := runs(g, reached, func(place, n int) error { return fill(ids, uint64(place/g.num.types), n) }); err != nil {
			return err
		}
	}
	if g.opt.Formats&dgl.CSC == 0 || f.haloEdges > 0 {
		return nil
	}
	ptr := &stream{file: f.graph, at: f.csc.ptr + 8*int64(f.ownNodes), buf: buf}
	return fill(ptr, f.ownEdges, f.haloNodes+1)
}

func (f *partFile) writeTypes(g *group, buf []uint64) error {
	s := f.slot("ndata/"+typeData, buf)
	for t := range g.num.types {
		i := f.p*g.num.types + t
		if err := fill(s, int32(t), int(g.num.start[i+1]-g.num.start[i])); err != nil {
			return err
		}
	}
	if err := runs(g, g.reached[f.p-g.from], func(place, n int) error { return fill(s, int32(place%g.num.types), n) }); err != nil {
		return err
	}
	s = f.slot("edata/"+typeData, buf)
	for e := range g.edges {
		i := f.p*len(g.edges) + e
		if err := fill(s, int32(e), int(g.edgeStart[i+1]-g.edgeStart[i])); err != nil {
			return err
		}
	}
	return nil
}

// runs calls fn for each (part, type) that has members of s, with their number.
func runs(g *group, s *bitset, fn func(place, n int) error) error {
	before := uint32(0)
	for place := range g.num.parts * g.num.types {
		end := g.num.start[place+1]
		if end == g.num.start[place] {
			continue
		}
		to := s.rank(end - 1)
		if s.has(end - 1) {
			to++
		}
		if to > before {
			if err := fn(place, int(to-before)); err != nil {
				return err
			}
		}
		before = to
	}
	return nil
}

// haloRun writes sorted records of halo edges; first is the number of the part's halo edges before them.
func (f *partFile) haloRun(g *group, h *haloEdges, records []byte, first int64, buffer int) error {
	at := int64(f.ownEdges) + first
	id := stream{file: f.graph, at: f.layout.Slot("edata/"+idData).Offset + 8*at, buf: make([]uint64, buffer)}
	src := stream{file: f.pairs, at: f.src + 8*at, buf: make([]uint64, buffer)}
	dst := stream{file: f.pairs, at: f.dst + 8*at, buf: make([]uint64, buffer)}
	var types *stream
	if g.typed() {
		types = &stream{file: f.graph, at: f.layout.Slot("edata/"+typeData).Offset + 4*at, buf: make([]uint64, buffer)}
	}
	mask := uint64(1)<<h.idBits - 1
	place, n := -1, 0 // (part, edge type) of the run, and its length so far
	end := uint64(0)
	for ; len(records) > 0; records = records[haloRecord:] {
		edge := binary.LittleEndian.Uint64(records) & mask
		if edge >= end {
			if types != nil && n > 0 {
				if err := fill(types, int32(place%len(g.edges)), n); err != nil {
					return err
				}
			}
			place, n = g.edgePlace(edge), 0
			end = g.edgeStart[place+1]
		}
		n++
		if err := id.put(edge); err != nil {
			return err
		}
		if err := src.put(uint64(binary.LittleEndian.Uint32(records[8:]))); err != nil {
			return err
		}
		if err := dst.put(uint64(binary.LittleEndian.Uint32(records[12:]))); err != nil {
			return err
		}
	}
	if types != nil {
		if err := fill(types, int32(place%len(g.edges)), n); err != nil {
			return err
		}
	}
	for _, s := range []*stream{&id, &src, &dst} {
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

// rowSort makes rows of a CSR or CSC from the ends of edges.
type rowSort struct {
	f          *partFile
	key, other int64  // offsets in pairs of the ends that are rows, and of the other ends
	first, n   uint64 // local ids of the edges
	from, to   int    // rows
	out        rowSlots
}

// readEnds is the number of edges that are read at once.
const readEnds = 1 << 15

// run writes the rows. It holds at most window edges, at 16 bytes each, and reads all ends once per window.
func (r *rowSort) run(ctx context.Context, window, buffer int) error {
	offsets := make([]uint64, r.to-r.from+1)
	keys, others := make([]uint64, readEnds), make([]uint64, readEnds)
	err := r.each(ctx, keys, nil, func(_ uint64, keys, _ []uint64) {
		for _, k := range keys {
			offsets[int(k)-r.from+1]++
		}
	})
	if err != nil {
		return err
	}
	for i := range r.to - r.from {
		offsets[i+1] += offsets[i]
	}
	ptr := stream{file: r.f.graph, at: r.out.ptr + 8*int64(r.from), buf: make([]uint64, buffer)}
	for _, at := range offsets {
		if err := ptr.put(r.first + at); err != nil {
			return err
		}
	}
	if err := ptr.flush(); err != nil {
		return err
	}
	room := min(uint64(window), r.n)
	idx, eid := make([]uint64, room), make([]uint64, room)
	for lo := 0; lo < len(offsets)-1; {
		hi, begin := lo+1, offsets[lo]
		for hi < len(offsets)-1 && offsets[hi+1]-begin <= uint64(window) {
			hi++
		}
		n := int(offsets[hi] - begin)
		if n > window {
			if err := r.longRow(ctx, lo, begin, keys, others, buffer); err != nil {
				return err
			}
			lo = hi
			continue
		}
		err := r.each(ctx, keys, others, func(first uint64, keys, others []uint64) {
			for i, k := range keys {
				if row := int(k) - r.from; row >= lo && row < hi {
					at := offsets[row] - begin
					offsets[row]++
					idx[at], eid[at] = others[i], first+uint64(i)
				}
			}
		})
		if err != nil {
			return err
		}
		at := 8 * int64(r.first+begin)
		if _, err := r.f.graph.WriteAt(graph.Bytes(idx[:n]), r.out.idx+at); err != nil {
			return err
		}
		if _, err := r.f.graph.WriteAt(graph.Bytes(eid[:n]), r.out.eid+at); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// longRow writes one row that has more edges than the window, in the order of the edges.
func (r *rowSort) longRow(ctx context.Context, row int, begin uint64, keys, others []uint64, buffer int) error {
	at := 8 * int64(r.first+begin)
	idx := stream{file: r.f.graph, at: r.out.idx + at, buf: make([]uint64, buffer)}
	eid := stream{file: r.f.graph, at: r.out.eid + at, buf: make([]uint64, buffer)}
	var failed error
	err := r.each(ctx, keys, others, func(first uint64, keys, others []uint64) {
		for i, k := range keys {
			if int(k)-r.from != row || failed != nil {
				continue
			}
			if failed = idx.put(others[i]); failed == nil {
				failed = eid.put(first + uint64(i))
			}
		}
	})
	for _, err := range []error{err, failed, idx.flush(), eid.flush()} {
		if err != nil {
			return err
		}
	}
	return nil
}

// each reads the ends of the edges in order; first is the local id of the first edge of a call.
func (r *rowSort) each(ctx context.Context, keys, others []uint64, fn func(first uint64, keys, others []uint64)) error {
	for at := uint64(0); at < r.n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(uint64(len(keys)), r.n-at)
		place := 8 * int64(r.first+at)
		if _, err := r.f.pairs.ReadAt(graph.Bytes(keys[:n]), r.key+place); err != nil {
			return err
		}
		if others != nil {
			if _, err := r.f.pairs.ReadAt(graph.Bytes(others[:n]), r.other+place); err != nil {
				return err
			}
			fn(r.first+at, keys[:n], others[:n])
		} else {
			fn(r.first+at, keys[:n], nil)
		}
		at += n
	}
	return nil
}

// writeRows writes the rows that do not follow from the order of the edges: the CSC rows of the halo, and the
// CSR.
func (f *partFile) writeRows(ctx context.Context, g *group, window, buffer int) error {
	nodes := f.ownNodes + f.haloNodes
	if g.opt.Formats&dgl.CSC != 0 && f.haloEdges > 0 {
		r := rowSort{f: f, key: f.dst, other: f.src, first: f.ownEdges, n: f.haloEdges, from: f.ownNodes, to: nodes, out: f.csc}
		if err := r.run(ctx, window, buffer); err != nil {
			return err
		}
	}
	if g.opt.Formats&dgl.CSR != 0 {
		r := rowSort{f: f, key: f.src, other: f.dst, n: f.ownEdges + f.haloEdges, to: nodes, out: f.csr}
		return r.run(ctx, window, buffer)
	}
	return nil
}
