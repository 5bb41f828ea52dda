package sample

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Job is the subgraphs of one epoch: what to sample, in which order.
type Job struct {
	// Seeds are type-wise ids in the order given: one a seed, or for link seeds
	// source and target in turn.
	Seeds []uint32
	// Times are the seeds', for a plan with Before.
	Times []Time
	// BatchSize is the seeds a batch. Under ScopeSeed each seed has a subgraph of
	// its own, and a batch is only what a worker takes at a time.
	BatchSize int
	Seed      uint64
	Epoch     uint64
	// Shuffle takes the seeds in the order of draw.Key(Seed, Epoch, draw.OrderWord).
	Shuffle bool
	// Rank r of Ranks takes the batches r, r + Ranks, ...; 0 ranks are one.
	Rank, Ranks int
	Threads     int // workers; 0 is one
}

// Stats counts what a run made.
type Stats struct {
	Batches, Seeds, Subgraphs uint64
	Nodes, Edges              uint64 // in the subgraphs
	Drawn                     uint64 // sampled edges: drawn by an op
}

// Batch is a run of seeds.
type Batch struct {
	Number uint64 // in the epoch, over all ranks
	Index  uint64 // among this rank's, from 0
	First  uint64 // position in the epoch's order of its first seed
	Seeds  []uint32
	Times  []Time
	Rows   []uint32 // places of the seeds in Job.Seeds, of link seeds those of the pairs
	At     int      // place in the batch of the subgraph's seed; 0 but under ScopeSeed
}

// batches hands out a job's batches.
type batches struct {
	job   *Job
	width int
	total uint64 // seeds
	order *draw.Order
}

func newBatches(j *Job, width int) (*batches, error) {
	ranks := max(j.Ranks, 1)
	switch {
	case len(j.Seeds)%width != 0:
		return nil, tagged.Errorf(ErrSeed, "found %d ids, expected pairs of source and target", len(j.Seeds))
	case j.BatchSize < 1:
		return nil, tagged.Errorf(ErrSeed, "found batch size %d, expected at least 1", j.BatchSize)
	case j.Rank < 0 || j.Rank >= ranks:
		return nil, tagged.Errorf(ErrSeed, "found rank %d of %d, expected 0 to %d", j.Rank, ranks, ranks-1)
	case j.Times != nil && len(j.Times) != len(j.Seeds)/width:
		return nil, tagged.Errorf(ErrSeed, "found %d times for %d seeds, expected one each", len(j.Times), len(j.Seeds)/width)
	}
	b := &batches{job: j, width: width, total: uint64(len(j.Seeds) / width)}
	if b.total > math.MaxUint32 {
		return nil, tagged.Errorf(ErrTooLarge, "found %d seeds, expected fewer than 2^32; sample them in several runs", b.total)
	}
	if j.Shuffle {
		b.order = draw.NewOrder(b.total, draw.Key(j.Seed, j.Epoch, draw.OrderWord))
	}
	return b, nil
}

// Batches is the number of batches that the job's rank takes, of seeds of width
// ids (Sampler.SeedWidth).
func (j *Job) Batches(width int) uint64 {
	size, ranks := uint64(max(j.BatchSize, 1)), uint64(max(j.Ranks, 1))
	all := (uint64(len(j.Seeds)/width) + size - 1) / size
	if all <= uint64(j.Rank) {
		return 0
	}
	return (all - uint64(j.Rank) + ranks - 1) / ranks
}

// get is the rank's batch of that index, in b's buffers.
func (s *batches) get(index uint64, b *Batch) {
	size := uint64(s.job.BatchSize)
	b.Index, b.At = index, 0
	b.Number = uint64(s.job.Rank) + index*uint64(max(s.job.Ranks, 1))
	b.First = b.Number * size
	n := min(size, s.total-b.First)
	b.Seeds, b.Times, b.Rows = b.Seeds[:0], b.Times[:0], b.Rows[:0]
	if s.order == nil {
		w := uint64(s.width)
		for i := b.First; i < b.First+n; i++ {
			b.Rows = append(b.Rows, uint32(i))
		}
		b.Seeds = append(b.Seeds, s.job.Seeds[b.First*w:(b.First+n)*w]...)
		if s.job.Times != nil {
			b.Times = append(b.Times, s.job.Times[b.First:b.First+n]...)
		}
		return
	}
	// A block of positions at a time: the order fills many faster than one.
	var items [256]uint64
	for at := b.First; at < b.First+n; {
		part := items[:min(uint64(len(items)), b.First+n-at)]
		s.order.Fill(part, at)
		at += uint64(len(part))
		for _, i := range part {
			b.Rows = append(b.Rows, uint32(i))
			if s.width == 1 {
				b.Seeds = append(b.Seeds, s.job.Seeds[i])
			} else {
				b.Seeds = append(b.Seeds, s.job.Seeds[2*i], s.job.Seeds[2*i+1])
			}
			if s.job.Times != nil {
				b.Times = append(b.Times, s.job.Times[i])
			}
		}
	}
}

