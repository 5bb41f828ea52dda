package dgl

import (
	"bytes"
	"os"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// The arrays of a dict are in the file, one after the other.
func FuzzDict(f *testing.F) {
	b, err := os.ReadFile("testdata/tiny/orig_nids.dgl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:60])
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			d, err := OpenDict(memory{b: b}, "d.dgl")
			if err != nil {
				return
			}
			defer d.Close()
			last := int64(24)
			for _, a := range d.Tensors {
				if a.Offset < last || a.Offset+a.Size > int64(len(b)) || a.bytes() != a.Size {
					t.Fatalf("found %+v in a file of %d bytes", a, len(b))
				}
				last = a.Offset + a.Size
			}
			if last != int64(len(b)) {
				t.Fatalf("found the end of the last tensor at %d, expected %d", last, len(b))
			}
		})
	})
}

// The fuzzed bytes replace those from the first graph on. The bytes before them carry no information.
func FuzzGraph(f *testing.F) {
	for _, name := range []string{"testdata/tiny/graph.bin", "testdata/tiny/part1/graph.dgl"} {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[reserved:])
	}
	f.Add(written(f, GraphLayout(GraphSpec{Formats: 7}))[reserved:])
	front := written(f, GraphLayout(GraphSpec{}))[:reserved]
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			_ = readAll(memory{b: append(bytes.Clone(front), b...)}, "graph.dgl") // may return an error, but must not panic
		})
	})
}

// A configuration stays the same when written and read.
func FuzzConfig(f *testing.F) {
	b, err := os.ReadFile("testdata/tiny/tiny.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"num_parts": 1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			c, err := parseConfig(b)
			if err != nil {
				return
			}
			again, err := parseConfig(c.JSON())
			if err != nil {
				t.Fatalf("%v: %s", err, c.JSON())
			}
			if !bytes.Equal(c.JSON(), again.JSON()) {
				t.Fatalf("found %s, expected %s", again.JSON(), c.JSON())
			}
		})
	})
}
