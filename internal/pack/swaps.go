package pack

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// swaps empties packs by exchanges. It takes the emptiest packs out and puts their graphs into other packs, some of
// which then are too full. Random exchanges of two graphs, and moves of one, follow; none of them raises the excess
// over the limits. If the excess ends, there are fewer packs; else the packs of before are kept.
type swaps struct {
	in     *instance
	limit  []int64 // of each field of in
	unit   []int64 // cost of a unit beyond the limit, of each field
	size   []int64 // of each graph, by field
	shape  []int32 // of each graph
	pack   []int32 // of each graph
	graphs [][]int32
	load   []int64 // of each pack, by field
	full   []int32 // the packs that are too full
	place  []int32 // of each pack in full; -1: it is not too full
	state  uint64  // of the random numbers
	steps  int64
	halted func() bool
}

const (
	swapSteps  = 40_000_000 // of swaps, for an effort of 1
	swapStep   = 30         // in steps of a race
	swapGraphs = 500_000    // bounds the memory of swaps
	swapTries  = 8          // a try takes at most this part of the steps
	excessUnit = 1 << 32    // cost of an excess of a whole pack
)

// newSwaps takes the graphs of patterns.
func newSwaps(in *instance, patterns []Pattern, state uint64, halted func() bool) *swaps {
	s := &swaps{in: in, state: state, halted: halted}
	for _, f := range in.fields {
		l := int64(in.limit.get(f))
		s.limit, s.unit = append(s.limit, l), append(s.unit, excessUnit/max(l, 1))
	}
	for _, p := range patterns {
		for range p.Packs {
			load, at := make([]int64, len(in.fields)), len(s.pack)
			for _, part := range p.Parts {
				for range part.Copies {
					for j, f := range in.fields {
						n := int64(in.size[part.Shape].get(f))
						s.size = append(s.size, n)
						load[j] += n
					}
					s.shape, s.pack = append(s.shape, int32(part.Shape)), append(s.pack, int32(len(s.graphs)))
				}
			}
			var graphs []int32
			for i := at; i < len(s.pack); i++ {
				graphs = append(graphs, int32(i))
			}
			s.load, s.graphs, s.place = append(s.load, load...), append(s.graphs, graphs), append(s.place, -1)
		}
	}
	s.steps += int64(len(s.pack))
	return s
}

// swapped returns patterns, or the patterns of fewer packs that exchanges of graphs find, but at least least packs. It ends after the
// given steps.
func (in *instance) swapped(patterns []Pattern, least, steps int64, random *rand.Rand, halted func() bool) ([]Pattern, int64) {
	done := int64(0)
	n := max((packsOf(patterns)-least+1)/2, 1)
	for {
		packs := packsOf(patterns)
		if n = min(n, packs-least); n < 1 || done >= steps || halted() {
			return patterns, done
		}
		s := newSwaps(in, patterns, random.Uint64(), halted)
		s.empty(int(n))
		fits := s.repair(min(steps-done, steps/swapTries))
		if done += s.steps; fits {
			patterns = s.patterns()
		} else {
			n = max(n/2, 1)
		}
	}
}

// below returns a random number below n.
func (s *swaps) below(n int) int {
	s.state = s.state*6364136223846793005 + 1442695040888963407
	return int(s.state >> 32 * uint64(n) >> 32)
}

func (s *swaps) loads(b int) []int64 { return s.load[b*len(s.limit) : (b+1)*len(s.limit)] }
func (s *swaps) sizes(i int) []int64 { return s.size[i*len(s.limit) : (i+1)*len(s.limit)] }

// excess is the cost of a pack.
func (s *swaps) excess(b int) int64 {
	sum := int64(0)
	for j, l := range s.loads(b) {
		sum += max(l-s.limit[j], 0) * s.unit[j]
	}
	return sum
}

