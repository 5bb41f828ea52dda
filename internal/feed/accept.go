package feed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// patience is the time that a client has for its greeting, and for taking the message that ends its connection.
const patience = 10 * time.Second

// mostPause is the longest pause between two attempts to accept a connection.
const mostPause = time.Second

// accept is the next connection at l. It returns nil when l is closed or ctx ends. Other errors, of which "too many open
// files" is the usual one, pass when connections end: they are logged, and accept tries again.
func accept(ctx context.Context, l *net.UnixListener, log *Log) *net.UnixConn {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, mostPause) {
		socket, err := l.AcceptUnix()
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

// peer is the process at the other end of a socket. It is an error if the process has another user, so that the token is
// not the only protection of the data.
func peer(socket *net.UnixConn) (name string, err error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return "unknown", err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return "unknown", err
	}
	if failed != nil {
		return "unknown", failed
	}
	name = fmt.Sprintf("process %d", cred.Pid)
	if int(cred.Uid) != os.Getuid() {
		return name, fmt.Errorf("found user %d, expected %d", cred.Uid, os.Getuid())
	}
	return name, nil
}

// readPacket reads the next packet into buf, which it makes larger for a larger packet. The length of a packet is looked at
// before memory is allocated for it. The result is empty where the client is gone.
func readPacket(socket *net.UnixConn, buf []byte, most int) ([]byte, error) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil, err
	}
	var n int
	var failed error
	if err := raw.Read(func(fd uintptr) bool {
		for {
			n, _, failed = unix.Recvfrom(int(fd), nil, unix.MSG_PEEK|unix.MSG_TRUNC)
			if failed != unix.EINTR {
				return failed != unix.EAGAIN
			}
		}
	}); err != nil {
		return nil, err
	}
	switch {
	case failed != nil:
		return nil, failed
	case n == 0:
		return nil, nil
	case n > most:
		_, _ = socket.Read(make([]byte, 1)) // a connection that is closed with an unread packet loses its last message
		return nil, fmt.Errorf("found a packet of %d bytes, expected at most %d: %w", n, most, errPacket)
	case n > cap(buf):
		buf = make([]byte, n)
	}
	n, err = socket.Read(buf[:n])
	return buf[:n], err
}

// errPacket is the kind of errors about packets that are too long.
var errPacket = errors.New("the packet is too long")
