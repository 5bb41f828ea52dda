package feed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/internal/guard"
)

// conn is the connection of a client: its ring, its requests, and its batches under way.
type conn struct {
	server *server
	socket socket
	ring   *ring
	first  int // first batch of an epoch that its consumer takes
	step   int // from one of its batches to the next
	world  int
	tail   batch.Tail

	// Of a streamed source: the consumers that share the memory, and the stream, which the goroutine of sweeps alone uses.
	consumers int
	stream    *Stream

	mu    sync.Mutex
	wake  sync.Cond // signals slots, work or the end
	free  []int     // slots
	run   *run      // nil while no epoch is requested
	next  *run      // the epoch after run, nil until it begins
	runs  uint64    // number of requested runs
	asks  []request // SAMPLE requests, in order
	asked int       // their bytes
	done  bool
	sent  int // slots whose batches the client has not given back
	state state
	since time.Time // of the state
	// cancel ends the sweep that is under way; nil without one.
	cancel context.CancelFunc
}

// run is an epoch that a client requested, or will probably request next.
type run struct {
	number uint64
	epoch  uint64
	order  batch.Items
	next   int // next batch to make
	send   int // next batch to send
	end    int // first batch after the pass; -1 after its END
	until  int // first batch after the pass
	ready  map[int]finished
	failed bool
	last   bool // no epoch begins before it is requested
	// Of a streamed source: a sweep makes its batches or has begun to; the error that ended the sweep.
	swept bool
	err   error
}

// finished is a batch that waits for earlier batches.
type finished struct {
	slot  int
	bytes uint64
	t     ticket
	jumbo *memory
	err   error
}

// serve answers a connection until it ends. An error is a fault of the client.
func (c *conn) serve() error {
	c.wake.L = &c.mu
	c.state = between
	c.server.counts.begin(c)
	defer c.server.counts.end(c)
	var makers sync.WaitGroup
	work, threads := c.make, c.server.threads
	if c.server.source.Streamed() {
		work, threads = c.sweeps, 1
	}
	for range threads {
		makers.Go(work)
	}
	err := c.read()
	if err != nil {
		// A client that does not read must not hold a maker in a write.
		_ = c.socket.SetWriteDeadline(time.Now().Add(patience))
	}
	c.mu.Lock()
	c.done = true
	c.note()
	c.halt()
	c.wake.Broadcast()
	if err != nil {
		_ = c.socket.writePacket(failure(codeProtocol, err, ticket{}), -1)
	}
	c.mu.Unlock()
	_ = c.socket.Close()
	makers.Wait()
	c.drop()
	c.ring.close()
	return err
}

// read takes requests until the connection ends. An error is a fault of the client.
func (c *conn) read() error {
	var buf []byte
	for {
		p, err := c.socket.readPacket(buf, maxPacket)
		switch {
		case errors.Is(err, errPacket):
			return err
		case err != nil || len(p) == 0:
			return nil // the client is gone
		}
		buf = p
		r, err := parseRequest(p)
		if err == nil {
			err = c.take(r)
		}
		if err != nil {
			return err
		}
	}
}

// maxPacket bounds a request: a SAMPLE is the longest.
const maxPacket = 1 << 20

// mostAsked bounds the bytes of the SAMPLE requests of a client that wait for a slot.
const mostAsked = 4 << 20

func (c *conn) take(r request) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.kind {
	case reqReturn:
		if int(r.slot) >= len(c.ring.gen) || !c.ring.leased[r.slot] || c.ring.gen[r.slot] != r.a {
			return fmt.Errorf("found slot %d given back with number %d, expected a slot that is leased", r.slot, r.a)
		}
		c.ring.leased[r.slot] = false
		c.sent = max(0, c.sent-1)
		c.free = append(c.free, int(r.slot))
	case reqStart:
		src := c.server.source
		if err := src.CheckFirst(r.a, c.world); err != nil {
			return err
		}
		var next *run
		if c.next != nil && c.next.epoch == r.b && r.a == 0 {
			next, c.next = c.next, nil
		}
		c.drop()
		if next == nil {
			c.halt()
			next = c.begin(r.b, int(r.a))
		}
		c.run = next
		c.runs++
		if next.swept {
			c.foresee()
		}
		c.flush()
	case reqSample:
		if c.server.source.Streamed() {
			c.write(failure(codeBatch, errAsked, ticket{seq: r.a}), -1)
			return nil
		}
		if c.asked += r.bytes(); c.asked > mostAsked {
			return fmt.Errorf("found SAMPLE requests of %d bytes that wait for a slot, expected at most %d; give slots back first", c.asked, mostAsked)
		}
		// It may take the slots of an epoch that nobody has requested.
		c.asks = append(c.asks, r)
		c.next = c.leave(c.next)
		if c.run != nil {
			c.run.last = true
		}
	default:
		return fmt.Errorf("found a packet of type %d, expected 2, 3 or 4", r.kind)
	}
	c.note()
	c.wake.Broadcast()
	return nil
}

// begin is a run of an epoch from a batch on. It has the number of the next START.
func (c *conn) begin(epoch uint64, batch int) *run {
	src, first := c.server.source, batch+c.first
	end := src.End(c.tail, batch, c.world)
	r := &run{number: c.runs + 1, epoch: epoch, next: first, send: first, end: end, until: end, ready: map[int]finished{}}
	if !src.Streamed() {
		r.order = src.Epoch(epoch)
	}
	return r
}

// errAsked is the error of SAMPLE requests to a streamed source.
var errAsked = errors.New("found seeds that are asked for, expected epochs: each sweep of the stream executor serves many batches; take the memory executor (`Executor`)")

