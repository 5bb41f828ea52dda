package clients

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/torture/internal/command"
)

// feed is a running feed, whose first owner is the test.
type feed struct {
	*process
	lifeline *os.File
	join     string // name of the socket at which owners join
	ready    struct {
		Version     int
		Addr, Token string
		PID         int
	}
}

// arguments of a feed, except the store and the descriptors.
var feedArguments = []string{"--fanout", "5,3", "--batch-size", "64", "--shuffle", "--edge-features", "all"}

func startFeed(t *testing.T, store string) *feed {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "lifeline"), os.NewFile(uintptr(fds[1]), "lifeline")
	f := &feed{lifeline: ours, join: fmt.Sprintf("@graphmill-torture-%d-%d", os.Getpid(), fds[0])}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: f.join, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	joining, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command.Build(t, "graphmill"), append([]string{"feed", store, "--lifeline", "3", "--joining", "4"}, feedArguments...)...)
	cmd.ExtraFiles = []*os.File{theirs, joining}
	f.process = begin(t, cmd)
	_, _, _ = l.Close(), theirs.Close(), joining.Close()
	t.Cleanup(func() { _ = ours.Close() })
	if err := json.NewDecoder(ours).Decode(&f.ready); err != nil {
		t.Fatalf("%v: %s", err, f.stderr.String())
	}
	return f
}

// dial connects to the feed.
func (f *feed) dial() (*net.UnixConn, error) {
	return net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: "@" + f.ready.Addr, Net: "unixpacket"})
}

// hello is the greeting with some keys replaced.
func (f *feed) hello(other map[string]any) []byte {
	h := map[string]any{"version": f.ready.Version, "token": f.ready.Token, "rank": 0, "world": 1, "tail": "", "worker": 0, "workers": 1, "slots": 4, "slot_bytes": 0}
	for k, v := range other {
		h[k] = v
	}
	b, _ := json.Marshal(h)
	return b
}

// consumer is a connection that was greeted.
type consumer struct {
	*net.UnixConn
	ring      int // descriptor of the ring, open until close
	slots     int
	slotBytes int64
}

// greet greets the feed. The descriptor of the ring is closed with the connection.
func (f *feed) greet(other map[string]any) (*consumer, error) {
	c, err := f.dial()
	if err != nil {
		return nil, err
	}
	if _, err := c.Write(f.hello(other)); err != nil {
		_ = c.Close()
		return nil, err
	}
	buf, oob := make([]byte, 1<<16), make([]byte, 128)
	_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
	n, oobn, _, _, err := c.ReadMsgUnix(buf, oob)
	if err == nil && oobn == 0 {
		err = fmt.Errorf("found %q, expected a welcome", buf[:n])
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	m, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil {
		return nil, err
	}
	fds, err := unix.ParseUnixRights(&m[0])
	if err != nil {
		return nil, err
	}
	var w struct {
		Slots     int   `json:"slots"`
		SlotBytes int64 `json:"slot_bytes"`
	}
	if err := json.Unmarshal(buf[:n], &w); err != nil {
		return nil, err
	}
	return &consumer{c, fds[0], w.Slots, w.SlotBytes}, nil
}

func (c *consumer) Close() error { return errors.Join(c.UnixConn.Close(), syscall.Close(c.ring)) }

// message is 24 bytes to the feed.
func message(kind, slot uint32, a, b uint64) []byte {
	p := binary.LittleEndian.AppendUint32(nil, kind)
	p = binary.LittleEndian.AppendUint32(p, slot)
	p = binary.LittleEndian.AppendUint64(p, a)
	return binary.LittleEndian.AppendUint64(p, b)
}

// epoch reads an epoch, and returns a digest of its batches.
func (f *feed) epoch() (string, error) {
	c, err := f.greet(nil)
	if err != nil {
		return "", err
	}
	defer c.Close()
	ring, err := unix.Mmap(c.ring, 0, c.slots*int(c.slotBytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return "", err
	}
	defer unix.Munmap(ring)
	if _, err := c.Write(message(3, 0, 0, 0)); err != nil {
		return "", err
	}
	digest, buf := sha256.New(), make([]byte, 1<<16)
	for {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
		n, err := c.Read(buf)
		if err != nil {
			return "", err
		}
		if n < 40 {
			return "", fmt.Errorf("found a message of %d bytes, expected at least 40", n)
		}
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(buf[8+8*i:]) }
		switch kind, slot := binary.LittleEndian.Uint32(buf), binary.LittleEndian.Uint32(buf[4:]); kind {
		case 1:
			add(digest, ring[int64(slot)*c.slotBytes:][:word(2)], word(1))
			if _, err := c.Write(message(2, slot, word(0), 0)); err != nil {
				return "", err
			}
		case 2:
			return hex.EncodeToString(digest.Sum(nil)), nil
		default:
			return "", fmt.Errorf("found message %d: %s", kind, buf[40:n])
		}
	}
}

// add adds a batch without the words of its header that name the slot's lease.
func add(digest hash.Hash, batch []byte, number uint64) {
	_ = binary.Write(digest, binary.LittleEndian, number)
	_, _ = digest.Write(batch[64:])
}

// witness reads the same epoch until the context ends, and fails where its bytes differ. read returns the number of epochs.
func witness(ctx context.Context, t *testing.T, epoch func() (string, error)) (read func() int) {
	t.Helper()
	want, err := epoch()
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	n := 0
	running.Go(func() {
		for ctx.Err() == nil {
			got, err := epoch()
			switch {
			case err != nil:
				t.Errorf("epoch %d of the good client: %v", n+1, err)
				return
			case got != want:
				t.Errorf("epoch %d of the good client: found digest %s, expected %s", n+1, got, want)
				return
			}
			n++
			time.Sleep(5 * time.Millisecond) // the pace of the good client
		}
	})
	return func() int {
		running.Wait()
		return n
	}
}

// reply is the text of the server's answer, until the connection ends.
func reply(c net.Conn) string {
	_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // against a hang
	b, _ := io.ReadAll(io.LimitReader(c, 1<<20))
	return string(b)
}
