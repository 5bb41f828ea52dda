package assemble

import (
	"math/bits"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"

	"github.com/graphmill/graphmill/internal/tagged"
)

// errMemory is the kind of errors about a memory budget that is below the minimum.
var errMemory = tagged.Errorf(limits.ErrMemory, "memory budget too small")

// Memory that a build needs in any case: for the program itself, and for each thread's chunk of a table and small
// buffers.
const (
	baseBytes   = limits.ProcessBytes
	threadBytes = 6 << 20
	// minWork is the minimum size of the buffers of a thread.
	minWork = 2 << 20
	// listBytes is about the size of the lists of extents if extents are small.
	listBytes = 8 << 20
	// freeWork is the size of all buffers without a budget.
	freeWork = 1 << 30
	// maxExtent and minExtent bound the buffer of one bucket.
	maxExtent = 64 << 10
	minExtent = 4 << 10
)

// budget divides the memory of a build into eighths. The extents of keys, of edges and of the other direction get one
// each, and so do looked-up ends. Bucket buffers get two; or the buckets that are being finished get three, and the
// buffers of the other direction one. While edges are read, lookups of keys get three, in place of looked-up ends and
// of memory that is not needed then.
type budget struct {
	threads int
	work    int64
}

func newBudget(opt *Options) (budget, error) {
	b := budget{threads: max(1, opt.Threads), work: freeWork}
	if opt.work > 0 {
		b.work = opt.work
		return b, nil
	}
	if opt.Memory == 0 {
		b.work = max(b.work, int64(b.threads)*minWork)
		return b, nil
	}
	least := int64(baseBytes+threadBytes+minWork) + opt.Held
	if opt.Memory < least {
		return b, tagged.Errorf(errMemory, "found `Memory` %s, expected at least %d MiB; give more `Memory`", human.Bytes(opt.Memory), (least+1<<20-1)>>20)
	}
	free := opt.Memory - opt.Held - baseBytes
	b.threads = int(min(int64(b.threads), free/(threadBytes+minWork)))
	b.work = free - int64(b.threads)*threadBytes
	return b, nil
}

// CheckMemory returns an error where Memory is less than a build needs, whatever the size of its input.
func (o *Options) CheckMemory() error {
	_, err := newBudget(o)
	return err
}

// spill returns the memory of the extents of one Spill.
func (b budget) spill() int64 { return b.work / 8 }

// edges returns the memory of the extents of edges. Without the other direction, or without keys, they also get the
// shares of these, less the size of the lists of extents, which grow with the number of edges and are larger for
// small extents.
func (b budget) edges(both, keys bool) int64 {
	memory := b.work / 8
	if !both {
		memory += b.work/4 - listBytes/4
	}
	if !keys {
		memory += max(b.work/4-2*listBytes, 0)
	}
	return max(memory, 0)
}

// leaf returns the memory in which one worker finishes a bucket.
func (b budget) leaf() int64 { return b.work * 3 / 8 / int64(b.threads) }

// geometry returns the number of buckets, and the size of their buffers, for about records*width bytes. A bucket fits
// into a cache, and all buffers of all workers take at most memory bytes.
func geometry(records, width, memory int64, workers int) (buckets, extent int) {
	const cached = 2 << 20
	want := records * width / cached
	buckets = 1 << bits.Len64(uint64(min(max(want, 15), 511)))
	for extent = maxExtent; extent > minExtent && int64(workers*buckets*extent) > memory; {
		extent /= 2
	}
	for buckets > 2 && int64(workers*buckets*extent) > memory {
		buckets /= 2
	}
	return buckets, extent
}

// extentFor returns the size of the buffers for a number of buckets.
func extentFor(buckets int, memory int64, workers int) int {
	extent := maxExtent
	for extent > 512 && int64(workers*buckets*extent) > memory {
		extent /= 2
	}
	return extent
}
