package batch_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// BenchmarkRows compares batches of shuffled rows with copies of the same rows in an order that is known: 500,000 rows,
// batches of 64. ns/op is the time of a whole epoch.
func BenchmarkRows(b *testing.B) {
	const rows, size = 500_000, 64
	for _, width := range []int{16, 100, 1000} {
		x := make([]float32, rows*width)
		for i := range x {
			x[i] = float32(i)
		}
		src := batch.Column("x", x, width)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("width=%d/threads=%d/copy", width, threads), func(b *testing.B) {
				order := make([]uint64, rows)
				draw.NewOrder(rows, draw.Key(1, 0, draw.OrderWord)).Fill(order, 0)
				b.SetBytes(int64(len(src.Values)))
				// The plain way: copy into a warm buffer per goroutine, with batches from a counter.
				for b.Loop() {
					var next atomic.Int64
					var wg sync.WaitGroup
					for range threads {
						wg.Go(func() {
							buf, w := make([]byte, size*width*4), width*4
							for {
								at := int(next.Add(size)) - size
								if at >= rows {
									return
								}
								for i, r := range order[at:min(at+size, rows)] {
									copy(buf[i*w:(i+1)*w], src.Values[int(r)*w:(int(r)+1)*w])
								}
							}
						})
					}
					wg.Wait()
				}
			})
			b.Run(fmt.Sprintf("width=%d/threads=%d/batches", width, threads), func(b *testing.B) {
				it, err := batch.New([]*graph.Column{src}, batch.Options{Size: size, Seed: 1, Threads: threads})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(src.Values)))
				for b.Loop() {
					for _, err := range it.All(context.Background()) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
