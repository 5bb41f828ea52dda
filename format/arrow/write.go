package arrow

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/graphmill/graphmill/format/parquet"
)

// Field is a column to write.
type Field struct {
	Name     string
	Type     parquet.Type // a number, Bool, or Bytes, which are texts in UTF-8
	Nullable bool
	Width    int    // values of a row that is a vector, a list of fixed size; 0: one value
	Unit     string // of times, which are Int64: "s", "ms", "us" or "ns"; without a zone
}

// Values are the rows of a column in a batch.
type Values struct {
	// Data has the values one after the other, little-endian, in the width of the type: a byte for a bool, and the bytes of texts.
	Data []byte
	Ends []uint32 // of texts in Data, at most 2^31-1
	Null []bool   // rows that have no value, of a column without vectors; nil: none
}

// place is where a batch lies in a file: a Block of the footer.
type place struct {
	at, body int64
	head     int
}

// Writer writes a file of record batches that are not compressed, so that other programs can map it.
type Writer struct {
	// Meta is the metadata of the schema. Set it before the first Add.
	Meta []parquet.Pair

	w       io.Writer
	fields  []Field
	at      int64
	batches []place
}

// NewWriter begins a file. Close completes it.
func NewWriter(w io.Writer, fields []Field) (*Writer, error) {
	for _, f := range fields {
		if _, _, err := typeOf(&f); err != nil {
			return nil, err
		}
		if f.Width < 0 || f.Width > math.MaxInt32 {
			return nil, fmt.Errorf("column %q: found vectors of %d values, expected 0 to %d", f.Name, f.Width, math.MaxInt32)
		}
	}
	return &Writer{w: w, fields: fields}, nil
}

// typeOf is the type of a field in the schema, and the size of its values in bytes; 0 for bits and texts.
func typeOf(f *Field) (kind, size int, err error) {
	switch f.Type {
	case parquet.Bool:
		return typeBool, 0, nil
	case parquet.Bytes:
		if f.Width > 0 {
			return 0, 0, fmt.Errorf("column %q: found vectors of texts, expected vectors of numbers", f.Name)
		}
		return typeUTF8, 0, nil
	case parquet.Int8, parquet.Uint8:
		return typeInt, 1, nil
	case parquet.Int16, parquet.Uint16:
		return typeInt, 2, nil
	case parquet.Int32, parquet.Uint32:
		return typeInt, 4, nil
	case parquet.Int64:
		if f.Unit != "" {
			return typeTimestamp, 8, nil
		}
		return typeInt, 8, nil
	case parquet.Uint64:
		return typeInt, 8, nil
	case parquet.Float32:
		return typeFloat, 4, nil
	case parquet.Float64:
		return typeFloat, 8, nil
	}
	return 0, 0, fmt.Errorf("column %q: found the type %d, expected a number, bools or texts", f.Name, f.Type)
}

// Add writes a batch that AppendBatch made.
func (w *Writer) Add(batch []byte) error {
	if err := w.begin(); err != nil {
		return err
	}
	head := 8 + int(binary.LittleEndian.Uint32(batch[4:]))
	w.batches = append(w.batches, place{at: w.at, head: head, body: int64(len(batch) - head)})
	return w.write(batch)
}

// begin writes the schema, unless it was written.
func (w *Writer) begin() error {
	if w.at > 0 {
		return nil
	}
	var f flatWriter
	m := f.root(2, 1, 4, 8)
	m.u16(0, version5)
	m.u8(1, headSchema)
	w.schema(&f, m, 2)
	return w.write(framed(append([]byte(nil), magic+"\x00\x00"...), f.b))
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.at += int64(n)
	return err
}

// Close writes the footer. A file without batches has the schema.
func (w *Writer) Close() error {
	if err := w.begin(); err != nil {
		return err
	}
	var f flatWriter
	m := f.root(2, 4, 4, 4)
	m.u16(0, version5)
	w.schema(&f, m, 1)
	m.vector(2, 0, 24)
	at := m.vector(3, len(w.batches), 24)
	for i, p := range w.batches {
		b := f.b[at+24*i:]
		binary.LittleEndian.PutUint64(b, uint64(p.at))
		binary.LittleEndian.PutUint32(b[8:], uint32(p.head))
		binary.LittleEndian.PutUint64(b[16:], uint64(p.body))
	}
	end := append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, f.b...) // no further message, and the footer
	end = binary.LittleEndian.AppendUint32(end, uint32(len(f.b)))
	return w.write(append(end, magic...))
}

// version5 is the version of the metadata.
const version5 = 4

// framed appends a message with its length, padded to a multiple of 8.
func framed(b, message []byte) []byte {
	n := (len(message) + 7) / 8 * 8
	b = append(b, 0xff, 0xff, 0xff, 0xff)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	return append(append(b, message...), make([]byte, n-len(message))...)
}

