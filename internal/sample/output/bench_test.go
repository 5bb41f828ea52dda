package output

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// BenchmarkRecords writes subgraphs of about 36 edges to disk, features joined.
func BenchmarkRecords(b *testing.B) {
	for _, c := range []struct {
		name   string
		g      *graph.Graph
		seeds  string
		fanout string
	}{
		{"homogeneous", homogeneous(50000), "_N", "6,5"},
		{"typed", typed(50000), "paper", "3,3"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := sampler(b, c.g, c.fanout, sample.FanoutOptions{SeedType: []string{c.seeds}, Scope: sample.ScopeSeed}, false)
			job := sample.Job{Seeds: seeds(50000), BatchSize: 1024, Seed: 5, Threads: 2}
			w := create(b, vfs.OS, filepath.Join(b.TempDir(), "out"))
			r, err := NewRecords(w, s, RecordsOptions{Shards: 4, Examples: uint64(b.N) * 50000})
			if err != nil {
				b.Fatal(err)
			}
			edges := uint64(0)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				stats, err := r.Run(context.Background(), job)
				if err != nil {
					b.Fatal(err)
				}
				edges += stats.Edges
				job.Epoch++
			}
			b.StopTimer()
			if err := r.Finish(store.Made{}); err != nil {
				b.Fatal(err)
			}
			n := float64(b.N) * 50000
			b.ReportMetric(n/b.Elapsed().Seconds(), "subgraphs/s")
			b.ReportMetric(float64(edges)/n, "edges/subgraph")
			b.ReportMetric(float64(r.Bytes())/n, "bytes/subgraph")
		})
	}
}
