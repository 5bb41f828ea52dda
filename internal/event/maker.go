package event

import (
	"slices"
	"sort"

	"github.com/graphmill/graphmill/draw"
)

// History says which entries of a node its neighbours are taken from.
type History uint8

const (
	// BeforeEvent is the entries of events whose time is below the time of the event.
	BeforeEvent History = iota
	// BeforeBatch is the entries of events before the batch.
	BeforeBatch
	// LikePyG is BeforeBatch as PyG's LastNeighborLoader keeps them.
	LikePyG
)

// negativeWord is the word after the epoch of the draws of negatives.
const negativeWord = 18

// Options say what batches have.
type Options struct {
	Neighbours int // of each root; 0 is none
	History    History
	Negatives  int // drawn per event
	Lists      *Lists
	Seed       uint64
}

// Lists are the negatives of each chosen event, in place of draws: numbers among all nodes.
type Lists struct {
	Nodes []uint32
	Ends  []uint32 // of the list of each event; nil: all have Each
	Each  int
}

// of is the negatives of chosen event i.
func (l *Lists) of(i int) []uint32 {
	if l.Ends == nil {
		return l.Nodes[i*l.Each : (i+1)*l.Each]
	}
	from := uint32(0)
	if i > 0 {
		from = l.Ends[i-1]
	}
	return l.Nodes[from:l.Ends[i]]
}

// Most is the most negatives of an event.
func (l *Lists) Most() int {
	most, last := l.Each, uint32(0)
	for _, end := range l.Ends {
		most, last = max(most, int(end-last)), end
	}
	return most
}

// Batches are batches that follow each other, one after the other in each list.
type Batches struct {
	// The ends of each batch in the lists of events, nodes, edges and negatives.
	EventEnds, NodeEnds, EdgeEnds, NegativeEnds []uint32
	Events                                      []uint32 // numbers
	// Src, Dst and Negatives are places among the nodes of the batch.
	Src, Dst, Negatives []uint32
	// ListEnds are the ends of the negatives of each event in those of its batch, where Lists have several lengths.
	ListEnds []uint32
	// Nodes are the ends of the events, the negatives and all neighbours: numbers among all nodes, ascending in each batch.
	Nodes []uint32
	// Far is the place of each neighbour among the nodes. Root is the place of the root: among the nodes, or for BeforeEvent among the
	// roots. By is the event of the entry.
	Far, Root, By []uint32
}

// reset removes all batches.
func (b *Batches) reset() {
	for _, list := range []*[]uint32{&b.EventEnds, &b.NodeEnds, &b.EdgeEnds, &b.NegativeEnds, &b.Events, &b.Src, &b.Dst, &b.Negatives, &b.ListEnds, &b.Nodes, &b.Far, &b.Root, &b.By} {
		*list = (*list)[:0]
	}
}

// Maker makes batches. It serves one goroutine at a time.
type Maker struct {
	s    *Stream
	d    *Division
	o    Options
	made Batches
	set  *nodeSet
	// Of the roots of the batch under way: where their entries end in the list of all, that is, the first entry that does not count.
	until []uint32
	kept  []entry // scratch memory of appendLikePyG
}

// NewMaker makes a maker.
func NewMaker(d *Division, o Options) *Maker {
	return &Maker{s: d.s, d: d, o: o, set: newNodeSet(d.s.Nodes())}
}

// Bytes is the memory of a maker, but for its batches.
func (m *Maker) Bytes() int64 {
	return int64(8*len(m.set.words) + 8*len(m.set.groups) + 4*len(m.set.before))
}

// Make makes n batches of an epoch: first, first + step, ... The result is valid until the next call.
func (m *Maker) Make(epoch uint64, first, step, n int) *Batches {
	m.made.reset()
	key := draw.Key(m.o.Seed, epoch, negativeWord)
	for b := first; n > 0; b, n = b+step, n-1 {
		from, to := m.d.Span(b)
		m.addBatch(key, from, to)
	}
	return &m.made
}