// mark notes whether a pack is too full.
func (s *swaps) mark(b int) {
	switch at, is := s.place[b], s.excess(b) > 0; {
	case is && at < 0:
		s.place[b] = int32(len(s.full))
		s.full = append(s.full, int32(b))
	case !is && at >= 0:
		last := s.full[len(s.full)-1]
		s.full[at], s.place[last], s.place[b] = last, at, -1
		s.full = s.full[:len(s.full)-1]
	}
}

// empty takes the n emptiest packs out, and puts their graphs into random other ones.
func (s *swaps) empty(n int) {
	order, weight := make([]int, len(s.graphs)), make([]int64, len(s.graphs))
	for b := range order {
		order[b] = b
		for j, l := range s.loads(b) {
			weight[b] += l * s.unit[j]
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(weight[a], weight[b]), a-b) })
	out, rest := order[:n], order[n:]
	slices.Sort(rest)
	var loose []int32
	for _, b := range out {
		loose = append(loose, s.graphs[b]...)
	}
	for to, b := range rest { // to is at most b
		copy(s.loads(to), s.loads(b))
		s.graphs[to] = s.graphs[b]
		for _, i := range s.graphs[to] {
			s.pack[i] = int32(to)
		}
	}
	s.graphs = s.graphs[:len(rest)]
	for _, i := range loose {
		b := s.below(len(rest))
		for j, n := range s.sizes(int(i)) {
			s.loads(b)[j] += n
		}
		s.graphs[b] = append(s.graphs[b], i)
		s.pack[i] = int32(b)
	}
	for b := range s.graphs {
		s.mark(b)
	}
}

// noGraph has the sizes of no graph, for which a graph is exchanged if it is moved.
var noGraph [MaxComponents + 1]int64

// repair exchanges graphs until no pack is too full, which it reports, at most the given times.
func (s *swaps) repair(times int64) bool {
	var x, y [MaxComponents + 1]int64
	end := s.steps + times
	for tries := 1; s.steps < end && len(s.full) > 0; tries++ {
		if s.steps++; tries%8192 == 0 && s.halted() {
			return false
		}
		// Half of the exchanges begin in a pack that is too full, one in sixteen is a move.
		kind, i := s.below(32), s.below(len(s.pack))
		if kind%2 == 0 {
			of := s.graphs[s.full[s.below(len(s.full))]]
			i = int(of[s.below(len(of))])
		}
		a, other := int(s.pack[i]), -1
		var b int
		less := noGraph[:len(s.limit)]
		if kind < 2 {
			b = s.below(len(s.graphs))
		} else {
			other = s.below(len(s.pack))
			b, less = int(s.pack[other]), s.sizes(other)
		}
		if a == b {
			continue
		}
		from, to, change := s.loads(a), s.loads(b), int64(0)
		for j, n := range s.sizes(i) {
			l, d := s.limit[j], n-less[j]
			x[j], y[j] = from[j]-d, to[j]+d
			change += s.unit[j] * (max(x[j]-l, 0) + max(y[j]-l, 0) - max(from[j]-l, 0) - max(to[j]-l, 0))
		}
		if change > 0 {
			continue
		}
		copy(from, x[:])
		copy(to, y[:])
		s.move(i, b)
		if other >= 0 {
			s.move(other, a)
		}
		s.mark(a)
		s.mark(b)
	}
	return len(s.full) == 0
}

// move puts a graph into the list of another pack.
func (s *swaps) move(i, b int) {
	of := s.graphs[s.pack[i]]
	at := slices.Index(of, int32(i))
	s.steps += int64(at / 8) // the search takes long in packs of many graphs
	of[at] = of[len(of)-1]
	s.graphs[s.pack[i]] = of[:len(of)-1]
	s.graphs[b] = append(s.graphs[b], int32(i))
	s.pack[i] = int32(b)
}

// patterns returns the packs that have graphs.
func (s *swaps) patterns() []Pattern {
	var patterns []Pattern
	for _, of := range s.graphs {
		var parts []Part
		for _, i := range of {
			parts = append(parts, Part{int(s.shape[i]), 1})
		}
		if len(parts) > 0 {
			patterns = append(patterns, Pattern{joined(parts), 1})
		}
	}
	return patterns
}
