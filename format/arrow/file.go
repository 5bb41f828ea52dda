package arrow

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"sync"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/tagged"
)

func corruptf(format string, a ...any) error { return tagged.Errorf(parquet.ErrCorrupt, format, a...) }

func unsupportedf(format string, a ...any) error {
	return tagged.Errorf(parquet.ErrUnsupported, format, a...)
}

const (
	magic = "ARROW1"
	// maxHead bounds the bytes of the metadata of a message, and of a footer.
	maxHead = 256 << 20
)

// Kinds of messages.
const (
	headSchema     = 1
	headDictionary = 2
	headBatch      = 3
)

// File is the schema of a file or stream and the places of its batches.
type File struct {
	Columns []parquet.Column
	Batches []Batch

	fields       []*node
	dictionaries map[int64]*node // the fields of dictionaries by id
	end          int64           // of the messages

	mu     sync.Mutex
	chunks []*chunk // of dictionaries, in order
}

// Batch is a record batch.
type Batch struct {
	Rows int64
	at   int64 // of its message
	// chunks is the number of chunks of dictionaries before the batch: a later one may replace or extend them.
	chunks int
}

// chunk is a dictionary batch.
type chunk struct {
	at    int64
	id    int64
	delta bool
	// values are the values of the dictionary up to this chunk, once they are read.
	values *dictionary
}

// message is the metadata of a message.
type message struct {
	kind     int64
	head     table
	from, to int64 // the body
}

// Open reads the schema and the metadata of all messages of a file or stream of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var head [8]byte
	if size < 8 {
		return nil, corruptf("found %d bytes, expected an Arrow file or stream; the file is cut", size)
	}
	if err := readAt(r, head[:], 0); err != nil {
		return nil, err
	}
	f := &File{end: size}
	switch {
	case string(head[:4]) == "FEA1":
		return nil, unsupportedf("found a Feather file of version 1, expected version 2; write it with pyarrow.feather.write_feather(table, path, version=2)")
	case string(head[:6]) == magic:
		return f, f.footer(r, size)
	}
	return f, f.stream(r)
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return corruptf("byte %d: found the end of the file, expected %d bytes more; the file was cut while it was read", at+int64(n), len(b)-n)
	}
	return err
}

// message reads the metadata of the message at an offset. It returns false at the end of the messages.
func (f *File) message(r io.ReaderAt, at int64) (m message, ok bool, err error) {
	if at == f.end {
		return m, false, nil
	}
	var head [8]byte
	k := min(int64(len(head)), f.end-at)
	if err := readAt(r, head[:k], at); err != nil {
		return m, false, err
	}
	n, from := int64(int32(binary.LittleEndian.Uint32(head[:]))), at+4
	if n == -1 { // the form since version 0.15
		n, from = int64(int32(binary.LittleEndian.Uint32(head[4:]))), at+8
	}
	if n == 0 {
		return m, false, nil
	}
	if n < 0 || n > maxHead || n > f.end-from {
		return m, false, corruptf("byte %d: found a message with metadata of %d bytes, expected 8 to %d; the file is cut or damaged", at, n, max(f.end-from, 0))
	}
	b := make([]byte, n)
	if err := readAt(r, b, from); err != nil {
		return m, false, err
	}
	root := (&flat{b: b}).root()
	body := root.int(3, 8, 0)
	m.kind, m.from = root.int(1, 1, 0), from+n
	m.head, _ = root.table(2)
	version := root.int(0, 2, 0)
	switch {
	case root.f.bad:
		return m, false, corruptf("byte %d: found bytes that are not the metadata of a message, expected a message of Arrow IPC; the file is damaged, or is no Arrow file", at)
	case version != 3 && version != 4:
		return m, false, unsupportedf("byte %d: found metadata of version %d, expected 4 or 5; write the file with a newer Arrow", at, version+1)
	case body < 0 || body > f.end-m.from:
		return m, false, corruptf("byte %d: found a message with a body of %d bytes, expected at most %d; the file is cut or damaged", at, body, f.end-m.from)
	}
	m.to = m.from + body
	return m, true, nil
}

// stream walks over the messages of a stream.
func (f *File) stream(r io.ReaderAt) error {
	at := int64(0)
	for first := true; ; first = false {
		m, ok, err := f.message(r, at)
		switch {
		case err != nil:
			return err
		case first && (!ok || m.kind != headSchema):
			return corruptf("byte %d: found no schema, expected the first message of an Arrow stream; is this an Arrow file?", at)
		case !ok:
			return nil
		case first:
			err = f.schema(m.head)
		default:
			err = f.add(m, at)
		}
		if err != nil {
			return err
		}
		at = m.to
	}
}

