package assemble

import (
	"errors"
	"math/bits"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrMemory is the kind of errors about a budget that cannot hold the least.
var ErrMemory = errors.New("memory budget too small")

// What a build needs whatever it does: the program itself, and for each thread
// the chunk of the table that it reads and small buffers.
const (
	baseBytes   = 24 << 20
	threadBytes = 6 << 20
	// minWork is the least of buffers for a thread.
	minWork = 2 << 20
	// listBytes is about what the lists of extents take where extents are small.
	listBytes = 8 << 20
	// freeWork is the size of all buffers without a budget.
	freeWork = 1 << 30
	// maxExtent and minExtent bound the buffer of one bucket.
	maxExtent = 64 << 10
	minExtent = 4 << 10
)

// budget divides the memory of a build, in eighths: one each for the extents of
// keys, of edges and of the other direction, one for looked-up ends, and either
// two for bucket buffers or three for the buckets being finished beside one for
// the buffers of the other direction. Lookups of keys take three while edges are
// read, in place of looked-up ends and of what is not needed then.
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
		return b, tagged.Errorf(ErrMemory, "`Memory`: found %d bytes, expected at least %d; give `Memory` %dMiB or more", opt.Memory, least, (least+1<<20-1)>>20)
	}
	free := opt.Memory - opt.Held - baseBytes
	b.threads = int(min(int64(b.threads), free/(threadBytes+minWork)))
	b.work = free - int64(b.threads)*threadBytes
	return b, nil
}

// spill is the memory of the extents of one Spill.
func (b budget) spill() int64 { return b.work / 8 }

// edges is the memory of the extents of edges. Without the other direction, or
// without keys, they have the shares of these too, but for what the lists of the
// extents take: these grow with the edges, and the more the smaller the extents.
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

// leaf is the memory in which one worker finishes a bucket.
func (b budget) leaf() int64 { return b.work * 3 / 8 / int64(b.threads) }

// geometry is the number of buckets and the size of their buffers for about
// records*width bytes, so that a bucket fits a cache and all buffers of all
// workers take at most memory bytes.
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

// extentFor is the size of the buffers of a number of buckets.
func extentFor(buckets int, memory int64, workers int) int {
	extent := maxExtent
	for extent > 512 && int64(workers*buckets*extent) > memory {
		extent /= 2
	}
	return extent
}
