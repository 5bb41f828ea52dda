package event

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/prefetch"
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

// Batch is a batch of events. Nodes are numbers among all nodes.
type Batch struct {
	Events              []uint32 // numbers, ascending
	Src, Dst, Negatives []uint32
	// ListEnds are the ends of the negatives of each event, where Lists have several lengths.
	ListEnds []uint32
	// Nodes are the ends of the events, the negatives and all neighbours, ascending and each once.
	Nodes []uint32
	// Far is the neighbours, and By the events by which they are. Root is a node or, for BeforeEvent, a place among the roots.
	Far, Root, By []uint32

	set *nodeSet
}

// Places writes the places of nodes of the batch among Nodes.
func (b *Batch) Places(to []int64, nodes []uint32) {
	for i, v := range nodes {
		to[i] = int64(b.set.local(v))
	}
}

// RootPlaces is Places of Root, in which equal nodes follow each other.
func (b *Batch) RootPlaces(to []int64) {
	last, place := uint32(math.MaxUint32), int64(0)
	for i, v := range b.Root {
		if v != last {
			last, place = v, int64(b.set.local(v))
		}
		to[i] = place
	}
}

// Maker makes batches. It serves one goroutine at a time.
type Maker struct {
	s    *Stream
	d    *Division
	o    Options
	made Batch
	// Of the roots of the batch under way: the first of their entries that does not count.
	until  []uint32
	kept   []entry  // scratch memory of appendLikePyG
	places []uint32 // scratch memory of expect
}

// NewMaker makes a maker.
func NewMaker(d *Division, o Options) *Maker {
	return &Maker{s: d.s, d: d, o: o, made: Batch{set: newNodeSet(d.s.Nodes())}}
}

// MakerBytes is the memory of a maker for some nodes, but for its batch.
func MakerBytes(nodes int) int64 { return int64(nodes)/8 + int64(nodes)/512 + int64(nodes)/16 }

// Make makes batch number of an epoch. It is valid until the next call.
func (m *Maker) Make(epoch uint64, number int) *Batch {
	s, b := m.s, &m.made
	b.set.clear(b.Nodes)
	for _, list := range []*[]uint32{&b.Events, &b.Src, &b.Dst, &b.Negatives, &b.ListEnds, &b.Nodes, &b.Far, &b.Root, &b.By} {
		*list = (*list)[:0]
	}
	from, to := m.d.Span(number)
	for i := from; i < to; i++ {
		e := s.event(i)
		b.Events, b.Src, b.Dst = append(b.Events, e), append(b.Src, s.src[e]), append(b.Dst, s.dst[e])
	}
	m.addNegatives(draw.Key(m.o.Seed, epoch, negativeWord), from)
	for _, list := range [][]uint32{b.Src, b.Dst, b.Negatives} {
		for _, v := range list {
			b.set.insert(v)
		}
	}
	if m.o.Neighbours > 0 {
		m.expect(b.Events)
		if m.o.History == BeforeEvent {
			m.addBeforeEvents()
		} else {
			m.addBeforeBatch()
		}
		for _, v := range b.Far {
			b.set.insert(v)
		}
	}
	b.Nodes = b.set.number(b.Nodes[:0])
	return b
}

// addNegatives adds the negatives of the events, the first of which is chosen event from.
func (m *Maker) addNegatives(key uint64, from int) {
	s, b := m.s, &m.made
	for i, e := range b.Events {
		if l := m.o.Lists; l != nil {
			b.Negatives = append(b.Negatives, l.of(from+i)...)
			if l.Ends != nil {
				b.ListEnds = append(b.ListEnds, uint32(len(b.Negatives)))
			}
			continue
		}
		if m.o.Negatives == 0 {
			return
		}
		lo, hi, h := s.least[s.Of(e)], s.greatest[s.Of(e)], draw.Absorb(key, uint64(e))
		for j := range m.o.Negatives {
			b.Negatives = append(b.Negatives, lo+uint32(draw.Below(draw.At(h, uint64(j)), uint64(hi-lo)+1)))
		}
	}
}

