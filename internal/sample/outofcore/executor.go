package outofcore

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// ErrMemory is wrapped by the refusal of a budget that cannot hold the least needed.
var ErrMemory = errors.New("too little memory")

func errWindow() error {
	return tagged.Errorf(sample.ErrTooLarge, "found a step of a window with 2^32 sampled edges or more, expected fewer; take fewer edges or smaller batches")
}

// Options is what a run may use.
type Options struct {
	// Memory is what the process may hold in all; 0 is no bound.
	Memory int64
	// Held is what the caller holds of it.
	Held    int64
	Threads int  // 0 is one
	Ops     bool // as in sample.Options
	Induce  bool // refused
	// NoEdgeIDs is sample.Options.NoEdgeIDs: edges are then not drawn a second time.
	NoEdgeIDs bool
	// Window is the batches of a window; 0 takes the largest that the memory allows.
	Window int
	// Rows is the bytes of the rows of columns that are held at once; 0 is as many as the
	// memory allows.
	Rows   int64
	Design Design
	// Epochs is how many go together through condensed layers; 0 takes the largest that
	// the memory allows.
	Epochs int
	// Scratch is a folder with room for what the design Spilled keeps on disk; without
	// it that is not chosen.
	Scratch string
	// Keep is a folder of this job alone, which is made: there a run by the design
	// Spilled keeps the steps that it has taken until it ends without an error, and
	// another run of the job goes on behind them.
	Keep string
	Warn func(string)

	spill *spillSizes // nil: by the memory
}

// Executor samples a store without holding its neighbours. It is immutable but for
// its counts; one Run at a time.
type Executor struct {
	sampler  *sample.Sampler
	opt      Options
	files    []*file // by first block
	fileOf   []*file // by op, from 1
	blocks   uint32  // of all files
	waves    [][2]int
	waveOf   []int // by op
	ops      int
	speed    direct.Speed
	brk      int   // pages of a block up to which they are read one by one
	held     int64 // bytes of what the plan needs in memory
	found    found // by the last pilot
	forecast Forecast
	sweeps   atomic.Int64
	// Bytes of scratch files.
	spillRead, spillWritten atomic.Int64
	fsys                    vfs.FS
	store                   *store.Store
	rows                    rowTables
}

// Open compiles a plan against a store, opens the files that it reads and measures
// the disk. The store must outlive the Executor.
func Open(ctx context.Context, fsys vfs.FS, s *store.Store, plan *sample.Plan, opt Options) (_ *Executor, err error) {
	opt.Threads = max(opt.Threads, 1)
	x := &Executor{opt: opt, ops: len(plan.Ops), fsys: fsys, store: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, x.Close())
		}
	}()
	defer raiseProcs(opt.Threads)()
	// Refused before anything is read: columns, and the offsets, which are copied to
	// huge pages, as they are read at random.
	x.held = sample.NeedFetch(s.Graph, plan, opt.Threads)
	if least := processBytes + opt.Held + x.held; opt.Memory > 0 && least > opt.Memory {
		return nil, tagged.Errorf(ErrMemory, "found `Memory` %s, expected more than %s, which the stream executor needs for this plan: offsets of the nodes, columns that strategies go by; give more `Memory` or fewer `Threads`",
			human.Bytes(opt.Memory), human.Bytes((least>>20+1)<<20))
	}
	x.sampler, err = sample.New(s.Graph, plan, sample.Options{Fetch: true, Ops: opt.Ops, Induce: opt.Induce, NoEdgeIDs: opt.NoEdgeIDs, Memory: math.MaxInt64, Touched: s.Touched, Warn: opt.Warn})
	if err != nil {
		return nil, err
	}
	if err := s.Release(); err != nil {
		return nil, err
	}
	x.waves = x.sampler.Waves()
	x.fileOf, x.waveOf = make([]*file, x.ops+1), make([]int, x.ops+1)
	type walk struct{ edges, dir int }
	opened := map[walk]*file{}
	for i, w := range x.waves {
		for op := w[0]; op < w[1]; op++ {
			edges, dir := x.sampler.Walk(op)
			key := walk{edges, int(dir)}
			if opened[key] == nil {
				f, err := openFile(fsys, s, edges, dir, x.sampler.Apart(op))
				if err != nil {
					return nil, err
				}
				f.first = x.blocks
				x.blocks += f.blocks
				x.files = append(x.files, f)
				opened[key] = f
			}
			x.fileOf[op], x.waveOf[op] = opened[key], i
		}
	}
	if len(x.files) > 0 {
		largest := slices.MaxFunc(x.files, func(a, b *file) int { return a.edges - b.edges })
		if x.speed, err = direct.Calibrate(ctx, largest.far.File); err != nil {
			return nil, err
		}
		x.brk = x.speed.Pages()
	}
	return x, nil
}

