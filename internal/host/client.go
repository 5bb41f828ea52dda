package host

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/graphmill/graphmill/graph"
)

// Options say how a Client reaches the hosts.
type Options struct {
	// Addresses are host:port of all hosts of the store, in any order.
	Addresses []string
	// TLS is how hosts are verified; nil sends plain bytes.
	TLS *tls.Config
	// Patience is the time for which a host that cannot be reached, or went away, is asked again.
	Patience time.Duration
	// Say gets lines about hosts that are waited for. It may be nil.
	Say func(line string)
}

// Client knows the hosts of a store, and where their ranges begin. It is safe for concurrent use.
type Client struct {
	ctx       context.Context
	cancel    context.CancelFunc
	o         Options
	hello     []byte   // the frame
	addresses []string // by part
	nodes     []owners // by node type
	edges     []owners // by edge type

	mu      sync.Mutex
	waiting map[string]bool // hosts that were said to be waited for
}

// Dial asks the hosts for their ranges of a graph. They must be all hosts of the store that the Hello names. The client is closed by Close, or when ctx ends.
func Dial(ctx context.Context, g *graph.Graph, hello Hello, o Options) (_ *Client, err error) {
	if len(o.Addresses) == 0 || len(o.Addresses) > MostHosts {
		return nil, fmt.Errorf("found %d addresses of hosts, expected 1 to %d", len(o.Addresses), MostHosts)
	}
	frame, err := jsonFrame(kindHello, magic, hello)
	if err != nil {
		return nil, err
	}
	c := &Client{o: o, hello: frame, addresses: make([]string, len(o.Addresses)), waiting: map[string]bool{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			c.cancel()
		}
	}()
	welcomes := make([]*Welcome, len(o.Addresses))
	for _, address := range o.Addresses {
		link := &link{client: c, address: address, part: -1, until: c.ctx}
		err := link.retry(func() error { return link.open() })
		link.close()
		if err != nil {
			return nil, err
		}
		w := link.welcome
		if w.Parts != len(o.Addresses) || w.Part < 0 || w.Part >= w.Parts {
			return nil, fmt.Errorf("host %s: found part %d of %d, expected one of %d, because as many hosts are given; name each host of the store once", address, w.Part, w.Parts, len(o.Addresses))
		}
		if welcomes[w.Part] != nil {
			return nil, fmt.Errorf("host %s: found part %d of %d, which host %s has, expected each part once; start the hosts with different parts", address, w.Part, w.Parts, c.addresses[w.Part])
		}
		welcomes[w.Part], c.addresses[w.Part] = w, address
	}
	return c, c.place(g, welcomes)
}

// place finds where the ranges begin.
func (c *Client) place(g *graph.Graph, welcomes []*Welcome) error {
	for _, n := range g.Nodes {
		c.nodes = append(c.nodes, owners{Bounds(n.Count, len(welcomes))})
	}
	for _, e := range g.Edges {
		var bounds []uint64
		for part, w := range welcomes {
			of, ok := w.Edges[e.Type.String()]
			if !ok || part > 0 && of[0] != bounds[part] {
				return fmt.Errorf("host %s: found no edges of %s that follow those of the host before, expected them; start all hosts with the same store", c.addresses[part], e.Type)
			}
			if part == 0 {
				bounds = append(bounds, of[0])
			}
			bounds = append(bounds, of[1])
		}
		if err := checkBounds(e.Type.String(), bounds, e.Count); err != nil {
			return err
		}
		c.edges = append(c.edges, owners{bounds})
	}
	return nil
}

// Hosts is the number of hosts.
func (c *Client) Hosts() int { return len(c.addresses) }

// Close ends all questions that are under way, and the connections.
func (c *Client) Close() { c.cancel() }

// NewSession returns a session. It connects when it is first used, and its connections end with the client.
func (c *Client) NewSession() *Session {
	s := &Session{links: make([]link, len(c.addresses))}
	for part, address := range c.addresses {
		s.links[part] = link{client: c, address: address, part: part, until: c.ctx}
	}
	return s
}

// Session is a connection to each host, for one question at a time. It serves one goroutine at a time.
type Session struct{ links []link }

// Until makes questions from now on end with a context: hosts that went away are not waited for after it.
func (s *Session) Until(ctx context.Context) {
	for i := range s.links {
		s.links[i].until = ctx
	}
}

// Ask sends each host its frame, nil for none, and returns the answers, which are valid until the next call. kind is the kind of both.
func (s *Session) Ask(kind uint32, frames [][]byte) (answers [][]byte, err error) {
	whole := false
	defer func() {
		if !whole { // answers that nobody reads may be under way
			for i := range s.links {
				s.links[i].close()
			}
		}
	}()
	answers = make([][]byte, len(s.links))
	for i := range s.links {
		s.links[i].sent = false
		if frames[i] != nil {
			// A failure is found again when the answer is read, and the question is then sent again.
			s.links[i].sent = s.links[i].send(frames[i]) == nil
		}
	}
	for i := range s.links {
		if frames[i] == nil {
			continue
		}
		if answers[i], err = s.links[i].answer(kind, frames[i]); err != nil {
			return nil, err
		}
	}
	whole = true
	return answers, nil
}

