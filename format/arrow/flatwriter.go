package arrow

import "encoding/binary"

// flatWriter makes a flatbuffer from front to back: a table comes before what it refers to.
type flatWriter struct{ b []byte }

// align appends zeros until as many bytes as extra more would end at a multiple of 8.
func (f *flatWriter) align(extra int) {
	for (len(f.b)+extra)%8 != 0 {
		f.b = append(f.b, 0)
	}
}

// root begins a flatbuffer, whose first table has fields of the given sizes.
func (f *flatWriter) root(sizes ...int) written {
	f.b = append(f.b[:0], 0, 0, 0, 0)
	t := f.table(sizes...)
	binary.LittleEndian.PutUint32(f.b, uint32(t.at))
	return t
}

// written is a table: its place, and the places of its fields, 0 for one that is absent.
type written struct {
	f      *flatWriter
	at     int
	fields []int
}

// table appends a table of zeros with fields of 1, 2, 4 or 8 bytes, or 0 for one that is absent.
func (f *flatWriter) table(sizes ...int) written {
	t := written{f: f, fields: make([]int, len(sizes))}
	head := 4 + 2*len(sizes)
	f.align(head)
	vtable := len(f.b)
	t.at = vtable + head
	end := 4
	for i, n := range sizes {
		if n > 0 {
			end = (end + n - 1) / n * n
			t.fields[i] = t.at + end
			end += n
		}
	}
	f.b = append(f.b, make([]byte, head+end)...)
	le := binary.LittleEndian
	le.PutUint16(f.b[vtable:], uint16(head))
	le.PutUint16(f.b[vtable+2:], uint16(end))
	for i, at := range t.fields {
		if at > 0 {
			le.PutUint16(f.b[vtable+4+2*i:], uint16(at-t.at))
		}
	}
	le.PutUint32(f.b[t.at:], uint32(head))
	return t
}

// u8, u16, u32 and u64 set a field.
func (t written) u8(field int, v uint8) { t.f.b[t.fields[field]] = v }

func (t written) u16(field int, v uint16) {
	binary.LittleEndian.PutUint16(t.f.b[t.fields[field]:], v)
}

func (t written) u32(field int, v uint32) {
	binary.LittleEndian.PutUint32(t.f.b[t.fields[field]:], v)
}

func (t written) u64(field int, v uint64) {
	binary.LittleEndian.PutUint64(t.f.b[t.fields[field]:], v)
}

// refer sets a field, or an element of a vector, at a place to the offset of another place.
func (f *flatWriter) refer(from, to int) { binary.LittleEndian.PutUint32(f.b[from:], uint32(to-from)) }

// child appends a table that a field refers to.
func (t written) child(field int, sizes ...int) written {
	c := t.f.table(sizes...)
	t.f.refer(t.fields[field], c.at)
	return c
}

// vector appends a vector of n elements of size bytes, zeros that begin at a multiple of 8, and returns the place of the first.
func (t written) vector(field, n, size int) int {
	t.f.align(4)
	t.f.refer(t.fields[field], len(t.f.b))
	t.f.b = binary.LittleEndian.AppendUint32(t.f.b, uint32(n))
	at := len(t.f.b)
	t.f.b = append(t.f.b, make([]byte, n*size)...)
	return at
}

// text appends a string that a field refers to.
func (t written) text(field int, s string) {
	t.f.align(4)
	t.f.refer(t.fields[field], len(t.f.b))
	t.f.b = binary.LittleEndian.AppendUint32(t.f.b, uint32(len(s)))
	t.f.b = append(append(t.f.b, s...), 0)
}
