package tfgnn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// newCodec makes the command by which graphmill.tfgnn of the Python client writes and reads Examples: requests on stdin
// and replies on stdout, until stdin ends.
//
// A message is a uint32 n, a JSON object of n bytes, and after it the arrays whose sizes in bytes are its field bytes.
// Numbers are little-endian. Requests are answered in their order; the reply to one that fails has the field error. A
// client may send a second request before it reads the reply to the first one.
//
//	op      fields of the request                  reply
//	schema  path                                   schema, as protojson
//	text    schema                                 text
//	open    schema                                 codec: its number in later requests
//	encode  codec, frames; a batch                 lengths of the records, and the records, in frames of TFRecord if frames
//	decode  codec, lenient; lengths and records    a batch
//	read    codec, lenient, files, graphs, limit   a batch of up to graphs graphs and about limit bytes with more set, then
//	                                               another one, ...; at the end a reply without more
//	random  codec, seed, number, graphs            a batch
func newCodec(t *cli.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "codec",
		Short:  "Write and read Examples for the Python client",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := &codecServer{out: bufio.NewWriterSize(t.Stdout, 1<<16)}
			return s.serve(cmd.Context(), t.Stdin)
		},
	}
}

// maxCodecHeader bounds the JSON of a message.
const maxCodecHeader = 64 << 20

