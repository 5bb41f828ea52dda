package outofcore

import (
	"math"
	"runtime"
	"sort"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

const (
	// edgeBytes is what a sampled edge of a window takes: its results in the stages of three windows and in the
	// window that is emitted, and its part of a request.
	edgeBytes = 12.5
	// aloneBytes is edgeBytes for a window that is the only one of the run.
	aloneBytes = 7
	// askBytes is what a sampled edge takes in addition where it has a request of its own.
	askBytes = 8.5
	// contextEdgeBytes and outEdgeBytes are what a sampled edge of one batch takes in the buffers of a context and in
	// the output of a batch; slotEdgeBytes in a slot: the ends, the id, and the id of a node that was found along it.
	contextEdgeBytes, outEdgeBytes, slotEdgeBytes = 40, 20, 32
	// slotOpBytes is what a sampled edge takes in a slot in addition with Options.Ops.
	slotOpBytes = 32
	// underwayBytes is what a sampled edge of one batch takes on its way to a slot: the rows of its node and of itself, and
	// their places in the tables.
	underwayBytes = 24
	// leanMemory is the budget below which pages are small.
	leanMemory = 512 << 20
	// mostReaders is the number of goroutines that keep a disk busy while some of them draw.
	mostReaders = 8
)

// raiseProcs makes room for goroutines that wait in reads: each of them counts towards GOMAXPROCS until the runtime
// notices that it waits. It returns a function that undoes it.
func raiseProcs(threads int) (undo func()) {
	procs := 4 * threads
	if runtime.GOMAXPROCS(0) >= procs {
		return func() {}
	}
	before := runtime.GOMAXPROCS(procs)
	return func() { runtime.GOMAXPROCS(before) }
}

// budget is Options.Memory and what a run of a job needs of it, whatever the design. Its methods compute and change
// nothing: a budget of other numbers is a changed copy. The designs' own needs are windowBudget, layerBudget and
// spillBudget; the need of the rows of columns is rowBudget.
type budget struct {
	*neighbours
	tables   *rowTables // only read
	opt      Options
	planned  int64 // bytes that the plan holds: offsets, and columns that strategies read
	job      *sample.Job
	need     demand
	emitters int // goroutines that sample and encode
}

// with is b with other memory.
func (b budget) with(memory int64) budget {
	b.opt.Memory = memory
	return b
}

// readers is the number of goroutines that read and serve.
func (b budget) readers() int {
	n := min(mostReaders, int(max(b.blocks, 1)))
	if b.opt.Memory > 0 {
		n = min(n, int(max(2, b.opt.Memory>>24)))
	}
	return n
}

// stageSlots bounds the slots of a stage by the memory and by the 32 bits of their numbers.
func (b budget) stageSlots() int {
	if b.opt.Memory > 0 {
		return int(min(b.opt.Memory/4, math.MaxUint32))
	}
	return math.MaxUint32
}

// fixed is the bytes that every run of the plan holds.
func (b budget) fixed() int64 {
	readers := b.readers()
	return limits.ProcessBytes + b.opt.Held + b.planned + int64(readers*(blockBytes+b.idBytes())) + b.tables.fixed(readers)
}

// perContext is the bytes that a sampled edge of one batch takes in buffers that belong to no window.
func (b budget) perContext() float64 {
	threads := float64(b.opt.Threads)
	if b.opt.Slots > 0 {
		each := slotEdgeBytes
		if b.opt.Ops {
			each += slotOpBytes
		}
		return contextEdgeBytes*threads + float64(each*b.opt.Slots) + underwayBytes*(2*threads+1)
	}
	return contextEdgeBytes*threads + outEdgeBytes*(2*threads+1)
}

// free is the bytes that are left for a design where batches have a number of sampled edges.
func (b budget) free(edges float64) float64 {
	return float64(b.opt.Memory-b.fixed()) - edges*b.perContext()
}

// fits is nil where a run by a design fits the memory, and an error that wraps ErrMemory where it does not. total is
// the batches of the run.
func (b budget) fits(d Design, w Window, total uint64) error {
	switch d {
	case Condensed:
		layers := layerBudget{b}
		limit, _ := layers.limit(w)
		if once := layers.once(); once > limit {
			return tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s, which the stream executor needs for the samples of one epoch; give more `Memory`, or take `Scope` batch",
				human.Bytes(b.opt.Memory), human.Bytes(b.opt.Memory+once-limit))
		}
		return nil
	case Spilled:
		_, _, err := spillBudget{b}.sizes(w, total)
		return err
	default:
		_, _, err := windowBudget{b}.fit()
		return err
	}
}

