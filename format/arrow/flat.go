package arrow

import "encoding/binary"

// flat is a flatbuffer. The first access outside of its bytes sets bad; all accesses then return zeros.
type flat struct {
	b   []byte
	bad bool
}

// table is a table of a flatbuffer: fields by their number in the schema of the format. The zero table has no fields.
type table struct {
	f      *flat
	at     int
	vtable []byte // an offset from at for each field; 0: absent
}

func (f *flat) bytes(at, n int) []byte {
	if at < 0 || n < 0 || at > len(f.b) || n > len(f.b)-at {
		f.bad = true
		return nil
	}
	return f.b[at : at+n]
}

func (f *flat) u32(at int) int {
	if b := f.bytes(at, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// root is the table that the flatbuffer is.
func (f *flat) root() table { return f.table(f.u32(0)) }

func (f *flat) table(at int) table {
	none := table{f: f}
	back := int(int32(f.u32(at)))
	head := f.bytes(at-back, 4)
	if head == nil {
		return none
	}
	n := int(binary.LittleEndian.Uint16(head))
	if n < 4 || n%2 != 0 {
		f.bad = true
		return none
	}
	vtable := f.bytes(at-back, n)
	if vtable == nil || f.bytes(at, int(binary.LittleEndian.Uint16(head[2:]))) == nil {
		return none
	}
	return table{f, at, vtable[4:]}
}

// place is the offset of a field, or 0 if the table does not have it.
func (t table) place(field int) int {
	if 2*field+2 > len(t.vtable) {
		return 0
	}
	if o := int(binary.LittleEndian.Uint16(t.vtable[2*field:])); o != 0 {
		return t.at + o
	}
	return 0
}

// int returns an integer of size bytes, or its default if the table does not have it.
func (t table) int(field, size int, absent int64) int64 {
	at := t.place(field)
	if at == 0 {
		return absent
	}
	b := t.f.bytes(at, size)
	if b == nil {
		return 0
	}
	return signed(b)
}

func signed(b []byte) int64 {
	switch len(b) {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// table returns a table that is a field, and whether there is one.
func (t table) table(field int) (table, bool) {
	at := t.place(field)
	if at == 0 {
		return table{f: t.f}, false
	}
	return t.f.table(at + t.f.u32(at)), true
}

// vector returns the elements of a vector, each of size bytes, and the offset of the first.
func (t table) vector(field, size int) (elements []byte, at int) {
	at = t.place(field)
	if at == 0 {
		return nil, 0
	}
	at += t.f.u32(at)
	n := t.f.u32(at)
	if n > len(t.f.b)/size {
		t.f.bad = true
		return nil, 0
	}
	return t.f.bytes(at+4, n*size), at + 4
}

func (t table) text(field int) string {
	b, _ := t.vector(field, 1)
	return string(b)
}

// tables calls fn for each table of a vector.
func (t table) tables(field int, fn func(table)) {
	b, at := t.vector(field, 4)
	for i := 0; i < len(b) && !t.f.bad; i += 4 {
		fn(t.f.table(at + i + t.f.u32(at+i)))
	}
}
