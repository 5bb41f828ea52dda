package pack

import (
	"errors"
	"iter"

	"github.com/graphmill/graphmill/internal/tagged"
)

// MaxBuffer is the largest buffer of a Stream, in graphs.
const MaxBuffer = 1 << 20

// Stream packs graphs in the order in which they arrive and holds at most Buffer of them. The oldest graphs
// begin each pack, so that none waits for ever, and the graphs that fill it best end it. Graphs of no size in
// any component take the places that the others leave; one that has waited for Buffer packs comes first. A
// Stream needs no memory besides its buffer.
type Stream struct {
	Limits    []int
	MaxGraphs int // in a pack; 0: no cap
	Buffer    int // number of graphs held, 1 to MaxBuffer
	// Skip leaves out graphs that are larger than a pack, and counts them in Skipped. Without it they are an
	// error. They keep their numbers.
	Skip bool

	// The output so far.
	Graphs, Packs int64
	Skipped       int64
	Totals        []int64 // sums of the sizes, one per component
}

// muchLost is the share of the room above which a buffer is too small.
const muchLost = 0.01

// Lost is the share of the room that stayed empty in the fullest component, or in the number of graphs. The
// last pack does not count, because the stream may end before it is full.
func (s *Stream) Lost() float64 {
	if s.Packs < 2 {
		return 0
	}
	full := 0.0
	for j, l := range s.Limits {
		if l > 0 {
			full = max(full, float64(s.Totals[j])/float64(l))
		}
	}
	if s.MaxGraphs > 0 {
		full = max(full, float64(s.Graphs)/float64(s.MaxGraphs))
	}
	return max(0, 1-full/float64(s.Packs-1))
}

// Short returns the number of graphs that the buffer should hold, four times as many as a pack has, if it holds
// fewer and more than a hundredth of the room is lost. It returns 0 if the buffer is large enough, or if
// nothing is known yet.
func (s *Stream) Short() int {
	if s.Lost() <= muchLost {
		return 0
	}
	if want := int(min(4*ceilDiv(s.Graphs, s.Packs), MaxBuffer)); s.Buffer < want {
		return want
	}
	return 0
}

// Efficiency is the share of a component that graphs have filled so far.
func (s *Stream) Efficiency(component int) float64 {
	if s.Packs == 0 || s.Limits[component] == 0 {
		return 1
	}
	return float64(s.Totals[component]) / (float64(s.Packs) * float64(s.Limits[component]))
}

// waiting is a graph in the buffer.
type waiting struct {
	weight int64 // 0 for a graph of no size
	number int64 // in the stream
	size   vec
	packs  int64 // number of packs before it arrived
	taken  bool  // into the current pack
}

// Pack yields the packs of a stream of sizes, one per component: the numbers of their graphs in the stream,
// from 0. A pack is valid until the next one. An error, such as a graph that is larger than a pack, ends the
// packs.
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
		// The future of the stream is not known, so every component counts alike.
		for i := range in.demand {
			in.demand[i] = 1
		}
		unit := in.weights(1)
		s.Graphs, s.Packs, s.Skipped, s.Totals = 0, 0, 0, make([]int64, len(s.Limits))
		f := filler{Stream: s, limit: in.limit, full: in.weight(&in.limit, unit)}
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
			w := waiting{number: number, size: vecOf(size, 1), packs: s.Packs}
			if w.size == none {
				f.none = append(f.none, w)
			} else {
				w.weight = in.weight(&w.size, unit)
				f.queue, f.weight = append(f.queue, w), f.weight+w.weight
			}
			number++
			if f.held() == s.Buffer && !yield(f.fill(), nil) {
				return
			}
		}
		for f.held() > 0 {
			if !yield(f.fill(), nil) {
				return
			}
		}
	}
}

// filler is the buffer of a stream.
type filler struct {
	*Stream
	full   int64     // weight of a full pack
	limit  vec       // of a pack
	queue  []waiting // graphs that have a size, the oldest first
	none   []waiting // graphs of no size, the oldest first
	weight int64     // of the queue
	pack   []int64
	// The current pack.
	room       vec
	roomWeight int64
}

// none is the vec of a graph of no size.
var none = vecOf(nil, 1)

func (f *filler) held() int { return len(f.queue) + len(f.none) }

// window bounds the number of graphs among which a pair is chosen.
const window = 24

// fill takes a pack out of the buffer: the oldest graphs, as long as there is room for a few more, then the
// pair of the next ones that fills it best, and then all that still fit. So the buffer stays as mixed as the
// stream, and has a pair for every room, in all components at once. Graphs of no size come last, except those
// that have waited for as many packs as the buffer has graphs.
func (f *filler) fill() []int64 {
	f.room, f.roomWeight, f.pack = f.limit, f.full, f.pack[:0]
	old := 0 // number of graphs of no size that have waited
	for old < len(f.none) && f.Packs-f.none[old].packs >= int64(f.Buffer) && f.take(&f.none[old]) {
		old++
	}
	n := 0
	for few := f.weight / int64(max(len(f.queue), 1)) * 5 / 2; n < len(f.queue) && (n == 0 || f.roomWeight >= few); n++ {
		f.take(&f.queue[n])
	}
	next := f.queue[n:]
	for _, i := range f.pair(next[:min(len(next), window)]) {
		if i >= 0 {
			f.take(&next[i])
		}
	}
	left := 0
	for i := range f.queue {
		if w := &f.queue[i]; !w.taken && (w.weight > f.roomWeight || !f.take(w)) {
			if left != i {
				f.queue[left] = *w
			}
			left++
		}
	}
	f.queue = f.queue[:left]
	for old < len(f.none) && f.take(&f.none[old]) {
		old++
	}
	f.none = append(f.none[:0], f.none[old:]...)
	f.Packs++
	f.Graphs += int64(len(f.pack))
	for j, l := range f.Limits {
		f.Totals[j] += int64(l - f.room.get(field(j)))
	}
	return f.pack
}

// pair returns the indices of the two graphs, or of the one, that fill the room best; -1 is none.
func (f *filler) pair(of []waiting) [2]int {
	best, most := [2]int{-1, -1}, int64(-1)
	for i := range of {
		w := &of[i]
		if w.taken || w.weight > f.roomWeight {
			continue
		}
		rest, ok := f.room.minus(&w.size)
		if !ok {
			continue
		}
		if w.weight > most {
			best, most = [2]int{i, -1}, w.weight
		}
		low, high := most-w.weight, f.roomWeight-w.weight
		for j := range of[:i] {
			if v := &of[j]; v.weight > low && v.weight <= high && rest.fits(&v.size) && !v.taken {
				best, most, low = [2]int{j, i}, w.weight+v.weight, v.weight
			}
		}
	}
	return best
}

// take takes a graph into the pack if it fits.
func (f *filler) take(w *waiting) bool {
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
