package outofcore

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/fennel"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/tally"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

// MaxNodes is the largest number of nodes: a label has 31 bits for one.
const MaxNodes = 1<<31 - 1

// Options of Partition.
type Options struct {
	undirected.Options
	// Preset is empty for multilevel.Default. The core is divided by the next better one.
	Preset multilevel.Preset
	// Memory is the number of bytes to hold in addition to the weights of the given graph; at least Least.
	Memory int64
	FS     vfs.FS
	Temp   string // folder for temporary files
	// Progress, if not nil, begins a stage of an amount of work and returns the function that adds to what is done.
	Progress func(stage string, total int64, unit string) func(int64)
	// CoreProgress is multilevel.Options.Progress for each division of the core.
	CoreProgress func(done, total int64)
}

// Stats say how a graph was divided.
type Stats struct {
	Cut int64 // the weight of the pairs between parts
	// Levels is the number of graphs, the given one and the core included. CoreNodes and CorePairs are the size of the core.
	Levels    int
	CoreNodes int
	CorePairs int64
	// Streamed says that no clustering made the graph fit the memory, so that package fennel divided the coarsest one.
	Streamed bool
	// ByDegree says that the second start, by falling degree, gave the smaller cut.
	ByDegree bool
	// Passes is the number of times that all rows of the given graph were read. Read and Written count the bytes of
	// temporary files.
	Passes        int
	Read, Written int64
}

// String says how the graph was divided.
func (s *Stats) String() string {
	core := "multilevel divided"
	if s.Streamed {
		core = "no clustering makes the graph fit the memory bound, so fennel divided"
	}
	start := ""
	if s.ByDegree {
		start = "; parts filled by falling degree gave the smaller cut"
	}
	return fmt.Sprintf("%s %s nodes and %s pairs, level %d; %d passes over the graph, %s read and %s written%s", core, human.Exact(int64(s.CoreNodes)), human.Exact(s.CorePairs), s.Levels,
		s.Passes, human.Bytes(s.Read), human.Bytes(s.Written), start)
}

// level is a graph of the series.
type level struct {
	g      *undirected.Spilled
	number int
	// constraints and weights are as in Graph. nil: all weigh 1.
	constraints int
	weights     []uint32
	totals      []int64
	// coarse is the map of the nodes to the nodes of the next level, 4 bytes each; nil: this is the core.
	coarse *scratch
}

// weight is the weight of v in constraint c.
func (l *level) weight(v uint32, c int) int64 {
	if l.weights == nil {
		return 1
	}
	return int64(l.weights[int(v)*l.constraints+c])
}

// run is one call of Partition.
type run struct {
	Options
	caps   []int64 // of a part, by constraint
	levels []*level
	stats  Stats
	sums   *tally.Table // of clustering and contraction
	// atOnce, in tests, is the number of records that are sorted at once; 0: what the memory has room for.
	atOnce int64
}

// Partition divides g, of at most MaxNodes nodes, into o.Parts parts that do not exceed their caps if that is possible, and minimises the weight of the
// pairs between parts. The result has the part of each node. Soon after ctx is done it returns ctx's error.
func Partition(ctx context.Context, g *undirected.Spilled, o Options) (_ []uint16, _ Stats, err error) {
	r := &run{Options: o}
	constraints, weights := g.NodeWeights()
	totals := undirected.Totals(g)
	r.caps = undirected.Caps(totals, o.Parts, o.Imbalance)
	r.levels = []*level{{g: g, constraints: constraints, weights: weights, totals: totals}}
	defer func() { err = errors.Join(err, r.close()) }()
	if o.Parts == 1 || g.Len() == 0 {
		return make([]uint16, g.Len()), Stats{Levels: 1, CoreNodes: g.Len(), CorePairs: g.Entries() / 2}, ctx.Err()
	}
	if err := r.coarsen(ctx); err != nil {
		return nil, Stats{}, err
	}
	r.sums = nil
	division, err := r.core(ctx)
	if err != nil {
		return nil, Stats{}, err
	}
	defer func() { division.free() }()
	if err := r.refine(ctx, division, r.levels[len(r.levels)-1]); err != nil {
		return nil, Stats{}, err
	}
	for len(r.levels) > 1 {
		next, err := r.project(ctx, division)
		if err != nil {
			return nil, Stats{}, err
		}
		division.free()
		division = next
		if err := r.refine(ctx, division, r.levels[len(r.levels)-1]); err != nil {
			return nil, Stats{}, err
		}
	}
	if err := r.byDegree(ctx, division); err != nil {
		return nil, Stats{}, err
	}
	r.stats.Cut = division.bestCut
	free(division.part)
	division.part = nil
	return append([]uint16(nil), division.best...), r.stats, nil
}

