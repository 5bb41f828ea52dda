package ranges

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options of Partition.
type Options struct {
	undirected.Options
	// Preset is the preset of multilevel for the core; empty: multilevel.Default.
	Preset multilevel.Preset
	// Workers is the number of ranges; 0: 16. The parts do not depend on it.
	Workers int
	// Whole is the most pairs of a graph that is its own core: no nodes are clustered.
	Whole int64
	// Memory is the number of bytes to hold in addition to the given graph and its weights, at least Least, if the rows of the graph are on disk; 0: no bound. A core that does
	// not fit is divided out of core, in passes over a file in Temp, and Memory then has an influence on the parts.
	Memory int64
	FS     vfs.FS
	Temp   string
	// Progress, if not nil, begins a stage of an amount of work and returns the function that adds to what is done.
	Progress func(stage string, total int64, unit string) func(int64)
	// CoreProgress is multilevel.Options.Progress for each division of the core.
	CoreProgress func(done, total int64)

	// apart has, in tests, each worker keep its own clusters and parts and end after each round, and all messages pass as bytes.
	apart bool
}

// Stats say how a graph was divided, and what the workers told each other.
type Stats struct {
	Cut int64 // the weight of the pairs between parts
	// CoreNodes and CorePairs are the size of the core, the graph of the clusters.
	CoreNodes int
	CorePairs int64
	// OutOfCore says how a core that did not fit the memory was divided; nil: in memory.
	OutOfCore *outofcore.Stats
	// ByDegree says that the start by falling degree gave the smaller cut.
	ByDegree bool
	// Passes is how often the neighbours of all nodes were read, those of nodes that moved, which were read again, included.
	Passes float64
	// Barriers is the number of times that all workers waited for each other.
	Barriers int
	// Sent counts the bytes of messages to one worker, the pairs of the core among them, which are Contracted. Received counts the bytes that each worker
	// received of messages to all.
	Sent, Contracted, Received int64
}

// String says how the graph was divided.
func (s *Stats) String() string {
	text := fmt.Sprintf("multilevel divided %s clusters with %s pairs; %.1f passes over the edges, %d barriers; workers sent %s in all, and each received %s",
		human.Exact(int64(s.CoreNodes)), human.Exact(s.CorePairs), s.Passes, s.Barriers, human.Bytes(s.Sent), human.Bytes(s.Received))
	if s.OutOfCore != nil {
		text += "; the clusters did not fit the memory bound, and were divided out of core"
	}
	if s.ByDegree {
		text += "; parts filled by falling degree gave the smaller cut"
	}
	return text
}

const (
	defaultWorkers = 16
	// coarsest is the number of nodes per part below which nodes are not clustered.
	coarsest = 20
	// hopeless is the cut of the start by degree, relative to the best one, from which on it ends.
	hopeless = 1.25
	// smallCore is the share of the graph's pairs up to which a core is divided by the next better preset, more than once if it is much smaller.
	smallCore = 4
)

// refinement says, for each pass of a refinement, whether it has prices.
var refinement = []bool{true, true, false}

// run is one call of Partition.
type run struct {
	Options
	p        *Plan
	g        undirected.Placed
	weights  []uint32
	ends     []int // of the ranges
	ranges   []Range
	visitors chan *Visitor
	read     atomic.Int64 // neighbours
	done     func(int64)  // tells of the progress of the pass
	stats    Stats
	best     *Best
}

