package structure

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
)

// nodeBlock is the number of nodes of a block. Sums over nodes are sums over the sums of blocks, at any number of threads.
const nodeBlock = 4096

// blocks is the number of blocks of n nodes.
func blocks(n int) int { return (n + nodeBlock - 1) / nodeBlock }

// eachBlock calls fn with each block of n nodes, on threads goroutines. fn receives the number of its goroutine.
func eachBlock(ctx context.Context, n, threads int, fn func(worker, first, last int) error) error {
	return eachIndex(ctx, blocks(n), threads, func(worker, i int) error {
		return fn(worker, i*nodeBlock, min(n, (i+1)*nodeBlock))
	})
}

// eachIndex calls fn with 0 to n-1, on at most threads goroutines, which take the numbers in ascending order.
func eachIndex(ctx context.Context, n, threads int, fn func(worker, i int) error) error {
	group, ctx := guard.WithContext(ctx)
	var next atomic.Int64
	for worker := range min(threads, n) {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := fn(worker, i); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// sum is the sum of fn over the blocks of n nodes.
func sum(ctx context.Context, n, threads int, fn func(first, last int) (float64, error)) (float64, error) {
	parts := make([]float64, blocks(n))
	err := eachBlock(ctx, n, threads, func(_, first, last int) (err error) {
		parts[first/nodeBlock], err = fn(first, last)
		return err
	})
	total := 0.0
	for _, p := range parts {
		total += p
	}
	return total, err
}
