package sample

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Job is the subgraphs of one epoch or several: their seeds, and the order of these.
type Job struct {
	// Seeds are type-wise ids in the order given: one per seed or, for link seeds, source and target in turn.
	Seeds []uint32
	// Times are the times of the seeds, for a plan with Before.
	Times []Time
	// Negatives are the lists of the links, for a plan whose negatives are Listed.
	Negatives NegativeLists
	// Positives, if set, draws the links of each epoch. Seeds are then those of any one epoch.
	Positives *Positives
	// BatchSize is the number of seeds per batch. Under ScopeSeed each seed has a subgraph of its own, and a batch is
	// only the seeds that a worker takes at a time.
	BatchSize int
	Seed      uint64
	Epoch     uint64 // the first
	Epochs    int    // 0 means one
	// From is the number of batches of the rank, counted over the epochs, to leave out at the start, because an earlier
	// run made them.
	From uint64
	// Shuffle takes the seeds of epoch e in the order of draw.Key(Seed, e, draw.OrderWord).
	Shuffle bool
	// Order is the order of the seeds of an epoch, in place of Shuffle; nil leaves it to Shuffle. It is called by several
	// goroutines.
	Order func(epoch uint64) Items
	// Positions is the number of positions of an Order that makes sets: a batch has each of its seeds once, in the order of Seeds, however
	// often the order has it in the batch. 0 means an order that has each seed once.
	Positions uint64
	// Rank r of Ranks takes the batches r, r + Ranks, ...; Ranks 0 means one.
	Rank, Ranks int
	// End is the batch number, over all ranks, at which each epoch ends; 0 is the number n of batches that the seeds fill.
	// A batch b from n on has the seeds of batch b mod n, and draws of its own.
	End     int
	Threads int // workers; 0 means one
}

// Items are the places in Job.Seeds (link seeds: of the pairs) of one epoch. They are safe for concurrent use.
type Items interface {
	// Fill sets dst[i] to the place of the seed at position first+i.
	Fill(dst []uint64, first uint64)
}

// Stats counts the results of a run.
type Stats struct {
	Batches, Seeds, Subgraphs uint64
	Nodes, Edges              uint64 // in the subgraphs
	Drawn                     uint64 // sampled edges: edges that an op drew
	// Negatives counts the negative links. NegativeEdges counts those among them that are edges, or that join a
	// node with itself, after all tries (StrictCount).
	Negatives, NegativeEdges uint64
}

// Batch is a run of seeds.
type Batch struct {
	Epoch  uint64
	Number uint64 // in the epoch, over all ranks
	Index  uint64 // in the epoch, among this rank's, from 0
	First  uint64 // position of its first seed in the order of the epoch
	Seeds  []uint32
	Times  []Time
	// Negatives are the lists of the seeds (Job.Negatives).
	Negatives NegativeLists
	Rows      []uint32 // places of the seeds (link seeds: of the pairs) in Job.Seeds
	Edges     []uint32 // with Job.Positives: the edge ids of the links
	At        int      // place in the batch of the seed of the subgraph under ScopeSeed, else 0

	items []uint64 // room for Batches.Get
	err   error    // of drawing the links; each subgraph returns it
}

// ColumnRows are the rows of the columns of links that the seeds have: the places of the seeds or, of links that were drawn, their edge ids.
func (b *Batch) ColumnRows() []uint32 {
	if len(b.Edges) > 0 {
		return b.Edges
	}
	return b.Rows
}

// Batches hands out the batches of a job. It is not safe for concurrent use: each worker has its own copy.
type Batches struct {
	job       *Job
	width     int
	positions uint64 // of the order of an epoch
	each      uint64 // batches of the rank per epoch
	epoch     uint64 // the epoch of order
	order     Items
	drawn     uint64 // the epoch of links
	links     *Links
}

