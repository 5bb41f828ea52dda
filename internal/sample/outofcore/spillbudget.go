package outofcore

import (
	"errors"
	"math"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
)

const (
	spillExtent = 64 << 10
	// leastExtent is the extent below which slower writes cost more than the memory is worth.
	leastExtent = 16 << 10
	spillBlocks = 256
	spillGroup  = 16
	spillSort   = 8 << 20
	// spillBytes is the cost of a sampled edge that is spilled, in bytes of a sweep that take as long.
	spillBytes = 200
)

// spillSizes is how a spill divides its memory.
type spillSizes struct {
	extent int    // bytes, a multiple of 4096
	run    uint32 // blocks of a stream of requests
	group  uint64 // batches
	window uint64 // batches
	sort   int    // requests that are put into the order of blocks at a time
}

// runs is the streams of requests to the given number of blocks.
func (z *spillSizes) runs(blocks uint32) int { return int((blocks + z.run - 1) / z.run) }

// buffers is the most extents that are in memory at once: one for each stream that is written and for each packer, or one
// for each group of a window and for each reader.
func (z *spillSizes) buffers(blocks uint32, threads, readers int) int {
	return max(z.runs(blocks)+threads+1, int((z.window+z.group-1)/z.group)+readers)
}

// spillBudget is the memory, and the room on disk, of a run by spilled epochs.
type spillBudget struct{ budget }

// buffers is spillSizes.buffers for the job of the budget.
func (b spillBudget) buffers(z *spillSizes) int {
	return z.buffers(b.blocks, b.opt.Threads, b.readers())
}

// pays says whether a job is spilled: the options ask for it, windows w take longer because they read more, or windows
// failed because they hold no batch. total is the batches of the run. Any other failure is returned.
func (b spillBudget) pays(w Window, total uint64, failed error) (bool, error) {
	few := errors.Is(failed, ErrMemory)
	switch {
	case failed != nil && !few:
		return false, failed
	case b.opt.Design == Spilled:
		return true, nil
	case b.opt.Design != Auto || b.opt.Window > 0 || b.opt.Scratch == "" && b.opt.Keep == "" || b.opt.Memory == 0:
		return false, failed
	case few:
		return true, nil
	case len(b.tables.tables()) > 0: // each group of batches would take a pass over the columns
		return false, nil
	}
	file, batches, steps := float64(b.size()), float64(total), float64(len(b.waves))
	windows := file * (math.Ceil(batches/float64(w.Batches)) + steps - 1)
	sweeps := steps * math.Ceil(batches/float64(b.window(w, total)))
	return file*sweeps+batches*w.BatchEdges*spillBytes < windows, nil
}

// window is the most batches that are spilled together: the batches of an epoch, or more where they take no more room on the
// disk than the neighbours.
func (b spillBudget) window(w Window, total uint64) uint64 {
	most := max(b.job.EpochBatches(b.sampler.SeedWidth()), uint64(float64(b.size())/max(b.disk(w), 1)))
	return max(1, min(total, most, uint64(math.MaxUint32/2/max(w.BatchEdges, 1))))
}

// disk is about the bytes that a batch takes on the disk.
func (b spillBudget) disk(w Window) float64 {
	edges := 9.0
	if b.sampler.Plan().Scope == sample.ScopeSeed {
		edges = 4*askedWords + 8 // each edge has a request of its own
	}
	edges += 4 * float64(b.mostIDWords())
	return edges * w.BatchEdges
}

// sizes divides the memory among the parts of a spill: buffers of streams, two groups or two parts of requests, and a
// rest. It returns the share of the rows, too.
func (b spillBudget) sizes(w Window, total uint64) (z spillSizes, share rowShare, err error) {
	share = givenShare(b.opt.Rows)
	if b.opt.spill != nil {
		return *b.opt.spill, share, nil
	}
	if b.opt.Scratch == "" && b.opt.Keep == "" {
		return z, share, errors.New("found no folder for what does not fit in memory, expected one for the design spilled; give `Scratch`")
	}
	z = spillSizes{extent: spillExtent, run: spillBlocks, group: spillGroup, window: b.window(w, total), sort: spillSort}
	edges := max(w.BatchEdges, 1)
	z.group = max(1, min(z.group, uint64(1<<29/edges)))
	if b.opt.Memory == 0 {
		return z, share, nil
	}
	free, share := rowBudget(b).reserve(b.free(edges))
	result := 4 + 4*float64(b.mostIDWords())
	halves := free * 5 / 8
	groups := halves / (2 * result * edges)
	if groups < 1 {
		return z, share, tagged.Errorf(ErrMemory, "found `Memory` %s, expected at least %s, which the stream executor needs to spill batches of about %s sampled edges; give more `Memory`, smaller batches or fewer `Threads`",
			human.Bytes(b.opt.Memory), human.Bytes(b.opt.Memory+int64((1-groups)*2*result*edges*8/5)), human.Number(edges))
	}
	z.group = min(z.group, uint64(groups))
	z.sort = max(1<<12, min(z.sort, int(halves/16)))
	readers := b.readers()
	streams := func() int { return int(free / 4 / float64(z.extent+readers*packWords*4)) }
	for z.extent > leastExtent && streams() < b.buffers(&z)+loaders {
		z.extent /= 2
	}
	most := max(1, streams()-loaders-max(b.opt.Threads, readers))
	z.run = max(z.run, (b.blocks+uint32(most)-1)/uint32(most))
	z.window = min(z.window, uint64(most)*z.group)
	return z, share, nil
}