// link is the connection to a host.
type link struct {
	client  *Client
	address string
	part    int // -1: any
	c       net.Conn
	stop    func() bool
	welcome *Welcome
	sent    bool // the question was sent
	until   context.Context
	buf     []byte
}

// room is the memory of the last frame.
func (l *link) room() []byte { return l.buf }

// refusal is the error of a host that does not answer, however often it is asked.
type refusal struct{ error }

func (l *link) close() {
	if l.c != nil {
		l.stop()
		_ = l.c.Close()
		l.c = nil
	}
}

// dialTime is the time for one attempt to connect.
const dialTime = 10 * time.Second

// open connects, and greets the host.
func (l *link) open() error {
	ctx, cancel := context.WithTimeout(l.client.ctx, dialTime)
	defer cancel()
	c, err := l.dial(ctx)
	if err != nil {
		var verification *tls.CertificateVerificationError
		var plain tls.RecordHeaderError
		if errors.As(err, &verification) || errors.As(err, &plain) {
			return refusal{err}
		}
		return err
	}
	l.c, l.stop = c, context.AfterFunc(l.client.ctx, func() { _ = c.Close() })
	if err := writeFrame(c, l.client.hello); err != nil {
		return err
	}
	kind, body, err := readFrame(c, l.room, mostHello, false)
	if errors.Is(err, errProtocol) {
		return refusal{fmt.Errorf("%w; give the address of graphmill host and, where it has a certificate, `HostsCA`", err)}
	} else if err != nil {
		return err
	}
	l.buf = body
	if err := failed(kind, body); err != nil {
		return err
	}
	l.welcome = &Welcome{}
	if kind != kindWelcome || json.Unmarshal(body, l.welcome) != nil {
		return refusal{errors.New("found an answer that is no welcome of a host; give the address of graphmill host")}
	}
	if l.part >= 0 && (l.welcome.Part != l.part || l.welcome.Parts != len(l.client.addresses)) {
		return refusal{fmt.Errorf("found part %d of %d, expected part %d of %d, which it had before; start it as before", l.welcome.Part, l.welcome.Parts, l.part, len(l.client.addresses))}
	}
	return nil
}

func (l *link) dial(ctx context.Context) (net.Conn, error) {
	if l.client.o.TLS != nil {
		return (&tls.Dialer{Config: l.client.o.TLS}).DialContext(ctx, "tcp", l.address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
}

// failed is the error of a frame that is a Failure.
func failed(kind uint32, body []byte) error {
	if kind != kindFailure {
		return nil
	}
	var f Failure
	if err := json.Unmarshal(body, &f); err != nil {
		return refusal{err}
	}
	return refusal{errors.New(f.Error)}
}

// send sends a frame, and connects before if necessary.
func (l *link) send(frame []byte) error {
	if l.c == nil {
		if err := l.open(); err != nil {
			l.close()
			return err
		}
	}
	if err := writeFrame(l.c, frame); err != nil {
		l.close()
		return err
	}
	return nil
}

// answer reads the answer to a frame. Where the connection fails, it asks again.
func (l *link) answer(kind uint32, frame []byte) (answer []byte, err error) {
	err = l.retry(func() error {
		if !l.sent {
			if err := l.send(frame); err != nil {
				return err
			}
		}
		l.sent = false
		got, body, err := readFrame(l.c, l.room, mostAnswer, true)
		if err != nil {
			return err
		}
		l.buf = body
		if err := failed(got, body); err != nil {
			return err
		}
		if got != kind {
			return refusal{fmt.Errorf("found a frame of kind %d, expected the answer %d", got, kind)}
		}
		answer = body
		return nil
	})
	return answer, err
}

// Pauses between two attempts to reach a host.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// retry runs f until it succeeds, the host refuses, or the client's patience or context ends.
func (l *link) retry(f func() error) error {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		err := f()
		if err == nil {
			if pause > firstPause {
				l.client.reached(l.address)
			}
			return nil
		}
		l.close()
		var refused refusal
		switch {
		case l.client.ctx.Err() != nil:
			return context.Cause(l.client.ctx)
		case l.until.Err() != nil:
			return context.Cause(l.until)
		case errors.As(err, &refused):
			return fmt.Errorf("host %s: %w", l.address, refused.error)
		case time.Since(began) > l.client.o.Patience:
			return fmt.Errorf("host %s: found no answer for %s, expected one; start the host again, with the same store and part: %w", l.address, l.client.o.Patience, err)
		}
		l.client.waits(l.address, err)
		select {
		case <-time.After(pause):
		case <-l.client.ctx.Done():
		case <-l.until.Done():
		}
	}
}

// waits says once that a host is waited for.
func (c *Client) waits(address string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.waiting[address] && c.o.Say != nil {
		c.o.Say(fmt.Sprintf("waiting for the host %s: %s", address, strings.TrimSpace(err.Error())))
	}
	c.waiting[address] = true
}

// reached says that a host that was waited for is back.
func (c *Client) reached(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[address] && c.o.Say != nil {
		c.o.Say(fmt.Sprintf("the host %s answers again", address))
	}
	delete(c.waiting, address)
}