// Batches checks the job, and is the batches that its rank takes of seeds with width ids each (Sampler.SeedWidth). It
// reads the lists of the job as long as it is used.
func (j *Job) Batches(width int) (*Batches, error) {
	ranks := max(j.Ranks, 1)
	switch {
	case len(j.Seeds)%width != 0:
		return nil, tagged.Errorf(ErrSeed, "found %d ids, expected pairs of source and target; give two ids per link", len(j.Seeds))
	case j.BatchSize < 1:
		return nil, tagged.Errorf(ErrSeed, "found batch size %d, expected at least 1", j.BatchSize)
	case j.Rank < 0 || j.Rank >= ranks:
		return nil, tagged.Errorf(ErrSeed, "found rank %d of %d, expected 0 to %d", j.Rank, ranks, ranks-1)
	case j.End < 0 || j.End > 0 && len(j.Seeds) == 0:
		return nil, tagged.Errorf(ErrSeed, "found epochs of %d batches of %d ids, expected batches of seeds", j.End, len(j.Seeds))
	case j.Positives != nil && (width != 2 || len(j.Positives.nodes) != len(j.Seeds)/width || !j.Negatives.Empty()):
		return nil, tagged.Errorf(ErrSeed, "found %d ids and the positives of %d nodes, expected a pair for each, and no lists of negatives; take the links of an epoch as seeds", len(j.Seeds), len(j.Positives.nodes))
	case j.Times != nil && len(j.Times) != len(j.Seeds)/width:
		return nil, tagged.Errorf(ErrSeed, "found %d times for %d seeds, expected one per seed", len(j.Times), len(j.Seeds)/width)
	}
	b := &Batches{job: j, width: width, positions: j.positions(width), each: j.EpochBatches(width)}
	if n := len(j.Seeds) / width; uint64(n) > math.MaxUint32 {
		return nil, tagged.Errorf(ErrTooLarge, "found %d seeds, expected fewer than 2^32; sample them in several runs", n)
	}
	if b.each > 0 && uint64(max(j.Epochs, 1)) > math.MaxInt64/b.each {
		return nil, tagged.Errorf(ErrTooLarge, "found %d epochs of %d batches, expected fewer than 2^63 in all", j.Epochs, b.each)
	}
	return b, nil
}

// Lone is the input of the subgraph at a place in the i-th batch, as Sampler.Input gives it, but without the seeds of
// other subgraphs: under ScopeSeed it has its seed, else none. It is what draws depend on.
func (s *Batches) Lone(scope Scope, i uint64, at int) Input {
	i += s.job.From
	epoch, index := s.job.Epoch+i/s.each, i%s.each
	in := Input{Seed: s.job.Seed, Epoch: epoch, Unit: uint64(s.job.Rank) + index*uint64(max(s.job.Ranks, 1))}
	if scope != ScopeSeed {
		return in
	}
	item := s.first(in.Unit) + uint64(at)
	if order := s.orderOf(epoch); order != nil {
		var one [1]uint64
		order.Fill(one[:], item)
		item = one[0]
	}
	w := uint64(s.width)
	seeds, _, err := s.seedsOf(epoch)
	in.Seeds, in.err = seeds[item*w:(item+1)*w], err
	if s.job.Times != nil {
		in.Time = s.job.Times[item]
	}
	return in
}

// seedsOf is the seeds in an epoch and, of links that were drawn, their edge ids. With an error they are those of another epoch.
func (s *Batches) seedsOf(epoch uint64) (seeds, edges []uint32, err error) {
	if s.job.Positives == nil {
		return s.job.Seeds, nil, nil
	}
	if s.links == nil || s.drawn != epoch {
		links, err := s.job.Positives.Links(epoch)
		if err != nil {
			return s.job.Seeds, nil, err
		}
		s.links, s.drawn = links, epoch
	}
	return s.links.Ends, s.links.Edges, nil
}

// orderOf is the order of the seeds in an epoch; nil for the order of the list.
func (s *Batches) orderOf(epoch uint64) Items {
	if s.order == nil || s.epoch != epoch {
		switch {
		case s.job.Order != nil:
			s.order = s.job.Order(epoch)
		case s.job.Shuffle:
			s.order = draw.NewOrder(s.positions, draw.Key(s.job.Seed, epoch, draw.OrderWord))
		default:
			return nil
		}
		s.epoch = epoch
	}
	return s.order
}

// first is the position of the first seed of a batch, given by its number over all ranks.
func (s *Batches) first(number uint64) uint64 {
	size := uint64(s.job.BatchSize)
	return number % ((s.positions + size - 1) / size) * size
}

