package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrCorrupt is wrapped by errors about bytes that are not a Parquet file, or are a damaged one.
var ErrCorrupt = errors.New("not a whole Parquet file")

// ErrUnsupported is wrapped by errors about features of Parquet that this package does not read.
var ErrUnsupported = errors.New("not supported")

func corruptf(format string, a ...any) error { return tagged.Errorf(ErrCorrupt, format, a...) }

func unsupportedf(format string, a ...any) error { return tagged.Errorf(ErrUnsupported, format, a...) }

const magic = "PAR1"

// File holds the content of the footer of a Parquet file.
type File struct {
	Columns []Column
	// Nested are the leaves of columns of structs and maps. Name is the path of names from the top, with dots between them:
	// "add.path", "add.tags.key_value.key". A leaf of a struct that is null is null. Null within a list of byte strings is an empty
	// one.
	Nested []Column
	Groups []Group
	// Meta is the writer's key-value metadata. The last value of a repeated key counts.
	Meta map[string]string

	end int64 // offset of the footer, where the pages end
}

// Group is a row group.
type Group struct {
	Rows   int64
	chunks []chunk // by Column.leaf
}

// chunk is the place of the pages of a column in a row group.
type chunk struct {
	codec      int64
	values     int64
	from, size int64
	fault      error
}

// Open reads the footer of a file of size bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	if size < 12 {
		return nil, corruptf("found %d bytes, expected a Parquet file of at least 12; the file is cut", size)
	}
	var head, tail [8]byte
	if err := readAt(r, head[:4], 0); err != nil {
		return nil, err
	}
	if err := readAt(r, tail[:], size-8); err != nil {
		return nil, err
	}
	switch found := string(tail[4:]); {
	case string(head[:4]) == "PARE" || found == "PARE":
		return nil, unsupportedf("found an encrypted Parquet file, expected a plain one; decrypt it first")
	case string(head[:4]) != magic:
		return nil, corruptf("byte 0: found %q, expected %q; is this a Parquet file?", head[:4], magic)
	case found != magic:
		return nil, corruptf("byte %d: found %q, expected %q; the file is cut, or was not completed", size-4, found, magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > size-12 {
		return nil, corruptf("byte %d: found a footer of %d bytes, expected at most %d; the file is damaged", size-8, n, size-12)
	}
	footer := make([]byte, n)
	if err := readAt(r, footer, size-8-n); err != nil {
		return nil, err
	}
	f := &File{end: size - 8 - n}
	if err := f.footer(footer); err != nil {
		return nil, fmt.Errorf("footer at byte %d: %w", f.end, err)
	}
	return f, nil
}

// readAt fills b.
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

// element is a node of the schema. The elements are in depth-first order.
type element struct {
	name       string
	kind       int64 // physical type; -1: a group
	width      int64 // bytes of a fixed_len_byte_array
	repetition int64
	children   int64
	converted  int64 // -1: none
	logical    int   // field number in the union; 0: none
	scale      int64 // of a decimal
	precision  int64
	unit       string // of a timestamp
	bits       int64  // of an integer
	signed     bool
	id         int // 0: none
}

func (f *File) footer(b []byte) error {
	t := &thrift{b: b}
	var elements []element
	encrypted := false
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			t.list(thriftStruct, func() { elements = append(elements, readElement(t)) })
		case id == 4 && kind == thriftList:
			t.list(thriftStruct, func() { f.Groups = append(f.Groups, f.group(t)) })
		case id == 5 && kind == thriftList:
			t.list(thriftStruct, func() { f.pair(t) })
		default:
			encrypted = encrypted || id == 8
			return false
		}
		return true
	})
	if encrypted {
		return unsupportedf("found encrypted columns, expected plain ones; decrypt the file first")
	}
	if t.bad {
		return corruptf("found bytes that are not file metadata, expected the metadata of a Parquet file; the file is damaged")
	}
	if err := f.schema(elements); err != nil {
		return err
	}
	leaves := 0
	for _, c := range f.Columns {
		leaves = max(leaves, c.leaf+1)
	}
	for _, c := range f.Nested {
		leaves = max(leaves, c.leaf+1)
	}
	for i, g := range f.Groups {
		if g.Rows < 0 || g.Rows > math.MaxInt64/2/int64(len(f.Groups)) {
			return corruptf("row group %d: found %d rows, expected at least 0 and no overflow of their sum", i, g.Rows)
		}
		if len(g.chunks) < leaves {
			return corruptf("row group %d: found %d columns, expected %d", i, len(g.chunks), leaves)
		}
	}
	return nil
}

