package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Field is a column to write.
type Field struct {
	Name string
	Type Type
	// Lists is the depth of lists: 0 for single values.
	Lists int
	// Nullable columns may have rows that are null, which Rows.Null marks. Lists cannot be nullable.
	Nullable bool
	// Unit is set for times since 1970-01-01T00:00:00 of no zone: "ms", "us" or "ns". Type is Int64 then.
	Unit string
	// Binary says that byte strings are not declared to be texts, although all of them are UTF-8.
	Binary bool
	// Raw columns are not compressed. Numbers of many digits hardly get smaller, and take most of the time.
	Raw bool
}

// codec is how the pages of the column are compressed.
func (f *Field) codec() int {
	if f.Raw {
		return codecNone
	}
	return codecZstd
}

// phys returns the physical type, and the number of bytes of a value in Rows.Data.
func (f *Field) phys() (kind, size int) {
	switch f.Type {
	case Bool:
		return physBool, 1
	case Int64, Uint64:
		return physInt64, 8
	case Float16:
		return physFixed, 2
	case Float32:
		return physFloat, 4
	case Float64:
		return physDouble, 8
	case Bytes:
		return physBytes, 0
	}
	return physInt32, 4
}

// A row group ends when it has groupBytes bytes or groupRows rows.
const (
	groupBytes = 16 << 20
	groupRows  = 1 << 20
)

// Pair is a key and its value in the metadata of a file.
type Pair struct{ Key, Value string }

// Writer puts pages into row groups of about 16 MiB or a million rows. Columns are written in the order of the
// fields.
type Writer struct {
	// Meta is the key-value metadata of the file. It must be set before Close.
	Meta []Pair

	w      io.Writer
	fields []Field
	text   []bool // per column: all byte strings so far are UTF-8
	at     int64
	rows   int64 // in all groups

	pending []pendingColumn
	free    [][]byte // blocks
	bytes   int
	inGroup int // pending rows

	groups []writtenGroup
}

type pendingColumn struct {
	blocks       [][]byte
	bytes        int64
	levels, size int64
}

// blockBytes is the size of the blocks that hold pending pages. One growing buffer would take twice the memory while it grows.
const blockBytes = 256 << 10

// keep copies bytes into the blocks of a column.
func (p *Writer) keep(c *pendingColumn, b []byte) {
	c.bytes += int64(len(b))
	for len(b) > 0 {
		last := len(c.blocks) - 1
		if last < 0 || len(c.blocks[last]) == blockBytes {
			block := make([]byte, 0, blockBytes)
			if n := len(p.free); n > 0 {
				block, p.free = p.free[n-1], p.free[:n-1]
			}
			c.blocks = append(c.blocks, block)
			last++
		}
		block := c.blocks[last]
		n := min(len(b), blockBytes-len(block))
		c.blocks[last], b = append(block, b[:n]...), b[n:]
	}
}

type writtenGroup struct {
	rows   int64
	chunks []writtenChunk
}

type writtenChunk struct {
	at, levels, size, compressed int64
}

// NewWriter begins a file in w.
func NewWriter(w io.Writer, fields []Field) (*Writer, error) {
	p := &Writer{w: w, fields: fields, text: make([]bool, len(fields)), pending: make([]pendingColumn, len(fields))}
	for i, f := range fields {
		p.text[i] = true
		switch {
		case f.Lists > 255:
			return nil, fmt.Errorf("column %q: found lists of depth %d, expected at most 255", f.Name, f.Lists)
		case f.Nullable && f.Lists > 0:
			return nil, fmt.Errorf("column %q: found lists that may be null, expected single values", f.Name)
		case f.Unit != "" && (f.Type != Int64 || timeUnits[f.Unit] == 0):
			return nil, fmt.Errorf("column %q: found the unit %q of a time, expected ms, us or ns, and Int64", f.Name, f.Unit)
		}
	}
	return p, p.write([]byte(magic))
}

func (p *Writer) write(b []byte) error {
	n, err := p.w.Write(b)
	p.at += int64(n)
	return err
}

// Add adds rows: pages has one page per column, all of the same rows. The bytes of the pages are copied.
func (p *Writer) Add(pages []Page) error {
	for i := range pages {
		c, g := &p.pending[i], &pages[i]
		p.keep(c, g.Bytes)
		c.levels += int64(g.Levels)
		c.size += int64(g.Size)
		p.bytes += len(g.Bytes)
		p.text[i] = p.text[i] && g.Text
	}
	if len(pages) > 0 {
		p.inGroup += pages[0].Rows
	}
	if p.bytes >= groupBytes || p.inGroup >= groupRows {
		return p.group()
	}
	return nil
}

