package graphmill

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/report"
)

// Measurement is the measured speed of sampling. Its JSON is what the command bench sample prints with --json. A sampled
// edge is an edge drawn by an op.
type Measurement struct {
	SampledEdgesPerSecond float64      `json:"sampled_edges_per_second"`
	BatchesPerSecond      float64      `json:"batches_per_second"`
	SampledEdges          uint64       `json:"sampled_edges"` // in all batches
	Nodes                 uint64       `json:"nodes"`         // in all batches, the nodes of a batch once
	Batches               int          `json:"batches"`
	BatchSize             int          `json:"batch_size"` // seeds per batch
	Seconds               float64      `json:"seconds"`    // elapsed time of the batches
	Threads               int          `json:"threads"`
	Seeds                 int          `json:"seeds"`          // number of seeds that batches are taken from
	PeakRSS               int64        `json:"peak_rss_bytes"` // peak memory of the process, in bytes
	Plan                  *sample.Plan `json:"plan"`
	Machine               string       `json:"machine"` // operating system, architecture and number of CPUs
	Version               string       `json:"version"` // version of Graphmill
}

// MeasureSampling samples batches in memory and discards them, to measure the speed of sampling itself, including
// relabelling and edge ids. Without Seeds, the seeds are the nodes at which the first hop finds edges, in shuffled order.
func MeasureSampling(ctx context.Context, st *Store, batches int, o SampleOptions) (_ *Measurement, err error) {
	defer guard.Catch(&err)()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.sets() {
		return nil, usagef("found `Sampler` %s, expected one that draws edges: neighbor, labor or shadow", o.Sampler)
	}
	p, err := o.resolve(ctx, st.store)
	if err != nil {
		return nil, err
	}
	job := p.job
	if o.Seeds == "" {
		job.Seeds, job.Times = withEdges(st.Graph(), p.plan, job)
	}
	job.Shuffle = true
	sampler, err := newSampler(st.store, p.plan, samplerBytes(st.Graph(), p.plan, o.Threads), o.Memory, sample.Options{Warn: func(text string) { o.warn("%s", text) }})
	if err != nil {
		return nil, err
	}
	defer sampler.Close()
	timed, seconds, err := sample.Bench(ctx, sampler, job, batches)
	if err != nil {
		return nil, err
	}
	return &Measurement{
		SampledEdgesPerSecond: float64(timed.Drawn) / seconds, BatchesPerSecond: float64(batches) / seconds,
		SampledEdges: timed.Drawn, Nodes: timed.Nodes, Batches: batches, BatchSize: job.BatchSize, Seconds: seconds, Threads: o.Threads,
		Seeds: len(job.Seeds), PeakRSS: report.PeakRSS(), Plan: p.plan,
		Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Version: Version(),
	}, nil
}

// withEdges keeps the seeds at which an op of the first hop finds edges.
func withEdges(g *graph.Graph, p *sample.Plan, job sample.Job) ([]uint32, []sample.Time) {
	var seeds []uint32
	var times []sample.Time
	for i, v := range job.Seeds {
		for _, op := range p.Ops {
			e, err := g.EdgeType(op.Edges)
			if err != nil || !slices.Contains(op.From, 0) {
				continue
			}
			// Degrees in a direction that is not stored are not known here.
			a := g.Edges[e].Adj[op.Dir]
			if a == nil || a.Indptr.At(int(v)) < a.Indptr.At(int(v)+1) {
				seeds = append(seeds, v)
				if job.Times != nil {
					times = append(times, job.Times[i])
				}
				break
			}
		}
	}
	return seeds, times
}
