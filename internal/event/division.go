package event

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// Division divides the chosen events of a stream into batches.
type Division struct {
	s     *Stream
	size  int
	drop  bool     // leave out a last batch of fewer events
	ends  []uint32 // of each window: its last chosen event and one; nil without windows
	first uint32   // number of the first chosen event; the number of events without any
}

// Divide makes batches of some events each. With drop, a last batch of fewer events is left out.
func (s *Stream) Divide(size int, drop bool) *Division {
	return s.divide(&Division{size: size, drop: drop})
}

// Windows makes a batch of each window of time that has events. A window begins at a multiple of its width, which is above 0: a number of
// the unit of the times, whole where these are.
func (s *Stream) Windows(width float64) (*Division, error) {
	if !s.Float && (width != math.Trunc(width) || width >= 1<<62) {
		return nil, fmt.Errorf("found windows of %v, expected a whole number in the unit of the times", width)
	}
	d := &Division{ends: []uint32{}}
	for i := range s.Chosen() {
		if i > 0 && s.windowOf(s.event(i), width) != s.windowOf(s.event(i-1), width) {
			d.ends = append(d.ends, uint32(i))
		}
	}
	if n := s.Chosen(); n > 0 {
		d.ends = append(d.ends, uint32(n))
	}
	return s.divide(d), nil
}

func (s *Stream) divide(d *Division) *Division {
	d.s, d.first = s, uint32(s.Events())
	if s.Chosen() > 0 {
		d.first = s.event(0)
	}
	return d
}

// windowOf is the number of the window of an event: an integer, or the bits of a float.
func (s *Stream) windowOf(event uint32, width float64) int64 {
	t := s.times[event]
	if s.Float {
		return int64(math.Float64bits(math.Floor(math.Float64frombits(uint64(t)) / width)))
	}
	w := int64(width)
	q := t / w
	if t%w < 0 {
		q--
	}
	return q
}

// Batches is the number of batches.
func (d *Division) Batches() int {
	if d.ends != nil {
		return len(d.ends)
	}
	n := d.s.Chosen()
	full := n / d.size
	if n%d.size > 0 && !d.drop {
		full++
	}
	return full
}

// Span is the chosen events [from, to) of batch b.
func (d *Division) Span(b int) (from, to int) {
	if d.ends == nil {
		return b * d.size, min((b+1)*d.size, d.s.Chosen())
	}
	if b > 0 {
		from = int(d.ends[b-1])
	}
	return from, int(d.ends[b])
}

// Most is the most events of a batch.
func (d *Division) Most() int {
	if d.ends == nil {
		return min(d.size, d.s.Chosen())
	}
	most := 0
	for b := range d.ends {
		from, to := d.Span(b)
		most = max(most, to-from)
	}
	return most
}

// startOf is the first event of the batch that an event counts with, of LikePyG: batches of the chosen events, and before the first of
// them batches of all events from event 0. An event that is not chosen counts with the last chosen one before it.
func (d *Division) startOf(event uint32) uint32 {
	size := uint32(d.size)
	if event < d.first {
		if d.ends != nil {
			return event // each is its own
		}
		return event - event%size
	}
	i := event
	if d.s.chosen != nil {
		i = uint32(sort.Search(len(d.s.chosen), func(i int) bool { return d.s.chosen[i] > event })) - 1
	}
	if d.ends == nil {
		return d.s.event(int(i - i%size))
	}
	b := sort.Search(len(d.ends), func(b int) bool { return d.ends[b] > i })
	from, _ := d.Span(b)
	return d.s.event(from)
}

// nodeSet is a set of nodes, which numbers its members in ascending order. It takes time for each member and for each 4096 nodes of the graph.
type nodeSet struct {
	words  []uint64 // a bit per node
	groups []uint64 // a bit per word
	before []uint32 // of a word with members: the members of all words before it
}

func newNodeSet(nodes int) *nodeSet {
	words := (nodes + 63) / 64
	return &nodeSet{words: make([]uint64, words), groups: make([]uint64, (words+63)/64), before: make([]uint32, words)}
}

func (x *nodeSet) insert(v uint32) {
	w := v / 64
	x.words[w] |= 1 << (v % 64)
	x.groups[w/64] |= 1 << (w % 64)
}

// number appends the members to to, and numbers them by their places there, counted from the first.
func (x *nodeSet) number(to []uint32) []uint32 {
	n := uint32(0)
	for g, group := range x.groups {
		for ; group != 0; group &= group - 1 {
			w := uint32(64*g + bits.TrailingZeros64(group))
			x.before[w] = n
			word := x.words[w]
			n += uint32(bits.OnesCount64(word))
			for ; word != 0; word &= word - 1 {
				to = append(to, 64*w+uint32(bits.TrailingZeros64(word)))
			}
		}
	}
	return to
}

// local is the number of a member, after number.
func (x *nodeSet) local(v uint32) uint32 {
	w := v / 64
	return x.before[w] + uint32(bits.OnesCount64(x.words[w]&(1<<(v%64)-1)))
}

// clear removes the members, which are given.
func (x *nodeSet) clear(members []uint32) {
	for _, v := range members {
		x.words[v/64], x.groups[v/4096] = 0, 0
	}
}
