package pack

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// search fills one pack after another: with the largest remaining graph, and the best filling of the remaining
// room that a bounded search finds.
type search struct {
	in      *instance
	unit    []int64 // weight of a unit of each field
	full    int64   // weight of a full pack
	weights []int64 // of all shapes
	rank    []int   // all shapes, by descending weight

	// The remaining shapes, by descending weight.
	shape  []int
	size   []vec
	weight []int64
	left   []int64
	suffix []vec // the minimum of all later shapes in every field
	dead   int

	enough                 int64 // give up at this number of packs; 0: never
	nodes, budget, scanned int   // of the current pack
	steps                  int64
	halted                 func() bool         // nil: never
	tell                   func(share float64) // nil: nobody asks for the progress
	target                 int64
	now, best              []Part // Shape is the index among the remaining shapes
	most                   int64
	done                   bool
}

// fill has the parameters of a search.
type fill struct {
	budget  int   // nodes per pack
	frac    int64 // a pattern is repeated possible / frac times
	average bool  // a pack is good enough at the average fill, else when full
}

// newSearch weighs the shapes of an instance and ranks them by descending weight.
func newSearch(in *instance, power int) *search {
	s := &search{in: in, unit: in.weights(power), weights: make([]int64, len(in.size)), rank: make([]int, len(in.size))}
	order := make([]int, len(in.size))
	for i := range in.size {
		s.weights[i], order[i] = in.weight(&in.size[i], s.unit), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(s.weights[b], s.weights[a]), b-a) })
	for r, i := range order {
		s.rank[i] = r
	}
	s.full = in.weight(&in.limit, s.unit)
	return s
}

// load sets the graphs to pack: shapes, each once, and the count of each.
func (s *search) load(shapes []int, counts []int64) {
	s.shape = append(s.shape[:0], shapes...)
	slices.SortFunc(s.shape, func(a, b int) int { return s.rank[a] - s.rank[b] })
	s.size, s.weight, s.left, s.dead = s.size[:0], s.weight[:0], s.left[:0], 0
	for _, i := range s.shape {
		s.size, s.weight = append(s.size, s.in.size[i]), append(s.weight, s.weights[i])
	}
	s.left = slices.Grow(s.left, len(s.shape))[:len(s.shape)]
	for k, i := range shapes {
		at, _ := slices.BinarySearchFunc(s.shape, s.rank[i], func(j, r int) int { return s.rank[j] - r })
		s.left[at] = counts[k]
	}
	s.suffixes()
}

// loadAll is load with a count for each shape of the instance.
func (s *search) loadAll(counts []int64) {
	var shapes []int
	var some []int64
	for i, c := range counts {
		if c > 0 {
			shapes, some = append(shapes, i), append(some, c)
		}
	}
	s.load(shapes, some)
}

func (s *search) suffixes() {
	s.suffix = slices.Grow(s.suffix[:0], len(s.size))[:len(s.size)]
	for i := len(s.size) - 1; i >= 0; i-- {
		s.suffix[i] = s.size[i]
		if i+1 < len(s.size) {
			s.suffix[i] = s.size[i].least(&s.suffix[i+1])
		}
	}
}

// compact removes the shapes without remaining graphs.
func (s *search) compact() {
	n := 0
	for i, c := range s.left {
		if c > 0 {
			s.shape[n], s.size[n], s.weight[n], s.left[n] = s.shape[i], s.size[i], s.weight[i], c
			n++
		}
	}
	s.shape, s.size, s.weight, s.left, s.dead = s.shape[:n], s.size[:n], s.weight[:n], s.left[:n], 0
	s.suffixes()
}

// bins packs the loaded graphs. It returns nil if it would need s.enough packs or is halted.
func (s *search) bins(f fill) []Pattern {
	s.aim(f)
	var patterns []Pattern
	o := s.outlook()
	first := 0
	for {
		for first < len(s.left) && s.left[first] == 0 {
			first++
		}
		if first == len(s.left) {
			return patterns
		}
		if o.bad() {
			return nil
		}
		s.one(first, f.budget)
		repeat := int64(math.MaxInt64)
		for _, p := range s.best {
			repeat = min(repeat, s.left[p.Shape]/int64(p.Copies))
		}
		repeat = max(1, repeat/f.frac)
		parts := make([]Part, 0, len(s.best))
		for _, p := range s.best {
			if s.left[p.Shape] -= int64(p.Copies) * repeat; s.left[p.Shape] == 0 {
				s.dead++
			}
			parts = append(parts, Part{s.shape[p.Shape], p.Copies})
		}
		patterns = append(patterns, Pattern{parts, repeat})
		o.add(repeat)
		if s.dead*8 > len(s.left) {
			s.compact()
			first = 0
		}
	}
}

