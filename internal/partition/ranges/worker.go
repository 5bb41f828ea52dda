package ranges

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Range is what a worker has: the plan, and the rows and weights of the nodes From..To-1, whole blocks. Its methods are the rounds: functions of that, of the clusters or parts of all nodes,
// and of messages. Every driver calls them. Several goroutines may, each with a Visitor of its own.
type Range struct {
	*Plan
	Graph    undirected.Placed
	Weights  []uint32 // of all nodes; nil: all weigh 1
	From, To int
	// Read, if not nil, is called with numbers of neighbours that were read; again says that they were also read before, in the same round or pass.
	Read func(neighbours int64, again bool)
}

func (r *Range) tell(neighbours int, again bool) {
	if r.Read != nil {
		r.Read(int64(neighbours), again)
	}
}

// weightsOf are the weights of the nodes from..to-1.
func (r *Range) weightsOf(from, to int) []uint32 {
	if r.Weights == nil {
		return nil
	}
	return r.Weights[from*r.Constraints : to*r.Constraints]
}

// allRounds has blocks visit all blocks of the range.
const allRounds = -1

// blocks calls fn for the blocks that a sub-round of a pass visits.
func (r *Range) blocks(ctx context.Context, m *Visitor, pass, round int, fn func(b *undirected.Block, weights []uint32)) error {
	for block := r.From / r.Block; block*r.Block < r.To; block++ {
		if round != allRounds && r.Round(pass, block) != round {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := r.bounds(block)
		b, err := r.Graph.Between(from, to, &m.rows)
		if err != nil {
			return err
		}
		fn(&b, r.weightsOf(from, to))
		r.tell(len(b.Neighbours), false)
	}
	return nil
}

// Each calls fn for each block of the range, which is valid during the call.
func (r *Range) Each(ctx context.Context, m *Visitor, fn func(b *undirected.Block)) error {
	return r.blocks(ctx, m, 0, allRounds, func(b *undirected.Block, _ []uint32) { fn(b) })
}

// Propose is the first half of a sub-round that makes clusters: what the nodes of its blocks propose. In the last pass favourite, if not nil, is called for each block with its first
// node and the favourites of its nodes, which Lonely takes.
func (r *Range) Propose(ctx context.Context, m *Visitor, k *Clusters, pass, round int, favourite func(first int, favourites []uint32)) (out Proposals, err error) {
	var favourites []uint32
	err = r.blocks(ctx, m, pass, round, func(b *undirected.Block, weights []uint32) {
		if favourite == nil {
			k.Propose(m, b, weights, pass, nil, &out)
			return
		}
		if favourites == nil {
			favourites = make([]uint32, r.Block)
		}
		k.Propose(m, b, weights, pass, favourites[:b.Len()], &out)
		favourite(int(b.First), favourites[:b.Len()])
	})
	return out, err
}

// Lonely is the first half of the round after the last sub-round: what the nodes of the range propose that are alone. favourites are those of the range.
func (r *Range) Lonely(k *Clusters, favourites []uint32) Proposals {
	return k.Lonely(r.From, favourites, r.weightsOf(r.From, r.To))
}

// Contract returns the pairs of the clusters of the range. coarse has the cluster of each node of the graph.
func (r *Range) Contract(ctx context.Context, m *Visitor, coarse []uint32) ([]Pair, error) {
	c := NewContraction(m)
	if err := r.blocks(ctx, m, 0, allRounds, func(b *undirected.Block, _ []uint32) { c.Block(b, coarse) }); err != nil {
		return nil, err
	}
	return c.Pairs(), nil
}

// Want is the first half of a sub-round of refinement: the moves that the nodes of its blocks want.
func (r *Range) Want(ctx context.Context, m *Visitor, d *Division, pass RefiningPass, round int) (out Wants, err error) {
	out.Demand = make([]bool, r.Parts*r.Constraints)
	err = r.blocks(ctx, m, pass.Number, round, func(b *undirected.Block, weights []uint32) {
		d.Want(m, b, weights, pass.Number, pass.Priced, &out)
	})
	return out, err
}

// Gain adds up what the moves of the range take off the cut, among those of all ranges. It reads the rows of the nodes that moved. d has seen these moves (Mark).
func (r *Range) Gain(ctx context.Context, m *Visitor, d *Division, applied []Applied) (gain int64, err error) {
	at := func(v int) int {
		return sort.Search(len(applied), func(i int) bool { return int(applied[i].Node) >= v })
	}
	own := applied[at(r.From):at(r.To)]
	for len(own) > 0 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		// The moves of a block.
		n, end := 1, (own[0].Node/uint32(r.Block)+1)*uint32(r.Block)
		for n < len(own) && own[n].Node < end {
			n++
		}
		b, err := r.Graph.Between(int(own[0].Node), int(own[n-1].Node)+1, &m.rows)
		if err != nil {
			return 0, err
		}
		gain += d.Gain(&b, own[:n], applied)
		for _, x := range own[:n] {
			from, to := b.Row(int(x.Node - b.First))
			r.tell(int(to-from), true)
		}
		own = own[n:]
	}
	return gain, nil
}