// EpochBatches is the number of batches per epoch that the rank of the job takes of seeds with width ids each.
func (j *Job) EpochBatches(width int) uint64 {
	size, ranks := uint64(max(j.BatchSize, 1)), uint64(max(j.Ranks, 1))
	all := uint64(max(j.End, 0))
	if all == 0 {
		all = (j.positions(width) + size - 1) / size
	}
	if all <= uint64(j.Rank) {
		return 0
	}
	return (all - uint64(j.Rank) + ranks - 1) / ranks
}

// positions is the number of positions of the order of an epoch.
func (j *Job) positions(width int) uint64 {
	if j.Positions > 0 {
		return j.Positions
	}
	return uint64(len(j.Seeds) / width)
}

// Len is the number of batches of all epochs, without those that Job.From leaves out.
func (s *Batches) Len() uint64 {
	all := s.each * uint64(max(s.job.Epochs, 1))
	return all - min(s.job.From, all)
}

// Get sets b to the i-th batch, from 0. It reuses the buffers of b.
func (s *Batches) Get(i uint64, b *Batch) {
	i += s.job.From
	size := uint64(s.job.BatchSize)
	b.Epoch, b.Index, b.At = s.job.Epoch+i/s.each, i%s.each, 0
	b.Number = uint64(s.job.Rank) + b.Index*uint64(max(s.job.Ranks, 1))
	b.First = s.first(b.Number)
	n := min(size, s.positions-b.First)
	b.Seeds, b.Times, b.Rows, b.Edges = b.Seeds[:0], b.Times[:0], b.Rows[:0], b.Edges[:0]
	seeds, edges, err := s.seedsOf(b.Epoch)
	b.err = err
	order := s.orderOf(b.Epoch)
	if order == nil {
		w := uint64(s.width)
		for i := b.First; i < b.First+n; i++ {
			b.Rows = append(b.Rows, uint32(i))
		}
		b.Seeds = append(b.Seeds, seeds[b.First*w:(b.First+n)*w]...)
		if edges != nil {
			b.Edges = append(b.Edges, edges[b.First:b.First+n]...)
		}
		if s.job.Times != nil {
			b.Times = append(b.Times, s.job.Times[b.First:b.First+n]...)
		}
		b.Negatives.Take(s.job, b.Rows)
		return
	}
	// A block of positions at a time: this is faster than one at a time.
	if b.items == nil {
		b.items = make([]uint64, 256)
	}
	for at := b.First; at < b.First+n; {
		part := b.items[:min(uint64(len(b.items)), b.First+n-at)]
		order.Fill(part, at)
		at += uint64(len(part))
		for _, i := range part {
			b.Rows = append(b.Rows, uint32(i))
		}
	}
	if s.job.Positions > 0 {
		slices.Sort(b.Rows)
		b.Rows = slices.Compact(b.Rows)
	}
	for _, i := range b.Rows {
		if s.width == 1 {
			b.Seeds = append(b.Seeds, seeds[i])
		} else {
			b.Seeds = append(b.Seeds, seeds[2*i], seeds[2*i+1])
		}
		if edges != nil {
			b.Edges = append(b.Edges, edges[i])
		}
		if s.job.Times != nil {
			b.Times = append(b.Times, s.job.Times[i])
		}
	}
	b.Negatives.Take(s.job, b.Rows)
}

