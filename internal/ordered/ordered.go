// Package ordered runs work on several goroutines and takes the results in the order in which the items were made, so
// that an output does not depend on the number of threads. It imports internal/guard.
package ordered

import (
	"context"
	"io"
	"sync"

	"github.com/graphmill/graphmill/internal/guard"
)

// Stages are the three steps of an item. Fill and Work run inside guard.Do, Sink inside the guard of the caller.
type Stages[W, I any] struct {
	// Fill prepares an item. The error io.EOF itself, not wrapped, says that there are no more items. It is called for
	// one item at a time.
	Fill func(I) error
	// Work runs for several items at a time, each with the state of its worker. ctx ends with the one of Run, and when an item has failed and all before it have come to the
	// sink: what waits for the turn of an item waits for ctx too, since an item before it may never have its turn.
	Work func(ctx context.Context, worker W, item I) error
	// Sink takes the items in the order in which they were filled, in the goroutine that called Run. It leaves them
	// ready to be filled again.
	Sink func(I) error
}

// Slots is the number of items of a run with the given number of threads.
func Slots(threads int) int { return 2*threads + 1 }

// Run works until Fill ends. Its error is the error of the first item, in order, that failed, or of ctx. All its
// goroutines have then ended. newItem is called Slots(threads) times, newWorker once per thread.
func Run[W, I any](ctx context.Context, threads int, newWorker func() W, newItem func() I, s Stages[W, I]) error {
	type job struct {
		item  I
		index int
		last  bool // there is no item
		err   error
	}
	slots := Slots(threads)
	free, filled, done := make(chan I, slots), make(chan job, slots), make(chan job, slots)
	for range slots {
		free <- newItem()
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() {
		defer close(filled)
		for index := 0; ; index++ {
			var item I
			select {
			case item = <-free:
			case <-ctx.Done():
				return
			}
			err := guard.Do(func() error { return s.Fill(item) })
			//nolint:errorlint // an error that wraps io.EOF is a fault, not the end
			last := err == io.EOF
			filled <- job{item, index, last, err} // there are no more jobs than slots
			if err != nil {
				return
			}
		}
	})
	for range threads {
		worker := newWorker()
		running.Go(func() {
			for j := range filled {
				if ctx.Err() != nil {
					return
				}
				if j.err == nil {
					j.err = guard.Do(func() error { return s.Work(ctx, worker, j.item) })
				}
				done <- j
			}
		})
	}
	pending, ready := make([]job, slots), make([]bool, slots)
	for index := 0; ; {
		select {
		case j := <-done:
			pending[j.index%slots], ready[j.index%slots] = j, true
		case <-ctx.Done():
			return ctx.Err()
		}
		for at := index % slots; ready[at]; at = index % slots {
			j := pending[at]
			ready[at] = false
			if j.err == nil {
				j.err = s.Sink(j.item)
			}
			if j.last {
				return nil
			}
			if j.err != nil {
				return j.err
			}
			free <- j.item
			index++
		}
	}
}
