package multilevel

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/graphmill/graphmill/partition/undirected"
)

// A Preset is how much work is spent on the cut.
type Preset string

// The presets. High takes up to four times as long as Default, Fast about half.
const (
	Fast    Preset = "fast"
	Default Preset = "default"
	High    Preset = "high"
)

// An Objective is what is made small.
type Objective string

const (
	// Cut is the weight of the edges between parts.
	Cut Objective = "cut"
	// Vol is the communication volume: for each node the number of other parts that
	// have a neighbour of it, summed.
	Vol Objective = "vol"
)

// Options are what Partition is asked for.
type Options struct {
	undirected.Options
	Preset    Preset    // empty: Default
	Objective Objective // empty: Cut
}

// Stats says how the parts came about.
type Stats struct {
	Cut      int64 // the weight of the edges between parts
	Levels   int   // graphs in the series, the given one included
	Coarsest int   // nodes of the smallest
	// Balanced says that no part exceeds its caps. False where nodes are too heavy
	// or too tightly bound by several constraints for that: the parts are then the most
	// even that were found.
	Balanced bool
	// Loads are the weights of the parts, stride constraints.
	Loads []int64
}

// Partition divides g into o.Parts parts that do not exceed g.Caps(o.Parts,
// o.Imbalance), and makes the objective small. The result has the part of each
// node. It returns ctx's error soon after ctx is done.
func Partition(ctx context.Context, g *undirected.Graph, o Options) ([]uint16, Stats, error) {
	if err := o.check(g); err != nil {
		return nil, Stats{}, err
	}
	var stop atomic.Bool
	defer context.AfterFunc(ctx, func() { stop.Store(true) })()
	r := &run{
		team: team{max(o.Threads, 1), &stop}, m: &memory{}, parts: o.Parts, seed: o.Seed,
		caps: g.Caps(o.Parts, o.Imbalance), setting: settings[o.Preset], objective: o.Objective,
	}
	defer r.m.close()
	l := finest(g)
	part, stats := r.partition(l)
	if err := ctx.Err(); err != nil {
		return nil, Stats{}, err
	}
	stats.Loads = l.loads(part, o.Parts)
	stats.Balanced = true
	for i, w := range stats.Loads {
		stats.Balanced = stats.Balanced && w <= r.caps[i%l.constraints]
	}
	return part, stats, nil
}

func (o *Options) check(g *undirected.Graph) error {
	if o.Preset == "" {
		o.Preset = Default
	}
	if o.Objective == "" {
		o.Objective = Cut
	}
	if o.Parts < 1 || o.Parts > undirected.MaxParts {
		return fmt.Errorf("multilevel: %d parts, expected 1 to %d", o.Parts, undirected.MaxParts)
	}
	if _, ok := settings[o.Preset]; !ok {
		return fmt.Errorf("multilevel: unknown preset %q, expected %s, %s or %s", o.Preset, Fast, Default, High)
	}
	if o.Objective != Cut && o.Objective != Vol {
		return fmt.Errorf("multilevel: unknown objective %q, expected %s or %s", o.Objective, Cut, Vol)
	}
	if n := len(o.Imbalance); n != 1 && n != g.Constraints {
		return fmt.Errorf("multilevel: %d imbalances, expected 1 or one for each of %d constraints", n, g.Constraints)
	}
	for _, e := range o.Imbalance {
		if !(e >= 1) {
			return fmt.Errorf("multilevel: imbalance %v, expected at least 1, as in 1.03 for 3 %%", e)
		}
	}
	return nil
}

// A setting is what a preset means.
type setting struct {
	starts int  // initial divisions
	whole  int  // times that each bisection is made
	cycles int  // times that the result is coarsened and refined again
	rounds int  // of refinement without enough gain, after which a level is left
	search bool // whether levels are searched node by node as well
}

var settings = map[Preset]setting{
	Fast:    {starts: 1, whole: 1, rounds: 4},
	Default: {starts: 4, whole: 2, rounds: 12, search: true},
	High:    {starts: 8, whole: 2, cycles: 2, rounds: 12, search: true},
}

// A run is one call of Partition.
type run struct {
	team
	setting
	objective Objective
	m         *memory
	parts     int
	caps      []int64
	seed      uint64
	large     bool // the graph has more than largeFrom nodes
	weighted  bool // its edges have weights
}

