package table

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
)

// Each calls fn for the units 0..n-1 from several goroutines. Of several errors it returns the error of the first unit.
func Each(ctx context.Context, n, threads int, fn func(worker, unit int) error) error {
	var next atomic.Int64
	var group sync.WaitGroup
	var mu sync.Mutex
	var first error
	at := n
	for worker := range threads {
		group.Go(func() {
			for ctx.Err() == nil {
				unit := int(next.Add(1)) - 1
				mu.Lock()
				end := unit >= at
				mu.Unlock()
				if end {
					return
				}
				if err := guard.Do(func() error { return fn(worker, unit) }); err != nil {
					mu.Lock()
					if unit < at {
						first, at = err, unit
					}
					mu.Unlock()
					return
				}
			}
		})
	}
	group.Wait()
	if first != nil {
		return first
	}
	return context.Cause(ctx)
}
