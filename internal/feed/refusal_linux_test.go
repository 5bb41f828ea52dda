package feed

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A packet that is longer than any request is refused, not cut.
func TestLongPacket(t *testing.T) {
	log, ready, lifeline, ended := logged(t, source(t, Features{}, false))
	c := connect(t, ready, hello{})
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4<<20) }); err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Skipf("found %v, expected a user who may send packets above the system's bound", failed)
	}
	// Where packets are parts of a stream, the feed may have read the length, refused it and left before the rest is written.
	if _, err := c.Write(make([]byte, maxPacket+8)); err != nil && !errors.Is(err, unix.EPIPE) {
		t.Fatal(err)
	}
	if p := c.next(); p.kind != msgError || !strings.Contains(p.text, "expected at most 1048576") {
		t.Errorf("found %d, %q", p.kind, p.text)
	}
	log.wait(t, 1)
	end(t, lifeline, ended)
}

// Descriptors that a client sends are closed.
func TestDescriptorsOfClients(t *testing.T) {
	_, ready, lifeline, ended := logged(t, source(t, Features{}, false))
	c := connect(t, ready, hello{})
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	before := descriptors(t)
	for epoch := range uint64(50) {
		p := make([]byte, requestBytes)
		binary.LittleEndian.PutUint32(p, reqStart)
		binary.LittleEndian.PutUint64(p[16:], epoch)
		if _, _, err := c.WriteMsgUnix(framed(p), unix.UnixRights(int(file.Fd())), nil); err != nil {
			t.Fatal(err)
		}
		for {
			p := c.next()
			c.request(reqReturn, p.slot, p.gen, 0)
			if p.run == epoch+1 {
				break // the server has read the request
			}
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("found %d descriptors, expected %d as before", after, before)
	}
	_ = file.Close()
	end(t, lifeline, ended)
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