// outlook bounds the final number of packs of an unfinished packing.
type outlook struct {
	*search
	patterns, packs int64
	all, rest       float64 // weight of the graphs, and of those that are not packed yet
}

func (s *search) outlook() outlook {
	o := outlook{search: s}
	for i, c := range s.left {
		o.rest += float64(s.weight[i]) * float64(c)
	}
	o.all = o.rest
	return o
}

// add counts packs of the current pattern.
func (o *outlook) add(packs int64) {
	o.patterns++
	o.packs += packs
	o.rest -= float64(o.most) * float64(packs)
}

// bad reports whether continuing is useless.
func (o *outlook) bad() bool {
	if o.patterns%64 == 63 {
		if o.tell != nil {
			o.tell(1 - o.rest/o.all)
		}
		if o.halted != nil && o.halted() {
			return true
		}
	}
	// The weight is a sum with many roundings.
	return o.enough > 0 && float64(o.packs)+o.rest/float64(o.full)*(1-1e-9) > float64(o.enough-1)+1e-6
}

// aim sets the weight at which a pack is good enough.
func (s *search) aim(f fill) {
	s.target = s.full
	if f.average {
		s.target = s.averageFill()
	}
}

// averageFill is the weight of a pack if the fewest packs are filled evenly.
func (s *search) averageFill() int64 {
	total, worst := 0.0, 0.0
	need := make([]float64, len(s.in.fields))
	for i, c := range s.left {
		total += float64(s.weight[i]) * float64(c)
		for j, f := range s.in.fields {
			need[j] += float64(s.size[i].get(f)) * float64(c)
		}
	}
	for j, f := range s.in.fields {
		worst = max(worst, need[j]/float64(max(s.in.limit.get(f), 1)))
	}
	return min(s.full, int64(total/max(math.Ceil(worst), 1)))
}

// one finds a filling that starts with the graph at index first.
func (s *search) one(first, budget int) {
	s.nodes, s.scanned, s.budget, s.done = 0, 0, budget, false
	s.now, s.best, s.most = s.now[:0], s.best[:0], -1
	limit := s.in.limit
	for c := s.in.most(&limit, &s.size[first], s.left[first]); c > 0 && !s.done && s.nodes < budget; c-- {
		s.take(first, c, &limit, s.in.weight(&limit, s.unit), 0)
	}
	s.steps += int64(s.nodes)
}

// take puts c graphs of index i into a room and fills the rest of the room.
func (s *search) take(i, c int, room *vec, roomWeight, weight int64) {
	s.nodes++
	of := s.size[i].times(c)
	rest, _ := room.minus(&of)
	w := s.weight[i] * int64(c)
	s.now = append(s.now, Part{i, c})
	weight, roomWeight = weight+w, roomWeight-w
	if weight > s.most {
		s.most = weight
		s.best = append(s.best[:0], s.now...)
		s.done = weight >= s.target
	}
	if !s.done {
		s.rest(i+1, &rest, roomWeight, weight)
	}
	s.now = s.now[:len(s.now)-1]
}

// rest fills a room with graphs from index i on.
func (s *search) rest(i int, room *vec, roomWeight, weight int64) {
	if weight+roomWeight <= s.most {
		return
	}
	if i < len(s.weight) && s.weight[i] > roomWeight {
		i += sort.Search(len(s.weight)-i, func(j int) bool { return s.weight[i+j] <= roomWeight })
	}
	for ; i < len(s.weight); i++ {
		if s.scanned++; s.scanned%64 == 0 {
			s.nodes++
		}
		if s.nodes >= s.budget {
			s.done = true
			return
		}
		if !room.fits(&s.size[i]) {
			if !room.fits(&s.suffix[i]) {
				return
			}
			continue
		}
		if s.left[i] == 0 {
			continue
		}
		for c := s.in.most(room, &s.size[i], s.left[i]); c > 0; c-- {
			s.take(i, c, room, roomWeight, weight)
			if s.done || i+1 == len(s.weight) {
				return // fewer copies of the last graph are never better
			}
		}
	}
}