const (
	coarsestPerPart = 20        // nodes a part at which coarsening ends
	coarsestShrink  = 0.97      // it ends as well when a level keeps this share of the nodes
	startNodes      = 10_000    // levels up to here belong to each start
	startShare      = 20        // and so do those with at most 1/startShare of the edges
	largeFrom       = 1_000_000 // nodes of a graph from which on one round of clustering makes a level
	gentleFrom      = 100_000   // levels above shrink by gentleShrink at most
	gentleTo        = 1_000_000
	gentleShrink    = 4
	searchTable     = 2_000_000 // nodes times parts up to which a level is searched node by node
)

func (r *run) partition(l *level) ([]uint16, Stats) {
	part := make([]uint16, l.n)
	if r.parts == 1 {
		return part, Stats{Levels: 1, Coarsest: l.n}
	}
	if l.n <= r.parts {
		for v := range part {
			part[v] = uint16(v)
		}
		return part, Stats{Levels: 1, Coarsest: l.n, Cut: l.cut(part)}
	}
	r.large, r.weighted = l.n > largeFrom, l.edges != nil
	levels := r.coarsen(l, nil, 0)
	last := len(levels) - 1
	stats := Stats{Levels: len(levels), Coarsest: levels[last].n}
	best := r.start(levels)
	for best.at > 0 && !r.stopped() {
		best.at--
		best.part, best.boundary, best.cut = r.uncoarsen(r.team, levels, best.at, best.part, best.boundary, best.cut)
		levels[best.at+1].free(r.m)
		give(r.m, levels[best.at].coarse)
		levels[best.at].coarse = nil
	}
	for i := range r.cycles {
		best = r.cycle(levels[0], best, i+1)
	}
	if r.objective == Vol && !r.stopped() {
		best = r.reduceVolume(levels[0], best)
	}
	copy(part, best.part)
	stats.Cut = best.cut
	return part, stats
}

// coarsen makes the levels above l. Nodes of different values in within, if given, stay
// apart on all of them.
func (r *run) coarsen(l *level, within []uint16, cycle int) []*level {
	levels := []*level{l}
	for l.n > coarsestPerPart*r.parts && !r.stopped() {
		rule := r.clusters(l, 1000*cycle+len(levels))
		rule.within = within
		k := cluster(r.team, r.m, l, rule)
		if float64(k.count) > coarsestShrink*float64(l.n) {
			k.free(r.m)
			break
		}
		below := l
		l = contract(r.team, r.m, l, k)
		levels = append(levels, l)
		if within != nil {
			above := take[uint16](r.m, l.n)
			for v, c := range below.coarse {
				above[c] = within[v]
			}
			if len(levels) > 2 {
				give(r.m, within)
			}
			within = above
		}
	}
	if len(levels) > 1 {
		levels[len(levels)-1].within = within
	}
	return levels
}

// cycle makes levels of its own above l that keep the parts apart, and refines the
// parts on each of them.
func (r *run) cycle(l *level, c candidate, number int) candidate {
	own := *l
	own.coarse = nil
	levels := r.coarsen(&own, c.part, number)
	last := len(levels) - 1
	if last == 0 || r.stopped() {
		return c
	}
	top := levels[last]
	boundary := bitmapOf(r.m, top.n)
	boundary.fill(top.n)
	part, boundary, cut, _ := r.refine(r.team, top, top.within, boundary, c.cut, last)
	for i := last - 1; i >= 0 && !r.stopped(); i-- {
		part, boundary, cut = r.uncoarsen(r.team, levels, i, part, boundary, cut)
		levels[i+1].free(r.m)
		give(r.m, levels[i].coarse)
	}
	give(r.m, c.part)
	give(r.m, c.boundary)
	c.part, c.boundary, c.cut = part, boundary, cut
	return c
}

// clusters is the rule by which a level is clustered.
func (r *run) clusters(l *level, depth int) clusterRule {
	rule := clusterRule{seed: mix(r.seed + uint64(depth)), rounds: 2}
	if r.large {
		rule.rounds = 1
	}
	share := min(max(l.n/2000, 2), r.parts)
	for c, total := range l.totals {
		mean := float64(total) / float64(r.parts)
		slack := float64(r.caps[c])/max(mean, 1) - 1
		slack = min(max(slack, 0.01), 0.1)
		rule.caps = append(rule.caps, max(int64(slack*float64(total)/float64(share)), 1))
	}
	rule.least = coarsestPerPart * r.parts / 2
	if l.n > gentleFrom && l.n < gentleTo {
		rule.least = max(rule.least, l.n/gentleShrink)
	}
	return rule
}

