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
	"github.com/graphmill/graphmill/torture/internal/command"
)

// answering is a running graphmill serve.
type answering struct {
	*process
	socket, http string
}

func startAnswering(t *testing.T, store string) *answering {
	t.Helper()
	s := &answering{socket: filepath.Join(t.TempDir(), "s")}
	cmd := exec.Command(command.Build(t, "graphmill"), "serve", store, "--fanout", "5,3", "--batch-size", "64", "--edge-features", "all", "--texts", "#id", "--socket", s.socket, "--http", "127.0.0.1:0",
		"--threads", "2", "--connections", "200")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.process = begin(t, cmd)
	var ready struct{ Socket, HTTP string }
	if err := json.NewDecoder(stdout).Decode(&ready); err != nil {
		<-s.ended
		t.Fatalf("%v: %s", err, s.stderr.String())
	}
	s.http = ready.HTTP
	return s
}

// frameOf is a frame of a client.
func frameOf(kind uint32, number uint64, text string) []byte {
	f := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
	f = binary.LittleEndian.AppendUint32(f, kind)
	return append(binary.LittleEndian.AppendUint64(f, number), text...)
}

// readFrame is the next frame of a server.
func readFrame(c net.Conn) (kind uint32, body []byte, err error) {
	var head [16]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.LittleEndian.Uint32(head[:]))
	_, err = io.ReadFull(c, body)
	return binary.LittleEndian.Uint32(head[4:]), body, err
}

