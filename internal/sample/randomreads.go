package sample

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/prefetch"
)

// RandomReads is a limit of this machine for draws: the values of 4 bytes that threads read per second at random places of the longest list of
// neighbours of the plan, as it lies in memory, and the length of that list in bytes. A draw reads one such place at least. It is 0, 0 for a
// plan without edges, and for a sampler that leaves neighbours on the disk. It takes about half a second.
func (s *Sampler) RandomReads(ctx context.Context, threads int) (perSecond float64, bytes int64, err error) {
	var list []uint32
	for i := range s.ops {
		a := s.ops[i].adj
		if a == nil {
			continue
		}
		words := a.far
		if a.ends != nil {
			words = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(a.ends))), 2*len(a.ends))
		}
		if len(words) > len(list) {
			list = words
		}
	}
	if len(list) == 0 {
		return 0, 0, nil
	}
	for _, ahead := range []bool{false, true} {
		rate, err := readAtRandom(ctx, list, threads, ahead)
		if err != nil {
			return 0, 0, err
		}
		perSecond = max(perSecond, rate)
	}
	return perSecond, 4 * int64(len(list)), nil
}

// readTime is the time of one measurement of random reads.
const readTime = 250 * time.Millisecond

// readSum has a use for the values, so that the compiler keeps their reads.
var readSum atomic.Uint32

// readAtRandom is the values per second that threads read at random places of a list. With ahead, the lines are prefetched a block at a time;
// without it, the processor alone looks ahead. Which of the two is faster depends on the processor.
func readAtRandom(ctx context.Context, list []uint32, threads int, ahead bool) (float64, error) {
	workers, ctx := guard.WithContext(ctx)
	reads := make([]uint64, threads)
	start := time.Now()
	for t := range threads {
		workers.Go(func() error {
			var places [1 << 10]uint32
			at, n, sum := draw.Mix(uint64(t)), uint64(len(list)), uint32(0)
			for time.Since(start) < readTime && ctx.Err() == nil {
				for range 16 {
					for i := range places {
						at += draw.Gamma
						places[i] = uint32(draw.Mix(at) >> 32 * n >> 32)
					}
					if ahead {
						prefetch.At(unsafe.SliceData(list), places[:])
					}
					for _, p := range places {
						sum += list[p]
					}
				}
				reads[t] += 16 * uint64(len(places))
			}
			readSum.Add(sum)
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return 0, err
	}
	seconds := time.Since(start).Seconds()
	all := uint64(0)
	for _, n := range reads {
		all += n
	}
	return float64(all) / seconds, nil
}
