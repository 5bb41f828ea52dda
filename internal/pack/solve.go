package pack

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Methods lists the methods: the portfolio, the published algorithm and its first-fit variant, and the common
// baselines.
var Methods = []string{"auto", "dlpfhp", "spfhp", "best-fit", "first-fit", "next-fit", "none"}

// Options define how to pack.
type Options struct {
	Method    string // empty: auto
	Heuristic string // of dlpfhp, spfhp, best-fit and first-fit; empty: product
	// Effort is the work of auto: 1 (the meaning of 0) takes about two seconds on two current processors.
	// Values above 1000 mean 1000.
	Effort float64
	// TimeBudget, if not 0, ends auto by the clock instead. The result then depends on the machine.
	TimeBudget time.Duration
	Threads    int // workers; 0 is one. The result does not depend on it.
	// Progress, unless nil, is called with the work that a stage of auto has done and its total, also concurrently.
	Progress func(stage string, done, total int64)
}

// Result is a packing with the bound and the times of its search.
type Result struct {
	*Packing
	Problem *Problem
	// By is the part of the portfolio, or the method, that found the packing.
	By string
	// LowerBound is proven: no packing has fewer packs.
	LowerBound int64
	// Found is the time from the start to the packing.
	Found, Elapsed time.Duration
}

// Gap bounds the distance of the packing from the best one, as a share of the bound.
func (r *Result) Gap() float64 {
	return float64(r.Packs()-r.LowerBound) / float64(max(r.LowerBound, 1))
}

// Solve packs a problem. It normalises the histogram, which must not be used concurrently.
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
	h, err := parseHeuristic(name, p.Components)
	if err != nil {
		return nil, err
	}
	// Graphs of no size fill the places that the others leave, so only the others are packed. The number of
	// packs that the cap requires for all graphs is a bound for both.
	sized, none := p.sized()
	s := &solver{ctx: ctx, p: sized, start: start, progress: opt.Progress}
	if opt.TimeBudget > 0 {
		var cancel context.CancelFunc
		s.timed, cancel = context.WithTimeout(ctx, opt.TimeBudget)
		defer cancel()
		ctx = s.timed
	}
	s.bound = max(bound(ctx, sized), p.continuous())
	ctx = s.ctx
	if opt.Method == "none" || opt.Method == "next-fit" {
		s.p, none = p, 0 // these methods do not return to a pack
	}
	if len(s.p.Counts) == 0 {
		s.best, s.by = &Packing{}, cmp.Or(opt.Method, "auto")
	}
	var patterns []Pattern
	switch opt.Method {
	case "", "auto":
		err = s.auto(&opt)
	case "dlpfhp", "spfhp":
		patterns, err = longestFirst(ctx, s.p, &h, opt.Method == "spfhp", math.MaxInt64)
	case "best-fit", "first-fit":
		patterns, err = fit(ctx, s.p, &h, opt.Method == "first-fit", math.MaxInt64)
	case "next-fit":
		patterns, err = nextFit(ctx, p)
	case "none":
		patterns = alone(p)
	default:
		return nil, tagged.Errorf(ErrLimits, "found method %q, expected one of %s", opt.Method, strings.Join(Methods, ", "))
	}
	if err != nil {
		return nil, err
	}
	s.offer(opt.Method, patterns)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if none > 0 {
		s.best = tidy(p.withNone(s.best.Patterns, none))
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
	later bool // swaps follow, of the graphs themselves

	progress func(stage string, done, total int64) // nil: none
	work     [2]atomic.Int64                       // of the slow parts, for the progress

	best  *Packing
	by    string
	found time.Duration
	bound int64
}

// offer keeps patterns if they have the fewest packs so far; nil is no packing.
func (s *solver) offer(by string, patterns []Pattern) {
	if patterns == nil {
		return
	}
	if p := tidy(patterns); s.best == nil || p.Packs() < s.best.Packs() {
		s.best, s.by, s.found = p, by, time.Since(s.start)
	}
}

// over reports whether the search can end: the best packing is proven minimal, or the time is up.
func (s *solver) over() bool { return s.best != nil && s.best.Packs() <= s.bound || s.halted() }

// halted reports whether the context is done or the time is up.
func (s *solver) halted() bool { return s.ctx.Err() != nil || s.timed != nil && s.timed.Err() != nil }

// The work for an effort of 1, about one and a half seconds each.
const (
	searchSteps = 60_000_000    // of a search
	lpSteps     = 1_200_000_000 // of the linear program
	fewPacks    = 4000          // ruin takes at most these as a whole
	weakPacks   = 1000          // else it takes these
	maxEffort   = 1000
	quickSteps  = 8_000_000  // of one of the searches before the slow parts
	listSteps   = 30_000_000 // of a listing, whatever the effort
	quickMixes  = 5
	manyShapes  = 40_000 // of more, similar ones are packed as one
)