// mostReaders is the goroutines that read and serve: so many keep a disk busy while
// some of them draw.
const mostReaders = 8

// readers is how many there are.
func (x *Executor) readers() int {
	n := min(mostReaders, int(max(x.blocks, 1)))
	if x.opt.Memory > 0 {
		n = min(n, int(max(2, x.opt.Memory>>24)))
	}
	return n
}

// Sampler is the compiled plan, for those who write its subgraphs.
func (x *Executor) Sampler() *sample.Sampler { return x.sampler }

// Release gives the memory of the mapped store back, for who has read it.
func (x *Executor) Release() error { return x.store.Release() }

// Close closes the files. No Run may be under way.
func (x *Executor) Close() error {
	var err error
	for _, f := range x.files {
		err = errors.Join(err, f.close())
	}
	x.files = nil
	err = errors.Join(err, x.rows.close())
	if x.sampler != nil {
		x.sampler.Close()
		x.sampler = nil
	}
	return err
}

// idBytes is the most bytes of edge ids that a block takes.
func (x *Executor) idBytes() int {
	ids := 0
	for _, f := range x.files {
		ids = max(ids, f.idBytes())
	}
	return (ids + direct.Align - 1) / direct.Align * direct.Align
}

// apart says whether an op of a wave walks along edges whose ids are stored apart.
func (x *Executor) apart(wave int) bool {
	for op := x.waves[wave][0]; op < x.waves[wave][1]; op++ {
		if x.fileOf[op].ids != nil {
			return true
		}
	}
	return false
}

// pipeline is a run: its windows and the goroutines' buffers.
type pipeline struct {
	shared
	x       *Executor
	job     *sample.Job
	batches sample.Batches
	threads int
	slots   int    // most of a stage
	shift   uint32 // of stages' guides
	walkers []*walker
	readers []*reader
	free    []func()
}

func (x *Executor) newPipeline(job *sample.Job, batches *sample.Batches) (*pipeline, error) {
	p := &pipeline{x: x, job: job, batches: *batches, threads: x.opt.Threads, shift: 12, slots: x.stageSlots()}
	p.lean = x.opt.Memory > 0 && x.opt.Memory < leanMemory
	if x.sampler.Plan().Scope == sample.ScopeSeed {
		p.shift = 6
	}
	for i := range p.threads {
		p.walkers = append(p.walkers, &walker{x: x, number: i, c: x.sampler.NewContext(), source: *batches})
	}
	ids := x.idBytes()
	n := x.readers()
	buf, free, err := direct.Alloc(n * (blockBytes + ids))
	if err != nil {
		return nil, err
	}
	p.free = append(p.free, free)
	for i := range n {
		own := buf[i*(blockBytes+ids) : (i+1)*(blockBytes+ids)]
		p.readers = append(p.readers, &reader{x: x, c: x.sampler.NewContext(), buf: own[:blockBytes], ids: own[blockBytes:]})
	}
	return p, nil
}

func (p *pipeline) close() {
	p.pieces.close()
	for _, f := range p.free {
		f()
	}
}

// stageSlots bounds the slots of a stage by memory and by their 32 bits.
func (x *Executor) stageSlots() int {
	if x.opt.Memory > 0 {
		return int(min(x.opt.Memory/4, math.MaxUint32))
	}
	return math.MaxUint32
}

// open makes a window of the next n batches.
func (p *pipeline) open(first, n uint64) *window {
	w := &window{first: first, n: n, each: 1}
	if p.x.sampler.Plan().Scope == sample.ScopeSeed {
		w.each = p.job.BatchSize
	}
	w.spans = make([]span, int(n)*w.each*p.x.ops)
	return w
}