// pair reads a key and its value.
func (f *File) pair(t *thrift) {
	var key, value string
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			key = string(t.binary())
		case id == 2 && kind == thriftBinary:
			value = string(t.binary())
		default:
			return false
		}
		return true
	})
	if f.Meta == nil {
		f.Meta = map[string]string{}
	}
	f.Meta[key] = value
}

func readElement(t *thrift) element {
	e := element{kind: -1, converted: -1, bits: 0, signed: true}
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftI32:
			e.kind = t.int()
		case id == 2 && kind == thriftI32:
			e.width = t.int()
		case id == 3 && kind == thriftI32:
			e.repetition = t.int()
		case id == 4 && kind == thriftBinary:
			e.name = string(t.binary())
		case id == 5 && kind == thriftI32:
			e.children = t.int()
		case id == 6 && kind == thriftI32:
			e.converted = t.int()
		case id == 7 && kind == thriftI32:
			e.scale = t.int()
		case id == 8 && kind == thriftI32:
			e.precision = t.int()
		case id == 9 && kind == thriftI32:
			e.id = int(t.int())
		case id == 10 && kind == thriftStruct:
			t.fields(func(id int, kind byte) bool {
				e.logical = id
				if id == logicalTime && kind == thriftStruct {
					e.timestamp(t)
					return true
				}
				if id != logicalInteger || kind != thriftStruct {
					return false
				}
				t.fields(func(id int, kind byte) bool {
					switch {
					case id == 1 && kind == thriftByte:
						e.bits = int64(t.byte())
					case id == 2 && (kind == thriftTrue || kind == thriftFalse):
						e.signed = kind == thriftTrue
					default:
						return false
					}
					return true
				})
				return true
			})
		default:
			return false
		}
		return true
	})
	return e
}

// timestamp reads the unit of a timestamp.
func (e *element) timestamp(t *thrift) {
	t.fields(func(id int, kind byte) bool {
		if id != 2 || kind != thriftStruct {
			return kind == thriftTrue || kind == thriftFalse
		}
		t.fields(func(id int, _ byte) bool {
			if id >= 1 && id <= 3 {
				e.unit = []string{"ms", "us", "ns"}[id-1]
			}
			return false
		})
		return true
	})
}

func (f *File) group(t *thrift) Group {
	var g Group
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			t.list(thriftStruct, func() { g.chunks = append(g.chunks, f.chunk(t)) })
		case id == 3 && kind == thriftI64:
			g.Rows = t.int()
		default:
			return false
		}
		return true
	})
	return g
}

func (f *File) chunk(t *thrift) chunk {
	var c chunk
	var data, dictionary, size int64
	path := false
	meta := false
	t.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == thriftBinary:
			path = len(t.binary()) > 0
		case id == 3 && kind == thriftStruct:
			meta = true
			t.fields(func(id int, kind byte) bool {
				if kind != thriftI32 && kind != thriftI64 {
					return false
				}
				switch id {
				case 4:
					c.codec = t.int()
				case 5:
					c.values = t.int()
				case 7:
					size = t.int()
				case 9:
					data = t.int()
				case 11:
					dictionary = t.int()
				default:
					return false
				}
				return true
			})
		default:
			return false
		}
		return true
	})
	c.from, c.size = data, size
	if dictionary > 0 && dictionary < data {
		c.from = dictionary
	}
	if c.values == 0 && data == 0 {
		c.from, c.size = int64(len(magic)), 0 // the writer wrote no data page, at most an empty dictionary
	}
	switch {
	case path:
		c.fault = unsupportedf("found a column whose pages are in another file, expected all columns in this one")
	case !meta:
		c.fault = corruptf("found a column without metadata, expected the place of its pages; the file is damaged or encrypted")
	case c.from < int64(len(magic)) || c.size < 0 || c.values < 0 || c.from > f.end || c.size > f.end-c.from:
		c.fault = corruptf("found %d bytes of pages at byte %d, expected them between byte 4 and the footer at byte %d; the file is damaged", c.size, c.from, f.end)
	}
	return c
}
