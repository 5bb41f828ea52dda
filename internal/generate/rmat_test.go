package generate_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/generate"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var columns = []table.Column{{Name: "src", DType: graph.Uint64, ID: true}, {Name: "dst", DType: graph.Uint64, ID: true}}

// TestRMATFollowsTheLaw compares every row with the law of package sample, which is tested against the reference, for
// several numbers of threads.
func TestRMATFollowsTheLaw(t *testing.T) {
	const scale, factor, seed = 12, 20, 42
	tab, err := generate.NewRMAT(seed, scale, factor)
	if err != nil {
		t.Fatal(err)
	}
	law, err := draw.NewRMAT(seed, scale)
	if err != nil {
		t.Fatal(err)
	}
	n := factor << scale
	src, dst := make([]uint32, n), make([]uint32, n)
	law.Fill(src, dst, 0)
	for _, threads := range []int{1, 2, 8} {
		seen := make([]bool, n)
		var mu sync.Mutex
		rows, err := tab.Scan(context.Background(), columns, threads, func(_ int, c *table.Chunk) error {
			mu.Lock()
			defer mu.Unlock()
			s, d := graph.View[uint64](c.Columns[0].Data), graph.View[uint64](c.Columns[1].Data)
			for i := range c.Rows {
				row := int(c.First) + i
				if seen[row] || s[i] != uint64(src[row]) || d[i] != uint64(dst[row]) {
					t.Errorf("row %d: (%d, %d), seen %v", row, s[i], d[i], seen[row])
				}
				seen[row] = true
			}
			return nil
		})
		if err != nil || rows != uint64(n) {
			t.Fatalf("%d rows, %v", rows, err)
		}
		for row, ok := range seen {
			if !ok {
				t.Fatalf("%d threads: row %d is missing", threads, row)
			}
		}
	}
}

func TestRMATStops(t *testing.T) {
	tab, err := generate.NewRMAT(1, 20, 16)
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	if _, err := tab.Scan(context.Background(), columns, 2, func(int, *table.Chunk) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error of the callback: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tab.Scan(ctx, columns, 2, func(int, *table.Chunk) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := tab.Scan(context.Background(), []table.Column{{Name: "weight"}}, 1, nil); err == nil {
		t.Error("a column that there is not was taken")
	}
	for _, bad := range [][2]int{{0, 1}, {32, 1}, {5, 0}, {5, 1 << 30}} {
		if _, err := generate.NewRMAT(0, bad[0], bad[1]); err == nil {
			t.Errorf("scale %d, edge factor %d were taken", bad[0], bad[1])
		}
	}
}
