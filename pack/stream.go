package pack

import (
	"errors"
	"iter"
	"slices"

	"github.com/graphmill/graphmill/internal/tagged"
)

// MaxBuffer is the most graphs that a Stream holds.
const MaxBuffer = 1 << 20

// Stream packs graphs that come one after the other, of which it holds Buffer at
// a time: the oldest graphs begin each pack, so that none waits for ever, and those
// that fill it best end it. Memory is that of the buffer.
type Stream struct {
	Limits    []int
	MaxGraphs int // in a pack; 0: no cap
	Buffer    int // graphs held, 1 to MaxBuffer
	// Skip leaves out graphs that are larger than a pack, and counts them in
	// Skipped; they are an error otherwise. They keep their numbers.
	Skip bool

	// What came out so far.
	Graphs, Packs int64
	Skipped       int64
	Totals        []int64 // sums of the sizes, one a component
}

// Short says how many graphs the buffer should hold, four times what a pack has, if
// it holds fewer; 0: it is large enough, or nothing is known yet.
func (s *Stream) Short() int {
	if s.Packs == 0 {
		return 0
	}
	if want := int(4 * ceilDiv(s.Graphs, s.Packs)); s.Buffer < want {
		return want
	}
	return 0
}

// Efficiency is the share of a component that graphs filled so far.
func (s *Stream) Efficiency(component int) float64 {
	if s.Packs == 0 || s.Limits[component] == 0 {
		return 1
	}
	return float64(s.Totals[component]) / (float64(s.Packs) * float64(s.Limits[component]))
}

// waiting is a graph in the buffer.
type waiting struct {
	weight int64
	number int64 // in the stream
	size   vec
	taken  bool // into the pack at hand
}

// Pack yields the packs of a stream of sizes, one a component: the numbers of their
// graphs in the stream, from 0, the oldest in front. A pack is valid until the next
// one. An error, such as of a graph that is larger than a pack, ends it.
func (s *Stream) Pack(sizes iter.Seq[[]int]) iter.Seq2[[]int64, error] {
	return func(yield func([]int64, error) bool) {
		p := &Problem{Histogram: &Histogram{Components: make([]string, len(s.Limits))}, Limits: s.Limits, MaxGraphs: s.MaxGraphs}
		if len(s.Limits) < 1 || len(s.Limits) > MaxComponents || s.Buffer < 1 || s.Buffer > MaxBuffer {
			yield(nil, tagged.Errorf(ErrLimits, "found %d limits and a buffer of %d graphs, expected 1 to %d limits and a buffer of 1 to %d", len(s.Limits), s.Buffer, MaxComponents, MaxBuffer))
			return
		}
		if err := p.check(); err != nil {
			yield(nil, err)
			return
		}
		in := newInstance(p)
		// What the stream will hold is not known: every component counts alike.
		for i := range in.demand {
			in.demand[i] = 1
		}
		unit := in.weights(1)
		s.Graphs, s.Packs, s.Skipped, s.Totals = 0, 0, 0, make([]int64, len(s.Limits))
		f := filler{Stream: s, in: in, full: in.weight(&in.limit, unit)}
		number := int64(0)
		for size := range sizes {
			switch err := s.fits(size, number); {
			case s.Skip && errors.Is(err, ErrOversize):
				s.Skipped++
				number++
				continue
			case err != nil:
				yield(nil, err)
				return
			}
			w := waiting{number: number, size: vecOf(size, 1)}
			w.weight = in.weight(&w.size, unit)
			f.add(w)
			number++
			if len(f.queue) == s.Buffer && !yield(f.fill(), nil) {
				return
			}
		}
		for len(f.queue) > 0 {
			if !yield(f.fill(), nil) {
				return
			}
		}
	}
}

// filler is the buffer of a stream.
type filler struct {
	*Stream
	in    *instance
	full  int64 // weight of a full pack
	slots []waiting
	free  []int32 // slots
	// Slots of the graphs held by age, the oldest first, the fresh ones from fresh
	// on; and by weight, the largest first, without the fresh.
	queue, held, merged []int32
	fresh               int
	weight              int64 // of the graphs held
	keys                []uint64
	pack                []int64
	room                vec // of the pack at hand
	roomWeight          int64
}

// add holds a graph.
func (f *filler) add(w waiting) {
	at := int32(len(f.slots))
	if n := len(f.free); n > 0 {
		at, f.free = f.free[n-1], f.free[:n-1]
		f.slots[at] = w
	} else {
		f.slots = append(f.slots, w)
	}
	f.queue = append(f.queue, at)
	f.weight += w.weight
}

