package pack

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Methods are the names of the ways to pack: the portfolio, the published
// algorithm and its first-fit variant, and what else people do.
var Methods = []string{"auto", "dlpfhp", "spfhp", "best-fit", "first-fit", "next-fit", "none"}

// Options say how to pack.
type Options struct {
	Method    string // empty: auto
	Heuristic string // of dlpfhp, spfhp, best-fit and first-fit; empty: product
	// Effort is how long auto works: 1, which 0 means, is worth about two seconds
	// of two processors of today.
	Effort float64
	// TimeBudget, where not 0, ends auto by the clock instead. The result then
	// depends on the machine.
	TimeBudget time.Duration
	Threads    int // workers; 0 is one. The result does not depend on it.
}

// Result is a packing and what is known of it.
type Result struct {
	*Packing
	Problem *Problem
	// By is the part of the portfolio that found the packing, or the method.
	By string
	// LowerBound is proven: no packing has fewer packs.
	LowerBound int64
	// Found is when the packing was found, counted from the start.
	Found, Elapsed time.Duration
}

// Gap is how far the packing may be from the best one, as a share of the bound.
func (r *Result) Gap() float64 {
	return float64(r.Packs()-r.LowerBound) / float64(max(r.LowerBound, 1))
}

// Solve packs a problem.
func Solve(ctx context.Context, p *Problem, opt Options) (*Result, error) {
	start := time.Now()
	if err := p.Normalise(); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	name := opt.Heuristic
	if name == "" {
		name = "product"
	}
	h, err := ParseHeuristic(name, p.Components)
	if err != nil {
		return nil, err
	}
	s := &solver{ctx: ctx, p: p, start: start, bound: bound(p)}
	if opt.TimeBudget > 0 {
		var cancel context.CancelFunc
		s.timed, cancel = context.WithTimeout(ctx, opt.TimeBudget)
		defer cancel()
	}
	var patterns []Pattern
	switch opt.Method {
	case "", "auto":
		err = s.auto(&opt)
	case "dlpfhp", "spfhp":
		patterns, err = longestFirst(ctx, p, &h, opt.Method == "spfhp")
	case "best-fit", "first-fit":
		patterns, err = fit(ctx, p, &h, opt.Method == "first-fit")
	case "next-fit":
		patterns, err = nextFit(ctx, p)
	case "none":
		patterns = none(p)
	default:
		return nil, tagged.Errorf(ErrLimits, "found method %q, expected one of %s", opt.Method, strings.Join(Methods, ", "))
	}
	if err != nil {
		return nil, err
	}
	if patterns != nil {
		s.offer(opt.Method, patterns)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.best.Check(p); err != nil {
		return nil, err
	}
	return &Result{Packing: s.best, Problem: p, By: s.by, LowerBound: s.bound, Found: s.found, Elapsed: time.Since(start)}, nil
}

// solver is one run of the portfolio.
type solver struct {
	ctx   context.Context
	timed context.Context // nil: no time budget
	p     *Problem
	in    *instance
	start time.Time

	best  *Packing
	by    string
	found time.Duration
	bound int64
}

// offer keeps patterns if they are the fewest packs so far.
func (s *solver) offer(by string, patterns []Pattern) {
	if p := tidy(patterns); s.best == nil || p.Packs() < s.best.Packs() {
		s.best, s.by, s.found = p, by, time.Since(s.start)
	}
}

// over says that nothing is left to do: the best is proven, or the time is up.
func (s *solver) over() bool {
	return s.best != nil && s.best.Packs() <= s.bound || s.ctx.Err() != nil || s.timed != nil && s.timed.Err() != nil
}

// What an effort of 1 is worth, in steps, about one and a half seconds each.
const (
	searchSteps = 60_000_000    // of a search
	lpSteps     = 5_000_000_000 // of the linear program
	fewPacks    = 4000          // that ruin takes on as a whole
	weakPacks   = 1000          // else these
)

// auto is the portfolio, from the quick to the slow, until the bound is met.
func (s *solver) auto(opt *Options) error {
	s.in = newInstance(s.p)
	effort := opt.Effort
	if effort <= 0 {
		effort = 1
	}
	if opt.TimeBudget > 0 {
		effort = 1000
	}
	plain, steep, flat := newSearch(s.in, 8), newSearch(s.in, 30), newSearch(s.in, 1)
	graphs := s.p.Graphs()
	large := len(s.p.Counts) > 5000
	perPack := float64(graphs) / float64(s.bound)
	bins := func(name string, x *search, f fill) {
		if s.over() {
			return
		}
		x.loadAll(s.in.count)
		s.offer(name, x.bins(f))
	}
	bins("search", plain, fill{budget: 300, frac: 1, average: true})
	if capped := s.p.MaxGraphs > 0 && perPack > 0.9*float64(s.p.MaxGraphs); capped && !s.over() {
		flat.loadAll(s.in.count)
		s.offer("cardinality", flat.cards())
	}
	if len(s.p.Limits) == 2 && perPack < 50 && graphs < 5_000_000 && len(s.p.Counts) > 200 && !s.over() {
		if patterns, _ := s.in.balance(int64(effort * 8 * searchSteps)); patterns != nil {
			s.offer("balance", patterns)
		}
	}
	if !large {
		bins("search, steep", steep, fill{budget: 300, frac: 1, average: true})
		bins("search, flat, full", flat, fill{budget: 300, frac: 1})
		bins("search, full", plain, fill{budget: 300, frac: 1})
		bins("search, steep, full", steep, fill{budget: 300, frac: 1})
	}
	if !large {
		if err := s.listings(); err != nil {
			return err
		}
	}
	if !large {
		bins("search, long", plain, fill{budget: 3000, frac: 1, average: true})
		bins("search, long, full", plain, fill{budget: 3000, frac: 2})
	}
	if s.over() {
		return nil
	}
	s.slow(effort, max(opt.Threads, 1))
	return nil
}

// listings offers what the other methods make, by every heuristic.
func (s *solver) listings() error {
	var all []Heuristic
	for _, name := range HeuristicNames {
		all = append(all, Heuristic{name: name})
	}
	for j := range s.p.Components {
		all = append(all, Heuristic{name: "one", one: j})
	}
	for _, h := range all {
		if h.check(s.p.Limits) != nil {
			continue
		}
		for _, m := range []struct {
			name  string
			pack  func(context.Context, *Problem, *Heuristic, bool) ([]Pattern, error)
			first bool
		}{{"dlpfhp", longestFirst, false}, {"spfhp", longestFirst, true}, {"best-fit", fit, false}, {"first-fit", fit, true}} {
			if s.over() {
				return nil
			}
			patterns, err := m.pack(s.ctx, s.p, &h, m.first)
			if err != nil {
				return err
			}
			s.offer(m.name+", "+h.String(), patterns)
		}
	}
	if s.over() || s.p.Graphs() > 100_000 {
		return nil
	}
	patterns, err := nextFit(s.ctx, s.p)
	if err == nil {
		s.offer("next-fit", patterns)
	}
	return err
}

// slow runs the two slow parts, beside each other where there are threads. The
// second ends early when the first has proven a packing, which then counts whatever
// the second has: so the result does not depend on who is faster.
func (s *solver) slow(effort float64, threads int) {
	begun := s.best.Patterns
	var relaxed, ruined part
	var proven atomic.Bool
	run := []func(){
		func() {
			relaxed = s.relax(begun, effort)
			least := packsOf(begun)
			if relaxed.patterns != nil {
				least = min(least, packsOf(relaxed.patterns))
			}
			proven.Store(least <= max(s.bound, relaxed.bound))
		},
		func() { ruined = s.ruinAll(begun, effort, &proven) },
	}
	if threads > 1 {
		var group sync.WaitGroup
		for _, f := range run {
			group.Go(f)
		}
		group.Wait()
	} else {
		for _, f := range run {
			f()
		}
	}
	s.bound = max(s.bound, relaxed.bound)
	for _, x := range []part{relaxed, ruined} {
		if x.patterns != nil {
			if p := tidy(x.patterns); p.Packs() < s.best.Packs() {
				s.best, s.by, s.found = p, x.by, x.at
			}
		}
	}
}

// part is what a slow part found.
type part struct {
	by       string
	patterns []Pattern
	at       time.Duration
	bound    int64
}

// halted is for loops that count steps: the context, or the time, is up.
func (s *solver) halted() bool { return s.ctx.Err() != nil || s.timed != nil && s.timed.Err() != nil }

// relax solves the linear program, or its projections for their bounds, and rounds it.
func (s *solver) relax(begun []Pattern, effort float64) part {
	out := part{by: "linear program"}
	best := packsOf(begun)
	k := len(s.p.Limits)
	if k > 1 {
		for j := range k {
			if r := newRelaxation(s.p, s.in, []int{j}); r != nil {
				r.halted = s.halted
				r.run(best, lpSteps/20)
				out.bound = max(out.bound, r.bound)
			}
		}
	}
	if k > 2 {
		return out
	}
	all := []int{0, 1}[:k]
	r := newRelaxation(s.p, s.in, all)
	if r == nil || max(s.bound, out.bound) >= best {
		return out
	}
	r.halted = s.halted
	r.seedWith(begun)
	r.run(best, int64(effort*lpSteps))
	out.bound = max(out.bound, r.bound)
	if out.bound >= best || s.p.MaxGraphs > 0 && r.crowded(s.p.MaxGraphs) {
		return out
	}
	whole, left := r.round(s.in.count)
	var rest []Pattern
	for _, power := range []int{1, 8, 30} {
		x := newSearch(s.in, power)
		x.loadAll(left)
		if found := x.bins(fill{budget: 300, frac: 1}); rest == nil || packsOf(found) < packsOf(rest) {
			rest = found
		}
	}
	if n := packsOf(rest); n > 1 && n <= fewPacks {
		x := newSearch(s.in, 8)
		x.halted = s.halted
		rest = x.ruin(rest, max(1, max(s.bound, out.bound)-packsOf(whole)), int64(effort*searchSteps/4), random())
	}
	out.patterns, out.at = append(whole, rest...), time.Since(s.start)
	return out
}

// ruinAll improves the best packing, or the weak packs of it where there are many.
func (s *solver) ruinAll(begun []Pattern, effort float64, proven *atomic.Bool) part {
	x := newSearch(s.in, 30)
	x.halted = func() bool { return proven.Load() || s.halted() }
	weak, strong := begun, []Pattern(nil)
	if packsOf(begun) > fewPacks {
		weak, strong = x.weakest(begun, weakPacks)
	}
	found := x.ruin(weak, max(1, s.bound-packsOf(strong)), int64(effort*searchSteps), random())
	return part{by: "ruin and recreate", patterns: append(slices.Clone(strong), found...), at: time.Since(s.start)}
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func packsOf(patterns []Pattern) int64 {
	p := Packing{patterns}
	return p.Packs()
}
