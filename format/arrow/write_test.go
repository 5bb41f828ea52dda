package arrow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/format/arrow"
	"github.com/graphmill/graphmill/format/parquet"
)

// sizes are the bytes of a value as it is written; 0: texts. The reader widens integers to 4 bytes.
var sizes = map[parquet.Type]int{
	parquet.Bool: 1, parquet.Int8: 1, parquet.Int16: 2, parquet.Int32: 4, parquet.Int64: 8, parquet.Uint8: 1, parquet.Uint16: 2, parquet.Uint32: 4, parquet.Uint64: 8,
	parquet.Float32: 4, parquet.Float64: 8, parquet.Bytes: 0,
}

// column is a column of random rows, and what the reader makes of each.
func column(r *rand.Rand, f *arrow.Field, n int) (v arrow.Values, want []string) {
	size := sizes[f.Type]
	if f.Nullable {
		v.Null = make([]bool, n)
	}
	for i := range n {
		if f.Nullable && r.IntN(3) == 0 {
			v.Null[i] = true
		}
		row := ""
		for range max(f.Width, 1) {
			b := make([]byte, size)
			if f.Type == parquet.Bytes {
				b = make([]byte, r.IntN(4))
			}
			for k := range b {
				if b[k] = byte(r.IntN(128)); f.Type == parquet.Bool {
					b[k] &= 1
				}
			}
			v.Data = append(v.Data, b...)
			if f.Type == parquet.Bytes {
				v.Ends = append(v.Ends, uint32(len(v.Data)))
			}
			if size > 0 && size < 4 && f.Type != parquet.Bool {
				b = append(b, make([]byte, 4-size)...) // none is negative
			}
			row += fmt.Sprintf("%x ", b)
		}
		if v.Null != nil && v.Null[i] {
			row = "null"
		}
		want = append(want, row)
	}
	return v, want
}

// What is written comes back: random columns of all types, in batches of any size, also none.
func TestWriter(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		var fields []arrow.Field
		var names []string
		for i, typ := range slices.Sorted(func(yield func(parquet.Type) bool) {
			for typ := range sizes {
				if r.IntN(3) > 0 && !yield(typ) {
					return
				}
			}
		}) {
			f := arrow.Field{Name: []string{"x", "ünï", "", "a \"b\""}[i%4] + fmt.Sprint(i), Type: typ, Nullable: r.IntN(2) == 0}
			if typ == parquet.Int64 {
				f.Unit = []string{"", "s", "ms", "us", "ns"}[r.IntN(5)]
			}
			if typ != parquet.Bytes && !f.Nullable && f.Unit == "" {
				f.Width = r.IntN(4)
			}
			fields = append(fields, f)
			names = append(names, fmt.Sprintf("%s %d %s %d", f.Name, f.Type, f.Unit, min(f.Width, 1)))
		}
		var file bytes.Buffer
		w, err := arrow.NewWriter(&file, fields)
		if err != nil {
			t.Fatal(err)
		}
		w.Meta = []parquet.Pair{{Key: "key", Value: "value"}}
		want := make([][]string, len(fields))
		for range r.IntN(4) {
			n := r.IntN(20)
			values := make([]arrow.Values, len(fields))
			for i := range fields {
				var rows []string
				values[i], rows = column(r, &fields[i], n)
				want[i] = append(want[i], rows...)
			}
			batch, err := arrow.AppendBatch(nil, fields, n, values)
			if err == nil {
				err = w.Add(batch)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, gotNames := readBack(t, file.Bytes())
		if d := cmp.Diff(names, gotNames) + cmp.Diff(want, got); d != "" {
			t.Errorf("seed %d: %s", seed, d)
		}
	}
}

// readBack is the rows of each column of a file as text.
func readBack(t *testing.T, b []byte) (rows [][]string, names []string) {
	t.Helper()
	in := bytes.NewReader(b)
	f, err := arrow.Open(in, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range f.Columns {
		names = append(names, fmt.Sprintf("%s %d %s %d", c.Name, c.Type, c.Unit, c.Lists))
		var all []string
		for batch := range f.Batches {
			r := f.Reader(in, batch, i)
			for {
				var part parquet.Rows
				if err := r.Read(&part, 7, 1<<16); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				all = append(all, texts(&c, &part)...)
			}
			r.Close()
		}
		rows = append(rows, all)
	}
	return rows, names
}

// texts are rows as column makes them.
func texts(c *parquet.Column, r *parquet.Rows) (out []string) {
	at, value := 0, 0
	for i := range r.N {
		n := 1
		if c.Lists > 0 {
			n = int(r.Lengths[0][i])
		}
		row := ""
		for range n {
			end := at + c.Width
			if c.Type == parquet.Bytes {
				end = int(r.Ends[value])
			}
			row += fmt.Sprintf("%x ", r.Data[at:end])
			at = end
			value++
		}
		if r.Null != nil && r.Null[i] {
			row = "null"
		}
		out = append(out, row)
	}
	return out
}

// Columns and batches that no file can have are errors.
func TestWriterRefuses(t *testing.T) {
	for _, f := range []arrow.Field{{Name: "a", Type: parquet.Float16}, {Name: "a", Type: parquet.Bytes, Width: 2}, {Name: "a", Type: parquet.Int8, Width: -1}} {
		if _, err := arrow.NewWriter(io.Discard, []arrow.Field{f}); err == nil {
			t.Errorf("%v: found no error", f)
		}
	}
	for _, c := range []struct {
		typ parquet.Type
		v   arrow.Values
	}{{parquet.Int32, arrow.Values{Data: make([]byte, 4)}}, {parquet.Bool, arrow.Values{Data: make([]byte, 3)}}, {parquet.Bytes, arrow.Values{Ends: make([]uint32, 1)}}} {
		if _, err := arrow.AppendBatch(nil, []arrow.Field{{Name: "a", Type: c.typ}}, 2, []arrow.Values{c.v}); err == nil {
			t.Errorf("%v: found no error", c)
		}
	}
}
