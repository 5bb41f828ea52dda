package outofcore

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/sample"
)

const (
	// pilotReads is the edges that a pilot reads at most, one page each, from files of
	// more than pilotBlocks blocks; smaller ones are read whole.
	pilotReads  = 64 << 10
	pilotBlocks = 256
	// pilotSpread is the most seeds whose places are looked at.
	pilotSpread = 1 << 20
	// pilotSeeds is the seeds from which the edges of a batch's first wave are known well.
	pilotSeeds = 64 << 10
	// windowSlack is by how much a window may have more edges than was reckoned.
	windowSlack = 1.05
)

// found is what a batch of a job takes, as a pilot found or, without one, at most.
type found struct {
	job   pilotJob
	edges float64     // sampled
	first float64     // of these, in the first wave
	perOp []float64   // of these, by op from 1
	asks  [][]float64 // requests by wave and file: each lies in a page or few
	// spread is, by block, its share of what the seeds ask for of its file; nil is even.
	spread []float64
}

// pilotJob is what a pilot goes by of a job.
type pilotJob struct {
	seeds   *uint32
	n, size int
}

func pilotOf(job *sample.Job) pilotJob {
	if len(job.Seeds) == 0 {
		return pilotJob{}
	}
	return pilotJob{&job.Seeds[0], len(job.Seeds), job.BatchSize}
}

// by says whether a pilot of the job was made.
func (f *found) by(job *sample.Job) bool { return f.job.seeds != nil && f.job == pilotOf(job) }

// bounds is what a batch takes at most.
func (x *Executor) bounds(job *sample.Job) found {
	f := found{perOp: x.reach(float64(job.BatchSize), len(x.waves))}
	for _, edges := range f.perOp[1:] {
		f.edges += edges
	}
	for _, w := range x.waves {
		asks := make([]float64, len(x.files))
		for op := w[0]; op < w[1]; op++ {
			for i, file := range x.files {
				if file == x.fileOf[op] {
					asks[i] += f.perOp[op]
				}
			}
		}
		f.asks = append(f.asks, asks)
	}
	return f
}

// pilot samples as many seeds as a batch has, from all over the job, or some of these where
// that reads less, to learn what a batch takes.
func (x *Executor) pilot(ctx context.Context, job *sample.Job) error {
	mixed := *job
	mixed.Shuffle, mixed.From, mixed.Rank, mixed.Ranks = true, 0, 0, 1
	batches, err := x.sampler.Batches(&mixed)
	if err != nil {
		return err
	}
	var b sample.Batch
	batches.Get(0, &b)
	width := x.sampler.SeedWidth()
	all := len(b.Seeds) / width
	n, last := all, len(x.waves)-1
	for n > 4 && (x.blocks > pilotBlocks && x.most(float64(n), last) > pilotReads || x.opt.Memory > 0 && x.most(float64(n), last+1) > float64(x.opt.Memory)/(4*edgeBytes)) {
		n /= 2
	}
	// What the seeds take is known without a read. From there on edges grow less than
	// the seeds do, as these meet the same nodes: halves tell how much less.
	whole := x.taken(b.Seeds)
	some, asks, err := x.try(ctx, job, &b, n, last+1)
	if err != nil {
		return err
	}
	half := some
	if n > 1 && n < all {
		if half, _, err = x.try(ctx, job, &b, n/2, last+1); err != nil {
			return err
		}
	}
	fill := float64(job.BatchSize) / float64(all)
	f := found{job: pilotOf(job), first: x.average(batches) * float64(job.BatchSize), perOp: []float64{float64(job.BatchSize)}, asks: asks}
	for wave := range x.waves {
		scale := float64(all) / float64(n)
		if first := x.taken(b.Seeds[:n*width]); first > 0 {
			scale = whole / first
		}
		if was, is := ratio(x.inWave(half, wave), x.inWave(half, 0)), ratio(x.inWave(some, wave), x.inWave(some, 0)); was > is && is > 0 {
			scale *= math.Pow(max(is/was, 0.5), math.Log2(float64(all)/float64(n)))
		}
		for i := range asks[wave] {
			asks[wave][i] *= scale * fill
		}
		for op := x.waves[wave][0]; op < x.waves[wave][1]; op++ {
			f.perOp = append(f.perOp, some[op-1]*scale*fill)
			f.edges += some[op-1] * scale * fill
		}
	}
	f.spread = x.spread(job)
	x.found = f
	return nil
}