// footer reads the footer of a file, and the messages that it lists.
func (f *File) footer(r io.ReaderAt, size int64) error {
	var tail [10]byte
	if size < 24 {
		return corruptf("found %d bytes, expected an Arrow file; the file is cut", size)
	}
	if err := readAt(r, tail[:], size-10); err != nil {
		return err
	}
	if string(tail[4:]) != magic {
		return corruptf("byte %d: found %q, expected %q; the file is cut, or was not completed", size-6, tail[4:], magic)
	}
	n := int64(int32(binary.LittleEndian.Uint32(tail[:])))
	if n < 4 || n > maxHead || n > size-18 {
		return corruptf("byte %d: found a footer of %d bytes, expected 4 to %d; the file is damaged", size-10, n, size-18)
	}
	f.end = size - 10 - n
	b := make([]byte, n)
	if err := readAt(r, b, f.end); err != nil {
		return err
	}
	root := (&flat{b: b}).root()
	schema, _ := root.table(1)
	dictionaries, _ := root.vector(2, 24)
	batches, _ := root.vector(3, 24)
	if root.f.bad {
		return corruptf("byte %d: found bytes that are not a footer, expected that of an Arrow file; the file is damaged", f.end)
	}
	if err := f.schema(schema); err != nil {
		return err
	}
	for _, blocks := range [][]byte{dictionaries, batches} {
		end := int64(8)
		for ; len(blocks) > 0; blocks = blocks[24:] {
			at := int64(binary.LittleEndian.Uint64(blocks))
			if at < end || at > f.end {
				return corruptf("footer: found a message at byte %d, expected one from byte %d to byte %d; the file is damaged", at, end, f.end)
			}
			m, ok, err := f.message(r, at)
			if err == nil && !ok {
				err = corruptf("byte %d: found no message, expected one as the footer says; the file is damaged", at)
			}
			if err == nil {
				err = f.add(m, at)
			}
			if err != nil {
				return err
			}
			end = m.to
		}
	}
	return nil
}

// add adds a dictionary batch or a record batch.
func (f *File) add(m message, at int64) error {
	switch m.kind {
	case headDictionary:
		c := &chunk{at: at, id: m.head.int(0, 8, 0), delta: m.head.int(2, 1, 0) != 0}
		if f.dictionaries[c.id] == nil {
			return corruptf("byte %d: found values of the dictionary %d, expected one of the schema; the file is damaged", at, c.id)
		}
		f.chunks = append(f.chunks, c)
	case headBatch:
		rows := m.head.int(0, 8, 0)
		if rows < 0 || rows > math.MaxInt32 {
			return corruptf("byte %d: found a record batch of %d rows, expected 0 to %d; the file is damaged, or needs smaller batches", at, rows, math.MaxInt32)
		}
		f.Batches = append(f.Batches, Batch{rows, at, len(f.chunks)})
	default:
		return unsupportedf("byte %d: found a message of kind %d, expected a record batch or a dictionary batch", at, m.kind)
	}
	if m.head.f.bad {
		return corruptf("byte %d: found bytes that are not a batch, expected one; the file is damaged", at)
	}
	return nil
}

// Reader returns a reader of a column of a record batch; r is the file. The first Read reports damage. It must be used
// by one goroutine at a time.
func (f *File) Reader(r io.ReaderAt, batch, column int) *Reader {
	return &Reader{f: f, r: r, batch: batch, column: column}
}

// Digits returns a reader of a column whose Digits is set that reads byte strings: the digits of each value, after a '-' if it
// is negative.
func (f *File) Digits(r io.ReaderAt, batch, column int) *Reader {
	x := f.Reader(r, batch, column)
	x.digits = true
	return x
}

// layoutOf is the buffers of a batch.
type layoutOf struct {
	rows     int64
	nodes    []byte // length and number of nulls of each
	buffers  []byte // offset and length of each
	variadic []byte
	codec    int64 // -1: not compressed
	from, to int64 // the body
}

// layout reads where the buffers of a batch lie.
func (m message) layout(batch table) (l layoutOf, err error) {
	l.rows, l.from, l.to, l.codec = batch.int(0, 8, 0), m.from, m.to, -1
	l.nodes, _ = batch.vector(1, 16)
	l.buffers, _ = batch.vector(2, 16)
	l.variadic, _ = batch.vector(4, 8)
	if c, ok := batch.table(3); ok {
		l.codec = c.int(0, 1, 0)
		if method := c.int(1, 1, 0); l.codec < codecLZ4 || l.codec > codecZstd || method != 0 {
			return l, unsupportedf("found buffers compressed with codec %d in the way %d, expected LZ4 or zstd for each buffer", l.codec, method)
		}
	}
	if batch.f.bad {
		return l, corruptf("found bytes that are not a batch, expected one; the file is damaged")
	}
	return l, nil
}

// places are the first node, buffer and count of variadic buffers of a field.
type places struct{ node, buffer, variadic int }

// after returns the places of the field after n.
func (p places) after(n *node, l *layoutOf) places {
	p.node++
	switch n.layout {
	case layoutNull:
	case layoutBits, layoutFixed, layoutList:
		p.buffer += 2
	case layoutText:
		p.buffer += 3
	case layoutView:
		p.buffer += 2 + l.count(p.variadic)
		p.variadic++
	case layoutSized:
		p.buffer++
	case layoutOther:
		p.buffer += n.buffers
	}
	if n.values != nil { // an index has no children
		return p
	}
	for _, c := range n.children {
		p = p.after(c, l)
	}
	return p
}

// count is the number of variadic buffers of a view. It is at most the number of all buffers.
func (l *layoutOf) count(i int) int {
	if 8*i+8 > len(l.variadic) {
		return 0
	}
	return int(min(binary.LittleEndian.Uint64(l.variadic[8*i:]), uint64(len(l.buffers))))
}
