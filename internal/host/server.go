package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/sample"
)

// ServerOptions say what a Server has, and bound its resources.
type ServerOptions struct {
	// Store is the checksum of the store's manifest; loaders of other stores are refused.
	Store string
	// Part and Parts say which of how many ranges the host has.
	Part, Parts int
	// Token must be in the Hello of each loader; "" asks for none.
	Token string
	// Threads is the number of questions that are worked on at a time.
	Threads int
	// Connections is the most connections at a time.
	Connections int
	// Log gets the name of each loader that was refused or cut off, and the reason. It may be nil.
	Log func(client string, err error)
	// Metrics gets the metrics of the server; nil: nobody asks for them.
	Metrics *metrics.Set
}

// Server answers the questions of loaders about its share of a graph.
type Server struct {
	g       *graph.Graph
	options ServerOptions
	share   *share
	drawers drawers
	places  chan struct{} // of questions that are worked on
	open    chan struct{} // connections
	counts  *counts
	frames  sync.Pool // *[]byte, so that a connection without a question holds none
}

// NewServer returns a server of a graph, which must outlive it.
func NewServer(g *graph.Graph, o ServerOptions) (*Server, error) {
	switch {
	case o.Parts < 1 || o.Parts > MostHosts || o.Part < 0 || o.Part >= o.Parts:
		return nil, fmt.Errorf("found part %d of %d, expected one of 1 to %d parts, from 0", o.Part, o.Parts, MostHosts)
	case o.Threads < 1:
		return nil, fmt.Errorf("found %d threads, expected at least 1", o.Threads)
	case o.Connections < 1:
		return nil, fmt.Errorf("found %d connections, expected at least 1", o.Connections)
	}
	s := &Server{g: g, options: o, places: make(chan struct{}, o.Threads), open: make(chan struct{}, o.Connections)}
	s.counts = newCounts(o.Metrics, s)
	err := guard.Do(func() error {
		s.share = newShare(g, o.Part, o.Parts)
		return nil
	})
	s.drawers = drawers{g: g, share: s.share}
	return s, err
}

// Serve answers questions until ctx ends. It then closes l, and returns when all work has ended.
func (s *Server) Serve(ctx context.Context, l net.Listener) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if c != nil {
				_ = c.Close()
			}
			return
		case err != nil: // "too many open files" passes when connections end
			s.log("that connects", err)
			pause.Reset(100 * time.Millisecond)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case s.open <- struct{}{}:
			running.Go(func() {
				defer func() { <-s.open }()
				s.serve(ctx, c)
			})
		default:
			s.counts.refused.Inc()
			s.log(c.RemoteAddr().String(), fmt.Errorf("found %d connections open, expected fewer", s.options.Connections))
			_ = c.Close()
		}
	}
}

func (s *Server) log(client string, err error) {
	if s.options.Log != nil {
		s.options.Log(client, err)
	}
}

// serve answers the questions of a connection until it ends.
func (s *Server) serve(ctx context.Context, c net.Conn) {
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	x := &served{s: s, c: c}
	err := x.hello()
	if err != nil && !errors.Is(err, io.EOF) {
		s.counts.refused.Inc()
	}
	for err == nil {
		err = x.question(ctx)
	}
	if !errors.Is(err, io.EOF) && ctx.Err() == nil {
		s.log(c.RemoteAddr().String(), err)
	}
}

// served is the connection of a loader.
type served struct {
	s       *Server
	c       net.Conn
	drawer  *drawer
	context *sample.Context
	columns *rowColumns
	buf     drawn
}

