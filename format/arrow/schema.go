package arrow

import (
	"fmt"

	"github.com/graphmill/graphmill/format/parquet"
)

// layout is how a message lays out the buffers of a field.
type layout uint8

const (
	layoutNull  layout = iota // no buffers
	layoutBits                // validity, bits
	layoutFixed               // validity, values of size bytes
	layoutText                // validity, offsets of size bytes, bytes
	layoutView                // validity, views, any number of buffers of bytes
	layoutList                // validity, offsets of size bytes; elements
	layoutSized               // validity; size elements per row
	layoutOther               // buffers that are skipped; children
)

// node is a field of the schema, or the index that stands for it in record batches.
type node struct {
	name     string
	layout   layout
	size     int
	buffers  int // of layoutOther
	children []*node
	// The values of a leaf.
	typ      parquet.Type
	width    int // bytes of a value in Rows.Data; 0: byte strings
	convert  conversion
	scale    int    // of a decimal
	unit     string // of times
	reason   string // why the field cannot be read
	category bool
	text     bool // the byte strings are UTF-8
	// values is set for an index: the field of the dictionary.
	values   *node
	id       int64
	unsigned bool // the index
}

// conversion is how a stored value becomes that in Rows.Data.
type conversion uint8

const (
	convertNone conversion = iota
	convertDays
	convertDecimal // to float64
	convertWhole   // a decimal to int64
	convertBytes   // a byte string of fixed size
	convertDigits  // a decimal to its digits
)

// maxDepth bounds the depth of the schema.
const maxDepth = 64

// schema makes the fields and the columns from the schema of a file.
func (f *File) schema(s table) error {
	if s.int(0, 2, 0) != 0 {
		return unsupportedf("found big-endian data, expected little-endian; write the file on another machine")
	}
	w := walk{left: len(s.f.b)/16 + 1, dictionaries: map[int64]*node{}}
	s.tables(1, func(t table) { f.fields = append(f.fields, w.field(t, 0)) })
	if s.f.bad || w.left < 0 {
		return corruptf("found bytes that are not a schema, expected the schema of an Arrow file; the file is damaged")
	}
	f.dictionaries = w.dictionaries
	for _, n := range f.fields {
		f.Columns = append(f.Columns, n.column())
	}
	return nil
}

// walk visits the fields of a schema.
type walk struct {
	left         int // fields that may follow: a small flatbuffer may refer to a table many times
	dictionaries map[int64]*node
}

func (w *walk) field(t table, depth int) *node {
	n := &node{name: t.text(0)}
	if w.left--; w.left < 0 || depth > maxDepth {
		w.left = -1
		return n
	}
	t.tables(5, func(c table) { n.children = append(n.children, w.field(c, depth+1)) })
	typ, _ := t.table(3)
	kind := t.int(2, 1, 0)
	n.value(kind, typ)
	if d, ok := t.table(4); ok {
		index := &node{name: n.name, layout: layoutFixed, size: 4, values: n, id: d.int(0, 8, 0), typ: n.typ, width: n.width, unit: n.unit, reason: n.reason, category: n.width == 0, text: n.text}
		if i, ok := d.table(1); ok {
			bits := i.int(0, 4, 0)
			index.size, index.unsigned = int(bits)/8, i.int(1, 1, 0) == 0
			if bits != 8 && bits != 16 && bits != 32 && bits != 64 {
				index.reason = fmt.Sprintf("indices of %d bits", bits)
			}
		}
		if n.layout == layoutNull || n.layout == layoutList || n.layout == layoutSized {
			index.reason = "a dictionary of values that are no numbers or strings"
		}
		if before := w.dictionaries[index.id]; before != nil && (before.layout != n.layout || before.size != n.size) {
			index.reason = "a dictionary of two types"
		}
		w.dictionaries[index.id] = n
		return index
	}
	return n
}

// Types of the schema.
const (
	typeNull       = 1
	typeInt        = 2
	typeFloat      = 3
	typeBinary     = 4
	typeUTF8       = 5
	typeBool       = 6
	typeDecimal    = 7
	typeDate       = 8
	typeTime       = 9
	typeTimestamp  = 10
	typeInterval   = 11
	typeList       = 12
	typeStruct     = 13
	typeUnion      = 14
	typeFixed      = 15
	typeSized      = 16
	typeMap        = 17
	typeDuration   = 18
	typeLargeBytes = 19
	typeLargeUTF8  = 20
	typeLargeList  = 21
	typeRunEnds    = 22
	typeBytesView  = 23
	typeUTF8View   = 24
	typeListView   = 25
	typeLargeView  = 26
)

var timeUnits = [...]string{"s", "ms", "us", "ns"}