// addBatch adds the batch of the chosen events [from, to).
func (m *Maker) addBatch(key uint64, from, to int) {
	s, b := m.s, &m.made
	events, nodes, negatives, lists := len(b.Events), len(b.Nodes), len(b.Negatives), len(b.ListEnds)
	for i := from; i < to; i++ {
		e := s.event(i)
		b.Events = append(b.Events, e)
		b.Src, b.Dst = append(b.Src, s.src[e]), append(b.Dst, s.dst[e])
		if m.o.Lists != nil {
			b.Negatives = append(b.Negatives, m.o.Lists.of(i)...)
			if m.o.Lists.Ends != nil {
				b.ListEnds = append(b.ListEnds, uint32(len(b.Negatives)-negatives))
			}
			continue
		}
		if m.o.Negatives > 0 {
			lo, hi, h := s.least[s.Of(e)], s.greatest[s.Of(e)], draw.Absorb(key, uint64(e))
			for j := range m.o.Negatives {
				b.Negatives = append(b.Negatives, lo+uint32(draw.Below(draw.At(h, uint64(j)), uint64(hi-lo)+1)))
			}
		}
	}
	batch := b.Events[events:]
	for _, list := range [][]uint32{b.Src[events:], b.Dst[events:], b.Negatives[negatives:]} {
		for _, v := range list {
			m.set.insert(v)
		}
	}
	edges := len(b.Far)
	switch {
	case m.o.Neighbours == 0:
	case m.o.History == BeforeEvent:
		m.addBeforeEvents(batch, b.Negatives[negatives:], b.ListEnds[lists:])
	default:
		m.addBeforeBatch(batch, events, negatives)
	}
	for _, v := range b.Far[edges:] {
		m.set.insert(v)
	}
	b.Nodes = m.set.number(b.Nodes)
	numbers := [][]uint32{b.Src[events:], b.Dst[events:], b.Negatives[negatives:], b.Far[edges:]}
	if m.o.History != BeforeEvent {
		numbers = append(numbers, b.Root[edges:])
	}
	for _, list := range numbers {
		for i, v := range list {
			list[i] = m.set.local(v)
		}
	}
	m.set.clear(b.Nodes[nodes:])
	b.EventEnds, b.NodeEnds = append(b.EventEnds, uint32(len(b.Events))), append(b.NodeEnds, uint32(len(b.Nodes)))
	b.EdgeEnds, b.NegativeEnds = append(b.EdgeEnds, uint32(len(b.Far))), append(b.NegativeEnds, uint32(len(b.Negatives)))
}

// addBeforeEvents adds the neighbours of the ends of each event and of its negatives, before its time. listEnds divide the negatives where
// events have several numbers of them.
func (m *Maker) addBeforeEvents(batch, negatives, listEnds []uint32) {
	s := m.s
	for end, of := range [][]uint32{s.src, s.dst} {
		for i, e := range batch {
			limit, place := s.tied[e], s.at[2*e+uint32(end)]
			from := s.indptr[of[e]]
			if e-limit > 64 { // many events at once
				place = s.entryAt(from, place, limit)
			}
			for place > from && s.entries[place-1].event >= limit {
				place--
			}
			m.appendLatest(from, place, uint32(end*len(batch)+i))
		}
	}
	at := 0
	for i, e := range batch {
		n := len(negatives) / len(batch)
		if len(listEnds) > 0 {
			n = int(listEnds[i]) - at
		}
		for range n {
			v := negatives[at]
			from := s.indptr[v]
			m.appendLatest(from, s.entryAt(from, s.indptr[v+1], s.tied[e]), uint32(2*len(batch)+at))
			at++
		}
	}
}

// entryAt is the first of the entries [from, to) of a node whose event is not below limit.
func (s *Stream) entryAt(from, to, limit uint32) uint32 {
	return from + uint32(sort.Search(int(to-from), func(i int) bool { return s.entries[from+uint32(i)].event >= limit }))
}

