package assemble

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// lists writes the near nodes that have edges, and where the edges of each begin: in the order of the nodes, whatever order leaves end in.
type lists struct {
	order         *inOrder // by the edges before
	nodes, starts *store.Array
	wide          bool // of starts
	last          int64
	buf           []byte
}

// createLists begins the arrays of the lists of an edge type.
func (s *sink) createLists(total uint64) error {
	spill := extsort.NewSpill(s.fs, s.tmp, s.budget.spill())
	s.later(spill.Close)
	l := &lists{order: newInOrder(spill, nil), last: -1}
	l.order.sink = l.take
	dtype := indexType(total + 1)
	l.wide = dtype == graph.Uint64
	for _, x := range []struct {
		name  string
		to    **store.Array
		dtype graph.DType
	}{{"nodes", &l.nodes, graph.Uint32}, {"starts", &l.starts, dtype}} {
		file := s.dir + "/lists/" + x.name + ".npy" // apart from columns, which can have any name
		a, err := s.sized(file, s.edges, x.dtype)
		if err != nil {
			return err
		}
		*x.to, s.meta.Arrays[x.name] = a, file
	}
	s.lists = l
	return nil
}

// take writes the lists of the next edges: their nodes, and the starts of these counted from the first edge. The first node can be the last one before.
func (l *lists) take(_ uint64, vs []table.Vector) error {
	nodes, starts := graph.View[uint32](vs[0].Data), graph.View[uint32](vs[1].Data)
	if len(nodes) > 0 && int64(nodes[0]) == l.last {
		nodes, starts = nodes[1:], starts[1:]
	}
	if len(nodes) == 0 {
		return nil
	}
	l.last = int64(nodes[len(nodes)-1])
	l.buf = l.buf[:0]
	for _, at := range starts {
		l.buf = l.appendStart(l.buf, l.order.next+uint64(at))
	}
	_, err := l.nodes.Write(graph.Bytes(nodes))
	if err == nil {
		_, err = l.starts.Write(l.buf)
	}
	return err
}

// appendStart appends a start in its width.
func (l *lists) appendStart(b []byte, at uint64) []byte {
	if l.wide {
		return binary.LittleEndian.AppendUint64(b, at)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(at))
}

// endLists writes the end of the last list, and closes the arrays.
func (s *sink) endLists(total uint64) error {
	_, err := s.lists.starts.Write(s.lists.appendStart(nil, total))
	return errors.Join(err, s.closeArray(s.lists.nodes), s.closeArray(s.lists.starts))
}

// ranks numbers the near nodes of a leaf that have edges, in their order.
type ranks struct {
	words  []uint64 // a bit for each near node
	before []uint32 // nodes of the words before
}

// ranksBytes is the memory of ranks.
func ranksBytes(width int64) int64 { return (width + 63) / 64 * 12 }

// of is the number of a node, which has edges.
func (r *ranks) of(v uint64) uint32 {
	return r.before[v/64] + uint32(bits.OnesCount64(r.words[v/64]&(1<<(v%64)-1)))
}

// rank numbers the near nodes of the leaf's records, and returns the number of these.
func (w *finisher) rank(l *leafState) int {
	n := int((l.width + 63) / 64)
	l.ranks = &ranks{alloc[uint64](w, n), alloc[uint32](w, n)}
	words := l.ranks.words
	clear(words)
	for i := range uint32(l.n) {
		v := w.lay.near(w.record(l, i)) - l.lo
		words[v/64] |= 1 << (v % 64)
	}
	sum := uint32(0)
	for i, x := range words {
		l.ranks.before[i] = sum
		sum += uint32(bits.OnesCount64(x))
	}
	return int(sum)
}

// putLists writes the lists of the leaf.
func (w *finisher) putLists(l *leafState) error {
	nodes, starts := alloc[uint32](w, len(l.next)), alloc[uint32](w, len(l.next))
	k, at := 0, uint32(0)
	for i, x := range l.ranks.words {
		for ; x != 0; x &= x - 1 {
			nodes[k], starts[k] = uint32(l.lo)+uint32(64*i+bits.TrailingZeros64(x)), at
			at = l.next[k]
			k++
		}
	}
	return w.lists.order.put(w.base, uint64(l.n), []table.Vector{{Data: graph.Bytes(nodes)}, {Data: graph.Bytes(starts)}})
}