// hello reads the Hello, and answers it.
func (x *served) hello() error {
	kind, body, err := readFrame(x.c, noRoom, mostHello, false)
	if err != nil && !errors.Is(err, errProtocol) {
		return err
	}
	if err != nil || kind != kindHello || !bytes.HasPrefix(body, []byte(magic)) {
		return x.fail(fmt.Errorf("found a greeting of another protocol or version, expected %q; use the same version of graphmill on all machines: %w", magic[:len(magic)-1], errProtocol))
	}
	var hello Hello
	if err := json.Unmarshal(body[len(magic):], &hello); err != nil {
		return x.fail(fmt.Errorf("reading the greeting: %w: %w", err, errProtocol))
	}
	// Sums have one length, so that the time of the comparison tells nothing.
	want, have := sha256.Sum256([]byte(x.s.options.Token)), sha256.Sum256([]byte(hello.Token))
	if subtle.ConstantTimeCompare(want[:], have[:]) != 1 {
		return x.fail(errors.New("found another token, or none, expected the token of the host; give the loader the file that the host has"))
	}
	if hello.Store != x.s.options.Store {
		return x.fail(fmt.Errorf("found a loader of the store %s, expected %s, which this host has; start the hosts and the loader with the same version of the store", hello.Store, x.s.options.Store))
	}
	if err := guard.Do(func() error { return x.compile(&hello) }); err != nil {
		return x.fail(err)
	}
	welcome := Welcome{Part: x.s.options.Part, Parts: x.s.options.Parts, Edges: map[string][2]uint64{}}
	for i, e := range x.s.g.Edges {
		welcome.Edges[e.Type.String()] = x.s.share.edges[i]
	}
	frame, err := jsonFrame(kindWelcome, "", welcome)
	if err != nil {
		return err
	}
	return writeFrame(x.c, frame)
}

// compile prepares what a loader asks for.
func (x *served) compile(hello *Hello) (err error) {
	if x.columns, err = newRowColumns(x.s.g, hello); err != nil {
		return err
	}
	if x.drawer, err = x.s.drawers.of(hello.Plan); err != nil {
		return err
	}
	x.context = x.drawer.sampler.NewContext()
	return nil
}

// fail tells the loader why there is no answer, and returns the reason.
func (x *served) fail(reason error) error {
	frame, err := jsonFrame(kindFailure, "", Failure{reason.Error()})
	if err == nil {
		_ = writeFrame(x.c, frame) // the connection ends, and the reason is in the log
	}
	return reason
}

// mostKept bounds the memory of a buffer that is kept for other questions.
const mostKept = 32 << 20

// buffer returns a buffer for a frame, and what gives it back, with what it has become.
func (s *Server) buffer() (b []byte, done func(b []byte)) {
	p, ok := s.frames.Get().(*[]byte)
	if !ok {
		p = new([]byte)
	}
	return *p, func(b []byte) {
		if cap(b) <= mostKept {
			*p = b[:0]
			s.frames.Put(p)
		}
	}
}

// question reads a question and answers it.
func (x *served) question(ctx context.Context) error {
	done := func([]byte) {}
	kind, body, err := readFrame(x.c, func() (room []byte) {
		room, done = x.s.buffer()
		return room
	}, mostQuestion, true)
	defer func() { done(body) }()
	if err != nil {
		if errors.Is(err, errProtocol) {
			return x.fail(err)
		}
		return err
	}
	out, doneOut := x.s.buffer()
	defer func() { doneOut(out) }()
	began := time.Now()
	select {
	case x.s.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err = guard.Recovered(func() (err error) {
		out = newFrame(out, kind)
		switch kind {
		case kindDraws:
			out, err = x.drawer.draws(x.context, &x.buf, body, out)
		case kindRows:
			out, err = x.columns.rows(x.s.share, body, out)
		default:
			err = fmt.Errorf("found a frame of kind %d, expected a question: %w", kind, errProtocol)
		}
		return err
	})
	<-x.s.places
	x.s.counts.question(kind, err, time.Since(began), len(out))
	if err != nil {
		return x.fail(err)
	}
	err = writeFrame(x.c, endFrame(out))
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return io.EOF // the loader is gone
	}
	return err
}
