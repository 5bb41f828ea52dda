package feed

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
)

// errLeft ends the stream of a connection whose client wants other batches.
var errLeft = errors.New("the client wants other batches")

// endless is the epochs of a stream that makes batches until the client wants others.
const endless = 64

// sweeps makes the batches of a connection by a stream until the connection ends. After the batches of an epoch come the batches of the
// next one, as far as there are slots, because most clients will request it.
func (c *conn) sweeps() {
	defer func() {
		if c.stream != nil {
			c.server.streams.close(c.stream, c.consumers)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for !c.done && (c.run == nil || c.run.swept) {
			c.wake.Wait()
		}
		if c.done {
			return
		}
		r := c.run
		ctx, cancel := context.WithCancel(context.Background())
		c.cancel = cancel
		r.swept = true
		c.mu.Unlock()
		err := c.sweep(ctx, r)
		c.mu.Lock()
		if ctx.Err() == nil && !errors.Is(err, errLeft) {
			c.broken(err)
		}
		c.cancel = nil
		cancel()
	}
}

// broken ends the runs under way with the error of their stream.
func (c *conn) broken(err error) {
	if err == nil {
		err = errors.New("found the end of the sweeps, expected more batches")
	}
	if c.next != nil {
		c.next.err = err
	}
	c.run.err = err
	c.flush()
}

// swept is a batch that a stream makes.
type swept struct {
	finished
	run *run // nil without a slot
}

// sweep makes the batches of a run, and of the epochs after it, until ctx ends or the client wants others.
func (c *conn) sweep(ctx context.Context, r *run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	defer guard.Catch(&err)()
	src := c.server.source.(*Source) // no other is streamed
	if c.stream == nil {
		if c.stream, err = c.server.streams.open(ctx, src, c.consumers); err != nil {
			return err
		}
	}
	var items []*swept
	defer func() { // slots of batches that were not finished
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, i := range items {
			c.drops(i)
		}
	}()
	newItem := func() *swept {
		i := &swept{}
		items = append(items, i)
		return i
	}
	write := func(ctx context.Context, i *swept, m *Maker, epoch uint64, b, size int) error {
		if err := c.lease(ctx, i, epoch, b); err != nil {
			return err
		}
		i.bytes = uint64(size)
		dst, jumbo, err := c.ring.room(i.slot, size)
		if err != nil {
			return err
		}
		i.jumbo = jumbo
		m.write(dst, i.t)
		return nil
	}
	sink := func(i *swept) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if i.run != c.run && i.run != c.next {
			return errLeft
		}
		i.run.ready[int(i.t.seq)] = i.finished
		if i.run == c.run {
			c.flush()
		}
		*i = swept{}
		return nil
	}
	c.mu.Lock()
	pass := Pass{Epoch: r.epoch, First: r.next, Step: c.step, End: r.until, Epochs: 1}
	if pass.First == c.first {
		pass.Epochs = endless
	}
	c.foresee()
	c.mu.Unlock()
	for {
		if err := RunStream(ctx, c.stream, pass, newItem, write, sink); err != nil {
			return err
		}
		pass = Pass{Epoch: pass.Epoch + uint64(pass.Epochs), First: c.first, Step: c.step, End: src.End(c.tail, 0, c.world), Epochs: endless}
		if pass.First >= pass.End {
			return errLeft // there is nothing to make before another START
		}
	}
}

// lease waits for a slot for a batch. Batches get their slots in order, so that the batch that is wanted first never waits
// for a slot that later batches hold. ctx is the one of the batch: after an error of an earlier one, whose turn may never come, it ends the wait.
func (c *conn) lease(ctx context.Context, i *swept, epoch uint64, b int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	stop := func() bool { return false }
	defer func() { stop() }()
	for waits := false; ; waits = true {
		if c.done {
			return errLeft
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := c.run
		if r != nil && r.epoch != epoch {
			r = c.next
		}
		if r != nil && r.epoch == epoch && r.next == b && len(c.free) > 0 {
			i.run = r
			break
		}
		if !waits {
			stop = context.AfterFunc(ctx, func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.wake.Broadcast()
			})
		}
		c.wake.Wait()
	}
	r := i.run
	i.slot = c.free[0]
	c.free = c.free[1:]
	c.ring.gen[i.slot]++
	c.ring.leased[i.slot] = true
	i.t = ticket{gen: c.ring.gen[i.slot], seq: uint64(b), run: r.number}
	r.next += c.step
	c.foresee()
	c.wake.Broadcast() // the next batch may wait for its turn
	return nil
}

// foresee begins the epoch after the run when all its batches are under way.
func (c *conn) foresee() {
	if c.run != nil && c.next == nil && c.run.next >= c.run.until {
		c.next = c.begin(c.run.epoch+1, 0)
		c.next.swept = true
	}
}

// drops gives the slot of a batch back that has not come to the sink.
func (c *conn) drops(i *swept) {
	if i.run != nil {
		c.give(i.finished)
		i.run = nil
		c.wake.Broadcast()
	}
}

// streams divides the memory of a source among the streams of its clients.
type streams struct {
	mu    sync.Mutex
	taken float64       // the share of the memory that streams have
	freed chan struct{} // closed when a stream ends
	wait  time.Duration // for a client that has just left to end its stream
}

// open opens the stream of one of n consumers. There may not be more than these.
func (s *streams) open(ctx context.Context, src *Source, n int) (*Stream, error) {
	late := time.After(s.wait)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.taken+1/float64(n) > 1.001 {
		freed := s.freed
		s.mu.Unlock()
		var err error
		select {
		case <-freed:
		case <-ctx.Done():
			err = errLeft
		case <-late:
			err = errors.New("found another process that reads batches of this loader, expected one reader, or the workers of one DataLoader, which have all of `Memory`; make a loader for each")
		}
		s.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	st, err := src.NewStream(n)
	if err == nil {
		s.taken += 1 / float64(n)
	}
	return st, err
}

func (s *streams) close(st *Stream, n int) {
	_ = st.Close() // its files were only read
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= 1 / float64(n)
	close(s.freed)
	s.freed = make(chan struct{})
}
