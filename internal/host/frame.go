package host

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
)

// A frame is u32 bytes of what follows the head, u32 kind, and these bytes. All numbers are little-endian.
const frameHead = 8

// Kinds of frames.
const (
	kindHello   = 1 // to the host: magic, and the JSON of a Hello
	kindWelcome = 2 // to the loader: the JSON of a Welcome
	kindDraws   = 3 // to the host: sections of nodes to draw for; to the loader: the draws
	kindRows    = 4 // to the host: sections of nodes and edges; to the loader: their rows
	kindFailure = 5 // to the loader: the JSON of a Failure
)

// magic begins a hello.
const magic = "GMHOST1\n"

// mostHello bounds the bytes of a hello, mostQuestion those of a question, and mostAnswer those of an answer.
const (
	mostHello    = 4 << 20
	mostQuestion = 64 << 20
	mostAnswer   = 1 << 30
)

// patience is the time that the other side has for the rest of a frame that it began, and for taking one.
const patience = time.Minute

// Hello is the first message of a loader.
type Hello struct {
	Token string `json:"token,omitempty"`
	// Store is the checksum of the store's manifest.
	Store string `json:"store"`
	// Plan is the JSON of the plan whose ops are drawn.
	Plan json.RawMessage `json:"plan"`
	// Nodes and Edges are the columns whose rows are asked for, by type.
	Nodes map[string][]string `json:"nodes,omitempty"`
	Edges map[string][]string `json:"edges,omitempty"`
}

// Welcome is the answer of a host to a Hello.
type Welcome struct {
	// Part and Parts say which of how many ranges the host has.
	Part  int `json:"part"`
	Parts int `json:"parts"`
	// Edges are the first edge of the host's range and the one after its last, by edge type.
	Edges map[string][2]uint64 `json:"edges"`
}

// Failure is the answer to a question that has none.
type Failure struct {
	Error string `json:"error"`
}

// errProtocol is the kind of errors that end a connection.
var errProtocol = errors.New("a violation of the protocol")

// newFrame begins a frame in buf, whose bytes it reuses. endFrame completes it.
func newFrame(buf []byte, kind uint32) []byte {
	buf = append(buf[:0], 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint32(buf, kind)
}

// endFrame writes the length of a frame.
func endFrame(frame []byte) []byte {
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-frameHead))
	return frame
}

// jsonFrame is a frame with the JSON of a value behind a prefix.
func jsonFrame(kind uint32, prefix string, value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return endFrame(append(append(newFrame(nil, kind), prefix...), text...)), nil
}

// readFrame reads a frame into room, which it asks for when the frame begins, and grows as bytes come. Before the first byte it waits for as long as the other side is silent where
// idle is set, and for patience otherwise. io.EOF is the end of the connection between frames.
func readFrame(c net.Conn, room func() []byte, most int, idle bool) (kind uint32, body []byte, err error) {
	var head [frameHead]byte
	deadline := time.Time{}
	if !idle {
		deadline = time.Now().Add(patience)
	}
	if err := c.SetReadDeadline(deadline); err != nil {
		return 0, nil, err
	}
	if _, err := io.ReadFull(c, head[:1]); err != nil {
		return 0, nil, err
	}
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return 0, nil, err
	}
	if _, err := io.ReadFull(c, head[1:]); err != nil {
		return 0, nil, unexpected(err)
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	kind = binary.LittleEndian.Uint32(head[4:])
	if kind < kindHello || kind > kindFailure || n > most {
		return kind, nil, fmt.Errorf("found a frame of kind %d and %d bytes, expected a kind of %d to %d and at most %d: %w", kind, n, kindHello, kindFailure, most, errProtocol)
	}
	body = room()[:0]
	for len(body) < n {
		// What a header claims takes no memory before the bytes come.
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(n, max(1<<20, 2*cap(body)))), body...)
		}
		part := body[len(body):min(n, cap(body))]
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return kind, body, err
		}
		k, err := io.ReadFull(c, part)
		body = body[:len(body)+k]
		if err != nil {
			return kind, body, unexpected(err)
		}
	}
	return kind, body, nil
}

// noRoom is the room of frames that get memory of their own.
func noRoom() []byte { return nil }

// unexpected is the error of a connection that ends within a frame.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// writeFrame sends a frame.
func writeFrame(c net.Conn, frame []byte) error {
	for len(frame) > 0 {
		// A part at a time, so that patience is for progress and not for a whole frame.
		part := frame[:min(len(frame), 4<<20)]
		if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := c.Write(part); err != nil {
			return err
		}
		frame = frame[len(part):]
	}
	return nil
}

// reader takes numbers from the bytes of a frame.
type reader struct {
	b      []byte
	failed bool
}

// take is the next n bytes; nil and a failure where there are fewer.
func (r *reader) take(n uint64) []byte {
	if uint64(len(r.b)) < n {
		r.failed, r.b = true, nil
		return nil
	}
	out := r.b[:n]
	r.b = r.b[n:]
	return out
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// appendNumbers appends the numbers in b, which can begin anywhere.
func appendNumbers[T uint32 | uint64](to []T, b []byte) []T {
	n := len(to)
	to = append(to, make([]T, len(b)/int(unsafe.Sizeof(T(0))))...)
	copy(graph.Bytes(to[n:]), b)
	return to
}
