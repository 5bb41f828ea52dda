package npy

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

func file(header string, version byte, data int) []byte {
	b := []byte("\x93NUMPY")
	b = append(b, version, 0, byte(len(header)), byte(len(header)>>8))
	if version > 1 {
		b = append(b, 0, 0)
	}
	return append(append(b, header...), make([]byte, data)...)
}

func TestWriteThenRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		descr := rapid.SampledFrom([]string{"b1", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"}).Draw(t, "descr")
		shape := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 5).Draw(t, "shape")
		b, err := AppendHeader(nil, descr, shape)
		if err != nil || len(b) != HeaderSize {
			t.Fatalf("header of %d bytes, error %v", len(b), err)
		}
		want := Header{Descr: descr, Shape: shape, Offset: HeaderSize}
		b = append(b, make([]byte, want.Values()*want.Size())...)
		got, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" && len(shape) > 0 {
			t.Fatal(d)
		}
		if _, err := Read(bytes.NewReader(b), int64(len(b))-1); err == nil {
			t.Fatal("a cut file was accepted")
		}
	})
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		file  []byte
		want  string // error text, or "" for success
		shape []int
	}{
		{name: "NumPy 1.0", file: file("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }\n", 1, 48), shape: []int{2, 3}},
		{name: "version 2", file: file("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", 2, 4), shape: []int{4}},
		{name: "double quotes, other order of keys", file: file(`{"shape": (4,), "fortran_order": True, "descr": "<f4"}`, 1, 16), shape: []int{4}},
		{name: "scalar", file: file("{'descr': '<f8', 'fortran_order': False, 'shape': ()}", 1, 8), shape: []int{}},
		{name: "object", file: file("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 1, 8), want: "pickle"},
		{name: "big-endian", file: file("{'descr': '>i8', 'fortran_order': False, 'shape': (1,)}", 1, 8), want: "big-endian"},
		{name: "Fortran", file: file("{'descr': '<i8', 'fortran_order': True, 'shape': (1, 1)}", 1, 8), want: "Fortran"},
		{name: "structured", file: file("{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (1,)}", 1, 8), want: "structured"},
		{name: "overflow", file: file("{'descr': '<i8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 1, 8), want: "as many values as a file can hold"},
		{name: "overflow to zero", file: file("{'descr': '<i8', 'fortran_order': False, 'shape': (2305843009213693952, 8)}", 1, 0), want: "as many values as a file can hold"},
		{name: "negative", file: file("{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}", 1, 8), want: "dimension"},
		{name: "too little", file: file("{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", 1, 8), want: "cut or was changed"},
		{name: "too much", file: file("{'descr': '<i8', 'fortran_order': False, 'shape': (2,)}", 1, 18), want: "cut or was changed"},
		{name: "no shape", file: file("{'descr': '<i8', 'fortran_order': False}", 1, 8), want: "shape"},
		{name: "not npy", file: []byte("PK\x03\x04 and more"), want: "magic"},
		{name: "long header", file: append([]byte("\x93NUMPY\x02\x00\xff\xff\xff\x7f"), make([]byte, 100)...), want: "header of 2147483647"},
		{name: "empty", file: nil, want: "found 0 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := Read(bytes.NewReader(c.file), int64(len(c.file)))
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want == "" && !cmp.Equal(h.Shape, c.shape):
				t.Fatalf("shape %v, want %v", h.Shape, c.shape)
			case c.want != "" && (err == nil || !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("error %v, want ErrFormat with %q", err, c.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }\n", 1, 48))
	f.Add(file("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", 2, 4))
	f.Add(file("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 1, 8))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			h, err := Read(bytes.NewReader(b), int64(len(b)))
			if err == nil && h.Offset+int64(h.Values()*h.Size()) != int64(len(b)) {
				t.Fatalf("accepted %v over %d bytes", h, len(b))
			}
		})
	})
}
