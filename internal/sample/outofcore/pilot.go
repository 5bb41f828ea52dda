package outofcore

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/sample"
)

const (
	// pilotReads bounds the edges that a pilot reads, one page for each, from files of more than pilotBlocks blocks.
	// Smaller files are read whole.
	pilotReads  = 64 << 10
	pilotBlocks = 256
	// pilotSpread is about the most seeds whose blocks are looked up.
	pilotSpread = 1 << 20
	// pilotSeeds is the number of seeds that gives a good mean of the edges of the first wave.
	pilotSeeds = 64 << 10
)

// pilot samples some seeds of a job to learn what a batch takes.
type pilot struct {
	x *Executor
	*neighbours
	job *sample.Job
}

// run samples as many seeds as a batch has, from all over the job, or fewer where that would read too much.
func (p pilot) run(ctx context.Context) (demand, error) {
	mixed := *p.job
	mixed.Shuffle, mixed.From, mixed.Rank, mixed.Ranks, mixed.End = true, 0, 0, 1, 0
	batches, err := p.sampler.Batches(&mixed)
	if err != nil {
		return demand{}, err
	}
	var b sample.Batch
	batches.Get(0, &b)
	width, memory := p.sampler.SeedWidth(), p.x.opt.Memory
	all := len(b.Seeds) / width
	n, last := all, len(p.waves)-1
	for n > 4 && (p.blocks > pilotBlocks && p.most(float64(n), last) > pilotReads || memory > 0 && p.most(float64(n), last+1) > float64(memory)/(4*edgeBytes)) {
		n /= 2
	}
	// The edges that the seeds take are known without a read. In later waves edges grow more slowly than seeds,
	// because more seeds meet the same nodes. A run of half the seeds shows how much more slowly.
	whole := p.taken(b.Seeds)
	some, asks, err := p.try(ctx, &b, n)
	if err != nil {
		return demand{}, err
	}
	half := some
	least := 1
	if q := p.sampler.Plan().Negatives; q != nil && q.How == sample.InBatch {
		least = 2 // negatives in-batch need another link
	}
	if n/2 >= least && n < all {
		if half, _, err = p.try(ctx, &b, n/2); err != nil {
			return demand{}, err
		}
	}
	size := float64(p.job.BatchSize)
	fill := size / float64(all)
	d := demand{job: pilotOf(p.job), first: p.average(batches) * size, perOp: []float64{size}, asks: asks}
	for wave, ops := range p.waves {
		scale := float64(all) / float64(n)
		if first := p.taken(b.Seeds[:n*width]); first > 0 {
			scale = whole / first
		}
		if was, is := ratio(inWave(half, ops), inWave(half, p.waves[0])), ratio(inWave(some, ops), inWave(some, p.waves[0])); was > is && is > 0 {
			scale *= math.Pow(max(is/was, 0.5), math.Log2(float64(all)/float64(n)))
		}
		for i := range asks[wave] {
			asks[wave][i] *= scale * fill
		}
		for op := ops[0]; op < ops[1]; op++ {
			d.perOp = append(d.perOp, some[op-1]*scale*fill)
			d.edges += some[op-1] * scale * fill
		}
	}
	d.spread = p.spread(p.job)
	return d, nil
}

// try takes the first n seeds of a batch through all waves. It returns the sampled edges by op, from 0, and the
// requests by wave and file.
func (p pilot) try(ctx context.Context, b *sample.Batch, n int) (edges []float64, asks [][]float64, err error) {
	// Sweeps of a pilot do not count.
	defer p.x.counts.sweeps.Store(p.x.counts.sweeps.Load())
	small := sample.Job{Seeds: b.Seeds[:n*p.sampler.SeedWidth()], BatchSize: n, Seed: p.job.Seed, Epoch: b.Epoch}
	if b.Times != nil {
		small.Times = b.Times[:n]
	}
	small.Negatives = b.Negatives.First(n, len(b.Seeds)/p.sampler.SeedWidth())
	batches, err := p.sampler.Batches(&small)
	if err != nil {
		return nil, nil, err
	}
	line, err := p.x.newPipeline(&small, batches, rowShare{}, 1)
	if err != nil {
		return nil, nil, err
	}
	defer line.close()
	w := line.open(0, 1)
	defer w.close()
	for i := range p.waves {
		if err := line.advance(ctx, []*window{w}); err != nil {
			return nil, nil, fmt.Errorf("counting the edges of a batch: %w", err)
		}
		asks = append(asks, p.asked(w.stages[i]))
		if i+1 < len(p.waves) {
			if err := line.sweep(ctx, []*window{w}); err != nil {
				return nil, nil, err
			}
		}
		w.stages[i].served()
	}
	edges = make([]float64, p.ops)
	for i, s := range w.spans {
		edges[i%p.ops] += float64(s.n)
	}
	return edges, asks, nil
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// inWave adds up the edges of a wave's ops, which are numbered from 0 in edges.
func inWave(edges []float64, wave [2]int) float64 {
	n := 0.0
	for op := wave[0]; op < wave[1]; op++ {
		n += edges[op-1]
	}
	return n
}
