package table

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// BenchmarkPairs reads edges of two integer columns.
func BenchmarkPairs(b *testing.B) {
	const edges = 2 << 20
	var text bytes.Buffer
	fmt.Fprintln(&text, "src,dst")
	r := rand.New(rand.NewPCG(1, 2))
	for range edges {
		fmt.Fprintf(&text, "%d,%d\n", r.IntN(4<<20), r.IntN(4<<20))
	}
	t := openText(b, "e.csv", text.String(), CSVOptions{})
	ends := []Column{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				rows, err := t.Scan(context.Background(), ends, threads, func(int, *Chunk) error { return nil })
				if err != nil || rows != edges {
					b.Fatal(rows, err)
				}
			}
			b.ReportMetric(edges*float64(b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
		})
	}
}
