package arrayfiles

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestNpy(t *testing.T) {
	dir := t.TempDir()
	tab, err := OpenNpy(vfs.OS, []NpyColumn{
		{Name: "i64", Path: tabletest.WriteNpy(t, dir, "a.npy", "i8", []int{3}, []int64{1, 2, 255})},
		{Name: "f32", Path: tabletest.WriteNpy(t, dir, "b.npy", "f4", []int{3, 2}, []float32{1, 2, 3, 4, 5, 6.5})},
		{Name: "i8", Path: tabletest.WriteNpy(t, dir, "c.npy", "i1", []int{3}, []int8{-1, 0, 1})},
		{Name: "f16", Path: tabletest.WriteNpy(t, dir, "d.npy", "f2", []int{3}, []uint16{0x3c00, 0x8001, 0x7bff})},
		{Name: "u64", Path: tabletest.WriteNpy(t, dir, "e.npy", "u8", []int{3}, []uint64{0, 1, math.MaxUint64})},
		{Name: "b", Path: tabletest.WriteNpy(t, dir, "f.npy", "b1", []int{3, 1}, []bool{true, false, true})},
		{Name: "u16", Path: tabletest.WriteNpy(t, dir, "g.npy", "u2", []int{3}, []uint16{0x3c00, 0x8001, 0x7bff})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(table.Field{Name: "f32", DType: graph.Float32, Shape: []int{2}}, tab.Fields()[1]); d != "" {
		t.Fatal(d)
	}
	if got, want := tab.Where(2, ""), filepath.Join(dir, "a.npy[2]"); got != want {
		t.Fatalf("row 2 is at %s, want %s", got, want)
	}
	for _, c := range []struct {
		column table.Column
		want   string // rows, or the error
	}{
		{tabletest.Column("i64", graph.Int64), "1,2,255"}, {tabletest.Column("i64", graph.Uint64), "1,2,255"}, {tabletest.Column("i64", graph.Uint8), "1,2,255"},
		{tabletest.Column("i64", graph.Float32), "1,2,255"}, {tabletest.Column("i64", graph.String), "1,2,255"},
		{tabletest.Column("i64", graph.Int8), "a.npy[2]: found 255, expected an integer from -128 to 127"},
		{tabletest.Column("i64", graph.Bool), "a.npy[1]: found 2, expected 0, 1, true or false"},
		{tabletest.Column("f32", graph.Float32, 2), "1 2,3 4,5 6.5"}, {tabletest.Column("f32", graph.Float16, 2), "0x3c00 0x4000,0x4200 0x4400,0x4500 0x4680"}, {tabletest.Column("f32", graph.Float64, 2), "1 2,3 4,5 6.5"},
		{tabletest.Column("f32", graph.Int32, 2), "b.npy[2]: found 6.5, expected an integer from -2147483648"}, {tabletest.Column("f32", graph.Bool, 2), "found float32, expected a dtype that can be read as bool"},
		{tabletest.Column("f32", graph.Float32), "found rows of shape [2], expected []"},
		{tabletest.Column("f32", graph.Float32, -1), "found rows of shape [2], expected [-1]"},
		{tabletest.Column("i8", graph.Int64), "-1,0,1"}, {tabletest.Column("i8", graph.Uint64), "c.npy[0]: found -1, expected an integer from 0"}, {tabletest.Column("i8", graph.Uint8), "c.npy[0]: found -1"}, {tabletest.Column("i8", graph.Float64), "-1,0,1"},
		{tabletest.Column("f16", graph.Float32), "1,-5.9604645e-08,65504"}, {tabletest.Column("f16", graph.Float16), "0x3c00,0x8001,0x7bff"}, {tabletest.Column("f16", graph.BFloat16), "0x3f80,0xb380,0x4780"},
		{tabletest.Column("u64", graph.Uint64), "0,1,18446744073709551615"}, {tabletest.Column("u64", graph.Int64), "e.npy[2]: found 18446744073709551615, expected an integer from -9223372036854775808"},
		{tabletest.Column("u64", graph.Int8), "e.npy[2]: found 18446744073709551615"}, {tabletest.Column("u64", graph.String), "0,1,18446744073709551615"},
		{tabletest.Column("b", graph.Bool), "1,0,1"}, {tabletest.Column("b", graph.Uint64), "1,0,1"}, {tabletest.Column("b", graph.Float32, 1), "1,0,1"},
		{tabletest.Column("u16", graph.BFloat16), "0x3c00,0x8001,0x7bff"},
		{tabletest.Column("none", graph.Bool), `expected "none" among them`},
	} {
		got, err := tabletest.Rows(tab, []table.Column{c.column}, 2)
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if err == nil && text != c.want || err != nil && (!strings.Contains(text, c.want) || !errors.Is(err, table.ErrFormat)) {
			t.Errorf("%s as %s: %s, want %s", c.column.Name, c.column.DType, text, c.want)
		}
	}
	for _, c := range []struct {
		columns []NpyColumn
		want    string
	}{
		{[]NpyColumn{{Name: "a", Path: filepath.Join(dir, "a.npy")}, {Name: "b", Path: tabletest.WriteNpy(t, dir, "x.npy", "i8", []int{2}, []int64{1, 2})}}, "found 2 rows, expected 3, as in"},
		{[]NpyColumn{{Name: "a", Path: tabletest.WriteNpy(t, dir, "y.npy", "i8", nil, []int64{1})}}, "found a single value"},
		{[]NpyColumn{{Name: "a", Path: tabletest.WriteNpy(t, dir, "z.npy", "i8", []int{1 << 40, 0}, []int64{})}}, "expected rows with values"},
	} {
		if _, err := OpenNpy(vfs.OS, c.columns); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestPairs(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		descr  string
		shape  []int
		values any
		want   string // rows, the place of row 1; or the error
	}{
		{"i8", []int{2, 3}, []int64{1, 2, 3, 4, 5, 6}, "1|4,2|5,3|6 p.npy[:, 1]"},
		{"i4", []int{3, 2}, []int32{1, 2, 3, 4, 5, 6}, "1|2,3|4,5|6 p.npy[1]"},
		{"u1", []int{2, 2}, []uint8{1, 2, 3, 4}, "1|3,2|4 p.npy[:, 1]"},
		{"u8", []int{2, 0}, []uint64{}, " p.npy[:, 1]"},
		{"u8", []int{0, 2}, []uint64{}, " p.npy[1]"},
		{"i2", []int{2, 2}, []int16{1, 2, 3, -4}, "p.npy[1, 1]: found -4, expected an integer from 0"},
		{"i2", []int{3, 2}, []int16{1, 2, 3, 4, 5, -6}, "p.npy[2, 1]: found -6, expected an integer from 0"},
		{"f4", []int{2, 2}, []float32{1, 2, 3, 4}, "found float32, expected integers"},
		{"i8", []int{3}, []int64{1, 2, 3}, "found shape [3], expected (2, E) or (E, 2)"},
	} {
		tab, err := OpenPairs(vfs.OS, tabletest.WriteNpy(t, dir, "p.npy", c.descr, c.shape, c.values))
		text := ""
		if err == nil {
			var got []string
			got, err = tabletest.Rows(tab, []table.Column{tabletest.Column("src", graph.Uint64), tabletest.Column("dst", graph.Uint64)}, 2)
			text = strings.Join(got, ",") + " " + filepath.Base(tab.Where(1, ""))
		}
		if err == nil && text != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %s: %s, error %v, want %s", c.shape, c.descr, text, err, c.want)
		}
	}
}

// In Fortran order, the bytes of an array are those of its transpose in C order.
func TestFortranPairs(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		shape    []int  // in C order
		from, to string // of the header
		want     string // rows, the place of row 1
	}{
		{[]int{3, 2}, "(3, 2)", "(2, 3)", "1|2,3|4,5|6 p.npy[:, 1]"},
		{[]int{2, 3}, "(2, 3)", "(3, 2)", "1|4,2|5,3|6 p.npy[1]"},
		{[]int{2, 2}, "(2, 2)", "(2, 2)", "1|2,3|4 p.npy[:, 1]"},
	} {
		path := tabletest.WriteNpy(t, dir, "p.npy", "i8", c.shape, []int64{1, 2, 3, 4, 5, 6}[:c.shape[0]*c.shape[1]])
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.Replace(bytes.Replace(b, []byte("False"), []byte("True "), 1), []byte(c.from), []byte(c.to), 1)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tab, err := OpenPairs(vfs.OS, path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := tabletest.Rows(tab, []table.Column{tabletest.Column("src", graph.Uint64), tabletest.Column("dst", graph.Uint64)}, 2)
		if text := strings.Join(got, ",") + " " + filepath.Base(tab.Where(1, "")); err != nil || text != c.want {
			t.Errorf("%s: found %s, %v, expected %s", c.to, text, err, c.want)
		}
	}
}

func TestCSC(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		indptr  []int32
		indices []int64
		want    string
	}{
		{[]int32{0, 2, 2, 3}, []int64{5, 1, 0}, "5|0,1|0,0|2"},
		{[]int32{0}, nil, ""},
		{[]int32{}, nil, "found no values"},
		{[]int32{1, 1}, []int64{1}, "indptr.npy[0]: found 1, expected 0"},
		{[]int32{0, 2, 1, 3}, []int64{5, 1, 0}, "indptr.npy[2]: found 1, expected at least 2"},
		{[]int32{0, 2}, []int64{5, 1, 0}, "indptr.npy[1]: found 2, expected 3, the number of edges"},
		{[]int32{0, -2}, []int64{5}, "indptr.npy[1]: found -2"},
		{[]int32{0, 1}, []int64{-5}, "indices.npy[0]: found -5"},
	} {
		tab, err := OpenCSC(vfs.OS, tabletest.WriteNpy(t, dir, "indptr.npy", "i4", []int{len(c.indptr)}, c.indptr), tabletest.WriteNpy(t, dir, "indices.npy", "i8", []int{len(c.indices)}, c.indices))
		var got []string
		if err == nil {
			got, err = tabletest.Rows(tab, []table.Column{tabletest.Column("src", graph.Uint64), tabletest.Column("dst", graph.Uint64)}, 2)
		}
		if text := strings.Join(got, ","); err == nil && text != c.want || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %s, error %v, want %s", c.indptr, text, err, c.want)
		}
	}
}

// Large arrays with many chunks: destinations follow indptr, and pairs have both layouts.
func TestNpyChunks(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		// Runs of empty rows, heavy rows and light ones.
		indptr := []int64{0}
		for range rapid.IntRange(1, 30).Draw(rt, "runs") {
			degree := rapid.SampledFrom([]int64{0, 1, 3, 500}).Draw(rt, "degree")
			n := rapid.SampledFrom([]int{1, 2, 3000}).Draw(rt, "rows")
			if degree > 3 {
				n = 1
			}
			for range n {
				if last := indptr[len(indptr)-1]; last < 9000 {
					indptr = append(indptr, last+degree)
				}
			}
		}
		e := int(indptr[len(indptr)-1])
		dst := make([]int64, 0, e)
		src := make([]int64, e)
		for d := range len(indptr) - 1 {
			for range indptr[d+1] - indptr[d] {
				src[len(dst)] = int64(len(dst)) * 7
				dst = append(dst, int64(d))
			}
		}
		if e == 0 {
			return
		}
		inter := make([]int64, 2*e)
		for i := range e {
			inter[2*i], inter[2*i+1] = src[i], dst[i]
		}
		csc, err := OpenCSC(vfs.OS, tabletest.WriteNpy(t, dir, "p.npy", "i8", []int{len(indptr)}, indptr), tabletest.WriteNpy(t, dir, "i.npy", "i8", []int{e}, src))
		if err != nil {
			rt.Fatal(err)
		}
		flat, err := OpenPairs(vfs.OS, tabletest.WriteNpy(t, dir, "f.npy", "i8", []int{2, e}, append(src, dst...)))
		if err != nil {
			rt.Fatal(err)
		}
		chunk := rapid.IntRange(50, 5000).Draw(rt, "chunk")
		csc.indptr.chunk, csc.indices.chunk, flat.chunk = chunk, chunk, chunk
		tables := []table.Table{csc, flat}
		if e != 2 {
			pairs, err := OpenPairs(vfs.OS, tabletest.WriteNpy(t, dir, "g.npy", "i8", []int{e, 2}, inter))
			if err != nil {
				rt.Fatal(err)
			}
			pairs.chunk = chunk
			tables = append(tables, pairs)
		}
		for i, tab := range tables {
			n, err := tab.Scan(t.Context(), []table.Column{tabletest.Column("dst", graph.Uint64), tabletest.Column("src", graph.Uint64)}, 2, func(_ int, c *table.Chunk) error {
				d, s := scalar.AsWords(c.Columns[0].Data), scalar.AsWords(c.Columns[1].Data)
				for r := range c.Rows {
					at := int(c.First) + r
					if d[r] != uint64(dst[at]) || s[r] != uint64(src[at]) {
						return fmt.Errorf("table %d, edge %d: %d -> %d, want %d -> %d", i, at, s[r], d[r], src[at], dst[at])
					}
				}
				return nil
			})
			if err != nil || int(n) != e {
				rt.Fatal(n, err)
			}
		}
	})
}