// close releases the levels above the given graph.
func (r *run) close() error {
	var errs []error
	for len(r.levels) > 0 {
		errs = append(errs, r.drop())
	}
	return errors.Join(errs...)
}

// drop releases the last level.
func (r *run) drop() error {
	l := r.levels[len(r.levels)-1]
	r.levels = r.levels[:len(r.levels)-1]
	var err error
	if l.number > 0 {
		free(l.weights)
		err = l.g.Close()
	}
	if l.coarse != nil {
		err = errors.Join(err, l.coarse.Close())
	}
	return err
}

// weights is the memory of the weights of the levels above the given graph.
func (r *run) weights() int64 {
	bytes := int64(0)
	for _, l := range r.levels[1:] {
		bytes += 4 * int64(len(l.weights))
	}
	return bytes
}

// mostLevels bounds the number of levels; each makes the graph smaller.
const mostLevels = 12

// coarsen makes levels until the last one fits the memory, or does not become smaller.
func (r *run) coarsen(ctx context.Context) error {
	for share := firstShare; ; share = min(lastShare, share*shareStep) {
		l := r.levels[len(r.levels)-1]
		r.stats.Levels, r.stats.CoreNodes, r.stats.CorePairs = len(r.levels), l.g.Len(), l.g.Entries()/2
		if l.g.Entries() <= limits.Neighbours && CoreBytes(int64(l.g.Len()), l.g.Entries()/2, l.constraints, r.Parts) <= r.Memory-r.weights() {
			return nil
		}
		if len(r.levels) == mostLevels {
			r.stats.Streamed = true
			return nil
		}
		next, err := r.contracted(ctx, l, share)
		if err != nil {
			return err
		}
		if next == nil {
			if share < lastShare {
				continue
			}
			r.stats.Streamed = true
			return nil
		}
		r.levels = append(r.levels, next)
	}
}

// contracted makes the level above l, whose clusters weigh at most a share of a part. It returns nil if that level would be
// hardly smaller, or would not fit the memory.
func (r *run) contracted(ctx context.Context, l *level, share float64) (_ *level, err error) {
	k, err := r.cluster(ctx, l, share)
	if err != nil {
		return nil, err
	}
	defer k.close()
	// The next level must be smaller, and there must be room to cluster it.
	n := int64(k.count)
	room := max(r.Memory-bufferBytes-r.weights(), nodeBytes(int64(l.g.Len()), l.constraints))
	if float64(n) > leastShrink*float64(l.g.Len()) || 4*n*int64(l.constraints)+nodeBytes(n, l.constraints) > room {
		return nil, nil
	}
	return r.contract(ctx, l, k)
}

// core divides the last level.
func (r *run) core(ctx context.Context) (*division, error) {
	l := r.levels[len(r.levels)-1]
	o := r.Options.Options
	var part []uint16
	var err error
	if r.stats.Streamed {
		rows := *l.g
		rows.Constraints, rows.Weights = l.constraints, l.weights
		done := r.begin("divide the core", coreStreams*l.g.Entries(), "neighbours")
		part, err = fennel.Partition(ctx, &rows, fennel.Options{Options: o, Passes: coreStreams, Progress: done})
		r.stats.Read += coreStreams * l.g.Bytes()
	} else {
		var g *undirected.Graph
		if g, err = r.load(ctx, l); err != nil {
			return nil, err
		}
		part, err = DivideCore(ctx, g, r.levels[0].g.Entries(), r.Options)
		Free(g)
	}
	if err != nil {
		return nil, err
	}
	d, err := newDivision(l, r.Parts)
	if err != nil {
		return nil, err
	}
	copy(d.part, part)
	d.weigh(l)
	return d, nil
}

