package assemble

import (
	"encoding/binary"

	"github.com/graphmill/graphmill/graph"
)

// quick makes the plain records of the first rows of a batch, up to the first row that needs a closer look or whose
// bucket has no room left, and returns their number. It does most of the work of a scan of integers: a loop with
// nothing else in it keeps its state in registers.
func (e *emitter) quick(near, far []uint64, seq, step uint32) int {
	nearLimit, farLimit, nearOff, farOff, nearTop, farTop := e.quickEnds()
	b := e.w.Buffers()
	nearMax, farMax := uint64(0), uint64(0)
	far = far[:len(near)]
	i := 0
	for ; i < len(near); i++ {
		x, y := near[i], far[i]
		if x >= nearLimit || y >= farLimit {
			break
		}
		key := x + nearOff
		k := key >> (b.Shift & 63)
		if k >= uint64(len(b.Fill)) {
			break
		}
		at := int(b.Fill[k])
		if at+plainBytes > b.Extent {
			break
		}
		b.Fill[k] = int32(at + plainBytes)
		at += int(k) * b.Extent
		rec := b.Slab[at : at+plainBytes : at+plainBytes]
		binary.LittleEndian.PutUint64(rec, key|(y+farOff)<<32)
		binary.LittleEndian.PutUint32(rec[8:], seq)
		seq += step
		nearMax, farMax = max(nearMax, x+1), max(farMax, y+1)
	}
	*nearTop, *farTop = max(*nearTop, nearMax), max(*farTop, farMax)
	return i
}

// quickEnds returns, for the near and the far ends, the ids from which on a row needs a closer look, the ids of the first
// nodes, and the largest ids so far.
func (e *emitter) quickEnds() (nearLimit, farLimit, nearOff, farOff uint64, nearTop, farTop *uint64) {
	n, f := e.p.src, e.p.dst
	nearLimit, farLimit, nearTop, farTop = e.srcLimit, e.dstLimit, &e.srcTop, &e.dstTop
	if e.opt.Primary == graph.In {
		n, f = f, n
		nearLimit, farLimit, nearTop, farTop = farLimit, nearLimit, farTop, nearTop
	}
	// Ids of more than 32 bits also need a closer look.
	least := func(limit, offset uint64) uint64 { return min(limit, 1<<32-min(offset, 1<<32)) }
	return least(nearLimit, n.t.offset), least(farLimit, f.t.offset), n.t.offset, f.t.offset, nearTop, farTop
}

// quickFixed is quick for records with columns of fixed size. Without columns it takes a third longer than quick. row is the first row in the chunk.
func (e *emitter) quickFixed(row int, near, far []uint64, seq, step uint32) int {
	nearLimit, farLimit, nearOff, farOff, nearTop, farTop := e.quickEnds()
	b, size, columns := e.w.Buffers(), e.lay.fixed, e.lay.cols
	nearMax, farMax := uint64(0), uint64(0)
	far = far[:len(near)]
	i := 0
	for ; i < len(near); i++ {
		x, y := near[i], far[i]
		if x >= nearLimit || y >= farLimit {
			break
		}
		key := x + nearOff
		k := key >> (b.Shift & 63)
		if k >= uint64(len(b.Fill)) {
			break
		}
		at := int(b.Fill[k])
		if at+size > b.Extent {
			break
		}
		b.Fill[k] = int32(at + size)
		at += int(k) * b.Extent
		rec := b.Slab[at : at+size : at+size]
		binary.LittleEndian.PutUint64(rec, key|(y+farOff)<<32)
		binary.LittleEndian.PutUint32(rec[8:], seq)
		for j := range columns {
			c, from := &columns[j], e.fixed[j]
			switch c.width { // a call to copy a few bytes would take longer than all else
			case 4:
				binary.LittleEndian.PutUint32(rec[c.at:], binary.LittleEndian.Uint32(from[4*(row+i):]))
			case 8:
				binary.LittleEndian.PutUint64(rec[c.at:], binary.LittleEndian.Uint64(from[8*(row+i):]))
			default:
				copy(rec[c.at:c.at+c.width], from[c.width*(row+i):])
			}
		}
		seq += step
		nearMax, farMax = max(nearMax, x+1), max(farMax, y+1)
	}
	*nearTop, *farTop = max(*nearTop, nearMax), max(*farTop, farMax)
	return i
}
