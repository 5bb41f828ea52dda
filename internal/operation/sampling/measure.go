package sampling

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Measure samples batches in memory and discards them, to measure the speed of sampling itself, including
// relabelling and edge ids. Without Seeds, the seeds are the nodes at which the first hop finds edges, in shuffled order.
func Measure(ctx context.Context, st *store.Store, batches int, options option.Measure) (_ *report.Measurement, err error) {
	defer guard.Catch(&err)()
	o := request{Run: options.Run, Draw: options.Draw, Batching: options.Batching}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.sets() {
		return nil, operation.Usagef("found `Sampler` %s, expected one that draws edges: neighbor, labor or shadow", o.Sampler)
	}
	p, err := o.resolve(ctx, st)
	if err != nil {
		return nil, err
	}
	m, err := OpenMessages(ctx, &o.Run, st, p.plan, "")
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, m.Close)
	st = m.Store
	job := p.job
	if o.Seeds == "" && !p.plan.Link() {
		job.Seeds, job.Times = withEdges(st.Graph, p.plan, job)
	}
	job.Shuffle = true
	sampler, err := NewSampler(st, p.plan, samplerBytes(st.Graph, p.plan, o.Threads), o.Memory, sample.Options{Warn: func(text string) { operation.Warn(&o.Run, "%s", text) }})
	if err != nil {
		return nil, err
	}
	defer sampler.Close()
	plan, err := json.Marshal(p.plan)
	if err != nil {
		return nil, err
	}
	timed, seconds, err := sample.Bench(ctx, sampler, job, batches)
	if err != nil {
		return nil, err
	}
	reads, bytes, err := sampler.RandomReads(ctx, max(o.Threads, 1))
	if err != nil {
		return nil, err
	}
	return &report.Measurement{
		RandomReadsPerSecond: reads, RandomReadBytes: bytes,
		SampledEdgesPerSecond: float64(timed.Drawn) / seconds, BatchesPerSecond: float64(batches) / seconds,
		SampledEdges: timed.Drawn, Nodes: timed.Nodes, Batches: batches, BatchSize: job.BatchSize, Seconds: seconds, Threads: o.Threads,
		Seeds: len(job.Seeds), PeakRSS: report.PeakRSS(), Plan: plan,
		Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Version: operation.Version(),
	}, nil
}

// withEdges keeps the seeds at which an op of the first hop finds edges.
func withEdges(g *graph.Graph, p *sample.Plan, job sample.Job) ([]uint32, []sample.Time) {
	var first []*graph.Adjacency
	for _, op := range p.Ops {
		e, err := g.EdgeType(op.Edges)
		if err != nil || !slices.Contains(op.From, 0) {
			continue
		}
		if g.Edges[e].Adj[op.Dir] == nil {
			return job.Seeds, job.Times // degrees in a direction that is not stored are not known here
		}
		first = append(first, g.Edges[e].Adj[op.Dir])
	}
	var seeds []uint32
	var times []sample.Time
	for i, v := range job.Seeds {
		if !slices.ContainsFunc(first, func(a *graph.Adjacency) bool { return a.Indptr.At(int(v)) < a.Indptr.At(int(v)+1) }) {
			continue
		}
		seeds = append(seeds, v)
		if job.Times != nil {
			times = append(times, job.Times[i])
		}
	}
	return seeds, times
}
