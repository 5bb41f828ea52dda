package feed

import (
	"errors"
	"net"
	"sync"
	"time"
)

// Over a socket of the loopback address, packets are framed as in a stream (frames.go), and the bytes of a batch follow its packet. Any user of
// the machine can connect there. The token, which only the owners of the feed are told, keeps others out.

// loopbackScheme begins an address of the loopback.
const loopbackScheme = "tcp:"

// listenLoopback makes a socket at a port of the loopback address that the system chooses.
func listenLoopback() (l net.Listener, addr string, clean func(), err error) {
	l, err = net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, "", nil, err
	}
	return l, loopbackScheme + l.Addr().String(), func() {}, nil
}

// loopback is a connection over which batches go. What is written waits in a queue, because a client that waits for room for a request does not
// read, and the server takes no request while it writes.
type loopback struct {
	*net.TCPConn

	mu     sync.Mutex
	wake   sync.Cond
	queue  [][]byte
	ending bool
	sent   chan struct{} // closed when nothing more is sent
}

// mostQueued bounds the packets and batches that wait. A client has at most maxSlots batches; more packets have only one that requests without reading.
const mostQueued = 1 << 14

var errQueued = errors.New("found a client that requests and does not read, expected one that reads; read the answers")

func newLoopback(c *net.TCPConn) *loopback {
	s := &loopback{TCPConn: c, sent: make(chan struct{})}
	s.wake.L = &s.mu
	go s.send()
	return s
}

// send sends what is queued until the connection ends.
func (s *loopback) send() {
	defer close(s.sent)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.ending {
			s.wake.Wait()
		}
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		if _, err := s.Write(next); err != nil {
			_ = s.TCPConn.Close() // read notices it
			return
		}
	}
}

// add queues bytes.
func (s *loopback) add(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= mostQueued {
		_ = s.TCPConn.Close()
		return errQueued
	}
	s.queue = append(s.queue, b)
	s.wake.Signal()
	return nil
}

// Close implements net.Conn. It sends what is queued, if the client takes it in time.
func (s *loopback) Close() error {
	s.mu.Lock()
	if !s.ending {
		s.ending = true
		_ = s.SetWriteDeadline(time.Now().Add(patience))
		s.wake.Signal()
	}
	s.mu.Unlock()
	<-s.sent
	return s.TCPConn.Close()
}

// peer names the client by its port: the system does not tell its process.
func (s *loopback) peer() (string, error) { return "at " + s.RemoteAddr().String(), nil }

func (*loopback) newRing(slots int, size int64) (*ring, error) { return newBodies(slots, size), nil }

func (s *loopback) readPacket(buf []byte, most int) ([]byte, error) {
	return readFrame(s.TCPConn, buf, most)
}

func (s *loopback) writePacket(p []byte, _ int) error { return s.add(frame(p)) }

func (s *loopback) writeBody(b []byte) { _ = s.add(b) } // the next packet has its error
