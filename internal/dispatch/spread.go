package dispatch

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
)

// spread calls work(ctx, worker, i) for all i below n, on at most workers goroutines. All calls have returned
// when it returns.
func spread(ctx context.Context, workers, n int, work func(ctx context.Context, worker, i int) error) error {
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for w := range max(1, min(workers, n)) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := work(ctx, w, i); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}