// least is the smallest memory that a run by a design fits, in whole MiB.
func (b budget) least(d Design, total uint64) int64 {
	w := Window{BatchEdges: b.need.edges}
	base := (limits.ProcessBytes + b.opt.Held + b.planned) >> 20
	n := sort.Search(1<<22, func(i int) bool {
		return b.with((base+int64(i)+1)<<20).fits(d, w, total) == nil
	})
	return (base + int64(n) + 1) << 20
}

// Window is how a run divides its batches, and the edges that the division was computed from.
type Window struct {
	Batches    uint64  `json:"batches"`         // of a window
	BatchEdges float64 `json:"edges_per_batch"` // sampled, as a pilot found
}

// windowBudget is the memory of a run by windows.
type windowBudget struct{ budget }

// perBatch is the bytes that one more batch takes in a window.
func (b windowBudget) perBatch() float64 {
	bytes := edgeBytes + askBytes*b.askedAlone()
	bytes += 8 * float64(b.mostIDWords())
	return b.need.edges*bytes + b.perSpans()
}

// askedAlone is the share of the sampled edges that have a request of their own.
func (b windowBudget) askedAlone() float64 {
	one, all := 0.0, 0.0
	for op := 1; op < len(b.need.perOp); op++ {
		all += b.need.perOp[op]
		if !b.sampler.Plain(op) {
			one += b.need.perOp[op]
		}
	}
	return one / max(all, 1)
}

// perSpans is the part of perBatch that spans and segments take.
func (b windowBudget) perSpans() float64 {
	spans := 1.0
	if b.sampler.Plan().Scope == sample.ScopeSeed {
		spans = float64(b.job.BatchSize)
	}
	return spans * float64(b.ops) * (8*float64(len(b.waves)+1) + 16)
}

// batches is the number of batches that the memory holds in windows.
func (b windowBudget) batches() float64 {
	edges := b.need.edges
	if b.opt.Memory == 0 {
		return (math.MaxUint32 / 2) / max(edges, 1)
	}
	table, outs := rowBudget(b).least()
	return min((b.free(edges)-table-outs)/b.perBatch(), (math.MaxUint32/2)/max(edges, 1))
}

// single is the number of batches that fit where there is one window, and no rows are fetched for it.
func (b windowBudget) single() float64 {
	if b.opt.Memory == 0 || len(b.tables.tables()) > 0 {
		return 0
	}
	edges := b.need.edges
	return min(b.free(edges)/(b.perBatch()-edges*(edgeBytes-aloneBytes)), (math.MaxUint32/2)/max(edges, 1))
}

// fit is the number of batches that fit, and the number of goroutines that encode: one where the outputs of several
// leave no room for a batch. The error is that not one batch fits.
func (b windowBudget) fit() (batches float64, emitters int, err error) {
	batches = b.batches()
	if batches < 1 && b.emitters > 1 && len(b.tables.tables()) > 0 {
		b.emitters = 1
		batches = b.batches()
	}
	if batches < 1 {
		err = tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s, which the stream executor needs for one batch of about %s sampled edges; give more `Memory`, smaller batches or fewer `Threads`",
			human.Bytes(b.opt.Memory), human.Bytes(b.opt.Memory+int64((1-batches)*b.perBatch())), human.Number(b.need.edges))
	}
	return batches, b.emitters, err
}

// share divides the memory between windows of at most the given number of batches and the tables of rows, so that the run reads
// least. total is the batches of the run.
func (b windowBudget) share(batches, total uint64) (size uint64, share rowShare) {
	if b.opt.Rows > 0 || b.opt.Memory == 0 || len(b.tables.tables()) == 0 {
		return batches, givenShare(b.opt.Rows)
	}
	rows := rowBudget(b)
	table, outs := rows.least()
	free := b.free(b.need.edges) - outs
	neighbours, columns, each := float64(b.size()), float64(b.tables.size()), b.perBatch()
	visits, visited := 0.0, 0.0 // rows of a batch, and their bytes
	for _, r := range b.tables.tables() {
		n := rows.perBatch(r)
		visits += n
		visited += n * float64(r.rowBytes())
	}
	least, size := math.Inf(1), batches
	for n := max(size, 1); n > 0; n /= 2 {
		room := free - float64(n)*each
		if n >= total {
			room = free - float64(n)*min(each, b.need.edges*aloneBytes+b.perSpans())
		}
		if room < table && n > 1 {
			continue
		}
		room = max(room, table)
		windows := float64((max(total, 1) + n - 1) / n)
		packs := float64(rows.groups(n, room*tableShare))
		read := packs * columns
		if b.opt.Scratch != "" {
			// A pass is made each time that the lists of packs are full.
			passes := math.Ceil(float64(n) * visits * gapBytes / (room * (1 - tableShare) * 2 / 3))
			read = min(read, passes*columns+spillCost*float64(n)*visited)
		}
		if read = windows * (neighbours + read); read < least {
			least, size = read, n
			share = dividedShare(room)
		}
	}
	return size, share
}
