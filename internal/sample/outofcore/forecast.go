package outofcore

import (
	"context"
	"errors"
	"math"
	"sort"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Time that one core takes for a sampled edge: to find what a batch asks for, to serve
// that, and to make subgraphs of it. Condensed layers have an edge for many, and take
// longer to look it up. They are those of a graph with 2^26 nodes: see slowness.
const (
	walkSeconds  = 25e-9
	serveSeconds = 30e-9
	emitSeconds  = 50e-9
	lookSeconds  = 55e-9
	// bareShare is what is left of the last two without the ids of edges, for which they
	// are drawn again.
	bareShare = 0.6
	// spillSeconds is for what is asked for and served through a scratch file, and made.
	spillSeconds = 160e-9
	// memorySeconds is for an edge that the memory executor samples.
	memorySeconds = 45e-9
)

// Forecast is what a run is expected to take by a design.
type Forecast struct {
	Design Design `json:"-"`
	Window
	Sweeps  int64   `json:"sweeps"`
	Bytes   int64   `json:"bytes_read"`
	Written int64   `json:"scratch_bytes_written"`
	Memory  int64   `json:"memory_bytes"`
	Least   int64   `json:"least_memory_bytes"` // that a run by the design can do with
	Seconds float64 `json:"seconds"`
	Err     error   `json:"-"` // why such a run is refused
}

// Forecast is that of the last run, or of the last Foretell.
func (x *Executor) Forecast() Forecast { return x.forecast }

// Foretell reckons what Run would take, and samples some seeds for it.
func (x *Executor) Foretell(ctx context.Context, job sample.Job) (Forecast, error) {
	batches, err := x.look(ctx, &job)
	if err != nil {
		return Forecast{}, err
	}
	design, w, err := x.design(ctx, &job, batches)
	if err != nil {
		return Forecast{}, err
	}
	x.forecast = x.foretell(design, &job, w, batches)
	return x.forecast, x.forecast.Err
}

// Outlook is what a job would take by every way to sample it.
type Outlook struct {
	Batches uint64
	Edges   float64    // sampled, about
	Designs []Forecast // that the plan allows
	Chosen  Design     // of Run; Auto where Err refuses it
	Err     error
	Mapped  float64 // seconds that the memory executor takes over the mapped store
}

// Forecasts reckons what a run by each design would take, and which one Run chooses.
func (x *Executor) Forecasts(ctx context.Context, job sample.Job) (*Outlook, error) {
	batches, err := x.look(ctx, &job)
	if err != nil {
		return nil, err
	}
	o := &Outlook{Batches: batches, Edges: float64(batches) * x.found.edges * x.filled(&job)}
	if o.Chosen, _, o.Err = x.design(ctx, &job, batches); o.Err != nil {
		if !errors.Is(o.Err, ErrMemory) {
			return nil, o.Err
		}
		o.Chosen = Auto
	}
	o.Mapped = x.mappedSeconds(o.Edges)
	for _, d := range []Design{Windows, Condensed, Spilled} {
		if d == Condensed && x.sampler.Plan().Scope != sample.ScopeEpoch {
			continue
		}
		w, err := x.windowOf(ctx, &job, batches)
		if d != Windows {
			err = x.fits(d, &job, w, batches)
		}
		f := Forecast{Design: d, Window: w}
		if err == nil {
			f = x.foretell(d, &job, w, batches)
		}
		f.Err, f.Least = err, x.least(d, &job, batches)
		if d == o.Chosen && err != nil {
			o.Chosen, o.Err = Auto, err
		}
		o.Designs = append(o.Designs, f)
	}
	return o, nil
}

// look counts the batches of a job, and samples some seeds.
func (x *Executor) look(ctx context.Context, job *sample.Job) (total uint64, err error) {
	x.cutBatch(job)
	batches, err := x.sampler.Batches(job)
	if err != nil {
		return 0, err
	}
	if batches.Len() == 0 || len(x.waves) == 0 {
		x.found = x.bounds(job)
		return batches.Len(), nil
	}
	defer raiseProcs(x.opt.Threads)()
	if !x.found.by(job) {
		if err := x.pilot(ctx, job); err != nil {
			return 0, err
		}
	}
	return batches.Len(), nil
}

// fits says why a design cannot run in the memory.
func (x *Executor) fits(d Design, job *sample.Job, w Window, total uint64) error {
	switch d {
	case Condensed:
		if _, once := x.layers(job); once > x.layerLimit(job, w) {
			return tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s, which the stream executor needs for the samples of one epoch; give more `Memory`, or take `Scope` batch",
				human.Bytes(x.opt.Memory), human.Bytes(x.opt.Memory+once-x.layerLimit(job, w)))
		}
		return nil
	case Spilled:
		_, err := x.spillSizes(job, w, total)
		return err
	default:
		n := x.batches(job, w.BatchEdges)
		if n < 1 && x.fewerOuts() {
			n = x.batches(job, w.BatchEdges)
		}
		if n < 1 {
			return x.errBatch(job, w.BatchEdges, n)
		}
		return nil
	}
}

