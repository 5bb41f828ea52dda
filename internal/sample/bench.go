package sample

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/internal/tagged"
)

// benchWarm is the batches that a context samples before the clock starts, so that its buffers have grown and its
// tables are chosen.
const benchWarm = 20

// Bench times exactly n batches of a job on job.Threads workers, which relabel the batches and drop them. It returns
// what the timed batches have and the seconds that passed. The batches are the same as Run's; after the last one they start
// over, drawn as in the next epoch. All workers first warm up with draws of the epoch before, which is not timed.
func Bench(ctx context.Context, s *Sampler, job Job, n int) (timed Stats, seconds float64, err error) {
	batches, err := s.Batches(&job)
	if err != nil {
		return Stats{}, 0, err
	}
	total := batches.Len()
	if total == 0 || n < 1 {
		return Stats{}, 0, tagged.Errorf(ErrSeed, "found %d batches and %d of them to time, expected at least 1", total, n)
	}
	threads := max(job.Threads, 1)
	errs := make([]error, threads)
	sums := make([]Stats, threads)
	var next atomic.Uint64
	var warm, all sync.WaitGroup
	warm.Add(threads)
	start := make(chan struct{})
	for i := range threads {
		all.Go(func() {
			w, source := worker{c: s.NewContext(), seed: job.Seed}, *batches
			one := func(epoch, index uint64) (Stats, error) {
				source.Get(index%total, &w.batch)
				w.batch.Epoch = epoch
				return w.run(ctx, func(*Subgraph) error { return nil })
			}
			for j := range uint64(benchWarm) {
				if _, errs[i] = one(job.Epoch-1, total-1-(j*uint64(threads)+uint64(i))%total); errs[i] != nil {
					break
				}
			}
			warm.Done()
			<-start
			for errs[i] == nil && ctx.Err() == nil {
				index := next.Add(1) - 1
				if index >= uint64(n) {
					break
				}
				var st Stats
				st, errs[i] = one(job.Epoch+index/total, index)
				sums[i].Add(st)
			}
		})
	}
	warm.Wait()
	began := time.Now()
	close(start)
	all.Wait()
	seconds = time.Since(began).Seconds()
	for _, err := range append(errs, ctx.Err()) {
		if err != nil {
			return Stats{}, 0, err
		}
	}
	for _, st := range sums {
		timed.Add(st)
	}
	return timed, seconds, nil
}
