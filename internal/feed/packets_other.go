//go:build !linux || portable

package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
func listen(name string) (l *net.UnixListener, addr string, clean func(), err error) {
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

// readPacket reads the next packet, which follows its length as u32, into buf, which it makes larger for a larger packet. The
// result is empty where the client is gone.
func readPacket(socket *net.UnixConn, buf []byte, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(socket, head[:]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	switch {
	case n > most:
		return nil, tooLong(n, most)
	case n > cap(buf):
		buf = make([]byte, n)
	}
	if _, err := io.ReadFull(socket, buf[:n]); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// writePacket sends a packet after its length and, with its first byte, the descriptor fd unless it is negative. Calls for one
// socket must not overlap.
func writePacket(socket *net.UnixConn, p []byte, fd int) error {
	p = append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(p)), uint32(len(p))), p...)
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