// Run samples every batch of a job as sample.Run does; Job.Threads is not used.
// GOMAXPROCS is four times the threads while it runs.
func Run[T any](ctx context.Context, x *Executor, job sample.Job, newOut func() T,
	encode func(out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (sample.Stats, error) {
	x.cutBatch(&job)
	batches, err := x.sampler.Batches(&job)
	if err != nil {
		return sample.Stats{}, err
	}
	defer raiseProcs(x.opt.Threads)()
	return runByDesign(ctx, x, job, batches, newOut, encode, sink)
}

// runWindows runs a job by the pipeline of windows.
func runWindows[T any](ctx context.Context, x *Executor, job sample.Job, batches *sample.Batches, w Window, newOut func() T,
	encode func(out T, b *sample.Batch, sub *sample.Subgraph) error, sink func(out T) error) (stats sample.Stats, err error) {
	total := batches.Len()
	size := w.Batches
	p, err := x.newPipeline(&job, batches)
	if err != nil {
		return stats, err
	}
	defer p.close()
	e := newEmitter(p, newOut, encode, sink)
	var windows []*window // under way, the oldest first
	var full *window      // has all its steps
	defer func() {
		for _, w := range append(windows, full) {
			if w != nil {
				w.close()
			}
		}
	}()
	for next := uint64(0); ; {
		if next < total {
			// As many windows as needed, of one size.
			left := total - next
			n := (left + (left+size-1)/size - 1) / ((left + size - 1) / size)
			n = x.fitting(&job, batches, next, n, size)
			windows = append(windows, p.open(next, n))
			next += n
		}
		if len(windows) > 0 && len(x.waves) > 0 {
			if err := p.advance(ctx, windows); err != nil {
				return stats, err
			}
		}
		if full == nil && len(windows) == 0 {
			return stats, nil
		}
		sweep := func(ctx context.Context) error { return p.sweep(ctx, windows) }
		if err := p.overlap(ctx, sweep, func(ctx context.Context) error {
			if full == nil {
				return nil
			}
			return e.emit(ctx, full, full.first, &stats)
		}); err != nil {
			return stats, err
		}
		if full != nil {
			full.close()
			full = nil
		}
		for _, w := range windows {
			if len(w.stages) > 0 {
				w.stages[len(w.stages)-1].served()
			}
		}
		if len(windows) > 0 && len(windows[0].stages) == len(x.waves) {
			full, windows = windows[0], windows[1:]
		}
	}
}

// overlap sweeps while fn runs in the calling goroutine. The first to fail ends the
// other.
func (p *pipeline) overlap(ctx context.Context, sweep, fn func(context.Context) error) error {
	return beside(ctx, func(ctx context.Context) error {
		if len(p.x.waves) == 0 {
			return nil
		}
		return sweep(ctx)
	}, fn)
}

// beside runs other while fn runs in the calling goroutine. The first to fail ends
// the other one.
func beside(ctx context.Context, other, fn func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	var failed error
	running.Go(func() {
		if failed = other(ctx); failed != nil {
			cancel(failed)
		}
	})
	err := fn(ctx)
	if err != nil {
		cancel(err)
	}
	running.Wait()
	if failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return failed
	}
	return err
}

// Counts is what an executor has read.
type Counts struct {
	Bytes  int64 `json:"bytes_read"`
	Rows   int64 `json:"row_bytes_read"` // of these, of columns
	Sweeps int64 `json:"sweeps"`
	// Written is what the design Spilled wrote; Bytes has what of it was read again.
	Written int64 `json:"scratch_bytes_written"`
}

// Counts is what was read so far.
func (x *Executor) Counts() Counts {
	c := Counts{Bytes: x.spillRead.Load(), Sweeps: x.sweeps.Load(), Written: x.spillWritten.Load()}
	for _, f := range x.files {
		c.Bytes += f.far.Read()
		if f.ids != nil {
			c.Bytes += f.ids.Read()
		}
	}
	for _, r := range x.rows.tables() {
		for _, col := range r.columns {
			c.Rows += col.file.Read()
		}
	}
	c.Bytes += c.Rows
	return c
}