// value sets the layout and the type of a field from its type.
func (n *node) value(kind int64, t table) {
	fixed := func(size int, typ parquet.Type, width int) {
		n.layout, n.size, n.typ, n.width = layoutFixed, size, typ, width
	}
	other := func(reason string, buffers int) { n.layout, n.reason, n.buffers = layoutOther, reason, buffers }
	text := func(l layout, size int) { n.layout, n.size, n.typ = l, size, parquet.Bytes }
	switch kind {
	case typeNull:
		n.layout = layoutNull
	case typeInt:
		n.integer(t.int(0, 4, 0), t.int(1, 1, 0) != 0)
	case typeFloat:
		switch t.int(0, 2, 0) {
		case 0:
			fixed(2, parquet.Float16, 2)
		case 1:
			fixed(4, parquet.Float32, 4)
		case 2:
			fixed(8, parquet.Float64, 8)
		default:
			other("floating-point numbers of an unknown width", 2)
		}
	case typeBinary, typeUTF8:
		text(layoutText, 4)
		n.text = kind == typeUTF8
	case typeLargeBytes, typeLargeUTF8:
		text(layoutText, 8)
		n.text = kind == typeLargeUTF8
	case typeBytesView, typeUTF8View:
		text(layoutView, 16)
		n.text = kind == typeUTF8View
	case typeBool:
		n.layout, n.typ, n.width = layoutBits, parquet.Bool, 1
	case typeDecimal:
		bits, scale := t.int(2, 4, 128), t.int(1, 4, 0)
		if bits != 32 && bits != 64 && bits != 128 && bits != 256 {
			other(fmt.Sprintf("decimals of %d bits", bits), 2)
			return
		}
		fixed(int(bits)/8, parquet.Float64, 8)
		n.convert, n.scale = convertDecimal, int(scale)
		if digits := t.int(0, 4, 0); scale == 0 && digits <= 18 {
			n.typ, n.convert = parquet.Int64, convertWhole
		}
	case typeDate:
		if t.int(0, 2, 1) == 0 {
			fixed(4, parquet.Int64, 8)
			n.convert, n.unit = convertDays, "s"
		} else {
			fixed(8, parquet.Int64, 8)
			n.unit = "ms"
		}
	case typeTime:
		n.integer(t.int(1, 4, 32), true)
	case typeTimestamp:
		fixed(8, parquet.Int64, 8)
		unit := t.int(0, 2, 0)
		if unit < 0 || int(unit) >= len(timeUnits) {
			other("times of an unknown unit", 2)
			return
		}
		n.unit = timeUnits[unit]
	case typeDuration:
		fixed(8, parquet.Int64, 8)
	case typeFixed:
		size := t.int(0, 4, 0)
		if size < 1 || size > maxRow {
			other(fmt.Sprintf("byte strings of %d bytes", size), 2)
			return
		}
		n.layout, n.size, n.typ, n.convert = layoutFixed, int(size), parquet.Bytes, convertBytes
	case typeList, typeLargeList, typeSized:
		if len(n.children) != 1 {
			other("a list without a type of elements", 2)
			return
		}
		n.layout, n.size = layoutList, 4
		if kind == typeLargeList {
			n.size = 8
		} else if kind == typeSized {
			n.layout, n.size = layoutSized, int(t.int(0, 4, 0))
			if n.size < 0 || n.size > maxRowLevels {
				n.reason = fmt.Sprintf("lists of %d elements", n.size)
			}
		}
	case typeStruct:
		other("a struct", 1)
	case typeMap:
		other("a map", 2)
	case typeUnion:
		other("a union", 1+int(t.int(0, 2, 0)&1))
	case typeRunEnds:
		other("run-end encoded values", 0)
	case typeListView, typeLargeView:
		other("a list view", 3)
	case typeInterval:
		other("intervals", 2)
	default:
		other(fmt.Sprintf("values of an unknown type %d", kind), 2)
	}
}

func (n *node) integer(bits int64, signed bool) {
	n.layout, n.size = layoutFixed, int(bits)/8
	n.width = max(n.size, 4) // as in a Parquet file
	switch bits {
	case 8:
		n.typ = parquet.Int8
	case 16:
		n.typ = parquet.Int16
	case 32:
		n.typ = parquet.Int32
	case 64:
		n.typ = parquet.Int64
	default:
		n.layout, n.reason, n.buffers = layoutOther, fmt.Sprintf("integers of %d bits", bits), 2
	}
	if !signed {
		n.typ += parquet.Uint8 - parquet.Int8
	}
}

// column describes a top-level field.
func (n *node) column() parquet.Column {
	c := parquet.Column{Name: n.name}
	leaf := n
	for leaf.layout == layoutList || leaf.layout == layoutSized {
		if c.Reason == "" {
			c.Reason = leaf.reason
		}
		c.Lists++
		leaf = leaf.children[0]
	}
	c.Type, c.Width, c.Unit, c.Category = leaf.typ, leaf.width, leaf.unit, leaf.category
	c.Text = leaf.text
	c.Null = leaf.layout == layoutNull
	c.Digits = leaf.convert == convertDecimal && leaf.scale == 0
	switch {
	case c.Reason != "":
	case leaf.reason != "" && c.Lists > 0:
		c.Reason = "lists of " + leaf.reason
	case leaf.reason != "":
		c.Reason = leaf.reason
	case c.Null && c.Lists > 0:
		c.Reason = "lists of nulls"
	}
	return c
}
