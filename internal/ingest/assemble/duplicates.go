package assemble

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unsafe"
)

// farAt is an edge of a node: its far end, and its index in the leaf.
type farAt struct{ far, at uint64 }

// drop removes from a leaf the edges that equal an earlier one.
func (w *finisher) drop(l *leafState) {
	dup := alloc[byte](w, l.n)
	clear(dup)
	if w.marked {
		w.dropMarked(l, dup)
	} else {
		w.dropSorted(l, dup)
	}
	kept, i := 0, 0
	farBytes, seqBytes := idBytes(w.wideFar), idBytes(w.lay.wide)
	for v := range l.next {
		for ; i < int(l.next[v]); i++ {
			if dup[i] != 0 {
				part, _ := w.partOf(getID(l.seq, w.lay.wide, i))
				w.drops[part].Add(1)
				continue
			}
			copy(l.far[kept*farBytes:][:farBytes], l.far[i*farBytes:])
			copy(l.seq[kept*seqBytes:][:seqBytes], l.seq[i*seqBytes:])
			if l.rec != nil {
				l.rec[kept] = l.rec[i]
			}
			kept++
		}
		l.next[v] = uint32(kept)
	}
	l.n = kept
	l.far, l.seq = l.far[:kept*farBytes], l.seq[:kept*seqBytes]
	if l.rec != nil {
		l.rec = l.rec[:kept]
	}
}

// dropSorted marks the duplicates of leaves that contain all edges of their nodes.
func (w *finisher) dropSorted(l *leafState, dup []byte) {
	var pairs []farAt
	if l.n > 0 {
		pairs = unsafe.Slice((*farAt)(unsafe.Pointer(unsafe.SliceData(alloc[uint64](w, 2*l.n)))), l.n)
	}
	from := 0
	for _, end := range l.next {
		list := pairs[:int(end)-from]
		ascends := true
		for i := range list {
			list[i] = farAt{getID(l.far, w.wideFar, from+i), uint64(from + i)}
			ascends = ascends && (i == 0 || list[i].far > list[i-1].far)
		}
		from = int(end)
		if ascends {
			continue
		}
		slices.SortFunc(list, func(a, b farAt) int { return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(a.at, b.at)) })
		first := list[0]
		for _, x := range list[1:] {
			if x.far != first.far {
				first = x
				continue
			}
			dup[x.at] = 1
			w.duplicate(getID(l.seq, w.lay.wide, int(x.at)), getID(l.seq, w.lay.wide, int(first.at)))
		}
	}
}

// dropMarked marks the duplicates of one node whose edges are in several leaves.
func (w *finisher) dropMarked(l *leafState, dup []byte) {
	for i := range dup {
		far := getID(l.far, w.wideFar, i)
		if bit := uint64(1) << (far & 63); w.marks[far/64]&bit != 0 {
			dup[i] = 1
			seq := getID(l.seq, w.lay.wide, i)
			w.duplicate(seq, seq)
		} else {
			w.marks[far/64] |= bit
		}
	}
}

// duplicate reports that the edge seq equals an earlier one. first is the earlier one, or seq itself if it is
// unknown.
func (w *finisher) duplicate(seq, first uint64) {
	if w.opt.DuplicateEdges != Error || w.bad.past(seq) {
		return
	}
	w.bad.report(seq, func(context.Context) error {
		at := ""
		if first != seq {
			_, p := w.partOf(first)
			at = ", first at " + p.Table.Where(first>>w.sym-p.base, "")
		}
		_, p := w.partOf(seq)
		return fmt.Errorf("%s: found an edge again%s, expected each once; remove it, or give `DuplicateEdges` keep or drop", p.Table.Where(seq>>w.sym-p.base, ""), at)
	})
}
