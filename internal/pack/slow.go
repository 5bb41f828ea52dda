package pack

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slow runs the two slow parts, the linear program, and ruin and recreate with swaps, concurrently if there are threads.
// Each counts its own work. The part that has a proven packing after less work ends the other one, whose
// further work is ignored. So the result does not depend on which part is faster.
func (s *solver) slow(effort float64, threads int) {
	begun := s.best.Patterns
	first := &race{}
	first.work.Store(math.MaxInt64)
	var relaxed, ruined part
	together(threads,
		func() { ruined = s.ruinAll(begun, effort, threads, first) },
		func() { relaxed = s.relax(begun, effort, first) })
	s.bound = max(s.bound, relaxed.bound)
	parts := []part{relaxed, ruined}
	if ruined.proof < relaxed.proof {
		parts = parts[1:]
	} else if relaxed.proof < math.MaxInt64 {
		parts = parts[:1]
	}
	for _, x := range parts {
		if x.patterns != nil && packsOf(x.patterns) < s.best.Packs() {
			s.best, s.by, s.found = tidy(x.patterns), x.by, x.at
		}
	}
}

// together runs functions, concurrently if there are threads.
func together(threads int, run ...func()) {
	if threads < 2 {
		for _, f := range run {
			f()
		}
		return
	}
	var group sync.WaitGroup
	for _, f := range run {
		group.Go(f)
	}
	group.Wait()
}

// race is the least work after which a proof was found, in steps of about a nanosecond.
type race struct{ work atomic.Int64 }

// won notes a proof after the given work.
func (r *race) won(work int64) {
	for old := r.work.Load(); work < old && !r.work.CompareAndSwap(old, work); old = r.work.Load() {
	}
}

// lost reports whether there is a proof after less than the given work.
func (r *race) lost(work int64) bool { return work > r.work.Load() }

// part is the result of a slow part.
type part struct {
	by       string
	patterns []Pattern // nil: none
	at       time.Duration
	bound    int64
	proof    int64 // the work after which the packing was proven minimal; MaxInt64: never
}

// relax solves the linear program, and its projections for their bounds, and rounds the solution.
func (s *solver) relax(begun []Pattern, effort float64, first *race) part {
	out := part{by: "linear program", proof: math.MaxInt64}
	best, work := packsOf(begun), int64(0)
	// solve runs a program until it proves that the best packing is minimal.
	solve := func(r *relaxation, steps int64) {
		r.known = max(s.bound, out.bound)
		r.halted = func() bool {
			s.improved(&s.work[0], work+r.steps, effort)
			return s.halted() || first.lost(work+r.steps)
		}
		r.run(best, steps)
		work += r.steps
		s.improved(&s.work[0], work, effort)
		out.bound = max(out.bound, r.bound)
	}
	proven := func(packs int64) bool {
		if packs > max(s.bound, out.bound) {
			return false
		}
		out.proof = work
		first.won(work)
		return true
	}
	k := len(s.p.Limits)
	if k > 1 {
		for j := range k {
			if r := newRelaxation(s.p, s.in, []int{j}, lpSteps/20); r != nil {
				solve(r, lpSteps/20)
			}
		}
	}
	if proven(best) {
		return out
	}
	all := make([]int, k)
	for j := range all {
		all[j] = j
	}
	steps := int64(effort * lpSteps)
	r := newRelaxation(s.p, s.in, all, steps/2)
	if r == nil {
		return out
	}
	r.seedWith(begun)
	s.seed(r)
	solve(r, steps)
	if proven(best) || first.lost(work) || r.group != nil || s.p.MaxGraphs > 0 && r.crowded(s.p.MaxGraphs) {
		return out
	}
	whole, left := r.round(s.in.count)
	var rest []Pattern
	keep := func(found []Pattern) {
		if rest == nil || found != nil && packsOf(found) < packsOf(rest) {
			rest = found
		}
	}
	for _, power := range []int{1, 8, 30} {
		x := newSearch(s.in, power)
		x.halted = func() bool { return s.ctx.Err() != nil } // this is short, so only the context ends it
		x.loadAll(left)
		keep(x.bins(fill{budget: 300, frac: 1}))
		for seed := range uint64(restMixes) {
			x.enough = packsOf(rest)
			x.loadAll(left)
			keep(x.mix(fill{budget: 300, frac: 1}, 2.5, rand.New(rand.NewPCG(seed, 0))))
		}
	}
	if rest == nil && len(left) > 0 && slices.Max(left) > 0 {
		return out // halted
	}
	out.at = time.Since(s.start)
	if n := packsOf(rest); n > 1 && n <= fewPacks {
		x := newSearch(s.in, 8)
		x.halted = func() bool { return s.halted() || first.lost(work+x.steps*searchStep) }
		rest = x.ruin(rest, max(1, max(s.bound, out.bound)-packsOf(whole)), int64(effort*searchSteps/4), random())
		if packsOf(rest) < n {
			out.at = time.Since(s.start)
		}
		work += x.steps * searchStep
	}
	out.patterns = append(whole, rest...)
	proven(packsOf(out.patterns))
	return out
}