// least is the smallest memory that a design can run in, to a MiB.
func (x *Executor) least(d Design, job *sample.Job, total uint64) int64 {
	defer func(memory int64) { x.opt.Memory = memory }(x.opt.Memory)
	w := Window{BatchEdges: x.found.edges}
	base := (processBytes + x.opt.Held + x.held) >> 20
	n := sort.Search(1<<22, func(i int) bool {
		x.opt.Memory = (base + int64(i) + 1) << 20
		return x.fits(d, job, w, total) == nil
	})
	return (base + int64(n) + 1) << 20
}

// foretell reckons what a run by a design takes, with windows w.
func (x *Executor) foretell(d Design, job *sample.Job, w Window, total uint64) Forecast {
	f := Forecast{Design: d, Window: w}
	if !x.found.by(job) {
		x.found = x.bounds(job)
	}
	if total == 0 || len(x.waves) == 0 {
		f.Memory = x.fixed() + x.held
		return f
	}
	switch d {
	case Condensed:
		x.foretellCondensed(&f, job, total)
	case Spilled:
		x.foretellSpilled(&f, job, total)
	default:
		x.foretellWindows(&f, job, total)
	}
	x.foretellRows(job, &f, total)
	// Counts has what was read to measure the disk, too.
	f.Bytes += x.Counts().Bytes
	return f
}

// filled is how full the batches of a job are, the last of an epoch counted in.
func (x *Executor) filled(job *sample.Job) float64 {
	seeds := float64(len(job.Seeds) / x.sampler.SeedWidth())
	return seeds / max(math.Ceil(seeds/float64(job.BatchSize))*float64(job.BatchSize), 1)
}

func (x *Executor) foretellWindows(f *Forecast, job *sample.Job, total uint64) {
	windows := (total + f.Batches - 1) / f.Batches
	each := float64(total) / float64(windows)
	held := x.rounds(f, windows, each*x.filled(job), cost{walkSeconds, serveSeconds, emitSeconds * x.making()})
	f.Memory = x.fixed() + x.held + int64(held+each*x.perSpans(job)+f.BatchEdges*x.perContext())
}

func (x *Executor) foretellCondensed(f *Forecast, job *sample.Job, total uint64) {
	sizes, once := x.layers(job)
	epoch := job.EpochBatches(x.sampler.SeedWidth())
	epochs := epochs(job, epoch, total)
	together := min(x.together(sizes, x.layerLimit(job, f.Window), epochs), epochs)
	stages := (epochs + together - 1) / together
	each := float64(total) / float64(stages)
	share := min(float64(once)/4/max(f.BatchEdges*float64(epoch), 1), 1) // of the visits' edges
	x.rounds(f, stages, each*x.filled(job), cost{walkSeconds * share, serveSeconds * share, lookSeconds * x.making()})
	held := int64(0)
	perStage := int64(math.Ceil(float64(epochs) / float64(stages)))
	for wave, size := range sizes {
		held += size * perStage * min(int64(len(sizes)-wave+1), int64(stages))
	}
	f.Batches = uint64(each)
	f.Memory = x.fixed() + x.held + held + int64(f.BatchEdges*x.perContext())
}

func (x *Executor) foretellSpilled(f *Forecast, job *sample.Job, total uint64) {
	z, err := x.spillSizes(job, f.Window, total)
	if err != nil {
		f.Err = err
		return
	}
	windows := math.Ceil(float64(total) / float64(z.window))
	batches := float64(total) * x.filled(job)
	each := batches / windows
	written, again, most := 0.0, 0.0, 0.0
	for wave := range x.waves {
		bytes := x.touched(wave, wave, each) * windows
		if bytes > 0 {
			f.Sweeps += int64(windows)
		}
		edges := x.edgesOf(wave) * batches
		asks := 0.0
		for _, n := range x.found.asks[wave] {
			asks += n * batches
		}
		most = max(most, asks/windows/float64(z.runs(x)))
		results := 4 * (edges + 2*asks)
		if x.apart(wave) {
			results += 4 * edges
		}
		written += 4*askedWords*asks + results
		again += 4*askedWords*asks + results*float64(len(x.waves)-wave)
		f.Bytes += int64(bytes)
	}
	f.Written = int64(written)
	f.Seconds = f.BatchEdges * batches * spillSeconds * x.slowness() / float64(x.opt.Threads)
	if x.speed.Sequential > 0 {
		f.Seconds += float64(f.Bytes) / x.speed.Sequential
	}
	f.Bytes += int64(again)
	f.Batches = uint64(each)
	result := 4.0
	if x.idBytes() > 0 {
		result = 8
	}
	group := 2 * result * f.BatchEdges * min(float64(z.group), each)
	parts := 16 * min(float64(z.sort), most)
	f.Memory = x.fixed() + x.held + int64(max(group, parts)+f.BatchEdges*x.perContext()) +
		int64((z.buffers(x)+loaders)*z.extent+z.buffers(x)*x.readers()*packWords*4)
}

