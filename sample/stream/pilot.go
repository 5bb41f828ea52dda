package stream

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/sample"
)

const (
	// pilotReads is the edges that a pilot reads, one page each.
	pilotReads = 16 << 10
	// pilotSeeds is the most seeds of a pilot.
	pilotSeeds = 128
)

// found is what a batch of a job takes, as a pilot found or, without one, at most.
type found struct {
	job   pilotJob
	edges float64     // sampled
	perOp []float64   // of these, by op from 1
	asks  [][]float64 // requests by wave and file: each lies in a page or few
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

// pilot samples some seeds of the first batch to learn what a batch takes.
func (x *Executor) pilot(ctx context.Context, job *sample.Job) error {
	batches, err := x.sampler.Batches(job)
	if err != nil {
		return err
	}
	var b sample.Batch
	batches.Get(0, &b)
	width := x.sampler.SeedWidth()
	n := min(pilotSeeds, len(b.Seeds)/width)
	last := len(x.waves) - 1
	for n > 4 && x.most(float64(n), last) > pilotReads {
		n /= 2
	}
	small := sample.Job{Seeds: b.Seeds[:n*width], BatchSize: n, Seed: job.Seed, Epoch: b.Epoch}
	if b.Times != nil {
		small.Times = b.Times[:n]
	}
	if batches, err = x.sampler.Batches(&small); err != nil {
		return err
	}
	p, err := x.newPipeline(&small, batches)
	if err != nil {
		return err
	}
	defer p.close()
	w := p.open(0, 1)
	defer w.close()
	scale := float64(job.BatchSize) / float64(n)
	f := found{job: pilotOf(job), perOp: []float64{float64(job.BatchSize)}}
	for i := range x.waves {
		if err := p.advance(ctx, []*window{w}); err != nil {
			return fmt.Errorf("counting the edges of a batch: %w", err)
		}
		f.asks = append(f.asks, x.asked(w.stages[i], scale))
		if i < last {
			if err := p.sweep(ctx, []*window{w}); err != nil {
				return err
			}
		}
		w.stages[i].served()
	}
	for op := range x.ops {
		slots := 0.0
		for i := op; i < len(w.spans); i += x.ops {
			slots += float64(w.spans[i].n)
		}
		f.perOp = append(f.perOp, slots*scale)
		f.edges += slots * scale
	}
	x.found = f
	return nil
}

// asked counts the requests of a stage by file, times scale.
func (x *Executor) asked(st *stage, scale float64) []float64 {
	asks := make([]float64, len(x.files))
	for i, f := range x.files {
		n := 0
		for b := f.first; b < f.first+f.blocks; b++ {
			for _, l := range st.lists {
				n += l.count(b, math.MaxInt) + l.count(x.blocks+b, math.MaxInt)
			}
		}
		asks[i] = float64(n) * scale
	}
	return asks
}
