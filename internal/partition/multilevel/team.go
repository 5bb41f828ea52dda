package multilevel

import (
	"sync"
	"sync/atomic"
)

// team is the number of goroutines that work on one call.
type team struct {
	threads int
	stop    *atomic.Bool // set when the call is cancelled
}

// stopped reports whether the call was cancelled. Results computed from here on are not used.
func (t team) stopped() bool { return t.stop.Load() }

// alone is a team of one goroutine that stops with t.
func (t team) alone() team { return team{1, t.stop} }

// blocks calls f once for each block below n, with the number of the calling worker (below t.threads). Blocks
// are started in order. It returns when all calls have returned; some are left out if the team was stopped.
func (t team) blocks(n int, f func(worker, block int)) {
	if t.threads == 1 || n <= 1 {
		for b := 0; b < n && !t.stop.Load(); b++ {
			f(0, b)
		}
		return
	}
	var next atomic.Int64
	work := func(worker int) {
		for !t.stop.Load() {
			b := int(next.Add(1)) - 1
			if b >= n {
				return
			}
			f(worker, b)
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < min(t.threads, n); w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
}