// connect connects a client, which has read the description and is closed at the end of do.
func (s *answering) connect(t *testing.T, do func(c net.Conn)) {
	t.Helper()
	c, err := net.Dial("unix", s.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if kind, body, err := readFrame(c); err != nil || kind != 2 {
		t.Fatalf("found frame %d, %q, %v, expected a description", kind, body, err)
	}
	do(c)
}

// epoch asks for a hundred nodes, and returns a digest of the answers.
func (s *answering) epoch() (string, error) {
	c, err := net.Dial("unix", s.socket)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if _, _, err := readFrame(c); err != nil {
		return "", err
	}
	h := sha256.New()
	for v := range 100 {
		if _, err := c.Write(frameOf(1, uint64(v), fmt.Sprintf(`{"seeds":[%d],"batch":%d}`, 20*v, v))); err != nil {
			return "", err
		}
		kind, body, err := readFrame(c)
		if err != nil || kind != 3 {
			return "", fmt.Errorf("found frame %d, %q, %w", kind, body, err)
		}
		// The columns alone: bytes between them can have any value.
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(body[8*i:]) }
		for i := range int(word(5)) {
			end := len(body)
			if i+1 < int(word(5)) {
				end = int(word(10 + 2*i))
			}
			h.Write(body[word(8+2*i):min(int(word(8+2*i)+word(9+2*i)), end)])
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var answeringAttacks = []attack[*answering]{
	{"frames cut at every byte", "", func(t *testing.T, s *answering, _ *rand.Rand) {
		whole := frameOf(1, 7, `{"seeds":[1]}`)
		for n := range len(whole) {
			s.connect(t, func(c net.Conn) { _, _ = c.Write(whole[:n]) })
		}
	}},
	{"frames with hostile heads", "a violation of the protocol", func(t *testing.T, s *answering, _ *rand.Rand) {
		for _, head := range [][]byte{
			frameOf(0, 1, "x"), frameOf(2, 1, ""), frameOf(3, 1, ""), frameOf(4, 1, ""), frameOf(1<<31, 1<<63, ""),
			{255, 255, 255, 255, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 16, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
		} {
			s.connect(t, func(c net.Conn) {
				_, _ = c.Write(head)
				if kind, body, err := readFrame(c); err != nil || kind != 4 || !strings.Contains(string(body), `"protocol"`) {
					t.Errorf("head %x: found frame %d, %q, %v, expected an error", head, kind, body, err)
				}
				if _, _, err := readFrame(c); err == nil {
					t.Errorf("head %x: found a connection that goes on, expected its end", head)
				}
			})
		}
	}},
	{"hostile questions", "", func(t *testing.T, s *answering, _ *rand.Rand) {
		s.connect(t, func(c net.Conn) {
			for _, text := range []string{
				``, `{`, `[]`, `null`, `{"seeds":null}`, `{"seeds":[]}`, `{"seeds":[-1]}`, `{"seeds":[9223372036854775808]}`, `{"seeds":[1e300]}`, `{"seeds":["1"]}`, `{"ids":[null]}`, `{"ids":[{}]}`,
				`{"ids":["\ud800"]}`, `{"seeds":[1],"times":[1]}`, `{"seeds":[1],"epoch":-1}`, `{"seeds":[1]}x`, `{"seeds":[` + strings.Repeat("1,", 100) + `1]}`, strings.Repeat("[", 100_000), `{"ids":["` + strings.Repeat("a", 1_000_000) + `"]}`,
			} {
				_, _ = c.Write(frameOf(1, 1, text))
				if kind, body, err := readFrame(c); err != nil || kind != 4 || !strings.Contains(string(body), `"question"`) {
					t.Errorf("question %.40s: found frame %d, %.200q, %v, expected an error", text, kind, body, err)
				}
			}
		})
	}},
	{"noise", "", func(t *testing.T, s *answering, r *rand.Rand) {
		for range proof.Count(t, 200, 20_000) {
			noise := make([]byte, 1+r.IntN(200))
			for j := range noise {
				noise[j] = byte(r.Uint32())
			}
			if r.IntN(2) == 0 && len(noise) > 8 {
				copy(noise, []byte{byte(len(noise)), 0, 0, 0, 1, 0, 0, 0})
			}
			s.connect(t, func(c net.Conn) { _, _ = c.Write(noise) })
		}
	}},
	{"clients that read nothing", "", func(t *testing.T, s *answering, _ *rand.Rand) {
		var all []net.Conn
		for range 50 {
			c, err := net.Dial("unix", s.socket)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // the server takes no more while nothing is read
			for i := range 100 {
				if _, err := c.Write(frameOf(1, uint64(i), `{"seeds":[`+strings.Repeat("1,", 63)+`1]}`)); err != nil {
					break
				}
			}
		}
		if _, err := s.epoch(); err != nil {
			t.Error(err)
		}
		for _, c := range all {
			_ = c.Close()
		}
	}},
	{manyConnections, "connections open, expected fewer", func(t *testing.T, s *answering, _ *rand.Rand) {
		var all []net.Conn
		refused := 0
		for range 300 {
			c, err := net.Dial("unix", s.socket)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
			if kind, body, err := readFrame(c); err == nil && kind == 4 && strings.Contains(string(body), `"busy"`) {
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
	{"clients that come and go", "", func(t *testing.T, s *answering, _ *rand.Rand) {
		for i := range proof.Count(t, 500, 20_000) {
			c, err := net.Dial("unix", s.socket)
			if err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				_, _ = c.Write(frameOf(1, 1, `{"seeds":[1]}`))
			}
			_ = c.Close()
		}
	}},
	{"hostile HTTP", "", func(t *testing.T, s *answering, r *rand.Rand) {
		for _, text := range []string{"", "GET", "GET / HTTP/1.1\r\n\r\n", "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", "GET /metrics HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("a: b\r\n", 20_000), "GET /../../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n"} {
			c, err := net.Dial("tcp", s.http)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, text)
			_ = c.SetReadDeadline(time.Now().Add(time.Second)) // the server waits longer for the rest
			reply, _ := io.ReadAll(io.LimitReader(c, 1<<16))
			if strings.HasPrefix(string(reply), "HTTP/1.1 200") {
				t.Errorf("%.40q: found %.100q, expected no page", text, reply)
			}
			_ = c.Close()
		}
	}},
}

// The server of answers survives its clients, and what one does changes nothing for another.
func TestServe(t *testing.T) {
	t.Parallel()
	s := startAnswering(t, randomStore(t, t.TempDir()))
	survives(t, s, s.process, answeringAttacks, s.epoch, fmt.Sprintf("process %d:", os.Getpid()))
	if _, err := os.Lstat(s.socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found the socket after the end (%v), expected it gone", err)
	}
}
