package clients

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/torture/internal/command"
)

// hosting is a running graphmill host, of all nodes of a store.
type hosting struct {
	*process
	addr, sum string
}

func startHost(t *testing.T, dir string) *hosting {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command.Build(t, "graphmill"), "host", dir, "--part", "0/1", "--token-file", secret, "--threads", "2", "--connections", "200")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h := &hosting{process: begin(t, cmd)}
	var ready struct{ Addr string }
	if err := json.NewDecoder(stdout).Decode(&ready); err != nil {
		<-h.ended
		t.Fatalf("%v: %s", err, h.stderr.String())
	}
	h.addr = ready.Addr
	if h.sum, err = store.Sum(vfs.OS, dir); err != nil {
		t.Fatal(err)
	}
	return h
}

// hostFrame is a frame of a loader.
func hostFrame(kind uint32, body string) []byte {
	f := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	return append(binary.LittleEndian.AppendUint32(f, kind), body...)
}

// readHostFrame is the next frame of a host.
func readHostFrame(c net.Conn) (kind uint32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.LittleEndian.Uint32(head[:]))
	_, err = io.ReadFull(c, body)
	return binary.LittleEndian.Uint32(head[4:]), body, err
}

// numbers are numbers of 32 bits.
func numbers(list ...uint32) string {
	var b []byte
	for _, x := range list {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return string(b)
}

// hello is the greeting of a loader with a secret.
func (h *hosting) hello(secret string) []byte {
	return hostFrame(1, "GMHOST1\n"+fmt.Sprintf(`{"token":%q,"store":%q,"plan":{"seed_type":"_N","scope":"batch","expand":"new","hops":1,"ops":[{"from":[0],"edges":"_N:_E:_N","dir":"in","take":5,"how":"uniform","hop":1}]},"edges":{"_N:_E:_N":["weight"]}}`, secret, h.sum))
}

// connect connects a loader, which is closed at the end of do.
func (h *hosting) connect(t *testing.T, do func(c net.Conn)) {
	t.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	do(c)
}

// greet connects a loader that the host has welcomed.
func (h *hosting) greet(t *testing.T, do func(c net.Conn)) {
	t.Helper()
	h.connect(t, func(c net.Conn) {
		_, _ = c.Write(h.hello(token))
		if kind, body, err := readHostFrame(c); err != nil || kind != 2 {
			t.Fatalf("found frame %d, %q, %v, expected a welcome", kind, body, err)
		}
		do(c)
	})
}

// epoch asks for the edges of all nodes and the weights of some, and returns a digest of the answers.
func (h *hosting) epoch() (string, error) {
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, err := c.Write(h.hello(token)); err != nil {
		return "", err
	}
	if kind, body, err := readHostFrame(c); err != nil || kind != 2 {
		return "", fmt.Errorf("found frame %d, %q, %w", kind, body, err)
	}
	sum := sha256.New()
	for first := uint32(0); first < 2000; first += 100 {
		draws, rows := numbers(1, 100, 7, first, 0, 0, 0, 0), numbers(1, 0, 100, 4)
		for v := first; v < first+100; v++ {
			draws, rows = draws+numbers(v), rows+numbers(7*v)
		}
		for kind, body := range map[uint32]string{3: draws, 4: rows} {
			if _, err := c.Write(hostFrame(kind, body)); err != nil {
				return "", err
			}
			got, answer, err := readHostFrame(c)
			if err != nil || got != kind {
				return "", fmt.Errorf("found frame %d, %q, %w", got, answer, err)
			}
			if kind == 3 {
				sum.Write(answer)
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

var hostAttacks = []attack[*hosting]{
	{"greetings cut at every byte", "unexpected EOF", func(t *testing.T, h *hosting, _ *rand.Rand) {
		whole := h.hello(token)
		for n := range len(whole) {
			h.connect(t, func(c net.Conn) { _, _ = c.Write(whole[:n]) })
		}
	}},
	{"hostile greetings", "a violation of the protocol", func(t *testing.T, h *hosting, _ *rand.Rand) {
		for _, sent := range [][]byte{
			[]byte("GET / HTTP/1.1\r\n\r\n"), {22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3}, numbersOf(1<<32-1, 1), hostFrame(1, ""), hostFrame(1, "GMHOST2\n{}"), hostFrame(2, ""),
			hostFrame(1, "GMHOST1\n{"), hostFrame(1, "GMHOST1\n"+strings.Repeat("[", 100_000)), hostFrame(3, ""),
		} {
			h.connect(t, func(c net.Conn) {
				_, _ = c.Write(sent)
				if kind, body, err := readHostFrame(c); err != nil || kind != 5 {
					t.Errorf("greeting %.40q: found frame %d, %.200q, %v, expected an error", sent, kind, body, err)
				}
				if _, _, err := readHostFrame(c); err == nil {
					t.Errorf("greeting %.40q: found a connection that goes on, expected its end", sent)
				}
			})
		}
	}},
	{"other tokens", "found another token", func(t *testing.T, h *hosting, _ *rand.Rand) {
		for _, secret := range []string{"", "x", token[1:], token + "x", strings.Repeat("x", 1_000_000)} {
			h.connect(t, func(c net.Conn) {
				_, _ = c.Write(h.hello(secret))
				if kind, body, err := readHostFrame(c); err != nil || kind != 5 || !strings.Contains(string(body), "found another token") {
					t.Errorf("found frame %d, %.200q, %v, expected an error", kind, body, err)
				}
			})
		}
	}},
	{"hostile questions", "a violation of the protocol", func(t *testing.T, h *hosting, _ *rand.Rand) {
		for _, sent := range [][]byte{
			hostFrame(1, ""), hostFrame(2, ""), hostFrame(5, ""), hostFrame(9, ""), numbersOf(1<<32-1, 3), hostFrame(3, "x"), hostFrame(3, numbers(1, 1<<31, 0, 0, 0, 0, 0, 0)), hostFrame(3, numbers(0, 0, 0, 0, 0, 0, 0, 0)),
			hostFrame(3, numbers(1, 1, 0, 0, 0, 0, 0, 0, 2000)), hostFrame(4, numbers(0, 9, 0, 4)), hostFrame(4, numbers(1, 0, 1, 5)), hostFrame(4, numbers(1, 0, 1, 8, 0, 1)), hostFrame(4, numbers(1, 0, 1<<31, 8)),
		} {
			h.greet(t, func(c net.Conn) {
				_, _ = c.Write(sent)
				if kind, body, err := readHostFrame(c); err != nil || kind != 5 {
					t.Errorf("question %.40x: found frame %d, %.200q, %v, expected an error", sent, kind, body, err)
				}
			})
		}
	}},
	{"noise", "", func(t *testing.T, h *hosting, r *rand.Rand) {
		for range proof.Count(t, 200, 20_000) {
			noise := make([]byte, 1+r.IntN(200))
			for j := range noise {
				noise[j] = byte(r.Uint32())
			}
			if r.IntN(2) == 0 && len(noise) > 8 {
				copy(noise, hostFrame(3+r.Uint32N(2), string(noise[8:])))
			}
			if r.IntN(2) == 0 {
				h.connect(t, func(c net.Conn) { _, _ = c.Write(noise) })
			} else {
				h.greet(t, func(c net.Conn) { _, _ = c.Write(noise) })
			}
		}
	}},
	{"loaders that read nothing", "", func(t *testing.T, h *hosting, _ *rand.Rand) {
		var all []net.Conn
		question := hostFrame(4, numbers(1, 0, 16_000, 4)+strings.Repeat(numbers(1), 16_000))
		for range 50 {
			c, err := net.Dial("tcp", h.addr)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // the host takes no more while nothing is read
			_, _ = c.Write(h.hello(token))
			for range 100 {
				if _, err := c.Write(question); err != nil {
					break
				}
			}
		}
		if _, err := h.epoch(); err != nil {
			t.Error(err)
		}
		for _, c := range all {
			_ = c.Close()
		}
	}},
	{manyConnections, "connections open, expected fewer", func(t *testing.T, h *hosting, _ *rand.Rand) {
		var all []net.Conn
		for range 300 {
			c, err := net.Dial("tcp", h.addr)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		refused := 0
		for _, c := range all {
			_, _ = c.Write(h.hello(token))
			if _, _, err := readHostFrame(c); err != nil {
				refused++
			}
		}
		if refused < 100 {
			t.Errorf("found %d of 300 connections refused, expected at least 100", refused)
		}
		for _, c := range all {
			_ = c.Close()
		}
	}},
}

// numbersOf is numbers as bytes.
func numbersOf(list ...uint32) []byte { return []byte(numbers(list...)) }

// A host survives its clients, and what one does changes nothing for another.
func TestHost(t *testing.T) {
	t.Parallel()
	h := startHost(t, randomStore(t, t.TempDir()))
	survives(t, h, h.process, hostAttacks, h.epoch, "127.0.0.1:")
	if _, err := net.Dial("tcp", h.addr); !errors.As(err, new(*net.OpError)) {
		t.Errorf("found %v, expected nobody who listens", err)
	}
}
