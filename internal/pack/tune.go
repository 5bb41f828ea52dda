package pack

import (
	"cmp"
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/report"
)

// Tune says which limits to try.
type Tune struct {
	// Align has a number per component; limits are multiples of it. nil is 1 each.
	Align []int
	// Cost has, per component, the cost of a unit of the limit, such as bytes; nil is 1 each. The cost of a
	// pack is the sum over the components.
	Cost []float64
	// Ceiling is the highest cost of a pack; 0: sixteen times the lowest.
	Ceiling   float64
	MaxGraphs int
	// Tries is the largest number of limits to pack for; 0 is 400.
	Tries int
	Tried func() // called after each, unless nil
}

// Candidate is a set of limits and its results.
type Candidate struct {
	report.PackCandidate

	size, turn int // index in the series of sizes, and among the candidates of one size
}

// Search looks for limits with which packs are full in every component. However the graphs are packed, the
// efficiencies of two components have the ratio of their means to their limits. So Search tries limits around
// the ratio of the means, and skips limits for which even the highest possible efficiency is below the efficiency of a
// cheaper pack. It returns all candidates that it packed, the cheapest first, and of these the front: the
// candidates for which no cheaper one is as full.
func Search(ctx context.Context, h *Histogram, t Tune) (all, front []Candidate, err error) {
	k := len(h.Components)
	if t.Align == nil {
		t.Align = slices.Repeat([]int{1}, k)
	}
	if t.Cost == nil {
		t.Cost = slices.Repeat([]float64{1}, k)
	}
	if t.Tries == 0 {
		t.Tries = 400
	}
	if len(t.Align) != k || len(t.Cost) != k || slices.Min(t.Align) < 1 || slices.Min(t.Cost) < 0 || slices.Max(t.Cost) == 0 {
		return nil, nil, tagged.Errorf(ErrLimits, "found alignments %v and costs %v, expected one positive number for each of %q", t.Align, t.Cost, h.Components)
	}
	least := make([]int, k) // lowest limits: the sizes of the largest graph
	mean := make([]float64, k)
	for j := range least {
		if least[j] = alignUp(max(h.Max(j), 1), t.Align[j]); least[j] > maxSize {
			return nil, nil, tagged.Errorf(ErrLimits, "found %s %d of the largest graph, whose next multiple of %d is beyond 2^31 - 1; give a smaller alignment", h.Components[j], h.Max(j), t.Align[j])
		}
		mean[j] = max(float64(h.Total(j))/float64(h.Graphs()), 1e-9)
	}
	cost := func(limits []int) float64 {
		sum := 0.0
		for j, l := range limits {
			sum += float64(l) * t.Cost[j]
		}
		return sum
	}
	if t.Ceiling == 0 {
		t.Ceiling = 16 * cost(least)
	}
	if !(cost(least) <= t.Ceiling) {
		return nil, nil, tagged.Errorf(ErrLimits, "found a ceiling of %v, expected at least %v, which a pack for the largest graph costs; raise `Ceiling`, or leave out the largest graphs", t.Ceiling, cost(least))
	}
	candidates := t.candidates(least, mean, cost)
	for i := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		c := &candidates[i]
		c.Cost = cost(c.Limits)
		c.LowerBound = (&Problem{Histogram: h, Limits: c.Limits, MaxGraphs: t.MaxGraphs}).continuous()
		c.Mean, _ = efficiencies(h, c.Limits, c.LowerBound)
	}
	// The sizes take turns, each with its most promising limits first.
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		return cmp.Or(a.size-b.size, cmp.Compare(b.Mean, a.Mean), cmp.Compare(a.Cost, b.Cost))
	})
	for i := range candidates {
		if i > 0 && candidates[i].size == candidates[i-1].size {
			candidates[i].turn = candidates[i-1].turn + 1
		}
	}
	slices.SortStableFunc(candidates, func(a, b Candidate) int { return cmp.Or(a.turn-b.turn, a.size-b.size) })
	tries, halted := 0, func() bool { return ctx.Err() != nil }
	for _, c := range candidates {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if tries == t.Tries {
			break
		}
		useless := func() bool {
			return slices.ContainsFunc(all, func(x Candidate) bool { return x.Cost <= c.Cost && x.Mean >= c.Mean })
		}
		if useless() {
			continue
		}
		p := &Problem{Histogram: h, Limits: c.Limits, MaxGraphs: t.MaxGraphs}
		c.LowerBound = bound(ctx, p)
		if c.Mean, _ = efficiencies(h, c.Limits, c.LowerBound); useless() {
			continue
		}
		tries++
		if err := p.check(); err != nil {
			return nil, nil, err
		}
		var ok bool
		if c.Packs, ok = quick(p, halted); !ok {
			return nil, nil, ctx.Err()
		}
		if t.Tried != nil {
			t.Tried()
		}
		c.Mean, c.Efficiency = efficiencies(h, c.Limits, c.Packs)
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(b.Mean, a.Mean), slices.Compare(a.Limits, b.Limits))
	})
	best := -1.0
	for _, c := range all {
		if c.Mean > best {
			best = c.Mean
			front = append(front, c)
		}
	}
	return all, front, nil
}

