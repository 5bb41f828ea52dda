package ranges

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
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
	visitors chan *Visitor
	read     atomic.Int64 // neighbours
	stats    Stats
	best     candidate
}

// candidate is the best division so far.
type candidate struct {
	part      []uint16
	cut, over int64
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
	r := &run{Options: o, p: p, g: g, weights: weights, ends: p.Split(o.Workers), visitors: make(chan *Visitor, o.Threads), best: candidate{cut: -1}}
	r.staff()
	if err := r.divide(ctx, constraints); err != nil {
		return nil, Stats{}, err
	}
	r.stats.Passes = float64(r.read.Load()) / float64(max(1, g.Entries()))
	r.stats.Cut = r.best.cut
	return r.best.part, r.stats, nil
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

// blocks calls fn for the blocks of a range that a sub-round of a pass visits; round -1 is all of them.
func (r *run) blocks(ctx context.Context, worker int, m *Visitor, pass, round int, done func(int64), fn func(b *undirected.Block, weights []uint32)) error {
	for block := r.ends[worker] / r.p.Block; block*r.p.Block < r.ends[worker+1]; block++ {
		if round >= 0 && r.p.Round(pass, block) != round {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := r.p.bounds(block)
		b, err := r.g.Between(from, to, &m.rows)
		if err != nil {
			return err
		}
		fn(&b, r.weightsOf(from, to))
		r.read.Add(int64(len(b.Neighbours)))
		done(int64(len(b.Neighbours)))
	}
	return nil
}

func (r *run) weightsOf(from, to int) []uint32 {
	if r.weights == nil {
		return nil
	}
	return r.weights[from*r.p.Constraints : to*r.p.Constraints]
}

// begin begins a stage of progress.
func (r *run) begin(stage string) func(int64) {
	if r.Progress != nil {
		if done := r.Progress(stage, r.g.Entries(), "neighbours"); done != nil {
			return done
		}
	}
	return func(int64) {}
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
	if r.g.Entries()/2 <= r.Whole || r.p.Nodes <= coarsest*r.Parts {
		n, coarse := states[0].Number()
		return n, coarse, nil
	}
	of := func(worker int) *Clusters { return states[worker%len(states)] }
	favourites := make([]uint32, r.p.Nodes)
	for pass := range clusterPasses {
		done := r.begin(fmt.Sprintf("cluster, pass %d of %d", pass+1, clusterPasses))
		last := pass == clusterPasses-1
		for round := range Rounds {
			err := r.exchange(ctx, states, func(worker int, m *Visitor, out *Proposals) error {
				return r.blocks(ctx, worker, m, pass, round, done, func(b *undirected.Block, weights []uint32) {
					var own []uint32
					if last {
						own = favourites[b.First:][:b.Len()]
					}
					of(worker).Propose(m, b, weights, pass, own, out)
				})
			}, func(worker int, in *Proposals) Joins { return of(worker).Accept(in, pass) })
			if err != nil {
				return 0, nil, err
			}
		}
	}
	err := r.exchange(ctx, states, func(worker int, _ *Visitor, out *Proposals) error {
		from, to := r.ends[worker], r.ends[worker+1]
		*out = of(worker).Lonely(from, favourites[from:to], r.weightsOf(from, to))
		return nil
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
func (r *run) exchange(ctx context.Context, states []*Clusters, propose func(worker int, m *Visitor, out *Proposals) error, accept func(worker int, in *Proposals) Joins) error {
	sent := make([][]Proposals, r.Workers)
	if err := r.each(ctx, func(worker int, m *Visitor) error {
		var out Proposals
		if err := propose(worker, m, &out); err != nil {
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
			in.merge(x)
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
		all.merge(x)
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
	done := r.begin("contract")
	lists := make([][]Pair, r.Workers)
	if err := r.each(ctx, func(worker int, m *Visitor) error {
		c := NewContraction(m)
		err := r.blocks(ctx, worker, m, 0, -1, done, func(b *undirected.Block, _ []uint32) { c.Block(b, coarse) })
		lists[worker] = c.Pairs()
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
	for len(lists) > 1 {
		half := (len(lists) + 1) / 2
		g, ctx := guard.WithContext(ctx)
		g.SetLimit(r.Threads)
		for i := range len(lists) / 2 {
			g.Go(func() error {
				lists[i], lists[half+i] = MergePairs(lists[i], lists[half+i]), nil
				return ctx.Err()
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		lists = lists[:half]
	}
	pairs := lists[0]
	if 2*int64(len(pairs)) > limits.Neighbours {
		return nil, fmt.Errorf("found %d pairs of clusters, expected at most %d; divide this graph by fennel, hash or random", len(pairs), limits.Neighbours/2)
	}
	weights := r.weightsOfClusters(clusters, coarse)
	r.stats.CoreNodes, r.stats.CorePairs = clusters, int64(len(pairs))
	return r.p.Core(clusters, pairs, weights), nil
}

// weightsOfClusters adds up the weights of the nodes by cluster; nil: all are 1.
func (r *run) weightsOfClusters(clusters int, coarse []uint32) []uint32 {
	if r.weights == nil && clusters == r.p.Nodes {
		return nil
	}
	weights := make([]uint32, clusters*r.p.Constraints)
	r.p.AddWeights(weights, 0, r.p.Nodes, r.weights, coarse)
	r.stats.Contracted += 4 * int64(len(weights))
	return weights
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
	return r.inMemory(ctx, g)
}

// coreOptions are the options of package outofcore for the core.
func (r *run) coreOptions() outofcore.Options {
	return outofcore.Options{Options: r.Options.Options, Preset: r.Preset, Memory: r.Memory, FS: r.FS, Temp: r.Temp, Progress: r.Progress, CoreProgress: r.CoreProgress}
}

// inMemory divides a core in memory.
func (r *run) inMemory(ctx context.Context, g *undirected.Graph) (part []uint16, cut int64, err error) {
	if int64(g.Pairs())*smallCore <= r.g.Entries()/2 {
		part, err = outofcore.DivideCore(ctx, g, r.g.Entries(), r.coreOptions())
	} else {
		part, _, err = multilevel.Partition(ctx, g, multilevel.Options{Options: r.Options.Options, Preset: r.Preset, Progress: r.CoreProgress})
	}
	if err != nil {
		return nil, 0, err
	}
	for v := range uint32(g.Len()) {
		for j := g.Offsets[v]; j < g.Offsets[v+1]; j++ {
			if u := g.Neighbours[j]; u > v && part[u] != part[v] {
				cut += int64(g.EdgeWeights[j])
			}
		}
	}
	return part, cut, nil
}

// coreOnDisk makes the core of a graph whose rows are on disk, and divides it in memory, or out of core if it does not fit.
func (r *run) coreOnDisk(ctx context.Context, g *undirected.Spilled, clusters int, coarse []uint32) (part []uint16, cut int64, err error) {
	// What the clusters took is on the heap, and the core outside of it.
	r.dismiss()
	defer r.staff()
	debug.FreeOSMemory()
	rows, err := outofcore.Contract(ctx, g, coarse, clusters, r.coreOptions())
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	r.read.Add(g.Entries())
	rows.Constraints, rows.Weights = r.p.Constraints, r.weightsOfClusters(clusters, coarse)
	pairs := rows.Entries() / 2
	r.stats.CoreNodes, r.stats.CorePairs = clusters, pairs
	r.stats.Contracted += 12 * pairs
	o := r.coreOptions()
	// The clusters of the nodes and the weights of the clusters stay.
	o.Memory -= 4*int64(r.p.Nodes) + 4*int64(len(rows.Weights))
	if rows.Entries() <= limits.Neighbours && outofcore.CoreBytes(int64(clusters), pairs, r.p.Constraints, r.Parts) <= o.Memory {
		core, err := outofcore.Load(ctx, rows, o)
		if err != nil {
			return nil, 0, err
		}
		defer outofcore.Free(core)
		return r.inMemory(ctx, core)
	}
	r.stats.OutOfCore = &outofcore.Stats{}
	part, *r.stats.OutOfCore, err = outofcore.Partition(ctx, rows, o)
	return part, r.stats.OutOfCore.Cut, err
}

// keep makes a division the best one if it is.
func (r *run) keep(d *Division, cut int64) {
	over := d.Over()
	if r.best.cut < 0 || over < r.best.over || over == r.best.over && cut < r.best.cut {
		r.best = candidate{append(r.best.part[:0], d.Part...), cut, over}
	}
}

// refine refines parts with a cut, and keeps the best division after any pass.
func (r *run) refine(ctx context.Context, part []uint16, cut int64, stage string) error {
	states := make([]*Division, r.copies())
	loads := make([]int64, r.Parts*r.p.Constraints)
	r.p.AddLoads(loads, part, r.weights)
	for i := range states {
		states[i] = NewDivision(r.p, slices.Clone(part), slices.Clone(loads), nil)
	}
	r.keep(states[0], cut)
	for i, priced := range refinement {
		pass := 1<<16 + i
		done := r.begin(fmt.Sprintf("%s, pass %d of at most %d", stage, i+1, len(refinement)))
		var applied []Applied
		for round := range Rounds {
			var gain int64
			var err error
			if applied, gain, err = r.improve(ctx, states, applied, pass, round, priced, done); err != nil {
				return err
			}
			cut -= gain
		}
		gain, err := r.count(ctx, states, applied)
		if err != nil {
			return err
		}
		cut -= gain
		r.keep(states[0], cut)
		if float64(cut) > hopeless*float64(r.best.cut) && i > 0 {
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
func (r *run) improve(ctx context.Context, states []*Division, before []Applied, pass, round int, priced bool, done func(int64)) (applied []Applied, gain int64, err error) {
	of := func(worker int) *Division { return states[worker%len(states)] }
	wants, counts, demands := make([]Wants, r.Workers), make([]Histogram, r.Workers), make([][]bool, r.Workers)
	if gain, err = r.withGain(ctx, states, before, func(worker int, m *Visitor) (err error) {
		w := &wants[worker]
		w.Demand = make([]bool, r.Parts*r.p.Constraints)
		if err := r.blocks(ctx, worker, m, pass, round, done, func(b *undirected.Block, weights []uint32) {
			of(worker).Want(m, b, weights, pass, priced, w)
		}); err != nil {
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
		m := d.Take(&wants[worker], d.Choose(counts))
		moves[worker], err = r.p.ParseMoves(m.Append(nil))
		return err
	}); err != nil {
		return nil, 0, err
	}
	for i := range moves {
		r.stats.Received += 6*int64(len(moves[i].Items)) + 8*int64(len(moves[i].Shift))
	}
	for i, d := range states {
		if applied = d.Apply(moves, priced, demand); r.apart {
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
		if err := r.gain(ctx, states[worker%len(states)], worker, m, before, &gain); err != nil {
			return err
		}
		return fn(worker, m)
	})
	for _, d := range states {
		d.Mark(before, false)
	}
	return gain.Load(), err
}

// gain adds up what the moves of a range take off the cut. It reads the rows of the nodes that moved.
func (r *run) gain(ctx context.Context, d *Division, worker int, m *Visitor, applied []Applied, sum *atomic.Int64) error {
	at := func(v int) int {
		return sort.Search(len(applied), func(i int) bool { return int(applied[i].Node) >= v })
	}
	own := applied[at(r.ends[worker]):at(r.ends[worker+1])]
	for len(own) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The moves of a block.
		n, end := 1, (own[0].Node/uint32(r.p.Block)+1)*uint32(r.p.Block)
		for n < len(own) && own[n].Node < end {
			n++
		}
		b, err := r.g.Between(int(own[0].Node), int(own[n-1].Node)+1, &m.rows)
		if err != nil {
			return err
		}
		sum.Add(d.Gain(&b, own[:n], applied))
		for _, x := range own[:n] {
			from, to := b.Row(int(x.Node - b.First))
			r.read.Add(int64(to - from))
		}
		own = own[n:]
	}
	return nil
}

// degrees calls fn for the blocks of a range, without their neighbours.
func (r *run) degrees(ctx context.Context, worker int, m *Visitor, fn func(b *undirected.Block, weights []uint32)) error {
	for block := r.ends[worker] / r.p.Block; block*r.p.Block < r.ends[worker+1]; block++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := r.p.bounds(block)
		b, err := r.g.EndsBetween(from, to, &m.rows)
		if err != nil {
			return err
		}
		fn(&b, r.weightsOf(from, to))
	}
	return nil
}

// byDegree makes the start by falling degree, and refines it if it may win.
func (r *run) byDegree(ctx context.Context) error {
	all := make([]Degrees, r.Workers)
	// The degrees follow from the ends of the rows, so this is no pass.
	if err := r.each(ctx, func(worker int, m *Visitor) (err error) {
		c := NewDegreeCounter()
		if err := r.degrees(ctx, worker, m, c.Block); err != nil {
			return err
		}
		if all[worker] = c.Degrees(); r.apart {
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
		f, _ := r.p.Fill(all, worker)
		return r.degrees(ctx, worker, m, func(b *undirected.Block, weights []uint32) { f.Block(b, weights, part[b.First:][:b.Len()]) })
	}); err != nil {
		return err
	}
	r.stats.Received += 2 * int64(r.p.Nodes)
	d := NewDivision(r.p, part, make([]int64, r.Parts*r.p.Constraints), nil)
	done := r.begin("second start, cut")
	var cut atomic.Int64
	if err := r.each(ctx, func(worker int, m *Visitor) error {
		return r.blocks(ctx, worker, m, 0, -1, done, func(b *undirected.Block, _ []uint32) { cut.Add(d.Cut(b)) })
	}); err != nil {
		return err
	}
	if float64(cut.Load()) > hopeless*float64(r.best.cut) {
		return nil
	}
	first, over := r.best.cut, r.best.over
	if err := r.refine(ctx, part, cut.Load(), "second start"); err != nil {
		return err
	}
	r.stats.ByDegree = r.best.over < over || r.best.over == over && r.best.cut < first
	return nil
}