// expect loads what the neighbours of events are read from, which is anywhere in large arrays.
func (m *Maker) expect(batch []uint32) {
	s := m.s
	m.places = m.places[:0]
	for _, e := range batch {
		m.places = append(m.places, s.at[2*e]-1, s.at[2*e+1]-1)
	}
	table := (*float64)(unsafe.Pointer(unsafe.SliceData(s.entries)))
	prefetch.Wide(table, m.places)
	for i := range m.places { // the first of those that are read, which may have a line of its own
		m.places[i] -= uint32(m.o.Neighbours - 1)
	}
	prefetch.Wide(table, m.places)
	for i, e := range batch {
		m.places[2*i], m.places[2*i+1] = s.src[e], s.dst[e]
	}
	prefetch.At(unsafe.SliceData(s.indptr), m.places)
}

// addBeforeEvents adds the neighbours of the ends of each event and of its negatives, before its time.
func (m *Maker) addBeforeEvents() {
	s, b := m.s, &m.made
	for end, nodes := range [][]uint32{b.Src, b.Dst} {
		for i, e := range b.Events {
			limit, place, from := s.tied[e], s.at[2*e+uint32(end)], s.indptr[nodes[i]]
			if e-limit > 64 { // many events at once
				place = s.entryAt(from, place, limit)
			}
			for place > from && s.entries[place-1].event >= limit {
				place--
			}
			m.appendLatest(from, place, uint32(end*len(b.Events)+i))
		}
	}
	at := 0
	for i, e := range b.Events {
		until := (i + 1) * len(b.Negatives) / len(b.Events)
		if len(b.ListEnds) > 0 {
			until = int(b.ListEnds[i])
		}
		for ; at < until; at++ {
			v := b.Negatives[at]
			from := s.indptr[v]
			m.appendLatest(from, s.entryAt(from, s.indptr[v+1], s.tied[e]), uint32(2*len(b.Events)+at))
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

// addBeforeBatch adds the neighbours of the ends of the events and of the negatives before the batch.
func (m *Maker) addBeforeBatch() {
	s, b := m.s, &m.made
	limit := b.Events[0]
	// The roots are numbered to find the first entry of each by an event of the batch, before which its entries count.
	b.Nodes = b.set.number(b.Nodes)
	m.until = m.until[:0]
	for _, v := range b.Nodes {
		m.until = append(m.until, s.indptr[v+1])
	}
	for i, e := range b.Events {
		src, dst := &m.until[b.set.local(b.Src[i])], &m.until[b.set.local(b.Dst[i])]
		*src = min(*src, s.at[2*e])
		*dst = min(*dst, s.at[2*e+1])
	}
	for _, v := range b.Negatives {
		if at := &m.until[b.set.local(v)]; *at == s.indptr[v+1] {
			*at = s.entryAt(s.indptr[v], *at, limit)
		}
	}
	for i, v := range b.Nodes {
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
}

// appendLikePyG appends the neighbours of node v among the entries [from, to), as PyG keeps them.
func (m *Maker) appendLikePyG(v, from, to uint32) {
	s, b := m.s, &m.made
	k := uint32(m.o.Neighbours)
	if to-from <= k || s.entries[to-k-1].event < m.d.startOf(s.entries[to-k].event) {
		m.appendLatest(from, to, v) // no batch has more than k of those that are kept
		return
	}
	for left := m.o.Neighbours; to > from && left > 0; {
		first, start := m.d.startOf(s.entries[to-1].event), to
		for start > from && s.entries[start-1].event >= first {
			start--
		}
		m.kept = append(m.kept[:0], s.entries[start:to]...)
		if to-start > k {
			m.kept = append(m.ofEnd(v, start, to, s.dst), m.ofEnd(v, start, to, s.src)...)
			m.kept = m.kept[len(m.kept)-int(k):]
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
