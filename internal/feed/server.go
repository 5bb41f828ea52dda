package feed

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/internal/metrics"
)

// server hands batches to its clients.
type server struct {
	source  batchSource
	threads int
	makers  chan maker
	token   string
	log     *Log
	notes   []string
	shared  bool // ranks can share it
	streams streams
	counts  *counts
}

// batchSource makes the batches that a server hands out. It is a Source or Events.
type batchSource interface {
	// describe says in the answer to a greeting what batches have.
	describe(w *welcome)
	End(tail batch.Tail, first, ranks int) int
	CheckFirst(first uint64, ranks int) error
	Streamed() bool
	Epoch(number uint64) batch.Items
	newMaker() maker
	slotBytes() int64
}

// maker makes the batches of slots, one at a time.
type maker interface {
	Batch(order batch.Items, epoch uint64, b int) (int, error)
	Of(seeds []int64, epoch, unit uint64) (int, error)
	write(dst []byte, t ticket)
}

// maxSlots bounds the batches that a client may hold at a time.
const maxSlots = 1024

// mostSlotBytes bounds a slot. Larger batches come in memory of their own.
const mostSlotBytes = 1 << 30

// Options are of a server.
type Options struct {
	// Threads is the number of batches that are made at a time, over all clients. Streams have threads of their own.
	Threads int
	// Notes are lines of text for clients.
	Notes []string
	// Loopback makes batches go to clients over a socket of this machine's loopback address, where there is no shared memory.
	Loopback bool
	// Metrics gets the metrics of the server; nil: nobody asks for them. HTTP is the address at which they are, which owners are told.
	Metrics *metrics.Set
	HTTP    string
}

// Serve listens, tells its address to the owners, and answers clients until the last owner has left. Clients that it refuses or cuts off are told to the owners' log.
func Serve(source *Source, o Options, owners *Owners) error {
	if source.hosts != nil { // which batches may wait for, that nobody wants any more
		stop := context.AfterFunc(owners.Context(), source.hosts.Close)
		defer stop()
	}
	return serve(source, o, owners, source.wait)
}

// ServeEvents is Serve for batches of events.
func ServeEvents(source *Events, o Options, owners *Owners) error {
	return serve(source, o, owners, 0)
}

func serve(source batchSource, o Options, owners *Owners, wait time.Duration) error {
	var secret [16]byte
	_, _ = rand.Read(secret[:]) // never fails
	s := &server{source: source, threads: max(o.Threads, 1), notes: o.Notes, token: hex.EncodeToString(secret[:]), log: owners.log, shared: owners.join != nil, streams: streams{freed: make(chan struct{}), wait: wait}}
	if o.Metrics == nil {
		o.Metrics = metrics.New()
	}
	s.counts = newCounts(o.Metrics)
	if !source.Streamed() {
		s.makers = make(chan maker, s.threads)
		for range s.threads {
			s.makers <- source.newMaker()
		}
	}
	l, addr, clean, err := s.listen(o.Loopback)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer clean()
	ctx := owners.Context()
	if err := owners.tell(readyLine{ProtocolVersion, addr, s.token, os.Getpid(), o.HTTP}); err != nil {
		_ = l.Close()
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		c := Accept(ctx, l, s.log)
		if c == nil {
			break
		}
		running.Go(func() { s.accept(ctx, packetSocket(c)) })
	}
	owners.dismiss()
	return nil
}

// listen makes the socket at which clients connect.
func (s *server) listen(loopback bool) (l net.Listener, addr string, clean func(), err error) {
	if loopback {
		return listenLoopback()
	}
	return listen(fmt.Sprintf("graphmill-feed-%d-%s", os.Getpid(), s.token[:8]))
}

// with runs f with a maker, at most threads at a time.
func (s *server) with(f func(maker)) {
	m := <-s.makers
	defer func() { s.makers <- m }()
	f(m)
}

