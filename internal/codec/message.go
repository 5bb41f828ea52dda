package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// maxHeader bounds the JSON of a message.
const maxHeader = 64 << 20

// header is the JSON of a message. Which fields it has depends on op.
type header struct {
	Op      string          `json:"op,omitempty"`
	Path    string          `json:"path,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"`
	Codec   int             `json:"codec"`
	Frames  bool            `json:"frames,omitempty"`
	Lenient bool            `json:"lenient,omitempty"`
	Files   []string        `json:"files,omitempty"`
	Graphs  int             `json:"graphs,omitempty"`
	Limit   int             `json:"limit,omitempty"`
	Seed    uint64          `json:"seed,omitempty"`
	Number  uint64          `json:"number,omitempty"`
	Text    string          `json:"text,omitempty"`
	Error   string          `json:"error,omitempty"`
	More    bool            `json:"more,omitempty"`
	Bytes   []int64         `json:"bytes,omitempty"`
}

// message is a message, or the error of reading one.
type message struct {
	header
	arrays [][]byte
	err    error
	data   []byte // holds the arrays
}

// readMessage reads a message, and its arrays into data or, if that is too small, new memory.
func readMessage(r io.Reader, data []byte) (m message, err error) {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return m, err
	}
	if n > maxHeader {
		return m, fmt.Errorf("stdin: found a message of %d bytes, expected at most %d", n, maxHeader)
	}
	text, err := readBytes(r, nil, int64(n))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m.header); err != nil {
		return m, fmt.Errorf("stdin: found a message that is no JSON: %w", err)
	}
	total := int64(0)
	for _, n := range m.Bytes {
		if n < 0 || n > math.MaxInt64-total {
			return m, fmt.Errorf("stdin: found an array of %d bytes, expected at least 0, and less than 2^63 in all", n)
		}
		total += n
	}
	if m.data, err = readBytes(r, data, total); err != nil {
		return m, err
	}
	rest := m.data
	for _, n := range m.Bytes {
		m.arrays = append(m.arrays, rest[:n:n])
		rest = rest[n:]
	}
	return m, nil
}

// readBytes reads n bytes, into b if they fit. What it allocates beyond some megabytes follows from what it has read.
func readBytes(r io.Reader, b []byte, n int64) ([]byte, error) {
	if n <= int64(max(cap(b), 16<<20)) {
		b = slices.Grow(b[:0], int(n))[:n]
		_, err := io.ReadFull(r, b)
		return b, unexpectedEnd(err)
	}
	return readLarge(r, n)
}

func readLarge(r io.Reader, n int64) ([]byte, error) {
	var b bytes.Buffer
	if m, err := io.CopyN(&b, r, n); m < n {
		return nil, unexpectedEnd(err)
	}
	return b.Bytes(), nil
}

func unexpectedEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