// Partition divides g into o.Parts parts that do not exceed their caps if that is possible, and minimises the weight of the pairs between parts. The result has the
// part of each node. Soon after ctx is done it returns ctx's error.
func Partition(ctx context.Context, g undirected.Placed, o Options) ([]uint16, Stats, error) {
	constraints, weights := g.NodeWeights()
	p, err := NewPlan(g.Len(), weights != nil, undirected.Totals(g), o.Options)
	if err != nil {
		return nil, Stats{}, err
	}
	if g.Len() == 0 || o.Parts == 1 {
		return make([]uint16, g.Len()), Stats{CoreNodes: g.Len(), CorePairs: g.Entries() / 2}, ctx.Err()
	}
	o.Threads = max(o.Threads, 1)
	if o.Memory == 0 {
		o.Memory = math.MaxInt64 / 2
	}
	if o.Workers == 0 {
		o.Workers = defaultWorkers
	}
	r := newRun(g, p, o)
	r.staff()
	if err := r.divide(ctx, constraints); err != nil {
		return nil, Stats{}, err
	}
	r.stats.Passes = float64(r.read.Load()) / float64(max(1, g.Entries()))
	r.stats.Cut = r.best.Cut
	return r.best.Part, r.stats, nil
}

func newRun(g undirected.Placed, p *Plan, o Options) *run {
	_, weights := g.NodeWeights()
	r := &run{Options: o, p: p, g: g, weights: weights, ends: p.Split(o.Workers), visitors: make(chan *Visitor, o.Threads), best: NewBest()}
	for worker := range o.Workers {
		r.ranges = append(r.ranges, Range{Plan: p, Graph: g, Weights: weights, From: r.ends[worker], To: r.ends[worker+1], Read: r.tell})
	}
	return r
}

func (r *run) divide(ctx context.Context, constraints int) error {
	clusters, coarse, err := r.cluster(ctx)
	if err != nil {
		return err
	}
	part, cut, err := r.core(ctx, clusters, coarse)
	if err != nil {
		return err
	}
	parts := make([]uint16, r.p.Nodes)
	for v, c := range coarse {
		parts[v] = part[c]
	}
	if err := r.refine(ctx, parts, cut, "refine"); err != nil {
		return err
	}
	if constraints == 1 {
		return r.byDegree(ctx)
	}
	return nil
}

// staff makes a Visitor for each goroutine.
func (r *run) staff() {
	for range r.Threads {
		r.visitors <- NewVisitor(r.p)
	}
}

// dismiss drops the Visitors.
func (r *run) dismiss() {
	for range r.Threads {
		<-r.visitors
	}
}

