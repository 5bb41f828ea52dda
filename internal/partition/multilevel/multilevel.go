package multilevel

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Preset chooses between speed and cut.
type Preset string

// The presets. High takes 2.5 to 3 times as long as Default, Fast half as long on small graphs, and 0.7 to 1.0 times from a million
// nodes on.
const (
	Fast    Preset = "fast"
	Default Preset = "default"
	High    Preset = "high"
)

// Objective is the quantity to minimise.
type Objective string

const (
	// Cut is the weight of the edges between parts.
	Cut Objective = "cut"
	// Vol is the communication volume: the sum, over all nodes, of the number of other parts that have a
	// neighbour of the node.
	Vol Objective = "vol"
)

// Options of Partition.
type Options struct {
	undirected.Options
	Preset    Preset    // empty: Default
	Objective Objective // empty: Cut
	// Progress, if not nil, receives the amount of work that is done, of a total that may change. One goroutine calls it, after
	// each level and each round of refinement.
	Progress func(done, total int64)
}

// Stats describe a division.
type Stats struct {
	Cut      int64 // the weight of the edges between parts
	Levels   int   // graphs in the series, including the given one
	Coarsest int   // nodes of the smallest graph
	// Balanced says that no part exceeds its caps. It is false if nodes are too heavy, or too strongly
	// constrained by several constraints: the parts are then the most even ones that were found.
	Balanced bool
	// Falling says that the parts were filled by falling degree: fewer edges are cut, and most edges lie in few parts.
	Falling bool
	// Loads are the weights of the parts, stride constraints.
	Loads []int64
}

// Partition divides g into o.Parts parts that do not exceed g.Caps(o.Parts, o.Imbalance), and minimises the
// objective. The result has the part of each node. Soon after ctx is done it returns ctx's error.
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
	r.progress = newProgress(o.Progress, int64(len(g.Neighbours)), r.cycles)
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
		return fmt.Errorf("multilevel: found %d parts, expected 1 to %d", o.Parts, undirected.MaxParts)
	}
	if _, ok := settings[o.Preset]; !ok {
		return fmt.Errorf("multilevel: found preset %q, expected %s, %s or %s", o.Preset, Fast, Default, High)
	}
	if o.Objective != Cut && o.Objective != Vol {
		return fmt.Errorf("multilevel: found objective %q, expected %s or %s", o.Objective, Cut, Vol)
	}
	if n := len(o.Imbalance); n != 1 && n != g.Constraints {
		return fmt.Errorf("multilevel: found %d imbalances, expected 1, or one for each of %d constraints", n, g.Constraints)
	}
	var edges uint64
	for _, w := range g.EdgeWeights {
		edges += uint64(w)
	}
	if edges >= 1<<weightBits {
		return fmt.Errorf("multilevel: found %d as the sum of the edge weights of all rows, expected less than 2^%d; divide the weights by a number", edges, weightBits)
	}
	for _, e := range o.Imbalance {
		if !(e >= 1) {
			return fmt.Errorf("multilevel: found imbalance %v, expected at least 1, as in 1.03 for 3 %%", e)
		}
	}
	return nil
}

// setting is the meaning of a preset.
type setting struct {
	starts int  // number of initial divisions
	whole  int  // number of tries of each bisection
	cycles int  // number of times that the result is coarsened and refined again
	rounds int  // rounds of refinement without enough gain after which a level ends
	search bool // levels are also searched node by node
}

var settings = map[Preset]setting{
	Fast:    {starts: 1, whole: 1, rounds: 6},
	Default: {starts: 8, whole: 1, rounds: 8, search: true},
	High:    {starts: 16, whole: 1, cycles: 2, rounds: 12, search: true},
}

// run is one call of Partition.
type run struct {
	team
	setting
	objective Objective
	progress  *progress
	m         *memory
	parts     int
	caps      []int64
	seed      uint64
	large     bool // the graph has more than largeFrom nodes
	weighted  bool // its edges have weights
}

const (
	coarsestPerPart = 20        // nodes per part at which coarsening ends
	coarsestShrink  = 0.97      // coarsening also ends when a level keeps this share of the nodes
	largeFrom       = 1_000_000 // graphs with more nodes need one round of clustering per level
	gentleFrom      = 100_000   // larger levels shrink by at most gentleShrink
	gentleTo        = 1_000_000
	gentleShrink    = 4
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
	levels, _ := r.coarsen(l, nil, 0)
	r.progress.begin(levels)
	last := len(levels) - 1
	stats := Stats{Levels: len(levels), Coarsest: levels[last].n}
	if r.stopped() {
		return part, stats
	}
	best := r.start(levels)
	best, stats.Falling = r.withFalling(levels, best)
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

// coarsen makes the levels above l. Nodes of different values in within, if given, stay separate on all of
// them. It also returns the values of the last level's nodes.
func (r *run) coarsen(l *level, within []uint16, cycle int) ([]*level, []uint16) {
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
		r.progress.coarsened(below)
		levels = append(levels, l)
		if within != nil {
			above := takeZeros[uint16](r.m, l.n)
			for v, c := range below.coarse {
				above[c] = within[v]
			}
			if len(levels) > 2 {
				give(r.m, within)
			}
			within = above
		}
	}
	return levels, within
}

// cycle makes new levels above l that keep the parts separate, and refines the parts on each of them.
func (r *run) cycle(l *level, c candidate, number int) candidate {
	own := *l
	own.coarse = nil
	levels, within := r.coarsen(&own, c.part, number)
	r.progress.begin(levels)
	last := len(levels) - 1
	if last == 0 || r.stopped() {
		return c
	}
	top := levels[last]
	again := candidate{at: last, part: within, boundary: bitmapOf(r.m, top.n), cut: c.cut}
	again.boundary.fill(top.n)
	c.free(r.m)
	again = r.refine(r.team, top, again, r.progress)
	r.progress.refined(top)
	return r.finish(levels, again)
}

// clusters is the rule for clustering a level.
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
