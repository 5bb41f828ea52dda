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
// a time: the oldest graph begins each pack, so that none waits for ever, and the
// largest that fit fill it. Memory is that of the buffer.
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
		f := filler{Stream: s, in: in}
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
			f.fresh = append(f.fresh, w)
			number++
			if len(f.held)+len(f.fresh) == s.Buffer && !yield(f.fill(), nil) {
				return
			}
		}
		for len(f.held)+len(f.fresh) > 0 {
			if !yield(f.fill(), nil) {
				return
			}
		}
	}
}

// filler is the buffer of a stream: held by weight, fresh as they came.
type filler struct {
	*Stream
	in                  *instance
	held, fresh, merged []waiting
	keys                []uint64
	pack                []int64
}

// fill takes a pack out of the buffer.
func (f *filler) fill() []int64 {
	f.merge()
	oldest := 0
	for i := range f.held {
		if f.held[i].number < f.held[oldest].number {
			oldest = i
		}
	}
	f.pack = append(f.pack[:0], f.held[oldest].number)
	room, _ := f.in.limit.minus(&f.held[oldest].size)
	n := 0
	for i := range f.held {
		w := &f.held[i]
		if i == oldest {
			continue
		}
		if rest, ok := room.minus(&w.size); ok {
			room = rest
			f.pack = append(f.pack, w.number)
			continue
		}
		f.held[n] = *w
		n++
	}
	f.held = f.held[:n]
	f.Packs++
	f.Graphs += int64(len(f.pack))
	for j, l := range f.Limits {
		f.Totals[j] += int64(l - room.get(field(j)))
	}
	return f.pack
}

func (s *Stream) fits(size []int, number int64) error {
	if len(size) != len(s.Limits) {
		return tagged.Errorf(ErrHistogram, "graph %d: found %d sizes, expected %d", number, len(size), len(s.Limits))
	}
	for j, n := range size {
		if n < 0 {
			return tagged.Errorf(ErrHistogram, "graph %d: found size %d, expected at least 0", number, n)
		}
		if n > s.Limits[j] {
			return tagged.Errorf(ErrOversize, "graph %d: found size %d, expected at most %d, the limit; raise the limit, or leave such graphs out", number, n, s.Limits[j])
		}
	}
	return nil
}

// merge puts the fresh graphs among those held, by weight, the largest first, the
// older first of equals.
func (f *filler) merge() {
	// Weights are below 2^43, places below MaxBuffer: one number sorts faster than
	// a graph.
	f.keys = f.keys[:0]
	for i := range f.fresh {
		f.keys = append(f.keys, uint64(1<<43-1-f.fresh[i].weight)<<20|uint64(i))
	}
	slices.Sort(f.keys)
	to, held := f.merged[:0], f.held
	for _, k := range f.keys {
		w := &f.fresh[k&(MaxBuffer-1)]
		n := 0
		for n < len(held) && held[n].weight >= w.weight {
			n++
		}
		to = append(append(to, held[:n]...), *w)
		held = held[n:]
	}
	f.held, f.merged = append(to, held...), f.held
	f.fresh = f.fresh[:0]
}