// ends calls fn for the blocks of the range, without their neighbours: the degrees follow from the ends of the rows, so that this is no pass.
func (r *Range) ends(ctx context.Context, m *Visitor, fn func(b *undirected.Block, weights []uint32)) error {
	for block := r.From / r.Block; block*r.Block < r.To; block++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		from, to := r.bounds(block)
		b, err := r.Graph.EndsBetween(from, to, &m.rows)
		if err != nil {
			return err
		}
		fn(&b, r.weightsOf(from, to))
	}
	return nil
}

// Degrees counts the degrees of the range.
func (r *Range) Degrees(ctx context.Context, m *Visitor) (Degrees, error) {
	c := NewDegreeCounter()
	if err := r.ends(ctx, m, c.Block); err != nil {
		return nil, err
	}
	return c.Degrees(), nil
}

// FillByDegree writes the parts of the nodes of the range into part, one for each. all are the degrees of all ranges, in their order, and own is the place of the range.
func (r *Range) FillByDegree(ctx context.Context, m *Visitor, all []Degrees, own int, part []uint16) error {
	f, _ := r.Fill(all, own)
	return r.ends(ctx, m, func(b *undirected.Block, weights []uint32) {
		f.Block(b, weights, part[int(b.First)-r.From:][:b.Len()])
	})
}

// Cut is the weight of the pairs that are cut and whose lower end is in the range.
func (r *Range) Cut(ctx context.Context, m *Visitor, d *Division) (cut int64, err error) {
	err = r.blocks(ctx, m, 0, allRounds, func(b *undirected.Block, _ []uint32) { cut += d.Cut(b) })
	return cut, err
}

// RefiningPass is a pass of a refinement.
type RefiningPass struct {
	Number int // differs from those of the passes that make clusters
	Priced bool
}

// Refinement is the passes of a refinement.
func Refinement() (passes []RefiningPass) {
	for i, priced := range refinement {
		passes = append(passes, RefiningPass{1<<16 + i, priced})
	}
	return passes
}

// OwnCore says that a graph with a number of neighbours is its own core: no nodes are clustered. whole is Options.Whole.
func (p *Plan) OwnCore(entries, whole int64) bool {
	return entries/2 <= whole || p.Nodes <= coarsest*p.Parts
}

// Best is the best division so far.
type Best struct {
	Part []uint16
	Cut  int64
	over int64
	none bool
}

// NewBest makes a Best without a division.
func NewBest() *Best { return &Best{Cut: -1, none: true} }

// Keep makes a division the best one if it is, and says so.
func (b *Best) Keep(d *Division, cut int64) bool {
	x := Best{Cut: cut, over: d.Over()}
	if !b.none && !x.Beats(b) {
		return false
	}
	x.Part = append(b.Part[:0], d.Part...)
	*b = x
	return true
}

// Beats says that a division is better than another: it exceeds the caps by less, or as much and has a smaller cut.
func (b *Best) Beats(x *Best) bool { return b.over < x.over || b.over == x.over && b.Cut < x.Cut }

// Hopeless says that a start with a cut is not worth a refinement, or a further pass.
func (b *Best) Hopeless(cut int64) bool { return float64(cut) > hopeless*float64(b.Cut) }

// JoinPairs makes the core of a number of clusters from lists of pairs, which it takes, and the weights of the clusters.
func (p *Plan) JoinPairs(ctx context.Context, lists [][]Pair, clusters int, weights []uint32, threads int) (*undirected.Graph, error) {
	pairs, err := mergeLists(ctx, lists, threads)
	if err != nil {
		return nil, err
	}
	if 2*int64(len(pairs)) > limits.Neighbours {
		return nil, fmt.Errorf("found %d pairs of clusters, expected at most %d; divide this graph by fennel, hash or random", len(pairs), limits.Neighbours/2)
	}
	return p.Core(clusters, pairs, weights), nil
}