// FuzzNpy: any bytes give an error, or as many rows as the header says.
func FuzzNpy(f *testing.F) {
	for _, shape := range [][]int{{2, 3}, {3, 2}, {6}} {
		b, err := npy.AppendHeader(nil, "i8", shape)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(b, make([]byte, 48)...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			path := filepath.Join(t.TempDir(), "a.npy")
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			if tab, err := OpenPairs(vfs.OS, path); err == nil {
				got, err := tabletest.Rows(tab, []table.Column{tabletest.Column("src", graph.Uint64), tabletest.Column("dst", graph.Uint64)}, 2)
				if err == nil && len(got) != int(tab.Rows()) {
					t.Fatalf("%d rows, want %d", len(got), tab.Rows())
				}
			}
			csc, err := OpenCSC(vfs.OS, path, path)
			if err == nil {
				_, err = tabletest.Rows(csc, []table.Column{tabletest.Column("src", graph.Uint64), tabletest.Column("dst", graph.Uint64)}, 2)
				// indptr[n] is n+1 for n+1 values, so only the array's own length is valid.
				if err == nil && csc.edges() == 0 {
					t.Fatal("a matrix of no rows was accepted")
				}
			}
		})
	})
}

// An array of two edges has one edge per row if the number of edges is known.
func TestEdgeRows(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		shape []int
		edges uint64
		want  string
	}{
		{[]int{2, 2}, 2, "1|2,3|4"},
		{[]int{3, 2}, 3, "1|2,3|4,5|6"},
		{[]int{2, 3}, 3, "1|4,2|5,3|6"},
		{[]int{3, 2}, 4, "1|2,3|4,5|6"},
		{[]int{6}, 3, "expected (2, E) or (E, 2)"},
	} {
		n := 1
		for _, d := range c.shape {
			n *= d
		}
		file := tabletest.WriteNpy(t, dir, "e.npy", "i8", c.shape, []int64{1, 2, 3, 4, 5, 6}[:n])
		e, err := OpenEdgeRows(vfs.OS, file, c.edges)
		var got []string
		if err == nil {
			got, err = tabletest.Rows(e, []table.Column{tabletest.Column("src", graph.Uint64), tabletest.Column("dst", graph.Uint64)}, 2)
		}
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%v: found %q, expected %q", c.shape, text, c.want)
		}
	}
	float := tabletest.WriteNpy(t, dir, "f.npy", "f4", []int{3, 2}, make([]float32, 6))
	if _, err := OpenEdgeRows(vfs.OS, float, 3); err == nil || !strings.Contains(err.Error(), "expected integers") {
		t.Errorf("found %v for floats", err)
	}
}