// DivideCore divides a core by multilevel, with the next better preset, and returns the parts. It divides a core that is small beside the graph,
// which lists a number of neighbours, several times, for the smallest cut.
func DivideCore(ctx context.Context, g *undirected.Graph, entries int64, options Options) ([]uint16, error) {
	var best []uint16
	var least multilevel.Stats
	tries := entries / max(1, tryShare*int64(len(g.Neighbours)))
	for try := range uint64(max(1, min(mostTries, tries))) {
		o := options.Options
		o.Seed = mix(o.Seed + try<<32)
		part, stats, err := multilevel.Partition(ctx, g, multilevel.Options{Options: o, Preset: corePreset(options.Preset), Progress: options.CoreProgress})
		if err != nil {
			return nil, err
		}
		if best == nil || stats.Balanced && !least.Balanced || stats.Balanced == least.Balanced && stats.Cut < least.Cut {
			best, least = part, stats
		}
	}
	return best, nil
}

// corePreset is the preset of the core: the next better one, because the core is small beside the graph.
func corePreset(p multilevel.Preset) multilevel.Preset {
	if p == multilevel.Fast {
		return multilevel.Default
	}
	return multilevel.High
}

const (
	// A core that has a share of 1 / (tryShare t) of the graph's pairs is divided t times, at most mostTries.
	tryShare, mostTries = 4, 4
	// coreStreams is the number of passes of fennel over a core that does not fit the memory.
	coreStreams = 5
)

// load reads a level into memory.
func (r *run) load(ctx context.Context, l *level) (_ *undirected.Graph, err error) {
	g := &undirected.Graph{Constraints: l.constraints, Weights: l.weights}
	defer func() {
		if err != nil {
			Free(g)
		}
	}()
	if g.Offsets, err = takeZeros[uint32](l.g.Len() + 1); err != nil {
		return nil, err
	}
	if g.Neighbours, err = takeZeros[uint32](int(l.g.Entries())); err != nil {
		return nil, err
	}
	if l.g.Weighted() {
		if g.EdgeWeights, err = takeZeros[uint32](int(l.g.Entries())); err != nil {
			return nil, err
		}
	}
	at := uint32(0)
	return g, r.pass(ctx, l, "read the core", func(b *undirected.Block) error {
		copy(g.Neighbours[at:], b.Neighbours)
		if g.EdgeWeights != nil {
			copy(g.EdgeWeights[at:], b.EdgeWeights)
		}
		for i := range b.Len() {
			_, to := b.Row(i)
			g.Offsets[int(b.First)+i+1] = at + to
		}
		at += uint32(len(b.Neighbours))
		return nil
	})
}

// begin begins a stage of progress.
func (r *run) begin(stage string, total int64, unit string) func(int64) {
	if r.Progress == nil {
		return func(int64) {}
	}
	if done := r.Progress(stage, total, unit); done != nil {
		return done
	}
	return func(int64) {}
}

// pass reads the rows of a level in the order of its nodes. The stage is a name of progress that differs from that before.
func (r *run) pass(ctx context.Context, l *level, stage string, fn func(b *undirected.Block) error) error {
	done := r.begin(fmt.Sprintf("level %d, %s", l.number+1, stage), l.g.Entries(), "neighbours")
	r.stats.Read += l.g.Bytes()
	if l.number == 0 {
		r.stats.Passes++
	}
	return l.g.Scan(ctx, 1, func(_ int, b *undirected.Block) error {
		if err := fn(b); err != nil {
			return err
		}
		done(int64(len(b.Neighbours)))
		return nil
	})
}