// A candidate is parts of one level.
type candidate struct {
	at       int // the level
	part     []uint16
	boundary bitmap
	cut      int64
	over     float64
}

// start divides the coarsest level several times, refines each division through the
// small levels, and returns the best.
func (r *run) start(levels []*level) candidate {
	starts := make([]candidate, r.starts)
	r.blocks(r.starts, func(_, i int) {
		starts[i] = r.startOnce(levels, mix(r.seed+1000+uint64(i)))
	})
	best := starts[0]
	for _, c := range starts[1:] {
		if c.over < best.over || c.over == best.over && c.cut < best.cut {
			best = c
		}
	}
	return best
}

func (r *run) startOnce(levels []*level, seed uint64) candidate {
	at := len(levels) - 1
	l := levels[at]
	part := take[uint16](r.m, l.n)
	nodes := make([]uint32, l.n)
	for v := range nodes {
		nodes[v] = uint32(v)
	}
	b := bisector{t: r.alone(), m: r.m, whole: r.whole}
	flat := r.flatten(l)
	limit := float64(r.caps[0])
	if l.constraints > 1 {
		limit = float64(flat.totals[0]) / float64(r.parts) * float64(r.caps[0]) / (float64(l.totals[0]) / float64(r.parts))
	}
	b.divide(flat, r.parts, limit, seed, nodes, part, 0)
	c := candidate{at: at}
	boundary := bitmapOf(r.m, l.n)
	boundary.fill(l.n)
	c.part, c.boundary, c.cut, c.over = r.refine(r.alone(), l, part, boundary, l.cut(part), at)
	for c.at > 0 && (levels[c.at-1].n <= startNodes ||
		len(levels[c.at-1].neighbours) <= len(levels[0].neighbours)/startShare) && !r.stopped() {
		c.at--
		c.part, c.boundary, c.cut = r.uncoarsen(r.alone(), levels, c.at, c.part, c.boundary, c.cut)
	}
	return c
}

// flatten is a level with one constraint: the sum of all, each as a share of its total.
func (r *run) flatten(l *level) *level {
	flat := *l
	flat.coarse = nil
	if l.constraints == 1 {
		return &flat
	}
	const whole = 1 << 30
	flat.constraints, flat.weights, flat.totals = 1, make([]uint32, l.n), []int64{0}
	for v := range uint32(l.n) {
		var w float64
		for c := range l.constraints {
			w += float64(l.weight(v, c)) / float64(l.totals[c])
		}
		flat.weights[v] = uint32(w * whole / float64(l.constraints))
		flat.totals[0] += int64(flat.weights[v])
	}
	return &flat
}

// uncoarsen carries parts of the level above at down to it and refines them there.
func (r *run) uncoarsen(t team, levels []*level, at int, above []uint16, beside bitmap, cut int64) ([]uint16, bitmap, int64) {
	l := levels[at]
	part := take[uint16](r.m, l.n)
	boundary := bitmapOf(r.m, l.n)
	t.blocks((len(boundary)+refineWords-1)/refineWords, func(_, block int) {
		for v := block * refineWords * 64; v < min((block+1)*refineWords*64, l.n); v++ {
			c := l.coarse[v]
			part[v] = above[c]
			if beside.has(c) {
				boundary.set(uint32(v))
			}
		}
	})
	give(r.m, above)
	give(r.m, beside)
	part, boundary, cut, _ = r.refine(t, l, part, boundary, cut, at)
	return part, boundary, cut
}

// refine improves parts of a level.
func (r *run) refine(t team, l *level, part []uint16, beside bitmap, cut int64, at int) ([]uint16, bitmap, int64, float64) {
	f := newRefiner(t, r.m, l, r.parts, r.caps, part, beside, r.seed)
	f.cut = cut
	if r.weighted {
		f.cut = l.cut(part) // weights of coarse edges may have stopped growing
	}
	e := effort{share: 0.5, rounds: r.rounds, enough: 0.001}
	if at == 0 {
		e.share = 0.25
	}
	if l.n > 1_000_000 {
		e.rounds = min(e.rounds, 4)
	}
	f.jet(e)
	if r.setting.search && l.n*r.parts <= searchTable && f.overload() == 0 {
		f.search()
		f.look(e.share)
	}
	f.free()
	return f.part, f.boundary, f.cut, f.overload()
}
