package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/fennel"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Run divides the nodes of a store.
func Run(ctx context.Context, fsys vfs.FS, s *store.Store, o Options) (_ *Result, err error) {
	began := time.Now()
	if err := o.check(); err != nil {
		return nil, err
	}
	if s.Graph == nil {
		return nil, usagef("%s: found a collection of graphs, expected a store of one; import the graph as one store; the graphs of a collection need no partition", s.Dir)
	}
	c, err := newConstraints(s, o.Balance)
	if err != nil {
		return nil, err
	}
	if err := o.fit(c.names); err != nil {
		return nil, err
	}
	r := &Result{Constraints: c.names, Notes: c.notes}
	j := &job{Options: o, fsys: fsys, r: r}
	if !o.Balance.TypesTogether {
		j.covered = s
	}
	for _, n := range s.Graph.Nodes {
		j.types = append(j.types, n.Type)
	}
	j.starts = undirected.Starts(s.Graph)
	n := j.starts[len(j.types)]
	pairs, err := undirected.Pairs(s)
	if err != nil {
		return nil, err
	}
	z := size{nodes: int64(n), pairs: pairs, constraints: int64(len(c.names)), nodeWeights: !c.unit()}
	for _, e := range s.Graph.Edges {
		z.edges += int64(e.Count)
	}
	p, err := fitting(z, &o)
	if err != nil {
		if errors.Is(err, ErrMemory) && z.nodeWeights {
			err = fmt.Errorf("%w, or choose fewer constraints, because %d constraints take %s of it", err, z.constraints, human.Bytes(4*z.constraints*z.nodes))
		}
		return nil, fmt.Errorf("%s: %w", s.Dir, err)
	}
	if err := j.follow(z, p); err != nil {
		return nil, err
	}
	g, end, err := j.rows(ctx, s, c, z, p.onDisk)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := s.Release(); err != nil {
		return nil, err
	}
	if j.Elsewhere != nil {
		j.elsewhere = time.Since(began)
		r.stage("divide on the cluster", began, z.edges, "edges")
	} else {
		r.stage(StageGraph, began, z.edges, "edges")
	}
	if err := j.divide(ctx, g); err != nil {
		return nil, err
	}
	if len(nonEmpty(s.Graph)) > 1 {
		r.Gaps = gaps(r.Assignment)
	}
	began = time.Now()
	if r.Relations == nil {
		if r.Relations, err = relations(ctx, s, r.Assignment, o.Threads); err != nil {
			return nil, err
		}
	}
	if err := s.Release(); err != nil {
		return nil, err
	}
	r.stage("count edges", began, z.edges, "edges")
	return r, nil
}

// rows lists the neighbours of the nodes, in memory or on disk. On a cluster its workers do, and divide the nodes. end closes the rows.
func (j *job) rows(ctx context.Context, s *store.Store, c *constraints, z size, onDisk bool) (g undirected.Rows, end func() error, err error) {
	o := &j.Options
	if o.Elsewhere != nil {
		var rows *undirected.Spilled
		of := Division{Options: o.divide(), Trainers: o.Trainers, Balance: o.Balance, Preset: o.Preset, Whole: wholePairs, Memory: j.memory}
		if rows, j.parts, j.r.Ranges, err = o.Elsewhere.Divide(ctx, of); err != nil {
			return nil, nil, err
		}
		return weigh(rows, c)
	}
	build := undirected.BuildOptions{Threads: o.Threads, FS: j.fsys, Temp: o.Temp, Progress: j.meter(StageGraph, 2*z.edges, "edges")}
	if o.Memory > 0 {
		build.Memory = max(1, o.Memory-limits.ProcessBytes-mapped-z.nodeBytes())
		if onDisk {
			build.Memory = max(1, build.Memory-min(spillBytes, recordBytes*z.edges))
		} else {
			build.Memory = max(1, build.Memory-z.graphBytes())
		}
	}
	if onDisk {
		rows, err := undirected.Spill(ctx, s, build)
		if err != nil {
			return nil, nil, err
		}
		return weigh(rows, c)
	}
	whole, err := undirected.Build(ctx, s, build)
	if err != nil {
		return nil, nil, err
	}
	whole.Constraints = len(c.names)
	whole.Weights, err = c.weights(whole.Len())
	return whole, func() error { return nil }, err
}