// each calls fn for each range, on several goroutines, and waits: a barrier.
func (r *run) each(ctx context.Context, fn func(worker int, m *Visitor) error) error {
	r.stats.Barriers++
	g, running := guard.WithContext(ctx)
	g.SetLimit(r.Threads)
	for worker := range r.Workers {
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			m := <-r.visitors
			defer func() { r.visitors <- m }()
			return fn(worker, m)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

// tell counts neighbours that a range read. Those that were read again are no progress of the pass.
func (r *run) tell(neighbours int64, again bool) {
	r.read.Add(neighbours)
	if !again {
		r.done(neighbours)
	}
}

// begin begins a stage of progress.
func (r *run) begin(stage string) {
	r.done = func(int64) {}
	if r.Progress != nil {
		if done := r.Progress(stage, r.g.Entries(), "neighbours"); done != nil {
			r.done = done
		}
	}
}

// copies is the number of copies of what each worker has: one in memory that all share, unless they are apart.
func (r *run) copies() int {
	if r.apart {
		return r.Workers
	}
	return 1
}

// cluster divides the nodes into clusters, and returns how many there are and the number of the cluster of each node.
func (r *run) cluster(ctx context.Context) (int, []uint32, error) {
	states := make([]*Clusters, r.copies())
	for i := range states {
		states[i] = NewClusters(r.p, r.weights)
	}
	if r.p.OwnCore(r.g.Entries(), r.Whole) {
		n, coarse := states[0].Number()
		return n, coarse, nil
	}
	of := func(worker int) *Clusters { return states[worker%len(states)] }
	favourites := make([]uint32, r.p.Nodes)
	for pass := range ClusterPasses {
		r.begin(fmt.Sprintf("cluster, pass %d of %d", pass+1, ClusterPasses))
		var keep func(first int, own []uint32)
		if pass == ClusterPasses-1 {
			keep = func(first int, own []uint32) { copy(favourites[first:], own) }
		}
		for round := range Rounds {
			err := r.exchange(ctx, states, func(worker int, m *Visitor) (Proposals, error) {
				return r.ranges[worker].Propose(ctx, m, of(worker), pass, round, keep)
			}, func(worker int, in *Proposals) Joins { return of(worker).Accept(in, pass) })
			if err != nil {
				return 0, nil, err
			}
		}
	}
	err := r.exchange(ctx, states, func(worker int, _ *Visitor) (Proposals, error) {
		x := &r.ranges[worker]
		return x.Lonely(of(worker), favourites[x.From:x.To]), nil
	}, func(worker int, in *Proposals) Joins { return of(worker).Pair(in) })
	if err != nil {
		return 0, nil, err
	}
	n, coarse := states[0].Number()
	for _, k := range states[1:] {
		if m, other := k.Number(); m != n || !slices.Equal(other, coarse) {
			return 0, nil, errApart
		}
	}
	return n, coarse, nil
}

// errApart says that workers differ in what they should agree on.
var errApart = errors.New("workers differ in the clusters or parts that they keep, expected equal ones; report this as a defect")

// exchange is a round of proposals: propose makes those of a range, accept answers those to a range, and all workers apply the joins.
func (r *run) exchange(ctx context.Context, states []*Clusters, propose func(worker int, m *Visitor) (Proposals, error), accept func(worker int, in *Proposals) Joins) error {
	sent := make([][]Proposals, r.Workers)
	if err := r.each(ctx, func(worker int, m *Visitor) error {
		out, err := propose(worker, m)
		if err != nil {
			return err
		}
		sent[worker] = r.p.Deal(&out, r.ends)
		return nil
	}); err != nil {
		return err
	}
	joins := make([]Joins, r.Workers)
	if err := r.each(ctx, func(worker int, _ *Visitor) error {
		var in Proposals
		for i := range sent {
			x := &sent[i][worker]
			if r.apart {
				y, err := r.p.ParseProposals(x.Append(nil))
				if err != nil {
					return err
				}
				x = &y
			}
			in.Merge(x)
		}
		joins[worker] = accept(worker, &in)
		return nil
	}); err != nil {
		return err
	}
	var all Joins
	for i := range joins {
		x := &joins[i]
		if r.apart {
			y, err := r.p.ParseJoins(x.Append(nil))
			if err != nil {
				return err
			}
			x = &y
		}
		all.Merge(x)
		for _, p := range sent[i] {
			r.stats.Sent += 12*int64(len(p.Items)) + 4*int64(len(p.Sizes))
		}
	}
	r.stats.Received += 8*int64(len(all.Items)) + 4*int64(len(all.Sizes))
	for i, k := range states {
		if k.Apply(&all); r.apart {
			label, loads := k.State()
			states[i] = RestoreClusters(r.p, label, loads)
		}
	}
	return nil
}

// contract makes the core.
func (r *run) contract(ctx context.Context, clusters int, coarse []uint32) (*undirected.Graph, error) {
	r.begin("contract")
	lists := make([][]Pair, r.Workers)
	if err := r.each(ctx, func(worker int, m *Visitor) (err error) {
		lists[worker], err = r.ranges[worker].Contract(ctx, m, coarse)
		return err
	}); err != nil {
		return nil, err
	}
	for i := range lists {
		r.stats.Contracted += 12 * int64(len(lists[i]))
		if r.apart {
			var err error
			if lists[i], err = ParsePairs(AppendPairs(nil, lists[i]), clusters); err != nil {
				return nil, err
			}
		}
	}
	g, err := r.p.JoinPairs(ctx, lists, clusters, r.p.ClusterWeights(clusters, coarse, r.weights), r.Threads)
	if err != nil {
		return nil, err
	}
	r.stats.Contracted += 4 * int64(len(g.Weights))
	r.stats.CoreNodes, r.stats.CorePairs = clusters, int64(g.Pairs())
	return g, nil
}

// core makes and divides the core. It returns the parts of its nodes and the weight of the pairs between parts.
func (r *run) core(ctx context.Context, clusters int, coarse []uint32) (part []uint16, cut int64, err error) {
	defer func() { r.stats.Sent += r.stats.Contracted }()
	if onDisk, ok := r.g.(*undirected.Spilled); ok {
		return r.coreOnDisk(ctx, onDisk, clusters, coarse)
	}
	g, err := r.contract(ctx, clusters, coarse)
	if err != nil {
		return nil, 0, err
	}
	return DivideCore(ctx, g, r.g.Entries(), &r.Options)
}

// coreOnDisk makes the core of a graph whose rows are on disk, and divides it.
func (r *run) coreOnDisk(ctx context.Context, g *undirected.Spilled, clusters int, coarse []uint32) (part []uint16, cut int64, err error) {
	// What the clusters took is on the heap, and the core outside of it.
	r.dismiss()
	defer r.staff()
	debug.FreeOSMemory()
	c, err := r.p.CoreOnDisk(ctx, g, clusters, coarse, r.weights, &r.Options)
	if err != nil {
		return nil, 0, err
	}
	r.read.Add(g.Entries())
	r.stats.CoreNodes, r.stats.CorePairs, r.stats.OutOfCore = clusters, c.Pairs, c.OutOfCore
	r.stats.Contracted += 12 * c.Pairs
	if r.weights != nil || clusters != r.p.Nodes {
		r.stats.Contracted += 4 * int64(clusters) * int64(r.p.Constraints)
	}
	return c.Part, c.Cut, nil
}

// refine refines parts with a cut, and keeps the best division after any pass.
func (r *run) refine(ctx context.Context, part []uint16, cut int64, stage string) error {
	states := make([]*Division, r.copies())
	loads := make([]int64, r.Parts*r.p.Constraints)
	r.p.AddLoads(loads, part, r.weights)
	for i := range states {
		states[i] = NewDivision(r.p, slices.Clone(part), slices.Clone(loads), nil)
	}
	r.best.Keep(states[0], cut)
	for i, pass := range Refinement() {
		r.begin(fmt.Sprintf("%s, pass %d of at most %d", stage, i+1, len(refinement)))
		var applied []Applied
		for round := range Rounds {
			var gain int64
			var err error
			if applied, gain, err = r.improve(ctx, states, applied, pass, round); err != nil {
				return err
			}
			cut -= gain
		}
		gain, err := r.count(ctx, states, applied)
		if err != nil {
			return err
		}
		cut -= gain
		r.best.Keep(states[0], cut)
		if r.best.Hopeless(cut) && i > 0 {
			break
		}
	}
	for _, d := range states[1:] {
		if !slices.Equal(d.Part, states[0].Part) || !slices.Equal(d.Loads, states[0].Loads) {
			return errApart
		}
	}
	return nil
}

// improve is a sub-round of a pass of refinement, after one with the moves before. It returns its moves, and what those before took off the cut: that is counted here, where
// no barrier waits for it alone.
func (r *run) improve(ctx context.Context, states []*Division, before []Applied, pass RefiningPass, round int) (applied []Applied, gain int64, err error) {
	of := func(worker int) *Division { return states[worker%len(states)] }
	wants, counts, demands := make([]Wants, r.Workers), make([]Histogram, r.Workers), make([][]bool, r.Workers)
	if gain, err = r.withGain(ctx, states, before, func(worker int, m *Visitor) (err error) {
		w := &wants[worker]
		if *w, err = r.ranges[worker].Want(ctx, m, of(worker), pass, round); err != nil {
			return err
		}
		counts[worker], demands[worker] = r.p.Count(w), w.Demand
		if r.apart {
			counts[worker], demands[worker], err = r.p.ParseHistogram(counts[worker].Append(nil, w.Demand))
		}
		return err
	}); err != nil {
		return nil, 0, err
	}
	for i := range counts {
		r.stats.Received += 4*int64(len(counts[i].Bins)) + 8*int64(len(counts[i].Weights)) + int64(len(demands[i])+7)/8
	}
	demand := JoinDemand(demands)
	refused := states[0].Choose(counts)
	moves := make([]Moves, r.Workers)
	if err := r.each(ctx, func(worker int, _ *Visitor) (err error) {
		d := of(worker)
		if !r.apart {
			moves[worker] = d.Take(&wants[worker], refused)
			return nil
		}
		kept, err := r.p.ParseWants(wants[worker].Append(nil))
		if err != nil {
			return err
		}
		m := d.Take(&kept, d.Choose(counts))
		moves[worker], err = r.p.ParseMoves(m.Append(nil))
		return err
	}); err != nil {
		return nil, 0, err
	}
	for i := range moves {
		r.stats.Received += 6*int64(len(moves[i].Items)) + 8*int64(len(moves[i].Shift))
	}
	for i, d := range states {
		if applied = d.Apply(moves, pass.Priced, demand); r.apart {
			states[i] = NewDivision(r.p, d.Part, d.Loads, d.Prices)
		}
	}
	return applied, gain, nil
}

// count is a barrier for what the moves before take off the cut.
func (r *run) count(ctx context.Context, states []*Division, before []Applied) (int64, error) {
	return r.withGain(ctx, states, before, func(int, *Visitor) error { return nil })
}

// withGain calls fn for each range, and returns what the moves before take off the cut. fn sees the divisions after these moves.
func (r *run) withGain(ctx context.Context, states []*Division, before []Applied, fn func(worker int, m *Visitor) error) (int64, error) {
	for _, d := range states {
		d.Mark(before, true)
	}
	var gain atomic.Int64
	err := r.each(ctx, func(worker int, m *Visitor) error {
		own, err := r.ranges[worker].Gain(ctx, m, states[worker%len(states)], before)
		if err != nil {
			return err
		}
		gain.Add(own)
		return fn(worker, m)
	})
	for _, d := range states {
		d.Mark(before, false)
	}
	return gain.Load(), err
}

// byDegree makes the start by falling degree, and refines it if it may win.
func (r *run) byDegree(ctx context.Context) error {
	all := make([]Degrees, r.Workers)
	if err := r.each(ctx, func(worker int, m *Visitor) (err error) {
		if all[worker], err = r.ranges[worker].Degrees(ctx, m); err == nil && r.apart {
			all[worker], err = ParseDegrees(all[worker].Append(nil))
		}
		return err
	}); err != nil {
		return err
	}
	for _, d := range all {
		r.stats.Received += 20 * int64(len(d))
	}
	if _, ok := r.p.Fill(all, 0); !ok {
		return nil
	}
	part := make([]uint16, r.p.Nodes)
	if err := r.each(ctx, func(worker int, m *Visitor) error {
		x := &r.ranges[worker]
		return x.FillByDegree(ctx, m, all, worker, part[x.From:x.To])
	}); err != nil {
		return err
	}
	r.stats.Received += 2 * int64(r.p.Nodes)
	d := NewDivision(r.p, part, make([]int64, r.Parts*r.p.Constraints), nil)
	r.begin("second start, cut")
	var cut atomic.Int64
	if err := r.each(ctx, func(worker int, m *Visitor) error {
		own, err := r.ranges[worker].Cut(ctx, m, d)
		cut.Add(own)
		return err
	}); err != nil {
		return err
	}
	if r.best.Hopeless(cut.Load()) {
		return nil
	}
	before := *r.best
	if err := r.refine(ctx, part, cut.Load(), "second start"); err != nil {
		return err
	}
	r.stats.ByDegree = r.best.Beats(&before)
	return nil
}