// schema appends the schema as a field of a table.
func (w *Writer) schema(f *flatWriter, of written, field int) {
	s := of.child(field, 0, 4, 4)
	at := s.vector(1, len(w.fields), 4)
	for i := range w.fields {
		f.refer(at+4*i, f.field(&w.fields[i]))
	}
	at = s.vector(2, len(w.Meta), 4)
	for i, pair := range w.Meta {
		p := f.table(4, 4)
		f.refer(at+4*i, p.at)
		p.text(0, pair.Key)
		p.text(1, pair.Value)
	}
}

// field appends a field of the schema, and returns its place.
func (f *flatWriter) field(of *Field) int {
	t := f.table(4, 1, 1, 4, 0, 4)
	t.text(0, of.Name)
	if of.Nullable {
		t.u8(1, 1)
	}
	if of.Width > 0 {
		t.u8(2, typeSized)
		t.child(3, 4).u32(0, uint32(of.Width))
		at := t.vector(5, 1, 4)
		f.refer(at, f.field(&Field{Name: "item", Type: of.Type, Nullable: true})) // so other programs name and declare it
		return t.at
	}
	kind, size, _ := typeOf(of) // NewWriter has checked it
	t.u8(2, uint8(kind))
	switch kind {
	case typeInt:
		x := t.child(3, 4, 1)
		x.u32(0, uint32(8*size))
		if of.Type >= parquet.Int8 && of.Type <= parquet.Int64 {
			x.u8(1, 1)
		}
	case typeFloat:
		t.child(3, 2).u16(0, uint16(size/4)) // 1: single, 2: double
	case typeTimestamp:
		x := t.child(3, 2)
		for i, unit := range timeUnits {
			if unit == of.Unit {
				x.u16(0, uint16(i))
			}
		}
	default:
		t.child(3)
	}
	t.vector(5, 0, 4)
	return t.at
}

// AppendBatch appends a record batch of n rows for Add, with the values of each field. Several may be made at the same time.
func AppendBatch(b []byte, fields []Field, n int, values []Values) ([]byte, error) {
	body := body{n: n}
	for i := range fields {
		if err := body.add(&fields[i], &values[i]); err != nil {
			return nil, fmt.Errorf("column %q: %w", fields[i].Name, err)
		}
	}
	var f flatWriter
	m := f.root(2, 1, 4, 8)
	m.u16(0, version5)
	m.u8(1, headBatch)
	m.u64(3, uint64(body.bytes))
	batch := m.child(2, 8, 4, 4)
	batch.u64(0, uint64(n))
	for field, numbers := range [][]int64{1: body.nodes, 2: body.buffers} {
		if field == 0 {
			continue
		}
		at := batch.vector(field, len(numbers)/2, 16)
		for i, v := range numbers {
			binary.LittleEndian.PutUint64(f.b[at+8*i:], uint64(v))
		}
	}
	b = framed(b, f.b)
	for _, part := range body.parts {
		b = append(b, part...)
		b = append(b, make([]byte, -len(part)&7)...)
	}
	return b, nil
}

// body is the buffers of a batch.
type body struct {
	n       int
	bytes   int64
	nodes   []int64 // length and number of nulls of each
	buffers []int64 // offset and length of each
	parts   [][]byte
}

func (x *body) buffer(b []byte) {
	x.buffers = append(x.buffers, x.bytes, int64(len(b)))
	x.parts = append(x.parts, b)
	x.bytes += int64(len(b)+7) / 8 * 8
}

// add adds the buffers of a column.
func (x *body) add(f *Field, v *Values) error {
	kind, size, err := typeOf(f)
	if err != nil {
		return err
	}
	n, nulls := x.n, int64(0)
	var valid []byte
	if v.Null != nil {
		valid = packed(len(v.Null), func(i int) bool { return !v.Null[i] })
		for _, null := range v.Null {
			if null {
				nulls++
			}
		}
	}
	x.nodes = append(x.nodes, int64(n), nulls)
	x.buffer(valid)
	if f.Width > 0 {
		n *= f.Width
		x.nodes = append(x.nodes, int64(n), 0)
		x.buffer(nil)
	}
	switch kind {
	case typeUTF8:
		if len(v.Ends) != n || len(v.Data) > math.MaxInt32 {
			return fmt.Errorf("found %d texts of %d bytes, expected %d of at most %d bytes", len(v.Ends), len(v.Data), n, math.MaxInt32)
		}
		offsets := make([]byte, 4, 4*n+4)
		for _, end := range v.Ends {
			offsets = binary.LittleEndian.AppendUint32(offsets, end)
		}
		x.buffer(offsets)
		x.buffer(v.Data)
	case typeBool:
		if len(v.Data) != n {
			return fmt.Errorf("found %d values, expected %d", len(v.Data), n)
		}
		x.buffer(packed(n, func(i int) bool { return v.Data[i] != 0 }))
	default:
		if len(v.Data) != n*size {
			return fmt.Errorf("found %d bytes, expected %d values of %d", len(v.Data), n, size)
		}
		x.buffer(v.Data)
	}
	return nil
}

// packed are bools as bits, the first the lowest.
func packed(n int, of func(i int) bool) []byte {
	out := make([]byte, (n+7)/8)
	for i := range n {
		if of(i) {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}