// codecHeader is the JSON of a message. Which fields it has depends on op.
type codecHeader struct {
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

type codecMessage struct {
	codecHeader
	arrays [][]byte
	err    error  // instead of a message
	data   []byte // holds the arrays
}

// codecServer answers the requests of one client.
type codecServer struct {
	out    *bufio.Writer
	codecs []*batchCodec
	writer example.Writer
	// Memory of the reply to encode. A batch takes megabytes, so it is used again.
	lengths, records []byte
}

func (s *codecServer) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan codecMessage) // the next one is read while one is answered
	free := make(chan []byte, 2)        // the memory of answered requests
	for range cap(free) {
		free <- nil
	}
	// The goroutine ends with stdin, at the latest with the process.
	go func() {
		defer close(requests)
		r := bufio.NewReaderSize(in, 1<<16)
		for {
			var data []byte
			select {
			case data = <-free:
			case <-ctx.Done():
				return
			}
			m, err := readCodecMessage(r, data)
			if errors.Is(err, io.EOF) {
				return
			}
			m.err = err
			select {
			case requests <- m:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case m, ok := <-requests:
			if !ok {
				return nil
			}
			if m.err != nil {
				return m.err
			}
			if err := s.answer(ctx, &m); err != nil {
				return err
			}
			free <- m.data
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readCodecMessage reads a message, and its arrays into data or, if that is too small, new memory.
func readCodecMessage(r io.Reader, data []byte) (m codecMessage, err error) {
	var n uint32
	if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
		return m, err
	}
	if n > maxCodecHeader {
		return m, fmt.Errorf("stdin: found a message of %d bytes, expected at most %d", n, maxCodecHeader)
	}
	text, err := readBytes(r, nil, int64(n))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m.codecHeader); err != nil {
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

// reply writes a message.
func (s *codecServer) reply(h codecHeader, arrays ...[]byte) error {
	for _, a := range arrays {
		h.Bytes = append(h.Bytes, int64(len(a)))
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := binary.Write(s.out, binary.LittleEndian, uint32(len(text))); err != nil {
		return err
	}
	for _, b := range append([][]byte{text}, arrays...) {
		if _, err := s.out.Write(b); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

// answer answers a request. It returns errors of stdout only.
func (s *codecServer) answer(ctx context.Context, m *codecMessage) error {
	h, arrays, err := s.do(ctx, m)
	if err != nil {
		return s.reply(codecHeader{Error: err.Error()})
	}
	return s.reply(h, arrays...)
}

func (s *codecServer) do(ctx context.Context, m *codecMessage) (h codecHeader, arrays [][]byte, err error) {
	switch m.Op {
	case "schema":
		schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, m.Path)
		if err != nil {
			return h, nil, err
		}
		h.Schema, err = protojson.MarshalOptions{UseProtoNames: true}.Marshal(schema)
		return h, nil, err
	case "text", "open":
		schema := new(tfgnnpb.GraphSchema)
		if err := protojson.Unmarshal(m.Schema, schema); err != nil {
			return h, nil, fmt.Errorf("found no schema: %w", err)
		}
		if _, err := tfgnn.CheckSchema(schema); err != nil {
			return h, nil, err
		}
		if m.Op == "text" {
			h.Text = string(tfgnn.AppendText(nil, schema))
			return h, nil, nil
		}
		codec, err := example.NewCodec(schema)
		if err != nil {
			return h, nil, err
		}
		s.codecs = append(s.codecs, newBatchCodec(codec))
		h.Codec = len(s.codecs) - 1
		return h, nil, nil
	}
	if m.Codec < 0 || m.Codec >= len(s.codecs) {
		return h, nil, fmt.Errorf("found codec %d, expected one of the %d that were opened", m.Codec, len(s.codecs))
	}
	c := s.codecs[m.Codec]
	switch m.Op {
	case "encode":
		return s.encode(c, m)
	case "decode":
		b := c.newBatch()
		records, err := cut(m.arrays)
		if err != nil {
			return h, nil, err
		}
		for i, record := range records {
			if err := b.decode(record, m.Lenient); err != nil {
				return h, nil, fmt.Errorf("Example %d: %w", i, err)
			}
		}
		return h, b.arrays(), nil
	case "read":
		return h, nil, s.read(ctx, c, m)
	case "random":
		b := c.newBatch()
		for i := range m.Graphs {
			b.add(c.codec.Random(m.Seed, m.Number+uint64(i)))
		}
		return h, b.arrays(), nil
	}
	return h, nil, fmt.Errorf("found op %q, expected one of schema, text, open, encode, decode, read and random", m.Op)
}

// cut returns the records of lengths and data.
func cut(arrays [][]byte) ([][]byte, error) {
	if len(arrays) != 2 {
		return nil, fmt.Errorf("found %d arrays, expected the lengths of the records and the records", len(arrays))
	}
	lengths, data := asInts(nil, arrays[0]), arrays[1]
	out := make([][]byte, len(lengths))
	for i, n := range lengths {
		if n < 0 || n > int64(len(data)) {
			return nil, fmt.Errorf("found a record of %d bytes, expected at most the %d that are left", n, len(data))
		}
		out[i], data = data[:n:n], data[n:]
	}
	return out, nil
}

func (s *codecServer) encode(c *batchCodec, m *codecMessage) (h codecHeader, _ [][]byte, err error) {
	lengths, out := s.lengths[:0], s.records[:0]
	err = c.each(m.arrays, func(i int, g *example.GraphTensor) error {
		record, err := c.codec.Encode(&s.writer, g)
		if err != nil {
			return fmt.Errorf("GraphTensor %d: %w", i, err)
		}
		before := len(out)
		if m.Frames {
			out = tfrecord.AppendFrame(out, record)
		} else {
			out = append(out, record...)
		}
		lengths = binary.LittleEndian.AppendUint64(lengths, uint64(len(out)-before))
		return nil
	})
	s.lengths, s.records = lengths, out
	return h, [][]byte{lengths, out}, err
}

// read replies with the batches of files. The last reply is left to the caller.
func (s *codecServer) read(ctx context.Context, c *batchCodec, m *codecMessage) error {
	names, _, err := records.Files(vfs.OS, m.Files)
	if err != nil {
		return err
	}
	files := recordfiles.New(vfs.OS, names, nil)
	defer func() { _ = files.Close() }()
	for b := c.newBatch(); ; b.reset() {
		size := 0
		for b.graphs() < max(m.Graphs, 1) && size < m.Limit {
			record, place, err := files.Next()
			if errors.Is(err, io.EOF) {
				if b.graphs() == 0 {
					return nil
				}
				break
			}
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := b.decode(record, m.Lenient); err != nil {
				return fmt.Errorf("%s: %w", place, err)
			}
			size += len(record)
		}
		if err := s.reply(codecHeader{More: true}, b.arrays()...); err != nil {
			return err
		}
	}
}