// Run samples every batch of a job.
//
// encode runs in the workers, once a subgraph in the order of its batch's seeds,
// and puts what is to be kept into out; the batch and the subgraph are valid
// until it returns. sink runs in the goroutine that called Run, once a batch, in
// the order of the batches, whatever the number of threads; it leaves out ready
// for another batch. newOut is called a few times a worker: outs are handed
// around, and nothing is allocated per batch.
//
// Run returns when all its goroutines have ended: with the error of the first
// batch, in order, that failed, or with ctx's.
func Run[T any](ctx context.Context, s *Sampler, job Job, newOut func() T,
	encode func(out T, b *Batch, sub *Subgraph) error, sink func(out T, b uint64) error) (Stats, error) {
	var stats Stats
	source, err := newBatches(&job, s.SeedWidth())
	if err != nil {
		return stats, err
	}
	if s.plan.Before != nil && job.Times == nil {
		return stats, tagged.Errorf(ErrSeed, "found no times of seeds with before in the plan, expected one a seed")
	}
	type done struct {
		out   T
		index uint64
		stats Stats
		err   error
	}
	total := job.Batches(s.SeedWidth())
	threads := int(min(uint64(max(job.Threads, 1)), max(total, 1)))
	// A worker takes an out before a batch, so the batch that the sink waits for
	// always has one; and no more batches than outs are under way.
	slots := uint64(2*threads + 1)
	free, finished := make(chan T, slots), make(chan done, slots)
	for range slots {
		free <- newOut()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range threads {
		workers.Go(func() {
			w := worker{c: s.NewContext(), scope: s.plan.Scope, job: &job}
			var out T
			keep := func(sub *Subgraph) error { return encode(out, &w.batch, sub) }
			for {
				select {
				case out = <-free:
				case <-ctx.Done():
					return
				}
				index := next.Add(1) - 1
				if index >= total || ctx.Err() != nil {
					return
				}
				source.get(index, &w.batch)
				d := done{out: out, index: index}
				d.stats, d.err = w.run(ctx, keep)
				finished <- d
			}
		})
	}
	defer workers.Wait()
	defer cancel()
	pending, ready := make([]done, slots), make([]bool, slots)
	for index := uint64(0); index < total; {
		select {
		case d := <-finished:
			pending[d.index%slots], ready[d.index%slots] = d, true
		case <-ctx.Done():
			return stats, ctx.Err()
		}
		for at := index % slots; ready[at]; at = index % slots {
			d := pending[at]
			ready[at] = false
			if d.err == nil {
				d.err = sink(d.out, uint64(job.Rank)+index*uint64(max(job.Ranks, 1)))
			}
			if d.err != nil {
				return stats, d.err
			}
			stats.Add(d.stats)
			free <- d.out
			index++
		}
	}
	return stats, nil
}

// Add adds the counts of another run.
func (s *Stats) Add(t Stats) {
	s.Batches += t.Batches
	s.Seeds += t.Seeds
	s.Subgraphs += t.Subgraphs
	s.Nodes += t.Nodes
	s.Edges += t.Edges
	s.Drawn += t.Drawn
}

// worker samples batches, one at a time.
type worker struct {
	c     *Context
	scope Scope
	job   *Job
	batch Batch
}

// run is one batch: one subgraph, or under ScopeSeed one a seed.
func (w *worker) run(ctx context.Context, encode func(*Subgraph) error) (Stats, error) {
	b, width := &w.batch, w.c.s.SeedWidth()
	stats := Stats{Batches: 1, Seeds: uint64(len(b.Seeds) / width)}
	in := Input{Seeds: b.Seeds, Seed: w.job.Seed, Epoch: w.job.Epoch, Unit: b.Number}
	if w.scope != ScopeSeed {
		return stats, w.one(in, &stats, encode)
	}
	for i := range len(b.Seeds) / width {
		if i%64 == 63 && ctx.Err() != nil {
			return stats, ctx.Err()
		}
		b.At = i
		in.Seeds = b.Seeds[i*width : (i+1)*width]
		if b.Times != nil {
			in.Time = b.Times[i]
		}
		if err := w.one(in, &stats, encode); err != nil {
			return stats, err
		}
	}
	return stats, nil
}

func (w *worker) one(in Input, stats *Stats, encode func(*Subgraph) error) error {
	sub, err := w.c.Sample(in)
	if err != nil {
		return err
	}
	stats.Subgraphs++
	stats.Drawn += sub.Drawn
	for _, n := range sub.Nodes {
		stats.Nodes += uint64(len(n))
	}
	for _, e := range sub.Edges {
		stats.Edges += uint64(len(e.ID))
	}
	return encode(sub)
}