// group writes the pending pages as a row group.
func (p *Writer) group() error {
	g := writtenGroup{rows: int64(p.inGroup)}
	for i := range p.pending {
		c := &p.pending[i]
		g.chunks = append(g.chunks, writtenChunk{p.at, c.levels, c.size, c.bytes})
		for _, block := range c.blocks {
			if err := p.write(block); err != nil {
				return err
			}
			p.free = append(p.free, block[:0])
		}
		*c = pendingColumn{blocks: c.blocks[:0]}
	}
	p.groups = append(p.groups, g)
	p.rows += g.rows
	p.bytes, p.inGroup = 0, 0
	return nil
}

// Close writes the pending pages and the footer. It does not close w.
func (p *Writer) Close() error {
	if p.inGroup > 0 {
		if err := p.group(); err != nil {
			return err
		}
	}
	t := &thriftWriter{}
	t.begin()
	t.i32(1, 2)
	elements := 1
	for _, f := range p.fields {
		elements += 1 + 2*f.Lists
	}
	t.list(2, thriftStruct, elements)
	t.begin()
	t.string(4, "schema")
	t.i32(5, len(p.fields))
	t.end()
	for i := range p.fields {
		p.fields[i].schema(t, p.text[i])
	}
	t.i64(3, p.rows)
	t.list(4, thriftStruct, len(p.groups))
	for i, g := range p.groups {
		p.meta(t, i, g)
	}
	if len(p.Meta) > 0 {
		t.list(5, thriftStruct, len(p.Meta))
		for _, m := range p.Meta {
			t.begin()
			t.string(1, m.Key)
			t.string(2, m.Value)
			t.end()
		}
	}
	t.string(6, "graphmill")
	t.end()
	n := len(t.b)
	t.b = binary.LittleEndian.AppendUint32(t.b, uint32(n))
	return p.write(append(t.b, magic...))
}

// timeUnits are the numbers of units in the schema.
var timeUnits = map[string]int{"ms": 1, "us": 2, "ns": 3}

// schema writes the elements of a column. For each level of lists it writes a group of type LIST that holds a
// repeated group named list.
func (f *Field) schema(t *thriftWriter, text bool) {
	name := f.Name
	for range f.Lists {
		t.begin()
		t.i32(3, required)
		t.string(4, name)
		t.i32(5, 1)
		t.i32(6, convertedList)
		t.structure(10)
		t.structure(logicalList)
		t.end()
		t.end()
		t.end()
		t.begin()
		t.i32(3, repeated)
		t.string(4, "list")
		t.i32(5, 1)
		t.end()
		name = "element"
	}
	kind, size := f.phys()
	t.begin()
	t.i32(1, kind)
	if kind == physFixed {
		t.i32(2, size)
	}
	if f.Nullable {
		t.i32(3, optional)
	} else {
		t.i32(3, required)
	}
	t.string(4, name)
	switch {
	case f.Unit != "":
		t.structure(10)
		t.structure(logicalTime)
		t.bool(1, false) // of no zone
		t.structure(2)
		t.structure(timeUnits[f.Unit])
		t.end()
		t.end()
		t.end()
		t.end()
	case f.Type == Bytes && text && !f.Binary:
		t.i32(6, convertedUTF8)
		t.structure(10)
		t.structure(logicalString)
		t.end()
		t.end()
	case f.Type == Float16:
		t.structure(10)
		t.structure(logicalFloat16)
		t.end()
		t.end()
	case f.Type >= Int8 && f.Type <= Uint64:
		at, signed := int(f.Type-Int8), f.Type < Uint8
		converted := convertedInt8
		if !signed {
			at, converted = int(f.Type-Uint8), convertedUint8
		}
		t.i32(6, converted+at)
		t.structure(10)
		t.structure(logicalInteger)
		t.field(1, thriftByte)
		t.b = append(t.b, 8<<at)
		t.bool(2, signed)
		t.end()
		t.end()
	}
	t.end()
}

func (p *Writer) meta(t *thriftWriter, number int, g writtenGroup) {
	t.begin()
	t.list(1, thriftStruct, len(g.chunks))
	var size, compressed int64
	for i, c := range g.chunks {
		size += c.size
		compressed += c.compressed
		f := &p.fields[i]
		kind, _ := f.phys()
		t.begin()
		t.i64(2, 0)
		t.structure(3)
		t.i32(1, kind)
		t.list(2, thriftI32, 2)
		t.varint(encPlain)
		t.varint(encRLE)
		t.list(3, thriftBinary, 1+2*f.Lists)
		t.text(f.Name)
		for range f.Lists {
			t.text("list")
			t.text("element")
		}
		t.i32(4, f.codec())
		t.i64(5, c.levels)
		t.i64(6, c.size)
		t.i64(7, c.compressed)
		t.i64(9, c.at)
		t.end()
		t.end()
	}
	t.i64(2, size)
	t.i64(3, g.rows)
	if len(g.chunks) > 0 {
		t.i64(5, g.chunks[0].at)
		t.i64(6, compressed)
	}
	if number < 1<<15 {
		t.field(7, thriftI16)
		t.varint(int64(number))
	}
	t.end()
}