// Run samples every batch of a job.
//
// encode runs in the workers, once per subgraph in the order of the seeds of its batch, and puts the data to keep into
// out. The batch and the subgraph are valid until it returns. sink runs in the goroutine that called Run, once per
// batch, in the order of epochs and batches for any number of threads. It leaves out ready for another batch. newOut is
// called a few times per worker: outs are reused, and nothing is allocated per batch.
//
// Run returns when all its goroutines have ended, with the error of the first batch, in order, that failed, or with
// the error of ctx.
func Run[T any](ctx context.Context, s *Sampler, job Job, newOut func() T,
	encode func(out T, b *Batch, sub *Subgraph) error, sink func(out T) error) (Stats, error) {
	var stats Stats
	batches, err := s.Batches(&job)
	if err != nil {
		return stats, err
	}
	type done struct {
		out   T
		index uint64
		stats Stats
		err   error
	}
	total := batches.Len()
	threads := int(min(uint64(max(job.Threads, 1)), max(total, 1)))
	// A worker takes an out before a batch, so the batch that the sink waits for always has one, and there are never
	// more batches under way than outs.
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
			w, source := worker{c: s.NewContext(), seed: job.Seed}, *batches
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
				source.Get(index, &w.batch)
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
				d.err = sink(d.out)
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

// Batches is Job.Batches, for a job that must fit the plan.
func (s *Sampler) Batches(job *Job) (*Batches, error) {
	if s.plan.Before != nil && job.Times == nil {
		return nil, tagged.Errorf(ErrSeed, "found no times of seeds and a plan with before, expected one time per seed")
	}
	b, err := job.Batches(s.SeedWidth())
	if err != nil {
		return nil, err
	}
	if err := job.Negatives.check(s.plan.Negatives, len(job.Seeds)/s.SeedWidth()); err != nil {
		return nil, err
	}
	if b.positions > 0 {
		if err := s.checkLinks(int((b.positions-1)%uint64(job.BatchSize)) + 1); err != nil { // of the last batch
			return nil, err
		}
	}
	return b, nil
}

// Add adds the counts of another run.
func (s *Stats) Add(t Stats) {
	s.Batches += t.Batches
	s.Seeds += t.Seeds
	s.Subgraphs += t.Subgraphs
	s.Nodes += t.Nodes
	s.Edges += t.Edges
	s.Drawn += t.Drawn
	s.Negatives += t.Negatives
	s.NegativeEdges += t.NegativeEdges
}

// Count adds one subgraph.
func (s *Stats) Count(sub *Subgraph) {
	s.Subgraphs++
	s.Drawn += sub.Drawn
	s.Negatives += uint64(len(sub.Negatives.Nodes) / 2)
	s.NegativeEdges += uint64(sub.Negatives.Edges)
	for _, n := range sub.Nodes {
		s.Nodes += uint64(len(n))
	}
	for _, e := range sub.Edges {
		s.Edges += uint64(len(e.Src))
	}
}

// Subgraphs is the number of subgraphs of a batch: one, or under ScopeSeed one per seed.
func (s *Sampler) Subgraphs(b *Batch) int {
	if s.plan.Scope == ScopeSeed {
		return len(b.Seeds) / s.SeedWidth()
	}
	return 1
}

// Input is the input of the i-th subgraph of a batch. seed is the random seed of the job.
func (s *Sampler) Input(b *Batch, seed uint64, i int) Input {
	in := Input{Seeds: b.Seeds, Negatives: b.Negatives, Seed: seed, Epoch: b.Epoch, Unit: b.Number, err: b.err}
	if s.plan.Scope == ScopeSeed {
		width := s.SeedWidth()
		in.Seeds = b.Seeds[i*width : (i+1)*width]
		if b.Times != nil {
			in.Time = b.Times[i]
		}
		if !b.Negatives.Empty() {
			in.Negatives = b.Negatives.One(i, s.Subgraphs(b))
		}
	}
	return in
}

// worker samples batches, one at a time.
type worker struct {
	c     *Context
	seed  uint64
	batch Batch
}

// run samples one batch. A fault under a map is its error; the context of the worker is not used again.
func (w *worker) run(ctx context.Context, encode func(*Subgraph) error) (stats Stats, err error) {
	err = guard.Do(func() error { // guard.Catch would allocate
		stats, err = w.sample(ctx, encode)
		return err
	})
	return stats, err
}

func (w *worker) sample(ctx context.Context, encode func(*Subgraph) error) (Stats, error) {
	b, s := &w.batch, w.c.s
	stats := Stats{Batches: 1, Seeds: uint64(len(b.Seeds) / s.SeedWidth())}
	for i := range s.Subgraphs(b) {
		if i%64 == 63 && ctx.Err() != nil {
			return stats, ctx.Err()
		}
		b.At = i
		sub, err := w.c.Sample(s.Input(b, w.seed, i))
		if err != nil {
			return stats, err
		}
		stats.Count(sub)
		if err := encode(sub); err != nil {
			return stats, err
		}
	}
	return stats, nil
}