// weigh gives rows on disk the weights of the nodes.
func weigh(rows *undirected.Spilled, c *constraints) (_ undirected.Rows, end func() error, err error) {
	rows.Constraints = len(c.names)
	if rows.Weights, err = c.weights(rows.Len()); err != nil {
		return nil, nil, errors.Join(err, rows.Close())
	}
	return rows, rows.Close, nil
}

// follow takes a plan: it notes and foretells what the run will do.
func (j *job) follow(z size, p plan) error {
	r := j.r
	r.Method, r.Forecast = j.Options.Method, p.forecast
	if p.outOfCore {
		r.OutOfCore = &outofcore.Stats{}
		r.Notes = append(r.Notes, z.gaveWay(&j.Options))
		if j.Objective == multilevel.Vol {
			r.Notes = append(r.Notes, "out of core the cut is minimised, not the communication volume")
		}
		j.memory = math.MaxInt64 / 2
		if j.Memory > 0 {
			j.memory = j.Memory - limits.ProcessBytes - z.weightBytes()
		}
		if err := vfs.Room(j.fsys, j.Temp, 1, uint64(p.forecast.Disk), "the temporary files of the division"); err != nil {
			return err
		}
	}
	if j.r.Method == Ranges && p.onDisk {
		j.memory = math.MaxInt64 / 2
		if j.Memory > 0 {
			j.memory = j.Memory - limits.ProcessBytes - z.weightBytes()
		}
	}
	if j.Elsewhere != nil {
		r.Forecast = Forecast{Memory: p.forecast.Memory, Unknown: true} // of a worker
		return nil
	}
	if j.Foretold != nil {
		j.Foretold(r.Forecast)
	}
	return nil
}

// maxTotal is the largest sum of weights for which fractions are exact.
const maxTotal = 1 << 53

// Divide divides the nodes of a graph in memory, all of one type.
func Divide(ctx context.Context, fsys vfs.FS, g *undirected.Graph, nodeType string, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	z := size{nodes: int64(g.Len()), pairs: int64(g.Pairs()), constraints: int64(g.Constraints), nodeWeights: g.Weights != nil, edgeWeights: g.EdgeWeights != nil}
	p := plan{forecast: z.forecast(o.Method, false, &o)}
	if err := p.forecast.within(o.Memory); err != nil {
		return nil, err
	}
	j := &job{Options: o, fsys: fsys, r: &Result{}, types: []string{nodeType}, starts: []uint64{0, uint64(g.Len())}}
	if err := j.follow(z, p); err != nil {
		return nil, err
	}
	return j.r, j.weighted(ctx, g)
}

// weighted divides a graph whose constraints are the weights of its nodes.
func (j *job) weighted(ctx context.Context, g undirected.Rows) error {
	if j.Balance.Edges || len(j.Balance.Columns) > 0 {
		return usagef("found a graph that has neither columns nor directions, expected a store for in-degrees and columns to be balanced; weights of nodes are in the file")
	}
	names := []string{"nodes"}
	if constraints, weights := g.NodeWeights(); weights != nil {
		names = nil
		for c := range constraints {
			names = append(names, fmt.Sprintf("weight %d", c+1))
		}
	}
	if err := j.fit(names); err != nil {
		return err
	}
	j.r.Constraints = names
	for c, total := range undirected.Totals(g) {
		switch {
		case total > maxTotal:
			return usagef("found %d as the sum of %s, expected at most 2^53; divide the weights by a number", total, names[c])
		case total == 0 && g.Len() > 0:
			j.r.Notes = append(j.r.Notes, fmt.Sprintf("%s is 0 for every node, so there is nothing to balance", names[c]))
		}
	}
	return j.divide(ctx, g)
}

// job is the state of one run.
type job struct {
	Options
	fsys      vfs.FS
	r         *Result
	types     []string
	starts    []uint64
	memory    int64         // of multilevel out of core
	parts     []uint16      // that a Divider found
	measured  *Measures     // by the workers of a Divider; nil: not yet
	elsewhere time.Duration // that it took
	// covered is the store of whose types every part should have nodes; nil: parts may lack types.
	covered *store.Store
}

