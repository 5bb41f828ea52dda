package outofcore

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrMemory is the error of a budget that cannot hold the least that a run needs.
var ErrMemory = tagged.Errorf(limits.ErrMemory, "too little memory")

func errWindow() error {
	return tagged.Errorf(sample.ErrTooLarge, "found a step of a window with 2^32 sampled edges or more, expected fewer; take fewer edges or smaller batches")
}

// Options is the memory, the threads and the folders of an executor.
type Options struct {
	// Memory is the bytes that the process may hold in all; 0 is no bound.
	Memory int64
	// Held is the bytes of Memory that the caller holds.
	Held    int64
	Threads int  // 0 means one
	Ops     bool // as in sample.Options
	// NoEdgeIDs is sample.Options.NoEdgeIDs: edges are then not drawn a second time.
	NoEdgeIDs bool
	// Window is the batches of a window; 0 takes the largest window that the memory allows.
	Window int
	// Rows is the bytes of the rows of columns that are held at a time; 0 takes as many as the memory allows.
	Rows   int64
	Design Design
	// Epochs is the number of epochs that go through condensed layers together; 0 takes the most that the memory
	// allows.
	Epochs int
	// Slots is the number of batches that the caller holds at a time, with their rows as they are in the columns, where a
	// training takes the batches while the run makes them. Windows then have at most an epoch, so that the first batch
	// comes soon, and epochs are not spilled, so that batches come all the time. 0 is a run for an output.
	Slots int
	// Scratch is a folder with room for what the design Spilled writes to disk. Without it, Auto does not choose that
	// design.
	Scratch string
	// Keep is a folder for this job alone, which is created. A run by the design Spilled keeps the steps that it has
	// taken there until it ends without an error, and another run of the job resumes after them.
	Keep string
	Warn func(string)

	spill *spillSizes // nil: computed from the memory; set by tests
}

// Executor samples a store without its neighbours in memory. It opens the files, runs pilots, chooses designs and runs
// them. One Run at a time may be under way.
type Executor struct {
	opt        Options
	fsys       vfs.FS
	store      *store.Store
	neighbours *neighbours
	rows       rowTables
	planned    int64  // bytes that the plan holds in memory
	found      demand // by the last pilot
	forecast   Forecast
	counts     counters
	twin       bool // from Split
}

// counters counts the work of an executor.
type counters struct {
	sweeps                  atomic.Int64
	spillRead, spillWritten atomic.Int64 // bytes of scratch files
}

// Open compiles a plan against a store, opens the files that it reads and measures the disk. The store must outlive
// the Executor.
func Open(ctx context.Context, fsys vfs.FS, s *store.Store, plan *sample.Plan, opt Options) (_ *Executor, err error) {
	opt.Threads = max(opt.Threads, 1)
	x := &Executor{opt: opt, fsys: fsys, store: s, neighbours: &neighbours{ops: len(plan.Ops)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	defer guard.Catch(&err)()
	defer raiseProcs(opt.Threads)()
	// Too little memory is refused before anything is read: columns, and the offsets, which are copied to huge pages
	// because they are read at random.
	x.planned = sample.NeedFetch(s.Graph, plan, opt.Threads)
	if least := limits.ProcessBytes + opt.Held + x.planned; opt.Memory > 0 && least > opt.Memory {
		return nil, tagged.Errorf(ErrMemory, "found `Memory` %s, expected more than %s, which the stream executor needs for this plan: offsets of the nodes, and columns that strategies read; give more `Memory` or fewer `Threads`",
			human.Bytes(opt.Memory), human.Bytes((least>>20+1)<<20))
	}
	x.neighbours.sampler, err = sample.New(s.Graph, plan, sample.Options{Fetch: true, Ops: opt.Ops, NoEdgeIDs: opt.NoEdgeIDs, Memory: math.MaxInt64, Touched: s.Touched, Warn: opt.Warn})
	if err != nil {
		return nil, err
	}
	if err := s.Release(); err != nil {
		return nil, err
	}
	if err := x.neighbours.open(ctx, fsys, s); err != nil {
		return nil, err
	}
	x.rows = rowTables{fsys: fsys, store: s, memory: opt.Memory, scratch: opt.Scratch, disk: x.neighbours.disk}
	return x, nil
}

// Split divides what x has of the memory, besides the offsets and the columns of the plan, among n executors that run at
// the same time. They share these and the files with x, which must outlive them, and whose last pilot is theirs.
func (x *Executor) Split(n int) *Executor {
	part := &Executor{opt: x.opt, fsys: x.fsys, store: x.store, neighbours: x.neighbours, planned: x.planned, found: x.found, twin: true}
	if m := &part.opt.Memory; *m > 0 {
		fixed := limits.ProcessBytes + x.opt.Held + x.planned
		*m = fixed + (*m-fixed)/int64(max(n, 1))
	}
	part.rows = rowTables{fsys: x.fsys, store: x.store, memory: part.opt.Memory, scratch: x.opt.Scratch, disk: x.neighbours.disk}
	return part
}

// Learn takes over what a pilot of part, from Split, found.
func (x *Executor) Learn(part *Executor) { x.found = part.found }

// Sampler is the compiled plan, for those who write its subgraphs.
func (x *Executor) Sampler() *sample.Sampler { return x.neighbours.sampler }

// Release gives the memory of the mapped store back, after a caller has read it.
func (x *Executor) Release() error { return x.store.Release() }

// Close closes the files. No Run may be under way.
func (x *Executor) Close() error {
	if x.twin {
		return x.rows.close()
	}
	return errors.Join(x.neighbours.close(), x.rows.close())
}

// cutBatch makes batches no larger than the number of seeds, so that budgets do not count seeds that are not there. The
// batches stay the same.
func (x *Executor) cutBatch(job *sample.Job) {
	if seeds := len(job.Seeds) / x.neighbours.sampler.SeedWidth(); seeds > 0 {
		job.BatchSize = min(job.BatchSize, seeds)
	}
}

// Sweep reads all files of neighbours once, and serves nothing: the least that a sweep costs where every block is
// wanted.
func (x *Executor) Sweep(ctx context.Context) error {
	defer raiseProcs(x.opt.Threads)()
	var job sample.Job
	p, err := x.newPipeline(&job, &sample.Batches{}, rowShare{}, 1)
	if err != nil {
		return err
	}
	defer p.close()
	return p.pass(ctx, func(r *reader, block uint32) error {
		f := r.fileAt(block)
		return r.read(f, block-f.first)
	})
}

// Counts is the bytes and the sweeps of an executor.
type Counts struct {
	Bytes  int64 `json:"bytes_read"`
	Rows   int64 `json:"row_bytes_read"` // bytes of columns
	Sweeps int64 `json:"sweeps"`
	// Written is the bytes that the design Spilled wrote. Bytes includes the part of them that was read again.
	Written int64 `json:"scratch_bytes_written"`
}

// Counts is the work of the executor so far.
func (x *Executor) Counts() Counts {
	c := Counts{Bytes: x.counts.spillRead.Load() + x.neighbours.read(), Sweeps: x.counts.sweeps.Load(), Written: x.counts.spillWritten.Load()}
	for _, r := range x.rows.tables() {
		for _, col := range r.columns {
			c.Rows += col.file.Read()
		}
	}
	c.Bytes += c.Rows
	return c
}