// halt ends the sweep that is under way.
func (c *conn) halt() {
	if c.cancel != nil {
		c.cancel()
	}
}

// leave ends a run and frees the slots of batches that were made and not sent. The client frees those that it has not
// taken.
func (c *conn) leave(r *run) *run {
	if r != nil {
		for _, f := range r.ready {
			c.give(f)
		}
	}
	return nil
}

// drop leaves the current run and the next one.
func (c *conn) drop() { c.run, c.next = c.leave(c.run), c.leave(c.next) }

// upcoming is the run that needs a batch, nil if there is none. When all batches of an epoch are under way, it begins
// the next epoch, because most clients will request it.
func (c *conn) upcoming() *run {
	if c.run == nil || c.run.failed {
		return nil
	}
	if c.run.next < c.run.end {
		return c.run
	}
	if c.next == nil && !c.run.last {
		c.next = c.begin(c.run.epoch+1, 0)
	}
	if c.next != nil && c.next.next < c.next.end {
		return c.next
	}
	return nil
}

// give frees the slot and the memory of a batch that is not sent.
func (c *conn) give(f finished) {
	if f.jumbo != nil {
		f.jumbo.close()
	}
	c.ring.leased[f.slot] = false
	c.free = append(c.free, f.slot)
}

// make makes batches, one after the other, until the connection ends.
func (c *conn) make() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.done {
			return
		}
		ask, run := len(c.asks) > 0, (*run)(nil)
		if len(c.free) > 0 && !ask {
			run = c.upcoming()
		}
		if len(c.free) == 0 || !ask && run == nil {
			c.wake.Wait()
			continue
		}
		// A slot and the next number are taken together. Otherwise the batch that is wanted first could wait for a slot
		// that later batches hold.
		slot := c.free[0]
		c.free = c.free[1:]
		c.ring.gen[slot]++
		c.ring.leased[slot] = true
		f := finished{slot: slot, t: ticket{gen: c.ring.gen[slot]}}
		if ask {
			r := c.asks[0]
			c.asks = c.asks[1:]
			c.asked -= r.bytes()
			f.t.seq = r.a
			c.mu.Unlock()
			c.server.with(func(m maker) { c.fill(m, &f, func() (int, error) { return m.Of(r.seeds, r.b, r.a) }) })
			c.mu.Lock()
			c.post(f)
			continue
		}
		b := run.next
		run.next += c.step
		f.t.seq, f.t.run = uint64(b), run.number
		c.mu.Unlock()
		c.server.with(func(m maker) { c.fill(m, &f, func() (int, error) { return m.Batch(run.order, run.epoch, b) }) })
		c.mu.Lock()
		if run != c.run && run != c.next {
			c.give(f)
			c.wake.Broadcast()
			continue
		}
		run.ready[b] = f
		if run == c.run {
			c.flush()
		}
	}
}

// fill makes a batch in its slot, or in memory of its own where the slot is too small. A fault under a map and a panic
// become the error of the batch, so that they do not end the other connections.
func (c *conn) fill(m maker, f *finished, sample func() (int, error)) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("panic: %v", p)
		}
	}()
	f.err = guard.Do(func() error {
		n, err := sample()
		if err != nil {
			return err
		}
		f.bytes = uint64(n)
		dst, jumbo, err := c.ring.room(f.slot, n)
		if err != nil {
			return err
		}
		f.jumbo = jumbo
		m.write(dst, f.t)
		c.server.counts.seconds.Update(time.Since(began).Seconds())
		return nil
	})
}

// flush sends the batches that are next in the order of the run.
func (c *conn) flush() {
	r := c.run
	for !r.failed && r.send < r.end {
		f, ok := r.ready[r.send]
		if !ok {
			if r.err != nil {
				r.failed = true
				t := ticket{seq: uint64(r.send), run: r.number}
				c.write(failure(codeBatch, fmt.Errorf("batch %d: %w", r.send, r.err), t), -1)
				c.note()
			}
			return
		}
		delete(r.ready, r.send)
		r.send += c.step
		r.failed = f.err != nil
		c.post(f)
	}
	if !r.failed && r.send >= r.end && r.end >= 0 {
		r.end = -1
		c.write(message(msgEnd, 0, ticket{run: r.number}, 0), -1)
	}
	c.note()
}

// post sends a batch, or its error.
func (c *conn) post(f finished) {
	x := c.server.counts
	if f.err == nil {
		c.sent++
		x.batches.Inc()
		x.bytes.AddInt64(int64(f.bytes))
	}
	switch {
	case f.err != nil:
		err := fmt.Errorf("batch %d: %w", f.t.seq, f.err)
		c.write(failure(codeBatch, err, f.t), -1)
		c.give(f)
		x.failed.Inc()
	case f.jumbo != nil:
		c.write(message(msgJumbo, uint32(f.slot), f.t, f.bytes), f.jumbo.fd)
		f.jumbo.close()
	case c.ring.bodies != nil:
		c.write(message(msgBatch, uint32(f.slot), f.t, f.bytes), -1)
		c.socket.writeBody(c.ring.bodies[f.slot])
	default:
		c.write(message(msgBatch, uint32(f.slot), f.t, f.bytes), -1)
	}
	c.note()
}

// write sends a packet and, with it, the descriptor fd unless it is negative, while the lock is held. read notices where the client
// is gone.
func (c *conn) write(p []byte, fd int) {
	if err := c.socket.writePacket(p, fd); err != nil && !errors.Is(err, net.ErrClosed) {
		_ = c.socket.Close()
	}
}