// mergeLists merges ascending lists of pairs into one.
func mergeLists(ctx context.Context, lists [][]Pair, threads int) ([]Pair, error) {
	for len(lists) > 1 {
		half := (len(lists) + 1) / 2
		g, ctx := guard.WithContext(ctx)
		g.SetLimit(max(threads, 1))
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
	if len(lists) == 0 {
		return nil, nil
	}
	return lists[0], nil
}

// ClusterWeights adds up the weights of all nodes by cluster; nil: all clusters weigh 1.
func (p *Plan) ClusterWeights(clusters int, coarse, weights []uint32) []uint32 {
	if weights == nil && clusters == p.Nodes {
		return nil
	}
	sums := make([]uint32, clusters*p.Constraints)
	p.AddWeights(sums, 0, p.Nodes, weights, coarse)
	return sums
}

// coreOptions are the options of package outofcore for the core.
func (o *Options) coreOptions() outofcore.Options {
	return outofcore.Options{Options: o.Options, Preset: o.Preset, Memory: o.Memory, FS: o.FS, Temp: o.Temp, Progress: o.Progress, CoreProgress: o.CoreProgress}
}

// DivideCore divides a core in memory. entries is the number of neighbours of the graph. It returns the parts of the clusters, and the weight of the pairs between parts.
func DivideCore(ctx context.Context, core *undirected.Graph, entries int64, o *Options) (part []uint16, cut int64, err error) {
	if int64(core.Pairs())*smallCore <= entries/2 {
		part, err = outofcore.DivideCore(ctx, core, entries, o.coreOptions())
	} else {
		part, _, err = multilevel.Partition(ctx, core, multilevel.Options{Options: o.Options, Preset: o.Preset, Progress: o.CoreProgress})
	}
	if err != nil {
		return nil, 0, err
	}
	for v := range uint32(core.Len()) {
		for j := core.Offsets[v]; j < core.Offsets[v+1]; j++ {
			if u := core.Neighbours[j]; u > v && part[u] != part[v] {
				cut += int64(core.EdgeWeights[j])
			}
		}
	}
	return part, cut, nil
}

// DividedCore is what CoreOnDisk made.
type DividedCore struct {
	Part      []uint16 // of the clusters
	Cut       int64
	Pairs     int64            // of the core
	OutOfCore *outofcore.Stats // nil: in memory
}

// CoreOnDisk makes the core of a graph whose rows are on disk, in a pass over them, and divides it in memory, or out of core if it does not fit o.Memory.
func (p *Plan) CoreOnDisk(ctx context.Context, g *undirected.Spilled, clusters int, coarse, weights []uint32, o *Options) (c DividedCore, err error) {
	rows, err := outofcore.Contract(ctx, g, coarse, clusters, o.coreOptions())
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	rows.Constraints, rows.Weights = p.Constraints, p.ClusterWeights(clusters, coarse, weights)
	c.Pairs = rows.Entries() / 2
	x := o.coreOptions()
	// The clusters of the nodes and the weights of the clusters stay.
	x.Memory -= 4*int64(p.Nodes) + 4*int64(len(rows.Weights))
	if rows.Entries() <= limits.Neighbours && outofcore.CoreBytes(int64(clusters), c.Pairs, p.Constraints, o.Parts) <= x.Memory {
		core, err := outofcore.Load(ctx, rows, x)
		if err != nil {
			return c, err
		}
		defer outofcore.Free(core)
		c.Part, c.Cut, err = DivideCore(ctx, core, g.Entries(), o)
		return c, err
	}
	c.OutOfCore = &outofcore.Stats{}
	c.Part, *c.OutOfCore, err = outofcore.Partition(ctx, rows, x)
	c.Cut = c.OutOfCore.Cut
	return c, err
}

// CoreFits says whether a core fits the memory of o, so that it is divided in memory.
func (p *Plan) CoreFits(clusters, pairs int64, o *Options) bool {
	weights := clusters * int64(p.Constraints)
	if !p.Weighted && clusters == int64(p.Nodes) {
		weights = 0
	}
	memory := o.Memory - 4*int64(p.Nodes) - 4*weights
	return 2*pairs <= limits.Neighbours && outofcore.CoreBytes(clusters, pairs, p.Constraints, o.Parts) <= memory
}
