package outofcore

import (
	"context"
	"math"
	"runtime"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

const (
	// processBytes is what the program holds before it works.
	processBytes = 26 << 20
	// edgeBytes is what a sampled edge of a window takes: its results in the stages
	// of three windows and in the one that is emitted, and its part of a request.
	edgeBytes = 12.5
	// aloneBytes is edgeBytes of a window that is the run's only one.
	aloneBytes = 7
	// askBytes is what such an edge takes besides where it is asked for alone.
	askBytes = 8.5
	// contextEdgeBytes and outEdgeBytes are what a sampled edge of one batch takes in
	// the buffers of a context, and in an out that is handed around.
	contextEdgeBytes, outEdgeBytes = 40, 20
	// leanMemory is the budget below which pages are small.
	leanMemory = 512 << 20
)

// raiseProcs makes room for goroutines that wait in reads: each keeps its place
// among GOMAXPROCS until the runtime takes it back. It returns what undoes it.
func raiseProcs(threads int) (undo func()) {
	procs := 4 * threads
	if runtime.GOMAXPROCS(0) >= procs {
		return func() {}
	}
	before := runtime.GOMAXPROCS(procs)
	return func() { runtime.GOMAXPROCS(before) }
}

// fixed is what a run holds whatever the graph.
func (x *Executor) fixed() int64 {
	return processBytes + x.opt.Held + int64(x.readers()*(blockBytes+x.idBytes())) + x.rows.fixed(x.readers())
}

// most bounds the edges that n seeds draw in the first waves of the plan.
func (x *Executor) most(n float64, waves int) float64 {
	sum := 0.0
	for _, edges := range x.reach(n, waves)[1:] {
		sum += edges
	}
	return sum
}

// reach is most by op, from 1.
func (x *Executor) reach(n float64, waves int) []float64 {
	plan := x.sampler.Plan()
	reach := make([]float64, x.ops+1)
	reach[0] = n
	for op := 1; op <= x.ops && x.waveOf[op] < waves; op++ {
		from := 0.0
		for _, f := range plan.Ops[op-1].From {
			from += reach[f]
		}
		edges := float64(x.fileOf[op].edges)
		if plan.Ops[op-1].Take == sample.All {
			reach[op] = edges
			if plan.Scope == sample.ScopeSeed {
				reach[op] *= n
			}
		} else {
			reach[op] = from * float64(plan.Ops[op-1].Take)
		}
	}
	return reach
}

// Window is how a run divides its batches, and what it was reckoned from.
type Window struct {
	Batches    uint64  `json:"batches"`         // of a window
	BatchEdges float64 `json:"edges_per_batch"` // sampled, as a pilot found
}

// windowOf is the batches of a window: as many as the memory allows, but not more
// than there are, nor than an epoch's where there is no bound.
func (x *Executor) windowOf(ctx context.Context, job *sample.Job, total uint64) (w Window, err error) {
	size := float64(job.BatchSize)
	x.rows.perOp, x.rows.alone = x.reach(size, len(x.waves)), false
	defer func() {
		if err == nil {
			x.shareRows(job, &w, total)
		}
	}()
	if x.opt.Window > 0 || total == 0 || len(x.waves) == 0 {
		w.Batches = max(uint64(x.opt.Window), 1)
		w.BatchEdges = x.most(size, len(x.waves))
		return w, nil
	}
	// What the plan allows at most is enough to know where all fits.
	w.BatchEdges = x.most(size, len(x.waves))
	if x.found.by(job) {
		w.BatchEdges, x.rows.perOp = x.found.edges, x.found.perOp
	}
	w.Batches = min(total, max(job.EpochBatches(x.sampler.SeedWidth()), 1))
	if x.opt.Memory > 0 {
		w.Batches = total
	}
	if x.batches(job, w.BatchEdges) >= float64(w.Batches) {
		return w, nil
	}
	if !x.found.by(job) {
		if err = x.pilot(ctx, job); err != nil {
			return w, err
		}
	}
	w.BatchEdges, x.rows.perOp = x.found.edges, x.found.perOp
	fits := x.batches(job, w.BatchEdges)
	if fits < 1 && x.fewerOuts() {
		fits = x.batches(job, w.BatchEdges)
	}
	if fits < 1 {
		return w, x.errBatch(job, w.BatchEdges, fits)
	}
	if x.alone(job, w.BatchEdges) < float64(w.Batches) {
		w.Batches = uint64(min(fits, float64(w.Batches)))
	}
	return w, nil
}

// alone is how many batches of so many sampled edges fit where there is one window and
// no rows are fetched for it.
func (x *Executor) alone(job *sample.Job, edges float64) float64 {
	if x.opt.Memory == 0 || len(x.rows.tables()) > 0 {
		return 0
	}
	free := float64(x.opt.Memory-x.fixed()-x.held) - edges*x.perContext()
	return min(free/(x.perBatch(job, edges)-edges*(edgeBytes-aloneBytes)), (math.MaxUint32/2)/max(edges, 1))
}

// errBatch is that a window holds no whole batch of so many edges.
func (x *Executor) errBatch(job *sample.Job, edges, fits float64) error {
	return tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s, which the stream executor needs for one batch of about %s sampled edges; give more `Memory`, smaller batches or fewer `Threads`",
		human.Bytes(x.opt.Memory), human.Bytes(x.opt.Memory+int64((1-fits)*x.perBatch(job, edges))), human.Number(edges))
}

// cutBatch makes batches no larger than the seeds are many: they stay the same, and no
// more is reckoned with.
func (x *Executor) cutBatch(job *sample.Job) {
	if seeds := len(job.Seeds) / x.sampler.SeedWidth(); seeds > 0 {
		job.BatchSize = min(job.BatchSize, seeds)
	}
}

// perBatch is the bytes that one batch more takes in a window.
func (x *Executor) perBatch(job *sample.Job, edges float64) float64 {
	bytes := edgeBytes + askBytes*x.askedAlone()
	if x.idBytes() > 0 {
		bytes += 8
	}
	return edges*bytes + x.perSpans(job)
}

// askedAlone is the share of the sampled edges that are asked for one by one.
func (x *Executor) askedAlone() float64 {
	one, all := 0.0, 0.0
	for op := 1; op < len(x.rows.perOp); op++ {
		all += x.rows.perOp[op]
		if !x.sampler.Plain(op) {
			one += x.rows.perOp[op]
		}
	}
	return one / max(all, 1)
}

// perSpans is of this the spans and segments of the windows under way.
func (x *Executor) perSpans(job *sample.Job) float64 {
	spans := 1.0
	if x.sampler.Plan().Scope == sample.ScopeSeed {
		spans = float64(job.BatchSize)
	}
	return spans * float64(x.ops) * (8*float64(len(x.waves)+1) + 16)
}

// perContext is the bytes that a sampled edge of one batch takes in buffers that are
// not of a window.
func (x *Executor) perContext() float64 {
	threads := float64(x.opt.Threads)
	return contextEdgeBytes*threads + outEdgeBytes*(2*threads+1)
}

// batches is how many batches of so many sampled edges the memory holds in windows.
func (x *Executor) batches(job *sample.Job, edges float64) float64 {
	if x.opt.Memory == 0 {
		return (math.MaxUint32 / 2) / max(edges, 1)
	}
	table, outs := x.rowsLeast(job)
	free := float64(x.opt.Memory-x.fixed()-x.held) - edges*x.perContext() - table - outs
	return min(free/x.perBatch(job, edges), (math.MaxUint32/2)/max(edges, 1))
}
