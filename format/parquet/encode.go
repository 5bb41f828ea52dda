package parquet

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// Page is an encoded data page.
type Page struct {
	Bytes []byte
	// Levels is the number of values. An empty list counts as one value.
	Levels int
	Rows   int
	// Size is the number of bytes that Bytes would have without compression.
	Size int
	// Text says that all byte strings of the page are UTF-8.
	Text bool
}

// PageEncoder makes pages. It must be used by one goroutine at a time.
type PageEncoder struct {
	zstd     *zstd.Encoder
	raw      []byte
	packed   []byte
	rep, def []byte
	pos      []int
	thrift   thriftWriter
}

// NewPageEncoder makes an encoder.
func NewPageEncoder() (*PageEncoder, error) {
	// The default window takes 18 MiB of memory per encoder. Pages are hardly ever larger than this one.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(2<<20))
	return &PageEncoder{zstd: z}, err
}

// Append appends an encoded page of the rows to b and returns it with its description, in which Page.Bytes is not
// set. In Rows.Data, integers of up to 32 bits take 4 bytes, and other values their own size.
func (p *PageEncoder) Append(b []byte, f *Field, r *Rows) ([]byte, Page, error) {
	out := Page{Rows: r.N, Levels: r.N}
	p.raw = p.raw[:0]
	switch n, same := sameLength(f, r); {
	case same:
		p.raw = appendSameLevels(p.raw, r.N, n)
		out.Levels = r.N * n
	case f.Lists > 0:
		p.levels(f, r)
		p.raw = appendLevels(p.raw, p.rep, widthOf(f.Lists))
		p.raw = appendLevels(p.raw, p.def, widthOf(f.Lists))
		out.Levels = len(p.rep)
	case f.Nullable:
		p.raw = appendLevels(p.raw, p.present(r), 1)
	}
	out.Text = p.values(f, r)
	if len(p.raw) > maxPage {
		return b, out, fmt.Errorf("found %d bytes in a page, expected at most %d; put fewer rows into a page", len(p.raw), maxPage)
	}
	body := p.raw
	if !f.Raw {
		p.packed = p.zstd.EncodeAll(p.raw, p.packed[:0])
		body = p.packed
	}
	t := &p.thrift
	t.b = t.b[:0]
	t.begin()
	t.i32(1, pageData)
	t.i32(2, len(p.raw))
	t.i32(3, len(body))
	t.structure(5)
	t.i32(1, out.Levels)
	t.i32(2, encPlain)
	t.i32(3, encRLE)
	t.i32(4, encRLE)
	t.end()
	t.end()
	out.Size = len(t.b) + len(p.raw)
	b = append(b, t.b...)
	return append(b, body...), out, nil
}

// values appends the values that are not null. text says that all of them are UTF-8.
func (p *PageEncoder) values(f *Field, r *Rows) (text bool) {
	kind, size := f.phys()
	text = f.Type == Bytes
	null := func(i int) bool { return f.Nullable && r.Null != nil && r.Null[i] }
	switch {
	case kind == physBool:
		n := 0
		for i, v := range r.Data {
			if null(i) {
				continue
			}
			if n%8 == 0 {
				p.raw = append(p.raw, 0)
			}
			p.raw[len(p.raw)-1] |= v << (n % 8)
			n++
		}
	case size > 0 && (!f.Nullable || r.Null == nil):
		p.raw = append(p.raw, r.Data...)
	case size > 0:
		for i := range r.N {
			if !null(i) {
				p.raw = append(p.raw, r.Data[i*size:(i+1)*size]...)
			}
		}
	default:
		start := uint32(0)
		for i, end := range r.Ends {
			if !null(i) {
				p.raw = binary.LittleEndian.AppendUint32(p.raw, end-start)
				p.raw = append(p.raw, r.Data[start:end]...)
				text = text && utf8.Valid(r.Data[start:end])
			}
			start = end
		}
	}
	return text
}

// present returns the definition level of each row of a nullable column: 0 for null, and 1 for a value.
func (p *PageEncoder) present(r *Rows) []byte {
	p.def = p.def[:0]
	for i := range r.N {
		level := byte(1)
		if r.Null != nil && r.Null[i] {
			level = 0
		}
		p.def = append(p.def, level)
	}
	return p.def
}

// sameLength returns the length of the lists of a column of lists of values, if all have one that is not 0.
func sameLength(f *Field, r *Rows) (n int, same bool) {
	if f.Lists != 1 || r.N == 0 {
		return 0, false
	}
	first := r.Lengths[0][0]
	for _, n := range r.Lengths[0] {
		if n != first {
			return 0, false
		}
	}
	return int(first), first > 0
}

// appendSameLevels writes what appendLevels does for the levels of lists that all have n elements, without making them.
func appendSameLevels(b []byte, lists, n int) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	if n == 1 {
		b = append(binary.AppendUvarint(b, uint64(lists)<<1), 0)
	} else {
		for range lists {
			b = append(binary.AppendUvarint(append(b, 1<<1, 0), uint64(n-1)<<1), 1)
		}
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	at = len(b)
	b = append(b, 0, 0, 0, 0)
	b = append(binary.AppendUvarint(b, uint64(lists)*uint64(n)<<1), 1)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// levels fills in the repetition and definition levels of lists.
func (p *PageEncoder) levels(f *Field, r *Rows) {
	p.rep, p.def = p.rep[:0], p.def[:0]
	p.pos = append(p.pos[:0], make([]int, f.Lists)...) // number of the next list of each level
	for range r.N {
		p.list(f, r, 0, 0)
	}
}

// list writes the levels of the next list at a level. rep is the repetition level of its first element.
func (p *PageEncoder) list(f *Field, r *Rows, level int, rep byte) {
	n := r.Lengths[level][p.pos[level]]
	p.pos[level]++
	if n == 0 {
		p.rep, p.def = append(p.rep, rep), append(p.def, byte(level))
		return
	}
	for range n {
		if level+1 < f.Lists {
			p.list(f, r, level+1, rep)
		} else {
			p.rep, p.def = append(p.rep, rep), append(p.def, byte(f.Lists))
		}
		rep = byte(level + 1)
	}
}
