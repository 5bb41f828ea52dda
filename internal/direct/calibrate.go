package direct

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
)

const (
	// blockBytes is the size of a read of a sweep over a file.
	blockBytes = 1 << 20
	// blockReaders is the number of such reads that keep a disk busy.
	blockReaders = 4
	// pageReaders is the number of single pages that are read at a time.
	pageReaders = 64
	// calibrateTime bounds each of the two measurements.
	calibrateTime = 300 * time.Millisecond
)

// Speed is how fast a file can be read.
type Speed struct {
	Sequential float64 // bytes per second, in reads of 1 MiB, 4 at a time
	Random     float64 // reads per second, of 4 KiB, 64 at a time
}

// Pages is the number of random reads that take as long as a sequential read of 1 MiB. If fewer pages of a block are
// wanted, reading them one by one is faster. It is 0 where the speed is not known.
func (s Speed) Pages() int {
	if s.Sequential <= 0 {
		return 0
	}
	return int(s.Random * blockBytes / s.Sequential)
}

// Calibrate measures by reading the file, for at most 0.3 s per figure, and with no more reads than the file has blocks
// or pages. So a small file takes no time and gives a rough figure. The speed of an empty file is 0. Calibrate takes 4
// MiB of memory. Where the context is done, the error is its cause.
func Calibrate(ctx context.Context, f *File) (Speed, error) {
	buf, free, err := Alloc(blockReaders * blockBytes)
	if err != nil {
		return Speed{}, err
	}
	defer free()
	var s Speed
	blocks := (f.Size() + blockBytes - 1) / blockBytes
	bytes, _, seconds, err := readFor(ctx, f, buf, blockReaders, blockBytes, blocks,
		func(i int64) int64 { return i * blockBytes })
	if err != nil {
		return Speed{}, err
	}
	s.Sequential = float64(bytes) / seconds

	pages := (f.Size() + Align - 1) / Align
	_, reads, seconds, err := readFor(ctx, f, buf, pageReaders, Align, pages, func(i int64) int64 {
		// Multiplying by the golden ratio spreads the pages over the file.
		page, _ := bits.Mul64(uint64(i+1)*0x9e3779b97f4a7c15, uint64(pages))
		return int64(page) * Align
	})
	if err != nil {
		return Speed{}, err
	}
	s.Random = float64(reads) / seconds
	return s, nil
}

// readFor makes count reads of size bytes, the i-th at offset at(i), several at a time, until the time is over. It
// returns the bytes, the reads and the seconds, which are more than 0.
func readFor(ctx context.Context, f *File, buf []byte, readers, size int, count int64, at func(i int64) int64) (bytes, reads int64, seconds float64, err error) {
	var next, sumBytes, sumReads atomic.Int64
	start := time.Now()
	g, ctx := guard.WithContext(ctx)
	for r := range min(int64(readers), count) {
		g.Go(func() error {
			p := buf[int(r)*size:][:size]
			for time.Since(start) < calibrateTime {
				i := next.Add(1) - 1
				if i >= count {
					return nil
				}
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				n, err := f.ReadAt(p, at(i))
				if err != nil {
					return err
				}
				sumBytes.Add(int64(n))
				sumReads.Add(1)
			}
			return nil
		})
	}
	err = g.Wait()
	return sumBytes.Load(), sumReads.Load(), max(time.Since(start), 1).Seconds(), err
}