// fill takes a pack out of the buffer: the oldest graphs, as long as there is room
// for a few more, and then the pair that fills it best. So what is held stays as
// mixed as the stream is, and has a pair for every room, in all components at once.
func (f *filler) fill() []int64 {
	f.room, f.pack = f.in.limit, f.pack[:0]
	f.roomWeight = f.full
	for n, few := 0, f.weight/int64(len(f.queue))*5/2; n < len(f.queue) && (n == 0 || f.roomWeight >= few); n++ {
		f.take(f.queue[n])
	}
	f.merge()
	for _, i := range f.pair() {
		if i >= 0 {
			f.take(i)
		}
	}
	n := 0
	for _, i := range f.held {
		f.held[n] = i
		if w := &f.slots[i]; !w.taken && (w.weight > f.roomWeight || !f.take(i)) {
			n++
		}
	}
	f.held, n = f.held[:n], 0
	for _, i := range f.queue {
		if f.queue[n] = i; f.slots[i].taken {
			f.free = append(f.free, i)
		} else {
			n++
		}
	}
	f.queue = f.queue[:n]
	f.fresh = len(f.queue)
	f.Packs++
	f.Graphs += int64(len(f.pack))
	for j, l := range f.Limits {
		f.Totals[j] += int64(l - f.room.get(field(j)))
	}
	return f.pack
}

// looks bounds the partners that are looked at for a graph.
const looks = 8

// pair is the two graphs, or the one, of those held that fill the room best; -1 is
// none.
func (f *filler) pair() [2]int32 {
	best, most := [2]int32{-1, -1}, int64(0)
	last := len(f.held) - 1
	for x, i := range f.held {
		w := &f.slots[i]
		if 2*w.weight <= most {
			break
		}
		if w.weight > f.roomWeight {
			continue
		}
		rest, ok := f.room.minus(&w.size)
		if !ok {
			continue
		}
		if w.weight > most {
			best, most = [2]int32{i, -1}, w.weight
		}
		// Partners from last on are too light to fill the room.
		for last > x && f.slots[f.held[last]].weight <= f.roomWeight-w.weight {
			last--
		}
		from := max(last, x) + 1
		for _, j := range f.held[from:min(len(f.held), from+looks)] {
			v := &f.slots[j]
			if w.weight+v.weight <= most {
				break
			}
			if rest.fits(&v.size) {
				best, most = [2]int32{i, j}, w.weight+v.weight
				break
			}
		}
	}
	return best
}

// take takes a graph into the pack, if it fits.
func (f *filler) take(i int32) bool {
	w := &f.slots[i]
	rest, ok := f.room.minus(&w.size)
	if !ok {
		return false
	}
	f.room, w.taken = rest, true
	f.roomWeight -= w.weight
	f.weight -= w.weight
	f.pack = append(f.pack, w.number)
	return true
}

func (s *Stream) fits(size []int, number int64) error {
	if len(size) != len(s.Limits) {
		return tagged.Errorf(ErrHistogram, "graph %d: found %d sizes, expected %d", number, len(size), len(s.Limits))
	}
	for j, n := range size {
		if n < 0 {
			return tagged.Errorf(ErrHistogram, "graph %d: found component %d of size %d, expected at least 0", number, j+1, n)
		}
		if n > s.Limits[j] {
			return tagged.Errorf(ErrOversize, "graph %d: found component %d of size %d, expected at most %d, the limit; raise the limit, or leave such graphs out", number, j+1, n, s.Limits[j])
		}
	}
	return nil
}

// merge puts the fresh graphs among those held, by weight, the largest first, the
// older first of equals, and drops those that are taken.
func (f *filler) merge() {
	// Weights are at most 2^43, places below MaxBuffer: one number sorts faster than
	// a graph.
	f.keys = f.keys[:0]
	for k, i := range f.queue[f.fresh:] {
		if w := &f.slots[i]; !w.taken {
			f.keys = append(f.keys, uint64(1<<43-w.weight)<<20|uint64(k))
		}
	}
	slices.Sort(f.keys)
	to, fresh := f.merged[:0], f.keys
	for _, i := range f.held {
		w := &f.slots[i]
		if w.taken {
			continue
		}
		for len(fresh) > 0 && fresh[0]>>20 < uint64(1<<43-w.weight) {
			to = append(to, f.queue[f.fresh+int(fresh[0]&(MaxBuffer-1))])
			fresh = fresh[1:]
		}
		to = append(to, i)
	}
	for _, k := range fresh {
		to = append(to, f.queue[f.fresh+int(k&(MaxBuffer-1))])
	}
	f.held, f.merged = to, f.held
}