// quick returns the number of packs that the quick searches need; ok is false if it is halted.
func quick(p *Problem, halted func() bool) (packs int64, ok bool) {
	least := p.continuous()
	sized, _ := p.sized()
	if len(sized.Counts) == 0 {
		return least, true
	}
	in := newInstance(sized)
	packs = math.MaxInt64
	try := func(power int, pack func(*search) []Pattern) {
		if packs <= least || halted() {
			return
		}
		s := newSearch(in, power)
		s.halted = halted
		if packs < math.MaxInt64 {
			s.enough = packs
		}
		s.loadAll(in.count)
		if found := pack(s); found != nil {
			packs = min(packs, packsOf(found))
		}
	}
	try(8, func(s *search) []Pattern { return s.bins(fill{budget: 100, frac: 1, average: true}) })
	try(30, func(s *search) []Pattern { return s.mix(fill{budget: 100, frac: 1}, 2.5, random()) })
	if p.MaxGraphs > 0 {
		try(1, (*search).cards)
	}
	return max(packs, least), !halted() // graphs of no size fill the rest
}

// rough returns the number of packs that one quick search needs, which is near the result of quick, in a quarter of its time; ok is
// false if it is halted.
func rough(p *Problem, halted func() bool) (packs int64, ok bool) {
	least := p.continuous()
	sized, _ := p.sized()
	if len(sized.Counts) == 0 {
		return least, true
	}
	s := newSearch(newInstance(sized), 8)
	s.halted = halted
	s.loadAll(s.in.count)
	return max(packsOf(s.bins(fill{budget: 100, frac: 1, average: true})), least), !halted()
}

func alignUp(n, to int) int { return (n + to - 1) / to * to }

// efficiencies returns the efficiencies of a number of packs, and their harmonic mean.
func efficiencies(h *Histogram, limits []int, packs int64) (mean float64, each []float64) {
	sum := 0.0
	for j, l := range limits {
		e := h.Efficiency(j, packs, l)
		each = append(each, e)
		sum += 1 / max(e, 1e-12)
	}
	return float64(len(limits)) / sum, each
}

// HarmonicMean is the harmonic mean of the efficiencies of a number of packs with the given limits.
func HarmonicMean(h *Histogram, limits []int, packs int64) float64 {
	mean, _ := efficiencies(h, limits, packs)
	return mean
}

// candidates returns limits in a geometric series of sizes, each with the other components around the ratio of
// the means: at the ratio, and up to a quarter away from it.
func (t *Tune) candidates(least []int, mean []float64, cost func([]int) float64) []Candidate {
	var out []Candidate
	seen := map[string]bool{}
	size := 0
	add := func(limits []int) {
		for j := range limits {
			limits[j] = alignUp(max(limits[j], least[j]), t.Align[j])
			if limits[j] > maxSize {
				return
			}
		}
		key := string(appendInts(nil, limits))
		if !seen[key] && cost(limits) <= t.Ceiling {
			seen[key] = true
			out = append(out, Candidate{PackCandidate: report.PackCandidate{Limits: slices.Clone(limits)}, size: size})
		}
	}
	add(slices.Clone(least))
	off := []float64{0, 0.005, -0.005, 0.01, -0.01, 0.02, -0.02, 0.03, -0.03, 0.05, -0.05, 0.08, -0.08, 0.12, -0.12, 0.18, 0.25}
	for f := 1.0; ; f *= 1.03 {
		size++
		first := int(min(math.Round(float64(least[0])*f), maxSize+1))
		limits := make([]int, len(least))
		limits[0] = first
		if cost(limits) > t.Ceiling || first > maxSize {
			return out
		}
		if len(least) == 1 {
			add(limits)
			continue
		}
		for _, o := range off {
			limits[0] = first
			for j := 1; j < len(least); j++ {
				// add rejects limits that are out of range.
				limits[j] = int(min(math.Round(float64(first)*mean[j]/mean[0]*(1+o)), maxSize+1))
			}
			add(limits)
		}
	}
}

func appendInts(b []byte, ints []int) []byte {
	for _, n := range ints {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return b
}

// gridShapes is the largest number of shapes for which Grid packs: more would take minutes.
const gridShapes = 3000

// Grid packs with n x n limits of the first two components, from the largest graph to three times as much, for
// a heat map, whose colours need less than the search for limits: each is packed once. It returns nothing for a histogram of one component or of very many shapes. One of the threads
// calls tried after each.
func Grid(ctx context.Context, h *Histogram, maxGraphs, n, threads int, tried func()) ([]Candidate, error) {
	if len(h.Components) < 2 || len(h.Counts) > gridShapes {
		return nil, nil
	}
	limits := make([]int, len(h.Components))
	for j := range limits {
		limits[j] = min(3*max(h.Max(j), 1), maxSize)
	}
	series := func(j int) []int {
		var out []int
		least := max(h.Max(j), 1)
		for i := range n {
			if l := min(least+2*least*i/max(n-1, 1), maxSize); i == 0 || l > out[len(out)-1] {
				out = append(out, l)
			}
		}
		return out
	}
	var all []Candidate
	for _, a := range series(0) {
		for _, b := range series(1) {
			c := Candidate{PackCandidate: report.PackCandidate{Limits: slices.Clone(limits)}}
			c.Limits[0], c.Limits[1] = a, b
			all = append(all, c)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(threads, 1))
	for i := range all {
		group.Go(func() error {
			c := &all[i]
			var ok bool
			if c.Packs, ok = rough(&Problem{Histogram: h, Limits: c.Limits, MaxGraphs: maxGraphs}, func() bool { return ctx.Err() != nil }); !ok {
				return ctx.Err()
			}
			_, c.Efficiency = efficiencies(h, c.Limits, c.Packs)
			c.Mean = 2 / (1/max(c.Efficiency[0], 1e-12) + 1/max(c.Efficiency[1], 1e-12))
			tried()
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return all, nil
}
