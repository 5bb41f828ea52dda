package textfiles

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// BenchmarkCSV reads edges with two columns, and with three.
func BenchmarkCSV(b *testing.B) {
	const edges = 2 << 20
	ends := []table.Column{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
	weighted := append(ends[:2:2], table.Column{Name: "w", DType: graph.Float32})
	for _, c := range []struct {
		name, file, format string
		columns            []table.Column
	}{
		{"integers", "e.csv", "%d,%d\n", ends},
		{"quoted", "e.csv", "\"%d\",\"%d\"\n", ends},
		{"gzip", "e.csv.gz", "%d,%d\n", ends},
		{"zstd", "e.csv.zst", "%d,%d\n", ends},
		{"strings", "e.csv", "node-%d,node-%d\n", []table.Column{{Name: "src", DType: graph.String, ID: true}, {Name: "dst", DType: graph.String, ID: true}}},
		{"weighted", "e.csv", "%d,%d,0.%d\n", weighted},
	} {
		var text bytes.Buffer
		header := "src,dst\n"
		if len(c.columns) == 3 {
			header = "src,dst,w\n"
		}
		text.WriteString(header)
		r := rand.New(rand.NewPCG(1, 2))
		for range edges {
			a := []any{r.IntN(4 << 20), r.IntN(4 << 20), r.IntN(1000000)}
			fmt.Fprintf(&text, c.format, a[:len(c.columns)]...)
		}
		t := openText(b, c.file, text.String(), CSVOptions{})
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", c.name, threads), func(b *testing.B) {
				b.SetBytes(int64(text.Len()))
				for b.Loop() {
					rows, err := t.Scan(context.Background(), c.columns, threads, func(int, *table.Chunk) error { return nil })
					if err != nil || rows != edges {
						b.Fatal(rows, err)
					}
				}
				b.ReportMetric(edges*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
			})
		}
	}
}