// appendLatest appends the latest of the entries [from, to) as neighbours of a root, latest first.
func (m *Maker) appendLatest(from, to, root uint32) {
	b := &m.made
	from = max(from, to-min(to, uint32(m.o.Neighbours)))
	latest, at := m.s.entries[from:to], len(b.Far)
	b.Far, b.Root, b.By = grown(b.Far, len(latest)), grown(b.Root, len(latest)), grown(b.By, len(latest))
	far, roots, by := b.Far[at:][:len(latest)], b.Root[at:][:len(latest)], b.By[at:][:len(latest)]
	for i := range latest {
		x := latest[len(latest)-1-i]
		far[i], roots[i], by[i] = x.far, root, x.event
	}
}

// grown is a list with n elements more, which hold anything.
func grown(list []uint32, n int) []uint32 { return slices.Grow(list, n)[:len(list)+n] }

// addBeforeBatch adds the neighbours of the nodes of the set before the batch, which begins at the given places of the lists. Roots are
// numbers among all nodes.
func (m *Maker) addBeforeBatch(batch []uint32, events, negatives int) {
	if len(batch) == 0 {
		return
	}
	s, b := m.s, &m.made
	limit := batch[0]
	// The set is numbered to find each root's first entry of the batch, before which its entries count.
	start := len(b.Nodes)
	b.Nodes = m.set.number(b.Nodes)
	roots := b.Nodes[start:]
	m.until = m.until[:0]
	for _, v := range roots {
		m.until = append(m.until, s.indptr[v+1])
	}
	known := func(v, place uint32) {
		if at := &m.until[m.set.local(v)]; place < *at {
			*at = place
		}
	}
	for i, e := range batch {
		known(b.Src[events+i], s.at[2*e])
		known(b.Dst[events+i], s.at[2*e+1])
	}
	for _, v := range b.Negatives[negatives:] {
		if at := &m.until[m.set.local(v)]; *at == s.indptr[v+1] {
			*at = s.entryAt(s.indptr[v], *at, limit)
		}
	}
	for i, v := range roots {
		from, to := s.indptr[v], m.until[i]
		for to > from && s.entries[to-1].event >= limit { // of events that are not chosen
			to--
		}
		if m.o.History == LikePyG {
			m.appendLikePyG(v, from, to)
		} else {
			m.appendLatest(from, to, v)
		}
	}
	b.Nodes = b.Nodes[:start]
}

// appendLikePyG appends the neighbours of node v among the entries [from, to), as PyG keeps them.
func (m *Maker) appendLikePyG(v, from, to uint32) {
	s, b := m.s, &m.made
	left := m.o.Neighbours
	for to > from && left > 0 {
		// The entries of one batch.
		last, start := m.d.batchOf(s.entries[to-1].event), to-1
		for start > from && m.d.batchOf(s.entries[start-1].event) == last {
			start--
		}
		m.kept = append(m.kept[:0], s.entries[start:to]...)
		if k := m.o.Neighbours; len(m.kept) > k {
			m.kept = append(m.ofEnd(v, start, to, s.dst), m.ofEnd(v, start, to, s.src)...)
			m.kept = m.kept[len(m.kept)-k:]
			slices.SortStableFunc(m.kept, func(a, b entry) int { return int(a.event) - int(b.event) })
		}
		for i := len(m.kept) - 1; i >= 0 && left > 0; i, left = i-1, left-1 {
			b.Far, b.Root, b.By = append(b.Far, m.kept[i].far), append(b.Root, v), append(b.By, m.kept[i].event)
		}
		to = start
	}
}

// ofEnd is the entries of node v among [from, to) as an end of their events, which ends says of each event. An event of the node with
// itself has its first entry as source.
func (m *Maker) ofEnd(v, from, to uint32, ends []uint32) (out []entry) {
	for i := from; i < to; i++ {
		if x := m.s.entries[i]; ends[x.event] == v && (x.far != v || (m.s.at[2*x.event] == i) == (&ends[0] == &m.s.src[0])) {
			out = append(out, x)
		}
	}
	return out
}
