package outofcore

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// gathered is the rows of a batch.
type gathered struct {
	places []uint32
	values []byte
}

func (g *gathered) gather(rows *Rows, stands []*graph.Column, ids []uint32) {
	g.places, g.values = rows.Places(g.places[:0], graph.Index{U32: ids}), g.values[:0]
	for _, c := range stands {
		for _, p := range g.places {
			g.values = append(g.values, c.Row(int(p))...)
		}
	}
}

// BenchmarkRun samples the store that GRAPHMILL_BENCH_STORE names. The seeds are one node in a hundred, the fanout is
// 15,10,5, and batches have 1024 seeds and the rows of the nodes' columns. GRAPHMILL_BENCH_EPOCHS,
// GRAPHMILL_BENCH_MEMORY (MiB), GRAPHMILL_BENCH_DESIGN and GRAPHMILL_BENCH_SCRATCH set the rest.
func BenchmarkRun(b *testing.B) {
	dir := os.Getenv("GRAPHMILL_BENCH_STORE")
	if dir == "" {
		b.Skip("GRAPHMILL_BENCH_STORE names no store")
	}
	number := func(name string, def int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return def
	}
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	scope := sample.ScopeBatch
	switch os.Getenv("GRAPHMILL_BENCH_SCOPE") {
	case "seed":
		scope = sample.ScopeSeed
	case "epoch":
		scope = sample.ScopeEpoch
	}
	plan, err := sample.FromFanouts(s.Graph, sample.Fanouts{Each: []int{15, 10, 5}}, sample.FanoutOptions{Dir: graph.In, Scope: scope, SeedType: []string{s.Graph.Nodes[0].Type}})
	if err != nil {
		b.Fatal(err)
	}
	design := Auto
	if name := os.Getenv("GRAPHMILL_BENCH_DESIGN"); name != "" {
		at := slices.Index(designNames, name)
		if at < 0 {
			b.Fatalf("found design %q, expected one of %q", name, designNames)
		}
		design = Design(at)
	}
	job := sample.Job{BatchSize: 1024, Epochs: number("GRAPHMILL_BENCH_EPOCHS", 1), Shuffle: true}
	adj := s.Graph.Edges[0].Adj[graph.In]
	for v := 0; v < s.Graph.Nodes[0].Count; v += 101 {
		if adj.Indptr.At(v) < adj.Indptr.At(v+1) {
			job.Seeds = append(job.Seeds, uint32(v))
		}
	}
	if err := s.Release(); err != nil {
		b.Fatal(err)
	}
	for range b.N {
		start := time.Now()
		x, err := Open(context.Background(), vfs.OS, s, plan, Options{Threads: 2, Memory: int64(number("GRAPHMILL_BENCH_MEMORY", 2048)) << 20, Design: design, Scratch: os.Getenv("GRAPHMILL_BENCH_SCRATCH")})
		if err != nil {
			b.Fatal(err)
		}
		rows, stands := x.NodeRows(0), []*graph.Column{}
		for _, c := range s.Graph.Nodes[0].Columns {
			stand, err := rows.Column(c)
			if err != nil {
				b.Fatal(err)
			}
			stands = append(stands, stand)
		}
		if _, err := x.Foretell(context.Background(), job); err != nil {
			b.Fatal(err)
		}
		opened := time.Now()
		stats, err := Run(context.Background(), x, job, func() *gathered { return &gathered{} }, func(_ context.Context, out *gathered, _ *sample.Batch, sub *sample.Subgraph) error {
			if len(stands) > 0 {
				out.gather(rows, stands, sub.Nodes[0])
			}
			return nil
		}, func(*gathered) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		c := x.Counts()
		b.Logf("%d seeds, open %.2f s, run %.2f s, %.2f GB read, %.2f GB written, %d sweeps, forecast %+v, %+v, speed %+v", len(job.Seeds), opened.Sub(start).Seconds(), time.Since(opened).Seconds(),
			float64(c.Bytes)/1e9, float64(c.Written)/1e9, c.Sweeps, x.Forecast(), stats, x.neighbours.disk.speed)
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