// improved notes the work of one of the two parts, and reports the share of both.
func (s *solver) improved(part *atomic.Int64, work int64, effort float64) {
	if s.progress == nil {
		return
	}
	part.Store(work)
	s.tell("improve", float64(s.work[0].Load()+s.work[1].Load())/(effort*(lpSteps+searchSteps*searchStep)))
}

// seed adds patterns of several kinds to a program, which then needs a third of the work.
func (s *solver) seed(r *relaxation) {
	quick := fill{budget: 300, frac: 1, average: true}
	for _, power := range []int{8, 30, 1} {
		x := newSearch(s.in, power)
		x.halted = s.halted
		x.loadAll(s.in.count)
		r.seedWith(x.bins(quick))
		for i := range seedMixes {
			x.loadAll(s.in.count)
			r.seedWith(x.mix(quick, 2.5+float64(i)/3, random()))
		}
	}
}

const (
	seedMixes  = 2   // of each kind, to seed a program
	restMixes  = 10  // for the rest of a rounded program
	searchStep = 25  // of a search, in steps of a race
	ruinRounds = 16  // after each, the packs are dealt anew to two ruins
	ruinAlone  = 200 // packs of one ruin
)

// ruinAll improves the best packing, or its weak packs if there are many.
func (s *solver) ruinAll(begun []Pattern, effort float64, threads int, first *race) part {
	searches := []*search{newSearch(s.in, 30), newSearch(s.in, 30)}
	packs, strong := begun, []Pattern(nil)
	if packsOf(begun) > fewPacks {
		packs, strong = searches[0].weakest(begun, weakPacks)
	}
	packs = apart(packs)
	out := part{by: "ruin and recreate", proof: math.MaxInt64}
	fewest := len(packs)
	least, random := max(1, s.bound-packsOf(strong)), random()
	work := int64(0)
	// Of a time budget, swaps have as much as ruins, and the linear program half if it does not run at the same time.
	ruinTime, swapTime := s.until(0.5), s.until(1)
	if threads < 2 {
		ruinTime, swapTime = s.until(0.25), s.until(0.5)
	}
	for range ruinRounds {
		n := len(searches)
		if len(packs) <= ruinAlone {
			n = 1
		}
		halves := make([][]Pattern, n)
		run := make([]func(), n)
		random.Shuffle(len(packs), func(i, j int) { packs[i], packs[j] = packs[j], packs[i] })
		steps := int64(effort*searchSteps) / int64(ruinRounds*n)
		for i := range n {
			halves[i] = packs[len(packs)*i/n : len(packs)*(i+1)/n]
			x, random, atLeast := searches[i], rand.New(rand.NewPCG(random.Uint64(), 0)), int64(1)
			if n == 1 {
				atLeast = least
			}
			from := x.steps
			x.halted = func() bool {
				s.improved(&s.work[1], work+(x.steps-from)*searchStep, effort)
				return ruinTime() || first.lost(work+(x.steps-from)*searchStep)
			}
			run[i] = func() { halves[i] = x.ruin(halves[i], atLeast, steps, random) }
		}
		together(threads, run...)
		packs = slices.Concat(halves...)
		if len(packs) < fewest {
			fewest, out.at = len(packs), time.Since(s.start)
		}
		if work += steps * searchStep; packsOf(strong)+int64(len(packs)) <= s.bound {
			out.proof = work
			first.won(work)
			break
		}
		if int64(len(packs)) <= least || ruinTime() || first.lost(work) {
			break
		}
	}
	out.patterns = append(slices.Clone(strong), packs...)
	if out.proof < math.MaxInt64 || s.halted() || first.lost(work) || s.later || s.p.Graphs() > swapGraphs {
		return out
	}
	halted := func() bool { return swapTime() || first.lost(work) }
	before := packsOf(out.patterns)
	patterns, steps := s.in.swapped(out.patterns, s.bound, int64(effort*swapSteps), random, halted)
	if packsOf(patterns) < before {
		out.by, out.patterns, out.at = "ruin and swaps", patterns, time.Since(s.start)
	}
	if work += steps * swapStep; packsOf(patterns) <= s.bound {
		out.proof = work
		first.won(work)
	}
	return out
}

// until returns a function that reports whether the search is halted, or a share of what is left of the time budget is over.
func (s *solver) until(share float64) func() bool {
	if s.timed == nil {
		return s.halted
	}
	end, _ := s.timed.Deadline()
	now := time.Now()
	end = now.Add(time.Duration(share * float64(end.Sub(now))))
	return func() bool { return s.halted() || time.Now().After(end) }
}

// apart returns patterns of one pack each.
func apart(patterns []Pattern) []Pattern {
	var out []Pattern
	for _, p := range patterns {
		for range p.Packs {
			out = append(out, Pattern{p.Parts, 1})
		}
	}
	return out
}
