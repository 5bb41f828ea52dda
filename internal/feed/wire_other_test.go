//go:build unix && (!linux || portable)

package feed

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// dialed is a connection at the address of a server.
func dialed(addr string) (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: addr, Net: "unix"})
}

// framed is the bytes that send a packet.
func framed(p []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(p))), p...)
}

// packetOf reads the next packet and its control messages.
func packetOf(c *net.UnixConn, buf, control []byte) (p, messages []byte, err error) {
	n, m, _, _, err := c.ReadMsgUnix(buf[:4], control)
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.ReadFull(c, buf[n:4]); err != nil {
		return nil, nil, err
	}
	p = buf[:binary.LittleEndian.Uint32(buf)]
	_, err = io.ReadFull(c, p)
	return p, control[:m], err
}

// Only the user can reach the socket, and its folder is gone after the server.
func TestSocketFolder(t *testing.T) {
	ready, lifeline, ended := owner(t, source(t, Features{}, false))
	dir := filepath.Dir(ready.Addr)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("found %v, %v, expected a folder with mode 700", info, err)
	}
	end(t, lifeline, ended)
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("found %v for %s, expected that it is gone", err, dir)
	}
}

// A client that cuts the ring makes its own batch fail, and neither the server nor other clients.
func TestCutRing(t *testing.T) {
	ready, lifeline, ended := owner(t, source(t, Features{}, false))
	c := dial(t, ready)
	c.send(hello{Version: ready.Version, Token: ready.Token, World: 1, Slots: 3})
	_, fd := c.receive()
	if err := unix.Ftruncate(fd, 0); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd)
	c.request(reqStart, 0, 0, 0)
	if p := c.next(); p.kind != msgError {
		t.Errorf("found message %d, expected an error", p.kind)
	}
	other := connect(t, ready, hello{})
	other.request(reqStart, 0, 0, 0)
	if p := other.next(); p.kind != msgBatch {
		t.Errorf("found message %d, expected a batch", p.kind)
	}
	end(t, lifeline, ended)
}

// A packet that comes in pieces is one packet.
func TestPieces(t *testing.T) {
	ready, lifeline, ended := owner(t, source(t, Features{}, false))
	c := connect(t, ready, hello{})
	for _, b := range framed(message(reqStart, 0, ticket{}, 0)[:requestBytes]) {
		if _, err := c.UnixConn.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // so that each byte is a packet of its own
	}
	if p := c.next(); p.kind != msgBatch {
		t.Errorf("found message %d, expected a batch", p.kind)
	}
	end(t, lifeline, ended)
}
