package feed

import "net"

// socket is the connection of a client: one over which shared memory is handed (unixSocket), or one over which batches go themselves (loopback).
type socket interface {
	net.Conn
	// peer names the process at the other end. It is an error if the process has another user, as far as the system tells.
	peer() (name string, err error)
	// newRing makes slots for batches of at most size bytes. Larger ones are larger than a slot.
	newRing(slots int, size int64) (*ring, error)
	// readPacket reads the next packet into buf, which it makes larger for a larger packet, but not for one of more than most bytes. The result is
	// empty where the client is gone.
	readPacket(buf []byte, most int) ([]byte, error)
	// writePacket sends a packet and, with it, the descriptor fd unless it is negative. Calls must not overlap.
	writePacket(p []byte, fd int) error
	// writeBody sends the bytes of a batch after its packet, where the ring is not shared. They must not change until the client has given their slot back.
	writeBody(b []byte)
}

// packetSocket is the socket of a connection that was accepted.
func packetSocket(c net.Conn) socket {
	if tcp, ok := c.(*net.TCPConn); ok {
		return newLoopback(tcp)
	}
	unix := c.(*net.UnixConn)
	enlarge(unix)
	return unixSocket{unix}
}

// unixSocket is a connection that carries descriptors.
type unixSocket struct{ *net.UnixConn }

func (s unixSocket) peer() (string, error)                      { return peer(s.UnixConn) }
func (unixSocket) newRing(slots int, size int64) (*ring, error) { return newRing(slots, size) }
func (s unixSocket) writePacket(p []byte, fd int) error         { return writePacket(s.UnixConn, p, fd) }
func (unixSocket) writeBody([]byte)                             {}
func (s unixSocket) readPacket(buf []byte, most int) ([]byte, error) {
	return readPacket(s.UnixConn, buf, most)
}
