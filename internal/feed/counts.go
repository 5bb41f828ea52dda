package feed

import (
	"sync"
	"time"

	"github.com/graphmill/graphmill/internal/metrics"
)

// counts are the metrics of a feed.
type counts struct {
	batches, failed, bytes *metrics.Counter
	seconds                *metrics.Histogram
	waited                 [between]*metrics.FloatCounter // by the state of a client

	mu      sync.Mutex
	clients map[*conn]bool
}

// state says who waits for whom.
type state int

const (
	full    state = iota // the client has a batch in each of its slots: it is slower than the feed
	empty                // the client wants batches and has none: the feed is slower than it
	between              // neither
)

// newCounts adds the metrics of a feed to a set.
func newCounts(set *metrics.Set) *counts {
	x := &counts{clients: map[*conn]bool{}}
	x.batches = set.Counter("graphmill_batches_total")
	x.failed = set.Counter("graphmill_batches_failed_total")
	x.bytes = set.Counter("graphmill_batch_bytes_total")
	x.seconds = set.Histogram("graphmill_batch_seconds")
	x.waited[full] = set.FloatCounter("graphmill_feed_waits_seconds_total", "for", "client")
	x.waited[empty] = set.FloatCounter("graphmill_feed_waits_seconds_total", "for", "batches")
	set.Gauge("graphmill_clients", func() float64 {
		x.mu.Lock()
		defer x.mu.Unlock()
		return float64(len(x.clients))
	})
	set.Before(x.settle)
	return x
}

// begin counts a client, and end does no more.
func (x *counts) begin(c *conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clients[c] = true
}

func (x *counts) end(c *conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.clients, c)
}

// settle counts the waits that are under way.
func (x *counts) settle() {
	x.mu.Lock()
	var clients []*conn
	for c := range x.clients {
		clients = append(clients, c)
	}
	x.mu.Unlock()
	for _, c := range clients { // outside the lock, which a client takes within its own
		c.mu.Lock()
		c.note()
		c.mu.Unlock()
	}
}

// note counts the time in the state that ends, and begins the next one, while the lock of the client is held.
func (c *conn) note() {
	now := time.Now()
	if x := c.server.counts; c.state < between {
		x.waited[c.state].Add(now.Sub(c.since).Seconds())
	}
	c.since, c.state = now, between
	switch wants := len(c.asks) > 0 || c.run != nil && !c.run.failed && c.run.end >= 0; {
	case c.sent >= len(c.ring.gen):
		c.state = full
	case wants && c.sent == 0 && !c.done:
		c.state = empty
	}
}
