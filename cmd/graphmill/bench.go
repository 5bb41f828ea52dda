package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

func newBench(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine",
		Example: `  graphmill bench sample g.store --fanout 15,10 --batch-size 1024 --threads 2 --batches 200
  graphmill bench batches --rows 500000 --width 100 --batch-size 64 --threads 2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("found benchmark %q, expected sample or batches", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchSample(t), newBenchBatches(t))
	return cmd
}

// benchResult is the JSON of a benchmark.
type benchResult struct {
	SampledEdgesPerSecond float64      `json:"sampled_edges_per_second"`
	BatchesPerSecond      float64      `json:"batches_per_second"`
	SampledEdges          uint64       `json:"sampled_edges"`
	Batches               int          `json:"batches"`
	BatchSize             int          `json:"batch_size"`
	Seconds               float64      `json:"seconds"`
	Threads               int          `json:"threads"`
	Seeds                 int          `json:"seeds"`
	PeakRSS               int64        `json:"peak_rss_bytes"`
	Plan                  *sample.Plan `json:"plan"`
	Machine               string       `json:"machine"`
	Version               string       `json:"version"`
}

func newBenchSample(t *terminal) *cobra.Command {
	var (
		c       common
		p       flags.Plan
		batches int
	)
	cmd := &cobra.Command{
		Use:   "sample STORE",
		Short: "Sampled edges a second of the memory executor",
		Long: `Samples batches and drops them: what the kernel does a second, relabelling and
edge ids included. Without --seeds the seeds are the nodes that the first hop
finds edges at, in the order of a loader that shuffles. A sampled edge is an
edge drawn by an op.`,
		Example: `  graphmill bench sample g.store --fanout 15,10 --batch-size 1024 --threads 2 --batches 200
  graphmill bench sample g.store --fanout 15,10 --json | jq .sampled_edges_per_second`,
		Args: oneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := c.check(); err != nil {
				return err
			}
			if err := p.Check(cmd.Flags()); err != nil {
				return err
			}
			if batches < 1 {
				return usagef("found --batches %d, expected at least 1", batches)
			}
			s, err := store.Open(vfs.OS, args[0])
			if err != nil {
				return err
			}
			defer closeWith(&err, s.Close)
			planned, err := p.Resolve(cmd.Context(), s)
			if err != nil {
				return err
			}
			plan, job := planned.Plan, planned.Job
			if p.Seeds == "" {
				job.Seeds, job.Times = withEdges(s.Graph, plan, job)
			}
			job.Shuffle, job.Threads = true, c.threads
			sampler, err := flags.NewSampler(s.Graph, plan, c.threads, c.memory, 0, sample.Options{Warn: func(m string) { t.warn("%s", m) }})
			if err != nil {
				return err
			}
			defer sampler.Close()
			drawn, seconds, err := sample.Bench(cmd.Context(), sampler, job, batches)
			if err != nil {
				return err
			}
			b := benchResult{
				SampledEdgesPerSecond: float64(drawn) / seconds, BatchesPerSecond: float64(batches) / seconds,
				SampledEdges: drawn, Batches: batches, BatchSize: job.BatchSize, Seconds: seconds, Threads: c.threads,
				Seeds: len(job.Seeds), PeakRSS: report.PeakRSS(), Plan: plan,
				Machine: fmt.Sprintf("%s/%s, %d CPUs", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), Version: version(),
			}
			if c.json {
				e := json.NewEncoder(t.stdout)
				e.SetIndent("", " ")
				return e.Encode(b)
			}
			_, err = fmt.Fprintf(t.stdout, "%s sampled edges/s, %s batches/s (%d batches of %d seeds in %.3g s, %d threads, peak %s)\n",
				human.Number(b.SampledEdgesPerSecond), human.Number(b.BatchesPerSecond), b.Batches, b.BatchSize, seconds, b.Threads, human.Bytes(b.PeakRSS))
			return err
		},
	}
	c.add(cmd)
	p.Add(cmd.Flags())
	p.AddEpoch(cmd.Flags())
	cmd.Flags().IntVar(&batches, "batches", 200, "batches to time")
	return cmd
}

// withEdges keeps the seeds that an op of the first hop finds edges at.
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