// slowness is the time that an edge takes against one of a graph with 2^26 nodes: the
// fewer nodes there are, the more of what is looked up by node is in the caches.
func (x *Executor) slowness() float64 {
	nodes := 1
	for op := 1; op <= x.ops; op++ {
		nodes = max(nodes, len(x.sampler.Offsets(op)))
	}
	return min(max(1+(math.Log2(float64(nodes))-26)/10, 0.3), 1.3)
}

// making is the share of the time to make subgraphs that is needed for what they have.
func (x *Executor) making() float64 {
	if x.opt.NoEdgeIDs {
		return bareShare
	}
	return 1
}

// cost is seconds of one core for a sampled edge.
type cost struct{ walk, serve, emit float64 }

// rounds adds up the rounds of a pipeline of windows: each advances those under way,
// and then sweeps while the window that is full is emitted. It returns the most bytes of
// far ends and requests at once.
func (x *Executor) rounds(f *Forecast, windows uint64, each float64, c cost) (most float64) {
	waves := uint64(len(x.waves))
	threads, bytes := float64(x.opt.Threads)/x.slowness(), 0.0 // threads that would work on the larger graph
	perWave := make([]float64, waves)
	upTo := make([]float64, waves) // bytes of far ends of a window that has come so far
	all, ends := 0.0, 0.0
	for i := range x.waves {
		perWave[i] = x.edgesOf(i) * each
		all += perWave[i]
		word := 4.0
		if x.apart(i) {
			word = 8
		}
		ends += perWave[i] * word
		upTo[i] = ends
	}
	for i := uint64(0); i < windows+waves; i++ {
		count := 1.0
		if i == waves && windows > waves {
			count = float64(windows - waves)
		}
		first, last := uint64(0), min(i, waves-1)
		if i >= windows {
			first = i - windows + 1
		}
		walk, work, read, held := 0.0, 0.0, 0.0, 0.0
		if first < waves {
			for wave := first; wave <= last; wave++ {
				walk += perWave[wave] * c.walk
				work += perWave[wave] * c.serve
				held += upTo[wave] + x.requestBytes(int(wave), each)
			}
			read = x.touched(int(first), int(last), each)
		}
		if i >= waves {
			work += all * c.emit
			held += ends
		}
		most = max(most, held)
		bytes += read * count
		if read > 0 {
			f.Sweeps += int64(count)
		}
		if x.speed.Sequential > 0 {
			read /= x.speed.Sequential
		}
		f.Seconds += count * (walk/threads + max(read, work/threads))
		if count > 1 {
			i = windows - 1
		}
	}
	f.Bytes = int64(bytes)
	return most
}

// requestBytes is what the requests of a wave of so many batches take: cells of which
// the last one of each bucket is half full.
func (x *Executor) requestBytes(wave int, batches float64) float64 {
	bytes := 0.0
	for i, f := range x.files {
		asks := x.found.asks[wave][i] * batches
		bytes += 8 * (asks*cellWords/cellRequests + min(asks, float64(f.blocks)*float64(x.opt.Threads))*cellWords/2)
	}
	return bytes
}

// mappedSeconds is about the time that the memory executor takes for so many edges: to
// sample, and to read of its arrays what is not in the page cache.
func (x *Executor) mappedSeconds(edges float64) float64 {
	seconds := edges * memorySeconds * x.slowness() / float64(x.opt.Threads)
	if x.speed.Sequential == 0 {
		return seconds
	}
	for _, f := range x.files {
		if share, err := direct.Resident(x.fsys, f.far.Name()); err == nil {
			seconds += (1 - share) * float64(f.far.Size()) / x.speed.Sequential
		}
	}
	return seconds
}
