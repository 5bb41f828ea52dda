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
}

// none stands for no node. It is above all nodes.
const none = ^uint64(0)

// node is the node of the entry, none at the end.
func (h *head) node() uint64 {
	if h.at >= h.nodes.Len() {
		return none
	}
	return h.nodes.At(h.at)
}

// scan goes through the near nodes that later segments change.
type scan struct {
	l     *Lists
	heads []head   // of the sparse lists that have entries, by segment, dropped edges first
	of    []int    // the segments of the heads
	drops []bool   // whether each head is of dropped edges
	next  []uint64 // the nodes of the heads; none: at the end
	runs  []run    // of the node
	spare []run
}

// newScan begins a scan at a node.
func (l *Lists) newScan(node int) *scan {
	s := &scan{l: l}
	for i := range l.Later {
		x := &l.Later[i]
		for k, h := range []head{{nodes: x.DroppedNodes, starts: x.DroppedStarts}, {nodes: x.Nodes, starts: x.Starts}} {
			if h.nodes.Len() == 0 {
				continue
			}
			h.at = findNode(h.nodes, node)
			s.heads, s.of, s.drops, s.next = append(s.heads, h), append(s.of, i), append(s.drops, k == 0), append(s.next, h.node())
		}
	}
	return s
}

// node is the next node that a segment changes; to if none is below it.
func (s *scan) node(to int) int {
	next := uint64(to)
	for _, v := range s.next {
		next = min(next, v)
	}
	return int(next)
}

// pass goes on with head i, which is at the node of the scan, and returns the entries of the node.
func (s *scan) pass(i int) (first, last uint64) {
	h := &s.heads[i]
	first, last = h.starts.At(h.at), h.starts.At(h.at+1)
	h.at++
	s.next[i] = h.node()
	return first, last
}

// take merges the list of the node into s.runs, and goes on.
func (s *scan) take(node int) error {
	s.runs = s.runs[:0]
	if first, last := s.l.baseStart(node), s.l.baseStart(node+1); first < last {
		s.runs = append(s.runs, run{0, first, last})
	}
	for i, v := range s.next {
		if v != uint64(node) {
			continue
		}
		first, last := s.pass(i)
		if s.drops[i] {
			if err := s.drop(s.of[i], first, last); err != nil {
				return fmt.Errorf("%w: node %d: segment %d: %w", ErrDamaged, node, s.of[i]+1, err)
			}
		} else if first < last {
			s.runs = append(s.runs, run{s.of[i] + 1, first, last})
		}
	}
	return nil
}

// drop takes the edges at the places [at, end) of a segment's dropped ones out of s.runs.
func (s *scan) drop(segment int, at, end uint64) error {
	places := s.l.Later[segment].Dropped
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
		for i, v := range s.next {
			if v != uint64(node) {
				continue
			}
			if first, last := s.pass(i); s.drops[i] {
				start -= last - first
			} else {
				start += last - first
			}
		}
		out[node-first+1] = T(start)
		at = node + 1
	}
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