// spread finds where the edges of the seeds lie.
func (x *Executor) spread(job *sample.Job) []float64 {
	s := x.sampler
	width, plan := s.SeedWidth(), s.Plan()
	step := width * (len(job.Seeds)/width/pilotSpread + 1)
	counts := make([]float64, x.blocks)
	for op := x.waves[0][0]; op < x.waves[0][1]; op++ {
		edges, dir := s.Walk(op)
		near, offsets, f := s.Graph().Edges[edges].Type.Near(dir), s.Offsets(op), x.fileOf[op]
		for end, t := range plan.SeedType {
			if t != near {
				continue
			}
			for i := end; i < len(job.Seeds); i += step {
				if v := job.Seeds[i]; int(v)+1 < len(offsets) && offsets[v] < offsets[v+1] {
					counts[f.first+f.block(offsets[v])]++
				}
			}
		}
	}
	for _, f := range x.files {
		part, sum := counts[f.first:f.first+f.blocks], 0.0
		for _, n := range part {
			sum += n
		}
		for i := range part {
			part[i] /= max(sum, 1)
		}
	}
	return counts
}

// fitting is how many of n batches from first on sample no more than size of them do on
// average: where a job is not shuffled, neighbouring batches may all have many edges.
func (x *Executor) fitting(job *sample.Job, batches *sample.Batches, first, n, size uint64) uint64 {
	if x.opt.Memory == 0 || x.opt.Window > 0 || size >= batches.Len() || !x.found.by(job) {
		return n
	}
	room := float64(size) * x.found.first * windowSlack
	var b sample.Batch
	for i := range n {
		batches.Get(first+i, &b)
		if room -= x.taken(b.Seeds); room < 0 {
			return max(i, 1)
		}
	}
	return n
}

// average is the edges that the first wave takes of a seed, over the first of some batches.
func (x *Executor) average(batches *sample.Batches) float64 {
	var b sample.Batch
	sum, seeds := 0.0, 0
	for i := uint64(0); i < batches.Len() && seeds < pilotSeeds; i++ {
		batches.Get(i, &b)
		sum += x.taken(b.Seeds)
		seeds += len(b.Seeds) / x.sampler.SeedWidth()
	}
	return sum / float64(max(seeds, 1))
}

// taken is the edges that the first wave takes of seeds, about.
func (x *Executor) taken(seeds []uint32) float64 {
	s, sum := x.sampler, 0.0
	plan, g := s.Plan(), s.Graph()
	for op := x.waves[0][0]; op < x.waves[0][1]; op++ {
		edges, dir := s.Walk(op)
		for i, v := range seeds {
			if t := plan.SeedType[i%len(plan.SeedType)]; len(plan.Ops[op-1].From) > 0 && t == g.Edges[edges].Type.Near(dir) && int(v) < g.Nodes[g.NodeType(t)].Count {
				sum += float64(s.Picks(op, s.Degree(op, v)))
			}
		}
	}
	return sum
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// inWave adds up the edges of a wave's ops.
func (x *Executor) inWave(edges []float64, wave int) float64 {
	n := 0.0
	for op := x.waves[wave][0]; op < x.waves[wave][1]; op++ {
		n += edges[op-1]
	}
	return n
}

// try takes the first n seeds of a batch through so many waves, and returns the sampled
// edges by op, from 0, and what was asked for by wave and file.
func (x *Executor) try(ctx context.Context, job *sample.Job, b *sample.Batch, n, waves int) (edges []float64, asks [][]float64, err error) {
	defer x.sweeps.Store(x.sweeps.Load())
	small := sample.Job{Seeds: b.Seeds[:n*x.sampler.SeedWidth()], BatchSize: n, Seed: job.Seed, Epoch: b.Epoch}
	if b.Times != nil {
		small.Times = b.Times[:n]
	}
	batches, err := x.sampler.Batches(&small)
	if err != nil {
		return nil, nil, err
	}
	p, err := x.newPipeline(&small, batches)
	if err != nil {
		return nil, nil, err
	}
	defer p.close()
	w := p.open(0, 1)
	defer w.close()
	for i := range waves {
		if err := p.advance(ctx, []*window{w}); err != nil {
			return nil, nil, fmt.Errorf("counting the edges of a batch: %w", err)
		}
		asks = append(asks, x.asked(w.stages[i]))
		if i+1 < waves {
			if err := p.sweep(ctx, []*window{w}); err != nil {
				return nil, nil, err
			}
		}
		w.stages[i].served()
	}
	edges = make([]float64, x.ops)
	for i, s := range w.spans {
		edges[i%x.ops] += float64(s.n)
	}
	return edges, asks, nil
}

// asked counts the requests of a stage by file.
func (x *Executor) asked(st *stage) []float64 {
	asks := make([]float64, len(x.files))
	for i, f := range x.files {
		n := 0
		for b := f.first; b < f.first+f.blocks; b++ {
			for _, l := range st.lists {
				n += l.count(b, math.MaxInt) + l.count(x.blocks+b, math.MaxInt)
			}
		}
		asks[i] = float64(n)
	}
	return asks
}
