package arrow

import (
	"encoding/base64"

	"github.com/graphmill/graphmill/format/parquet"
)

// SchemaKey is the key of Declared in the metadata of a Parquet file.
const SchemaKey = "ARROW:schema"

// Declaration is the type of a column as programs of Arrow read it from a Parquet file.
type Declaration struct {
	Name string
	Type parquet.Type // a number of 32 or 64 bits, Bool, or Bytes, which are binary
	// Lists has the length of the lists of each level, -1 where it varies; nil: single values.
	Lists []int
}

// Declared is the schema of columns as Arrow keeps it in the metadata of a Parquet file, under SchemaKey. Parquet itself does not say
// that all lists of a column have one length, for which programs of Arrow have a type.
func Declared(columns []Declaration) string {
	var f flatWriter
	m := f.root(2, 1, 4, 8)
	m.u16(0, version5)
	m.u8(1, headSchema)
	s := m.child(2, 0, 4, 4)
	at := s.vector(1, len(columns), 4)
	for i, c := range columns {
		f.refer(at+4*i, f.declaration(c.Name, c.Type, c.Lists))
	}
	s.vector(2, 0, 4)
	return base64.StdEncoding.EncodeToString(framed(nil, f.b))
}

// declaration appends a field of the schema, and returns its place.
func (f *flatWriter) declaration(name string, typ parquet.Type, lists []int) int {
	if len(lists) == 0 {
		if typ != parquet.Bytes {
			return f.field(&Field{Name: name, Type: typ})
		}
		t := f.table(4, 1, 1, 4, 0, 4)
		t.text(0, name)
		t.u8(2, typeBinary)
		t.child(3)
		t.vector(5, 0, 4)
		return t.at
	}
	t := f.table(4, 1, 1, 4, 0, 4)
	t.text(0, name)
	if lists[0] < 0 {
		t.u8(2, typeList)
		t.child(3)
	} else {
		t.u8(2, typeSized)
		t.child(3, 4).u32(0, uint32(lists[0]))
	}
	at := t.vector(5, 1, 4)
	f.refer(at, f.declaration("element", typ, lists[1:]))
	return t.at
}
