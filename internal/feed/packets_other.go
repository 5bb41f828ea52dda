//go:build unix && (!linux || portable)

package feed

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The forms here are for systems without abstract sockets, sockets of packets, and sealed memory. Linux takes them with the tag
// portable, so that they can be tested there.

// enlarge gives a connection room for messages about all slots at a time, so that the server, which takes no request while it waits
// for room, does not wait for a client that waits for the server. macOS gives 8 KiB.
func enlarge(socket *net.UnixConn) {
	_ = socket.SetWriteBuffer(256 << 10)
	_ = socket.SetReadBuffer(256 << 10)
}

// listen makes a stream socket in a new folder that only this user can open. The address is its path. clean removes the folder;
// a process that is killed leaves it.
func listen(name string) (l net.Listener, addr string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "graphmill-")
	if err != nil {
		return nil, "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	addr = filepath.Join(dir, "feed")
	if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"}); err != nil {
		clean()
		return nil, "", nil, fmt.Errorf("%w; a path of a socket has at most 103 bytes: if TMPDIR is long, set it to a shorter one", err)
	}
	return l, addr, clean, nil
}

// readPacket reads the next packet. The result is empty where the client is gone.
func readPacket(socket *net.UnixConn, buf []byte, most int) ([]byte, error) {
	return readFrame(socket, buf, most)
}

// writePacket sends a packet after its length and, with its first byte, the descriptor fd unless it is negative. Calls for one
// socket must not overlap.
func writePacket(socket *net.UnixConn, p []byte, fd int) error {
	p = frame(p)
	n, _, err := socket.WriteMsgUnix(p, rights(fd), nil)
	if err == nil && n < len(p) {
		_, err = socket.Write(p[n:])
	}
	return err
}

// anonymous is the descriptor of n bytes of zeros: a file that has lost its name. The system may write them to the disk. A client
// of the same user could cut the file; the server's next batch then fails.
func anonymous(name string, n int64) (fd int, err error) {
	f, err := os.CreateTemp("", name+"-*")
	if err != nil {
		return -1, fmt.Errorf("making shared memory: %w", err)
	}
	err = errors.Join(os.Remove(f.Name()), f.Truncate(n))
	if err == nil {
		fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return -1, noMemory(n, err)
	}
	return fd, nil
}