// accept greets a client and serves it.
func (s *server) accept(ctx context.Context, socket socket) {
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer stop()
	name, err := socket.peer()
	var c *conn
	if err == nil {
		c, err = s.greet(socket)
	}
	switch {
	case errors.Is(err, errGone):
		_ = socket.Close()
	case err != nil:
		if ctx.Err() == nil {
			s.log.Client(name, err)
		}
		_ = socket.SetWriteDeadline(time.Now().Add(patience))
		_ = socket.writePacket(failure(codeProtocol, err, ticket{}), -1)
		_ = socket.Close()
	default:
		if err := c.serve(); err != nil && ctx.Err() == nil {
			s.log.Client(name, err)
		}
	}
}

// errGone means that a client left before its greeting.
var errGone = errors.New("the client left before its greeting")

// greet reads HELLO and answers WELCOME, with the ring.
func (s *server) greet(socket socket) (*conn, error) {
	// A client that sends nothing is not waited for.
	if err := socket.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	first, err := socket.readPacket(nil, 4096)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("found no greeting within %s, expected one", patience)
	case err != nil:
		return nil, fmt.Errorf("reading the greeting: %w", err)
	case len(first) == 0:
		return nil, errGone
	}
	var h hello
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, fmt.Errorf("reading the greeting: %w", err)
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(h.Token), []byte(s.token)) != 1:
		return nil, errors.New("found a wrong token, expected that of the lifeline")
	case h.Version != ProtocolVersion:
		return nil, fmt.Errorf("found a client of protocol version %d, expected %d; install client and command of one release", h.Version, ProtocolVersion)
	case h.World < 1 || h.Rank < 0 || h.Rank >= h.World:
		return nil, fmt.Errorf("found rank %d of %d, expected 0 to %d", h.Rank, h.World, h.World-1)
	case h.World > MostRanks || h.Workers > MostRanks:
		return nil, fmt.Errorf("found a world of %d and %d workers, expected at most %d", h.World, h.Workers, MostRanks)
	case h.Worker < 0 || h.Worker >= max(h.Workers, 1):
		return nil, fmt.Errorf("found worker %d of %d, expected 0 to %d", h.Worker, h.Workers, max(h.Workers, 1)-1)
	case h.Slots < 1 || h.Slots > maxSlots:
		return nil, fmt.Errorf("found %d slots, expected 1 to %d", h.Slots, maxSlots)
	case h.SlotBytes < 0 || h.SlotBytes > mostSlotBytes:
		return nil, fmt.Errorf("found slots of %d bytes, expected at most %d", h.SlotBytes, mostSlotBytes)
	}
	tail, err := ParseTail(h.Tail)
	if err != nil {
		return nil, err
	}
	size := h.SlotBytes
	if size == 0 {
		size = min(s.source.slotBytes(), mostSlotBytes)
	}
	// Only pages that are written to take memory, so a slot can be as large as the largest batch.
	const step = 2 << 20
	size = (size + step - 1) / step * step
	ring, err := socket.newRing(h.Slots, size)
	if err != nil {
		return nil, err
	}
	c := &conn{server: s, socket: socket, ring: ring, first: h.Rank + h.World*h.Worker, step: h.World * max(h.Workers, 1), world: h.World, tail: tail.Of(h.World), consumers: max(h.Workers, 1)}
	if s.shared {
		c.consumers *= h.World
	}
	for i := range h.Slots {
		c.free = append(c.free, i)
	}
	w := welcome{
		Version: ProtocolVersion, Slots: h.Slots, SlotBytes: size,
		Batches: max(0, (s.source.End(c.tail, 0, h.World)-h.Rank+h.World-1)/h.World), Total: s.source.End(c.tail, 0, 1),
		Notes: s.notes,
	}
	s.source.describe(&w)
	body, err := json.Marshal(w)
	if err == nil {
		err = socket.writePacket(body, ring.descriptor())
	}
	if err == nil {
		err = socket.SetDeadline(time.Time{})
	}
	if err != nil {
		ring.close()
		return nil, fmt.Errorf("answering the greeting: %w", err)
	}
	return c, nil
}
