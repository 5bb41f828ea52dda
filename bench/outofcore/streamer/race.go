//go:build unix

package streamer

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Race is the cost of epochs.
type Race struct {
	// Seconds has the seconds of each epoch, from the end of the previous one, or from Open, to its last batch. CPU is the
	// processor time of the whole process in that time.
	Seconds []float64
	CPU     float64
	Batches int
	Edges   uint64 // sampled edges of all batches
	Stats
}

// Bench runs o.Epochs epochs and assembles every batch of them, of batchSize training nodes in the order of o.Seeds,
// with o.Threads goroutines. It drops the batches.
func Bench(ctx context.Context, fsys vfs.FS, dir, edges string, o Options, batchSize int) (_ *Race, err error) {
	if o.Epochs < 1 || batchSize < 1 {
		return nil, tagged.Errorf(ErrOptions, "found %d epochs and a batch size of %d, expected at least 1", o.Epochs, batchSize)
	}
	cpu, start := cpuSeconds(), time.Now()
	s, err := Open(ctx, fsys, dir, edges, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := &Race{}
	batches := make([]Batch, max(o.Threads, 1))
	for {
		if err := s.NewEpochStart(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		n, sampled, err := s.all(ctx, batches, batchSize)
		if err != nil {
			return nil, err
		}
		r.Batches += n
		r.Edges += sampled
		r.Seconds = append(r.Seconds, time.Since(start).Seconds())
		start = time.Now()
	}
	r.CPU, r.Stats = cpuSeconds()-cpu, s.Stats()
	return r, nil
}

// all assembles the batches of the current epoch, with a goroutine for each of batches.
func (s *Streamer) all(ctx context.Context, batches []Batch, size int) (n int, sampled uint64, err error) {
	seeds := s.o.Seeds
	n = (len(seeds) + size - 1) / size
	var next, edges atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, len(batches)+1)
	for i := range batches {
		group.Go(func() {
			for errs[i] == nil && ctx.Err() == nil {
				at := int(next.Add(1)-1) * size
				if at >= len(seeds) {
					return
				}
				errs[i] = s.Sample(seeds[at:min(at+size, len(seeds))], &batches[i])
				edges.Add(int64(batches[i].Edges()))
			}
		})
	}
	group.Wait()
	errs[len(batches)] = ctx.Err()
	return n, uint64(edges.Load()), errors.Join(errs...)
}

// cpuSeconds is the processor time of the process so far.
func cpuSeconds() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil { // fails only for wrong arguments
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
