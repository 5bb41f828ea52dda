package codec

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// server answers the requests of one client.
type server struct {
	out    *bufio.Writer
	codecs []*batchCodec
	writer example.Writer
	// Memory of the reply to encode. A batch takes megabytes, so it is used again.
	lengths, records []byte
}

// Serve answers the requests of one client that come from in, with replies on out, until in ends or ctx does. It returns an error
// where in has no messages or out fails; a request that fails is answered with its error.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &server{out: bufio.NewWriterSize(out, 1<<16)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan message) // the next one is read while one is answered
	free := make(chan []byte, 2)   // the memory of answered requests
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
			m, err := readMessage(r, data)
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

// reply writes a message.
func (s *server) reply(h header, arrays ...[]byte) error {
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
func (s *server) answer(ctx context.Context, m *message) error {
	h, arrays, err := s.do(ctx, m)
	if err != nil {
		return s.reply(header{Error: err.Error()})
	}
	return s.reply(h, arrays...)
}

func (s *server) do(ctx context.Context, m *message) (h header, arrays [][]byte, err error) {
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
				return h, nil, fmt.Errorf("record %d: %w", i, err)
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

func (s *server) encode(c *batchCodec, m *message) (h header, _ [][]byte, err error) {
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
func (s *server) read(ctx context.Context, c *batchCodec, m *message) error {
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
		if err := s.reply(header{More: true}, b.arrays()...); err != nil {
			return err
		}
	}
}