// divide divides the graph and measures the result.
func (j *job) divide(ctx context.Context, g undirected.Rows) error {
	r := j.r
	r.Nodes, r.Pairs = g.Len(), g.Entries()/2
	began := time.Now()
	a, err := j.method(ctx, g)
	if err != nil {
		return err
	}
	r.Seconds = (j.elsewhere + time.Since(began)).Seconds()
	if j.Elsewhere == nil {
		r.stage("divide, by "+r.Method, began, r.Pairs, "pairs")
	}
	r.Assignment = a
	began = time.Now()
	m, err := j.measures(ctx, g, a)
	if err != nil {
		return err
	}
	constraints, weights := g.NodeWeights()
	r.Quality = m.Parts.Quality(a.Part, constraints, weights)
	fine := r.Quality
	if m.Trainers != nil {
		r.Trainers = m.Trainers.Quality(a.Trainer, constraints, weights)
		fine = r.Trainers
	}
	r.Caps = undirected.Caps(undirected.Totals(g), len(fine.Parts), j.Imbalance)
	r.Within = true
	for _, p := range fine.Parts {
		for c, w := range p.Weights {
			r.Within = r.Within && w <= r.Caps[c]
		}
	}
	r.RandomCut = float64(r.Pairs) * (1 - 1/float64(a.Parts))
	r.RandomVolume = m.randomVolume()
	r.stage("measure", began, r.Pairs, "pairs")
	return nil
}

// measures measures a division. The workers of a cluster measure their ranges, with the edges of the store.
func (j *job) measures(ctx context.Context, g undirected.Rows, a *assign.Assignment) (*Measures, error) {
	if j.Elsewhere == nil {
		return measure(ctx, g, piecesOf(a), j.Threads)
	}
	if j.measured == nil {
		if err := j.measureElsewhere(ctx, a); err != nil {
			return nil, err
		}
	}
	j.r.Relations = j.measured.Relations
	return j.measured, nil
}

func (j *job) measureElsewhere(ctx context.Context, a *assign.Assignment) (err error) {
	j.measured, err = j.Elsewhere.Measure(ctx, piecesOf(a))
	return err
}

// piecesOf are the pieces of an assignment.
func piecesOf(a *assign.Assignment) *Pieces {
	p := &Pieces{Piece: a.Part, Part: a.Part, Parts: a.Parts, Trainers: max(1, a.Trainers)}
	if a.Trainers > 0 {
		p.Piece = a.Trainer
	}
	return p
}

// filled says that the start by falling degree won.
const filled = "the parts were filled in the order of falling degree, which cuts fewest edges here, because hubs share them; parts have unequal numbers of edges (see the edge balance); `BalanceEdges` spreads those of a store, at a larger cut"

// method runs the method and returns the parts.
func (j *job) method(ctx context.Context, g undirected.Rows) (*assign.Assignment, error) {
	if j.r.Method == Import {
		return j.imported(ctx)
	}
	a := &assign.Assignment{Parts: j.Parts, Types: j.types, Start: j.starts, Method: j.r.Method}
	var part []uint16
	var err error
	switch {
	case j.r.Method == Random || j.r.Method == Hash:
		part = deal(j.r.Method, j.types, j.starts, j.Parts, j.Trainers, j.Seed)
	case j.r.Method == Fennel:
		j.r.Passes = j.Passes
		part, err = fennel.Partition(ctx, g, fennel.Options{Options: j.Options.divide(), Passes: j.Passes, Progress: j.meter(StageDivide, g.Entries()*int64(j.Passes), "neighbours")})
	case j.r.Method == Ranges:
		part, err = j.ranges(ctx, g.(undirected.Placed))
	case j.r.OutOfCore != nil:
		part, *j.r.OutOfCore, err = outofcore.Partition(ctx, g.(*undirected.Spilled), outofcore.Options{Options: j.Options.divide(), Preset: j.Preset, Memory: j.memory,
			FS: j.fsys, Temp: j.Temp, Progress: j.meter, CoreProgress: j.steps("divide the core")})
		if j.r.OutOfCore.ByDegree {
			j.r.Notes = append(j.r.Notes, filled)
		}
		if j.r.OutOfCore.Streamed {
			j.r.Notes = append(j.r.Notes, "out of core no clustering made the graph fit the memory bound, so fennel divided the smallest one: the cut is larger; raise `Memory` for multilevel")
		}
	default:
		// fitting made sure that the rows are in memory.
		var stats multilevel.Stats
		part, stats, err = multilevel.Partition(ctx, g.(*undirected.Graph), multilevel.Options{Options: j.Options.divide(), Preset: j.Preset, Objective: j.Objective, Progress: j.steps(StageDivide)})
		if stats.Falling {
			j.r.Notes = append(j.r.Notes, filled)
		}
	}
	covers := j.covered != nil && slices.Contains([]string{Multilevel, Fennel, Ranges}, j.r.Method)
	if err == nil && covers {
		err = j.cover(ctx, g, part)
	}
	if err != nil {
		return nil, err
	}
	if a.Part = part; j.Options.Trainers > 1 {
		a.Trainers, a.Trainer = j.Options.Trainers, part
		a.Part = make([]uint16, len(part))
		for v, trainer := range part {
			a.Part[v] = uint16(int(trainer) / a.Trainers)
		}
	}
	if covers {
		err = j.coverEdges(ctx, g, j.covered, a, part)
	}
	return a, err
}