// auto is the portfolio, from quick to slow parts, until the bound is met.
func (s *solver) auto(opt *Options) error {
	effort := opt.Effort
	if !(effort > 0) {
		effort = 1
	}
	if effort = min(effort, maxEffort); opt.TimeBudget > 0 {
		effort = maxEffort
	}
	if len(s.p.Counts) > manyShapes {
		patterns, err := s.coarse(opt)
		s.offer("coarse shapes", patterns)
		s.offer("next-fit", nextFitBySize(s.p))
		if err == nil && !s.over() && s.p.Graphs() <= swapGraphs {
			patterns, _ = newInstance(s.p).swapped(s.best.Patterns, s.bound, int64(effort*swapSteps), random(), s.halted)
			s.offer("coarse shapes and swaps", patterns)
		}
		return err
	}
	s.in = newInstance(s.p)
	plain, steep, flat := newSearch(s.in, 8), newSearch(s.in, 30), newSearch(s.in, 1)
	end := int64(0) // of the current search, in its steps
	for _, x := range []*search{plain, steep, flat} {
		x.halted = func() bool { return x.steps > end || s.halted() }
	}
	// The progress of the searches, in tries.
	tries, expected := 0.0, 13.0
	if len(s.p.Counts) > 5000 {
		expected = 2
	}
	try := func(name string, x *search, pack func() []Pattern) {
		if s.over() {
			return
		}
		end = math.MaxInt64
		x.loadAll(s.in.count)
		if s.best != nil {
			end = x.steps + int64(max(effort, 1)*quickSteps)
			x.enough = s.best.Packs()
		}
		x.tell = func(share float64) { s.tell("search", (tries+share)/expected) }
		s.offer(name, pack())
		tries++
		x.tell(0)
	}
	bins := func(name string, x *search, f fill) { try(name, x, func() []Pattern { return x.bins(f) }) }
	mix := func(name string, f fill, finish float64) {
		try(name, steep, func() []Pattern { return steep.mix(f, finish, random()) })
	}
	graphs := s.p.Graphs()
	large := len(s.p.Counts) > 5000
	perPack := float64(graphs) / float64(s.bound)
	balanced := len(s.p.Limits) == 2 && perPack < 50 && graphs < 5_000_000 && len(s.p.Counts) > 200
	if large && balanced {
		// A search among so many shapes takes long, so it ends when its outlook is bad.
		plain.enough = s.bound + s.bound/20
	}
	bins("search", plain, fill{budget: 300, frac: 1, average: true})
	if balanced && !s.over() {
		s.offer("balance", s.in.balance(int64(effort*8*searchSteps), s.halted))
	}
	if s.best == nil {
		plain.enough = 0
		bins("search", plain, fill{budget: 300, frac: 1, average: true})
	}
	if s.p.MaxGraphs > 0 && perPack > 0.9*float64(s.p.MaxGraphs) {
		try("cardinality", flat, flat.cards)
	}
	if !large {
		for i := range quickMixes {
			mix("mix", fill{budget: 300, frac: 1}, 2.5+float64(i)/4)
		}
		bins("search, steep", steep, fill{budget: 300, frac: 1, average: true})
		bins("search, flat, full", flat, fill{budget: 300, frac: 1})
		bins("search, full", plain, fill{budget: 300, frac: 1})
		if err := s.listings(); err != nil {
			return err
		}
		bins("search, long", plain, fill{budget: 3000, frac: 1, average: true})
		bins("search, long, full", plain, fill{budget: 3000, frac: 2})
	}
	if s.best == nil {
		// The time was up before anything was found.
		s.offer("next-fit", nextFitBySize(s.p))
	}
	if !s.over() {
		s.slow(effort, opt.Threads)
	}
	return nil
}

// tell reports the share of a stage that is done.
func (s *solver) tell(stage string, share float64) {
	if s.progress != nil {
		s.progress(stage, int64(100*min(max(share, 0), 1)), 100)
	}
}

// listings offers the results of the listing and of fit, with every heuristic. Each of the four was the best of all for
// some of 3,000 random problems of up to 40 shapes, and none for 196 of up to 30,000 graphs in one to four components.
// Next-fit never was.
func (s *solver) listings() error {
	var all []heuristic
	for _, name := range HeuristicNames {
		all = append(all, heuristic{name: name})
	}
	for j := range s.p.Components {
		all = append(all, heuristic{name: "one", one: j})
	}
	for _, h := range all {
		if h.check(s.p.Limits) != nil {
			continue
		}
		for _, m := range []struct {
			name  string
			pack  func(context.Context, *Problem, *heuristic, bool, int64) ([]Pattern, error)
			first bool
		}{{"dlpfhp", longestFirst, false}, {"spfhp", longestFirst, true}, {"best-fit", fit, false}, {"first-fit", fit, true}} {
			if s.over() {
				return nil
			}
			patterns, err := m.pack(s.ctx, s.p, &h, m.first, listSteps)
			if err != nil {
				return err
			}
			s.offer(m.name+", "+h.String(), patterns)
		}
	}
	return nil
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func packsOf(patterns []Pattern) int64 {
	p := Packing{patterns}
	return p.Packs()
}
