package segment

import (
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// run is edges [first, last) of a part.
type run struct {
	part        int // 0: the base; i: segment i
	first, last uint64
}

// head is the next entry of a sparse list that a scan has not passed.
type head struct {
	nodes, starts graph.Index
	at            int
	node          uint64 // none: there is no next entry
}

// none stands for no node. It is above all nodes.
const none = ^uint64(0)

// seek goes to the first entry of a node that is not before the given one.
func (h *head) seek(node int) {
	h.at = findNode(h.nodes, node) - 1
	h.next()
}

// next goes to the next entry.
func (h *head) next() {
	h.at++
	h.node = none
	if h.at < h.nodes.Len() {
		h.node = h.nodes.At(h.at)
	}
}

// scan goes through the near nodes that later segments change.
type scan struct {
	l           *Lists
	adds, drops []head
	runs        []run // of the node
	spare       []run
}

// newScan begins a scan at a node.
func (l *Lists) newScan(node int) *scan {
	s := &scan{l: l, adds: make([]head, len(l.Later)), drops: make([]head, len(l.Later))}
	for i := range l.Later {
		x := &l.Later[i]
		s.adds[i], s.drops[i] = head{nodes: x.Nodes, starts: x.Starts}, head{nodes: x.DroppedNodes, starts: x.DroppedStarts}
		s.adds[i].seek(node)
		s.drops[i].seek(node)
	}
	return s
}

// node is the next node that a segment changes; to if none is below it.
func (s *scan) node(to int) int {
	next := uint64(to)
	for i := range s.adds {
		next = min(next, s.adds[i].node, s.drops[i].node)
	}
	return int(next)
}

// take merges the list of the node into s.runs, and goes on.
func (s *scan) take(node int) error {
	s.runs = s.runs[:0]
	if first, last := s.l.baseStart(node), s.l.baseStart(node+1); first < last {
		s.runs = append(s.runs, run{0, first, last})
	}
	for i := range s.adds {
		if h := &s.drops[i]; h.node == uint64(node) {
			if err := s.drop(i); err != nil {
				return fmt.Errorf("%w: node %d: segment %d: %w", ErrDamaged, node, i+1, err)
			}
			h.next()
		}
		if h := &s.adds[i]; h.node == uint64(node) {
			if first, last := h.starts.At(h.at), h.starts.At(h.at+1); first < last {
				s.runs = append(s.runs, run{i + 1, first, last})
			}
			h.next()
		}
	}
	return nil
}

// drop takes the edges that a segment drops out of s.runs.
func (s *scan) drop(segment int) error {
	h, places := &s.drops[segment], s.l.Later[segment].Dropped
	at, end := h.starts.At(h.at), h.starts.At(h.at+1)
	kept, passed := s.spare[:0], uint64(0) // passed: edges of the runs before
	for _, r := range s.runs {
		n := r.last - r.first
		for ; at < end && places.At(int(at)) < passed+n; at++ {
			cut := r.last - (passed + n - places.At(int(at)))
			if r.first < cut {
				kept = append(kept, run{r.part, r.first, cut})
			}
			r.first = cut + 1
		}
		if r.first < r.last {
			kept = append(kept, r)
		}
		passed += n
	}
	s.runs, s.spare = kept, s.runs
	if at < end {
		return fmt.Errorf("found the place %d, expected one of a list of %d edges", places.At(int(at)), passed)
	}
	return nil
}

// Runs calls fn with the edges of the near nodes [from, to) in the order of their ids: with runs of edges [first, last) of a part, which is 0 for the
// base and i for Later[i-1]. Check must have accepted the lists.
func (l *Lists) Runs(from, to int, fn func(part int, first, last uint64)) error {
	s := l.newScan(from)
	for from < to {
		node := s.node(to)
		if first, last := l.baseStart(from), l.baseStart(node); first < last {
			fn(0, first, last)
		}
		if node == to {
			return nil
		}
		if err := s.take(node); err != nil {
			return err
		}
		for _, r := range s.runs {
			fn(r.part, r.first, r.last)
		}
		from = node + 1
	}
	return nil
}

// Offsets writes the id of the first edge of each near node of [from, to), and of the node after them, to out, which has to-from+1 values of 32 or 64
// bits. Check must have accepted the lists.
func (l *Lists) Offsets(from, to int, out graph.Index) {
	if out.U32 != nil {
		offsets(l, from, to, out.U32)
		return
	}
	offsets(l, from, to, out.U64)
}

func offsets[T uint32 | uint64](l *Lists, from, to int, out []T) {
	s := l.newScan(from)
	start, first := l.Start(from), from
	out[0] = T(start)
	for at := from; at < to; {
		node := s.node(to)
		shift := start - l.baseStart(at) // modulo 2^64
		switch base := l.Base; {
		case base.U32 != nil:
			shifted(out[at-first+1:node-first+1], base.U32, at+1, shift)
		case base.U64 != nil:
			shifted(out[at-first+1:node-first+1], base.U64, at+1, shift)
		default:
			shifted[T, uint32](out[at-first+1:node-first+1], nil, at+1, shift)
		}
		start += l.baseStart(node) - l.baseStart(at)
		if node == to {
			return
		}
		start += l.baseStart(node+1) - l.baseStart(node)
		for i := range s.adds {
			start += s.adds[i].take(node) - s.drops[i].take(node)
		}
		out[node-first+1] = T(start)
		at = node + 1
	}
}

// take is the number of entries of the node, of which the head goes on.
func (h *head) take(node int) uint64 {
	if h.node != uint64(node) {
		return 0
	}
	n := h.starts.At(h.at+1) - h.starts.At(h.at)
	h.next()
	return n
}

// shifted writes the offsets of the base from node at on, with a shift. Nodes that the base does not have get its last offset.
func shifted[T, B uint32 | uint64](out []T, base []B, at int, shift uint64) {
	n := min(len(out), max(0, len(base)-at))
	for i, v := range base[min(at, len(base)):][:n] {
		out[i] = T(uint64(v) + shift)
	}
	last := shift
	if len(base) > 0 {
		last += uint64(base[len(base)-1])
	}
	for i := n; i < len(out); i++ {
		out[i] = T(last)
	}
}
