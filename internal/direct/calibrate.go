package direct

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// blockBytes is the read that a sweep over a file is made of.
	blockBytes = 1 << 20
	// blockReaders is how many such reads keep a disk busy.
	blockReaders = 4
	// pageReaders is how many single pages are read at once.
	pageReaders = 64
	// calibrateTime bounds each of the two measurements.
	calibrateTime = 300 * time.Millisecond
)

// Speed is how fast a file can be read.
type Speed struct {
	Sequential float64 // bytes a second: 1 MiB at a time, 4 at once
	Random     float64 // reads a second: 4 KiB at a time, 64 at once
}

// Pages is the number of random reads that take as long as one of 1 MiB in
// sequence: a block of which fewer are wanted is better read page by page. It is 0
// where the speed is not known.
func (s Speed) Pages() int {
	if s.Sequential <= 0 {
		return 0
	}
	return int(s.Random * blockBytes / s.Sequential)
}

// Calibrate measures by reading the file: at most 0.3 s a figure, and no more reads
// than it has blocks or pages, so that a small file takes no time and gives a rough
// figure. An empty file has speed 0. It takes 4 MiB of memory meanwhile. The error
// of a context that is done is its cause.
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

// readFor makes count reads of size bytes, the i-th at offset at(i), several at
// once, until the time is over. It returns how much was read in how many seconds,
// which are more than 0.
func readFor(ctx context.Context, f *File, buf []byte, readers, size int, count int64, at func(i int64) int64) (bytes, reads int64, seconds float64, err error) {
	var next, sumBytes, sumReads atomic.Int64
	start := time.Now()
	g, ctx := errgroup.WithContext(ctx)
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
