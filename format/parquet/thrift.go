package parquet

import (
	"encoding/binary"
)

// Kinds of values in Thrift's compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxDepth bounds the nesting of structs. Parquet's own nest six deep.
const maxDepth = 24

// thrift reads values of the compact protocol from b. After the first fault bad is set and every read returns zero;
// short says that the bytes ended too early.
type thrift struct {
	b          []byte
	at         int
	depth      int
	bad, short bool
}

func (t *thrift) fail() { t.bad, t.at = true, len(t.b) }

func (t *thrift) byte() byte {
	if t.at >= len(t.b) {
		t.short = true
		t.fail()
		return 0
	}
	t.at++
	return t.b[t.at-1]
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b[t.at:])
	if n <= 0 {
		t.short = t.short || n == 0
		t.fail()
		return 0
	}
	t.at += n
	return v
}

func (t *thrift) int() int64 {
	v := t.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// binary returns a view of a byte string.
func (t *thrift) binary() []byte {
	n := t.uvarint()
	if n > uint64(len(t.b)-t.at) {
		t.short = true
		t.fail()
		return nil
	}
	t.at += int(n)
	return t.b[t.at-int(n) : t.at]
}

// fields calls fn for each field of a struct. A field for which fn returns false is skipped.
func (t *thrift) fields(fn func(id int, kind byte) bool) {
	if t.depth++; t.depth > maxDepth {
		t.fail()
	}
	id := int64(0)
	for !t.bad {
		head := t.byte()
		if head == 0 {
			break
		}
		if delta := head >> 4; delta != 0 {
			id += int64(delta)
		} else {
			id = t.int()
		}
		if kind := head & 15; !t.bad && !fn(int(id), kind) {
			t.skip(kind, false)
		}
	}
	t.depth--
}

// list calls fn for each element of a list or set of the given kind. A list of another kind is skipped.
func (t *thrift) list(want byte, fn func()) {
	if t.depth++; t.depth > maxDepth {
		t.fail()
	}
	head := t.byte()
	n, kind := uint64(head>>4), head&15
	if n == 15 {
		n = t.uvarint()
	}
	// Each element takes at least one byte, so the loop ends with the bytes.
	for ; n > 0 && !t.bad; n-- {
		if kind == want && fn != nil {
			fn()
		} else {
			t.skip(kind, true)
		}
	}
	t.depth--
}

// skip passes over a value of a kind. A bool is in the header of its field, but takes a byte in a list.
func (t *thrift) skip(kind byte, element bool) {
	switch kind {
	case thriftTrue, thriftFalse:
		if element {
			t.byte()
		}
	case thriftByte:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		for range 8 {
			t.byte()
		}
	case thriftBinary:
		t.binary()
	case thriftList, thriftSet:
		t.list(0, nil)
	case thriftStruct:
		t.fields(func(int, byte) bool { return false })
	case thriftMap:
		n := t.uvarint()
		if n == 0 || t.bad {
			return
		}
		kinds := t.byte()
		if t.depth++; t.depth > maxDepth {
			t.fail()
		}
		for ; n > 0 && !t.bad; n-- {
			t.skip(kinds>>4, true)
			t.skip(kinds&15, true)
		}
		t.depth--
	default:
		t.fail()
	}
}

// thriftWriter appends values of the compact protocol. The fields of a struct are written in ascending order of their
// ids.
type thriftWriter struct {
	b    []byte
	last []int // id of the last field of each open struct
}

func (t *thriftWriter) begin() { t.last = append(t.last, 0) }

func (t *thriftWriter) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thriftWriter) field(id int, kind byte) {
	last := &t.last[len(t.last)-1]
	t.b = append(t.b, byte(id-*last)<<4|kind) // ids are less than 16 apart
	*last = id
}

func (t *thriftWriter) varint(v int64) {
	t.b = binary.AppendUvarint(t.b, uint64(v)<<1^uint64(v>>63))
}

func (t *thriftWriter) i32(id int, v int) {
	t.field(id, thriftI32)
	t.varint(int64(v))
}

func (t *thriftWriter) i64(id int, v int64) {
	t.field(id, thriftI64)
	t.varint(v)
}

func (t *thriftWriter) string(id int, s string) {
	t.field(id, thriftBinary)
	t.text(s)
}

func (t *thriftWriter) text(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thriftWriter) bool(id int, v bool) {
	kind := byte(thriftFalse)
	if v {
		kind = thriftTrue
	}
	t.field(id, kind)
}

// structure begins a struct in a field.
func (t *thriftWriter) structure(id int) {
	t.field(id, thriftStruct)
	t.begin()
}

// list begins a list of n elements.
func (t *thriftWriter) list(id int, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
		return
	}
	t.b = append(t.b, 0xf0|kind)
	t.b = binary.AppendUvarint(t.b, uint64(n))
}
