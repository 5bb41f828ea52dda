package flight

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc/credentials"

	"github.com/graphmill/graphmill/internal/feed"
)

// mostConnections bounds the connections of a server. Those above it are closed at once.
const mostConnections = 4096

// listener bounds the number of connections, and closes all of them with itself: gRPC waits for those that have not
// finished their greeting.
type listener struct {
	net.Listener
	most int
	log  *feed.Log

	mu     sync.Mutex
	open   map[*conn]bool
	closed bool
}

// conn is a connection of a listener.
type conn struct {
	net.Conn
	of     *listener
	called atomic.Bool // a call was read
	heard  atomic.Bool // the client sent the greeting of HTTP/2
}

// Accept waits for a connection. An error that is not the end of the listener, of which "too many open files" is the
// usual one, passes when connections end: Accept logs it and tries again.
func (l *listener) Accept() (net.Conn, error) {
	for pause := 5 * time.Millisecond; ; {
		c, err := l.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil, err
		case err != nil:
			l.log.Client("that connects", fmt.Errorf("%w; it waits until other connections end", err))
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
			continue
		}
		if accepted := l.add(c); accepted != nil {
			return accepted, nil
		}
	}
}

// add counts a connection. It closes the connection and returns nil if there are too many, or if the listener is closed.
func (l *listener) add(c net.Conn) net.Conn {
	l.mu.Lock()
	full, closed := len(l.open) >= l.most, l.closed
	if !full && !closed {
		defer l.mu.Unlock()
		of := &conn{Conn: c, of: l}
		l.open[of] = true
		return of
	}
	l.mu.Unlock()
	_ = c.Close()
	if !closed {
		l.log.Client(c.RemoteAddr().String(), fmt.Errorf("found %d connections open, expected fewer", l.most))
	}
	return nil
}

// hangUp closes the listener and all connections.
func (l *listener) hangUp() {
	l.mu.Lock()
	l.closed = true
	var all []*conn
	for c := range l.open {
		all = append(all, c)
	}
	l.mu.Unlock()
	_ = l.Close()
	for _, c := range all {
		_ = c.Close()
	}
}

// Close closes the connection, and logs one that was greeted and never made a call that could be read.
func (c *conn) Close() error {
	c.of.mu.Lock()
	first := c.of.open[c]
	delete(c.of.open, c)
	silent := c.of.closed
	c.of.mu.Unlock()
	if first && !silent && c.heard.Load() && !c.called.Load() {
		c.of.log.Client(c.RemoteAddr().String(), errors.New("the connection ended before a call"))
	}
	return c.Conn.Close()
}

// greeting is credentials that also read the first bytes of HTTP/2, so that a client of another protocol gets its reason
// logged. Errors name the client.
type greeting struct {
	credentials.TransportCredentials
	log *feed.Log
}

// authenticated is the authentication of a connection, with the connection.
type authenticated struct {
	credentials.AuthInfo
	conn *conn
}

func (g greeting) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := g.TransportCredentials.ServerHandshake(raw)
	if err == nil {
		preface := make([]byte, len(http2.ClientPreface))
		var n int
		n, err = io.ReadFull(secured, preface)
		if err == nil && string(preface) != http2.ClientPreface {
			err = fmt.Errorf("found a greeting of %q, expected that of HTTP/2", preface)
		}
		if err == nil {
			c, _ := raw.(*conn)
			c.heard.Store(true)
			return &replayed{secured, preface[:n]}, authenticated{info, c}, nil
		}
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		reason := err
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			reason = fmt.Errorf("found no whole greeting within %s, expected one", greetingTime)
		case errors.Is(err, io.ErrUnexpectedEOF):
			reason = errors.New("the connection ended in the middle of the greeting")
		}
		g.log.Client(raw.RemoteAddr().String(), reason)
	}
	_ = raw.Close()
	return nil, nil, err
}

// Clone implements credentials.TransportCredentials.
func (g greeting) Clone() credentials.TransportCredentials {
	return greeting{g.TransportCredentials.Clone(), g.log}
}

// replayed is a connection whose first bytes were already read.
type replayed struct {
	net.Conn
	first []byte
}

func (r *replayed) Read(b []byte) (int, error) {
	if len(r.first) > 0 {
		n := copy(b, r.first)
		r.first = r.first[n:]
		return n, nil
	}
	return r.Conn.Read(b)
}