// wholePairs is the most pairs of a graph that the method ranges divides as it is, like multilevel: workers are for larger ones.
const wholePairs = 1 << 18

// ranges divides a graph in ranges of its nodes.
func (j *job) ranges(ctx context.Context, g undirected.Placed) (part []uint16, err error) {
	if j.Elsewhere != nil {
		part = j.parts
	} else {
		var stats ranges.Stats
		part, stats, err = ranges.Partition(ctx, g, ranges.Options{Options: j.Options.divide(), Preset: j.Preset, Whole: wholePairs, Memory: j.memory, FS: j.fsys, Temp: j.Temp,
			Progress: j.meter, CoreProgress: j.steps("divide the core")})
		j.r.Ranges = &stats
	}
	stats := j.r.Ranges
	switch {
	case stats.ByDegree:
		j.r.Notes = append(j.r.Notes, filled)
	case stats.OutOfCore != nil:
		j.r.Notes = append(j.r.Notes, "the graph of the clusters does not fit the memory bound: it was divided out of core, and the memory bound has an influence on the parts; the cut is about the same")
	}
	return part, err
}

// metisName matches the names of gpmetis's files, which have one part per line.
var metisName = regexp.MustCompile(`\.part\.\d+$`)

// imported reads the assignment of another program: a folder, a file of gpmetis, or a file of ParMETIS.
func (j *job) imported(ctx context.Context) (*assign.Assignment, error) {
	order := j.ImportOrder
	if order == nil {
		order = j.types
	}
	count := map[string]uint64{}
	for t, name := range j.types {
		count[name] = j.starts[t+1] - j.starts[t]
	}
	info, err := j.fsys.Stat(j.Options.Import)
	if err != nil {
		return nil, err
	}
	counts := func(types []string) (n []uint64) {
		for _, t := range types {
			n = append(n, count[t])
		}
		return n
	}
	var a *assign.Assignment
	switch base := filepath.Base(j.Options.Import); {
	case info.IsDir():
		a, err = assign.Read(ctx, j.fsys, j.Options.Import, j.types, counts(j.types))
	case metisName.MatchString(base):
		a, err = assign.ReadMETIS(ctx, j.fsys, j.Options.Import, order, counts(order))
	default:
		a, err = assign.ReadParMETIS(ctx, j.fsys, j.Options.Import, order, counts(order))
	}
	if err != nil {
		return nil, err
	}
	if j.Parts != 0 && j.Parts != a.Parts {
		return nil, usagef("%s: found %d parts, expected %d, the number of parts that was requested; leave `Parts` out", j.Options.Import, a.Parts, j.Parts)
	}
	if !slices.Equal(a.Types, j.types) {
		a = inOrder(a, j.types, j.starts)
	}
	return a, nil
}

// inOrder reorders the types of an assignment.
func inOrder(a *assign.Assignment, types []string, starts []uint64) *assign.Assignment {
	b := *a
	b.Types, b.Start, b.Part = types, starts, make([]uint16, len(a.Part))
	for t, name := range types {
		copy(b.Of(t), a.Of(slices.Index(a.Types, name)))
	}
	return &b
}

// meter returns a function that adds steps to the progress of a stage.
func (j *job) meter(stage string, total int64, unit string) func(int64) {
	if j.Options.Progress == nil {
		return nil
	}
	var done atomic.Int64
	return func(n int64) { j.Options.Progress(stage, done.Add(n), total, unit) }
}

// steps is meter for work whose total changes.
func (j *job) steps(stage string) func(done, total int64) {
	if j.Options.Progress == nil {
		return nil
	}
	return func(done, total int64) { j.Options.Progress(stage, done, total, "neighbours") }
}
