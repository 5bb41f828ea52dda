//go:build !portable

package feed

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// listen makes a socket of packets. Its name is abstract: only processes of this network namespace can connect, and the name is
// gone when the process ends in any way. clean removes what else the socket leaves.
func listen(name string) (l net.Listener, addr string, clean func(), err error) {
	l, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: "@" + name, Net: "unixpacket"})
	return l, name, func() {}, err
}

// enlarge does nothing: the buffers of Linux have room for messages about all slots.
func enlarge(*net.UnixConn) {}

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
		return nil, tooLong(n, most)
	case n > cap(buf):
		buf = make([]byte, n)
	}
	n, err = socket.Read(buf[:n])
	return buf[:n], err
}

// writePacket sends a packet and, with it, the descriptor fd unless it is negative.
func writePacket(socket *net.UnixConn, p []byte, fd int) error {
	_, _, err := socket.WriteMsgUnix(p, rights(fd), nil)
	return err
}

// anonymous is the descriptor of n bytes of zeros without a name. Their size is sealed, so that no client can make the server fault.
func anonymous(name string, n int64) (fd int, err error) {
	fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("making shared memory: %w", err)
	}
	if err = unix.Ftruncate(fd, n); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, noMemory(n, err)
	}
	return fd, nil
}
