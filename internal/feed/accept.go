package feed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// patience is the time that a client has for its greeting, and for taking the message that ends its connection.
const patience = 10 * time.Second

// mostPause is the longest pause between two attempts to accept a connection.
const mostPause = time.Second

// Accept is the next connection at l. It returns nil when l is closed or ctx ends. Other errors, of which "too many open
// files" is the usual one, pass when connections end: they are logged, and Accept tries again.
func Accept(ctx context.Context, l net.Listener, log *Log) net.Conn {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, mostPause) {
		socket, err := l.Accept()
		switch {
		case err == nil:
			return socket
		case errors.Is(err, net.ErrClosed) || ctx.Err() != nil:
			return nil
		}
		log.Client("that connects", fmt.Errorf("%w; it waits until other connections end", err))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// PeerName names the process at the other end of a socket, for a Log.
func PeerName(socket net.Conn) string {
	if unix, ok := socket.(*net.UnixConn); ok {
		if name, _, err := peerOf(unix); err == nil {
			return name
		}
	}
	return "unknown"
}

// peerOf is the process at the other end of a socket, and its user.
func peerOf(socket *net.UnixConn) (name string, uid int, err error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return "unknown", 0, err
	}
	var pid int
	var failed error
	if err := raw.Control(func(fd uintptr) { pid, uid, failed = credentials(int(fd)) }); err != nil {
		return "unknown", 0, err
	}
	return fmt.Sprintf("process %d", pid), uid, failed
}

// peer is the process at the other end of a socket. It is an error if the process has another user, so that the token is
// not the only protection of the data.
func peer(socket *net.UnixConn) (name string, err error) {
	name, uid, err := peerOf(socket)
	if err != nil {
		return "unknown", err
	}
	if uid != os.Getuid() {
		return name, fmt.Errorf("found user %d, expected %d", uid, os.Getuid())
	}
	return name, nil
}

// errPacket is the kind of errors about packets that are too long.
var errPacket = errors.New("the packet is too long")

func tooLong(n, most int) error {
	return fmt.Errorf("found a packet of %d bytes, expected at most %d: %w", n, most, errPacket)
}
