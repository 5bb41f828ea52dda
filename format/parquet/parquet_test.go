package parquet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/parquet"
)

// readAll reads a whole column in steps of n rows and limit bytes.
func readAll(b []byte, column string, n, limit int) (rows parquet.Rows, err error) {
	r := bytes.NewReader(b)
	f, err := parquet.Open(r, int64(len(b)))
	if err != nil {
		return rows, err
	}
	for i, c := range f.Columns {
		if c.Name != column {
			continue
		}
		for g := range f.Groups {
			x := f.Reader(r, g, i)
			defer x.Close()
			var part parquet.Rows
			for {
				part.Reset()
				if err := x.Read(&part, n, limit); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return rows, err
				}
				appendRows(&rows, &part)
			}
		}
	}
	return rows, nil
}

func appendRows(to, from *parquet.Rows) {
	for len(to.Lengths) < len(from.Lengths) {
		to.Lengths = append(to.Lengths, nil)
	}
	for i := range from.Lengths {
		to.Lengths[i] = append(to.Lengths[i], from.Lengths[i]...)
	}
	for _, end := range from.Ends {
		to.Ends = append(to.Ends, end+uint32(len(to.Data)))
	}
	to.Data = append(to.Data, from.Data...)
	if from.Null == nil {
		to.Null = append(to.Null, make([]bool, from.N)...)
	}
	to.Null = append(to.Null, from.Null...)
	to.N += from.N
}

// row is a row that the real parquet-go writes.
type row struct {
	Bool   bool       `parquet:"bool"`
	Int    int32      `parquet:"int,delta"`
	Long   int64      `parquet:"long,delta"`
	Small  int8       `parquet:"small"`
	Float  float32    `parquet:"float,split"`
	Double float64    `parquet:"double"`
	Text   string     `parquet:"text"`
	Dict   string     `parquet:"dict,dict,zstd"`
	Number int64      `parquet:"number,dict,snappy"`
	Delta  string     `parquet:"delta,delta,gzip"`
	Maybe  *int64     `parquet:"maybe,optional"`
	Name   *string    `parquet:"name,optional,dict"`
	List   []float32  `parquet:"list,list"`
	Old    []int32    `parquet:"old"`
	Deep   [][]string `parquet:"deep,list"`
}

func drawRow(t *rapid.T) row {
	text := rapid.SampledFrom([]string{"", "a", "ab", "abc", "abd", "a longer text than the others", "\x00\xff"})
	r := row{
		Bool: rapid.Bool().Draw(t, "bool"), Int: rapid.Int32().Draw(t, "int"), Long: rapid.Int64().Draw(t, "long"), Small: rapid.Int8().Draw(t, "small"),
		Float: rapid.Float32().Draw(t, "float"), Double: rapid.Float64().Draw(t, "double"),
		Text: text.Draw(t, "text"), Dict: text.Draw(t, "dict"), Delta: text.Draw(t, "delta"), Number: rapid.Int64Range(0, 5).Draw(t, "number"),
		List: rapid.SliceOfN(rapid.Float32(), 0, 4).Draw(t, "list"), Old: rapid.SliceOfN(rapid.Int32(), 0, 3).Draw(t, "old"),
		Deep: rapid.SliceOfN(rapid.SliceOfN(text, 0, 3), 0, 3).Draw(t, "deep"),
	}
	if rapid.Bool().Draw(t, "some") {
		n, s := rapid.Int64().Draw(t, "maybe"), text.Draw(t, "name")
		r.Maybe, r.Name = &n, &s
	}
	return r
}

// expected holds the rows of a column, made by hand.
type expected struct{ parquet.Rows }

func (e *expected) add(v any) {
	switch v := v.(type) {
	case string:
		e.Data = append(e.Data, v...)
		e.Ends = append(e.Ends, uint32(len(e.Data)))
	case bool:
		e.number(1, map[bool]uint64{true: 1}[v])
	case int8:
		e.number(4, uint64(int32(v)))
	case int32:
		e.number(4, uint64(v))
	case int64:
		e.number(8, uint64(v))
	case float32:
		e.number(4, uint64(math.Float32bits(v)))
	case float64:
		e.number(8, math.Float64bits(v))
	}
}

func (e *expected) number(size int, v uint64) {
	for range size {
		e.Data = append(e.Data, byte(v))
		v >>= 8
	}
}

func (e *expected) list(level int, v reflect.Value) {
	if v.Kind() != reflect.Slice {
		e.add(v.Interface())
		return
	}
	e.Lengths[level] = append(e.Lengths[level], uint32(v.Len()))
	for i := range v.Len() {
		e.list(level+1, v.Index(i))
	}
}

func expect(rows []row, field, depth int) expected {
	var e expected
	e.N = len(rows)
	e.Lengths = make([][]uint32, depth)
	for i := range rows {
		v := reflect.ValueOf(rows[i]).Field(field)
		if e.Null = append(e.Null, v.Kind() == reflect.Pointer && v.IsNil()); v.Kind() != reflect.Pointer {
			e.list(0, v)
		} else if !v.IsNil() {
			e.add(v.Elem().Interface())
		} else if v.Type().Elem().Kind() == reflect.String {
			e.add("")
		} else {
			e.add(int64(0))
		}
	}
	return e
}

// same compares rows. nil and empty are equal.
func same(a, b parquet.Rows) string {
	show := func(r parquet.Rows) string {
		return fmt.Sprint(r.N, r.Lengths, r.Data, r.Ends, r.Null)
	}
	return cmp.Diff(show(a), show(b))
}

// Files of parquet-go, in its encodings and both versions of pages, are read with the values that were written,
// however few rows are asked for at a time.
func TestReadsWhatParquetGoWrites(t *testing.T) {
	columns := []string{"bool", "int", "long", "small", "float", "double", "text", "dict", "number", "delta", "maybe", "name", "list", "old", "deep"}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 0, 40).Draw(t, "rows")
		var b bytes.Buffer
		w := pq.NewGenericWriter[row](&b,
			pq.DataPageVersion(rapid.IntRange(1, 2).Draw(t, "version")),
			pq.PageBufferSize(rapid.SampledFrom([]int{16, 64, 4096}).Draw(t, "page")),
			pq.MaxRowsPerRowGroup(rapid.Int64Range(1, 30).Draw(t, "group")))
		if _, err := w.Write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		n, limit := rapid.IntRange(1, 50).Draw(t, "n"), rapid.IntRange(1, 200).Draw(t, "limit")
		for i, name := range columns {
			got, err := readAll(b.Bytes(), name, n, limit)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := expect(rows, i, len(got.Lengths))
			if diff := same(want.Rows, got); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
		}
	})
}

// parquet-go reads the files that this package writes, and the package reads them back.
func TestParquetGoReadsWhatIsWritten(t *testing.T) {
	type record struct {
		Bool   bool        `parquet:"bool"`
		Int    int8        `parquet:"int"`
		Big    uint64      `parquet:"big"`
		Double float64     `parquet:"double"`
		Text   string      `parquet:"text"`
		List   []float32   `parquet:"list,list"`
		Deep   [][]string  `parquet:"deep,list"`
		Deeper [][][]int64 `parquet:"deeper,list"`
	}
	fields := []parquet.Field{
		{Name: "bool", Type: parquet.Bool}, {Name: "int", Type: parquet.Int8}, {Name: "big", Type: parquet.Uint64}, {Name: "double", Type: parquet.Float64},
		{Name: "text", Type: parquet.Bytes}, {Name: "list", Type: parquet.Float32, Lists: 1}, {Name: "deep", Type: parquet.Bytes, Lists: 2}, {Name: "deeper", Type: parquet.Int64, Lists: 3},
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 5, 20)
		draw := rapid.Custom(func(t *rapid.T) record {
			return record{rapid.Bool().Draw(t, "bool"), rapid.Int8().Draw(t, "int"), rapid.Uint64().Draw(t, "big"), rapid.Float64().Draw(t, "double"), text.Draw(t, "text"),
				rapid.SliceOfN(rapid.Float32(), 0, 4).Draw(t, "list"), rapid.SliceOfN(rapid.SliceOfN(text, 0, 3), 0, 3).Draw(t, "deep"),
				rapid.SliceOfN(rapid.SliceOfN(rapid.SliceOfN(rapid.Int64(), 0, 2), 0, 2), 0, 2).Draw(t, "deeper")}
		})
		var b bytes.Buffer
		w, err := parquet.NewWriter(&b, fields)
		if err != nil {
			t.Fatal(err)
		}
		e, err := parquet.NewPageEncoder()
		if err != nil {
			t.Fatal(err)
		}
		var all []record
		for range rapid.IntRange(0, 3).Draw(t, "pages") {
			rows := rapid.SliceOfN(draw, 1, 20).Draw(t, "rows")
			all = append(all, rows...)
			var pages []parquet.Page
			for i := range fields {
				x := expected{parquet.Rows{N: len(rows), Lengths: make([][]uint32, fields[i].Lists)}}
				for _, r := range rows {
					v := reflect.ValueOf(r).Field(i)
					if v.Kind() == reflect.Uint64 {
						x.add(int64(v.Uint()))
					} else {
						x.list(0, v)
					}
				}
				bytes, page, err := e.Append(nil, &fields[i], &x.Rows)
				if err != nil {
					t.Fatal(err)
				}
				page.Bytes = bytes
				pages = append(pages, page)
			}
			if err := w.Add(pages); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := pq.Read[record](bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fmt.Sprint(all), fmt.Sprint(got)); diff != "" {
			t.Fatal(diff)
		}
		for i := range fields {
			rows, err := readAll(b.Bytes(), fields[i].Name, 7, 50)
			if err != nil || rows.N != len(all) {
				t.Fatalf("%s: found %d rows, %v, expected %d", fields[i].Name, rows.N, err, len(all))
			}
		}
	})
}

// Columns with nulls, times, and columns that are not compressed come back, by parquet-go and by this package.
func TestNullsTimesAndRaw(t *testing.T) {
	type record struct {
		Text   *string   `parquet:"text,optional"`
		Number *float64  `parquet:"number,optional"`
		Flag   *bool     `parquet:"flag,optional"`
		Micros *int64    `parquet:"micros,optional,timestamp(microsecond:local)"`
		Raw    []float32 `parquet:"raw,list"`
		One    []int64   `parquet:"one,list"`
	}
	fields := []parquet.Field{
		{Name: "text", Type: parquet.Bytes, Nullable: true}, {Name: "number", Type: parquet.Float64, Nullable: true}, {Name: "flag", Type: parquet.Bool, Nullable: true},
		{Name: "micros", Type: parquet.Int64, Nullable: true, Unit: "us"}, {Name: "raw", Type: parquet.Float32, Lists: 1, Raw: true}, {Name: "one", Type: parquet.Int64, Lists: 1},
	}
	some := []bool{false, true, false, true}
	rows := []parquet.Rows{
		{N: 4, Data: []byte("axe"), Ends: []uint32{1, 1, 2, 3}, Null: some},
		{N: 4, Data: binary.LittleEndian.AppendUint64(make([]byte, 24), math.Float64bits(2.5)), Null: []bool{true, false, false, false}},
		{N: 4, Data: []byte{1, 0, 0, 1}, Null: []bool{false, false, true, false}},
		{N: 4, Data: binary.LittleEndian.AppendUint64(make([]byte, 24), 1_700_000_000_000_001)},
		{N: 4, Lengths: [][]uint32{{3, 3, 3, 3}}, Data: make([]byte, 48)},
		{N: 4, Lengths: [][]uint32{{1, 1, 1, 1}}, Data: make([]byte, 32)},
	}
	var b bytes.Buffer
	w, err := parquet.NewWriter(&b, fields)
	if err != nil {
		t.Fatal(err)
	}
	e, err := parquet.NewPageEncoder()
	if err != nil {
		t.Fatal(err)
	}
	pages := make([]parquet.Page, len(fields))
	for i := range fields {
		content, page, err := e.Append(nil, &fields[i], &rows[i])
		if err != nil {
			t.Fatal(err)
		}
		pages[i], pages[i].Bytes = page, content
	}
	if err := errors.Join(w.Add(pages), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := pq.Read[record](bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(got) != 4 {
		t.Fatalf("found %d rows, %v", len(got), err)
	}
	if *got[0].Text != "a" || got[1].Text != nil || got[0].Number != nil || *got[3].Number != 2.5 || got[2].Flag != nil || !*got[3].Flag || *got[3].Micros != 1_700_000_000_000_001 ||
		len(got[2].Raw) != 3 || len(got[3].One) != 1 {
		t.Errorf("found %+v", got)
	}
	for i, f := range fields {
		back, err := readAll(b.Bytes(), f.Name, 3, 1<<20)
		if err != nil || back.N != 4 {
			t.Fatalf("%s: found %d rows, %v", f.Name, back.N, err)
		}
		for k := range 4 {
			if want := rows[i].Null != nil && rows[i].Null[k]; back.Null[k] != want {
				t.Errorf("%s: row %d: found null %v, expected %v", f.Name, k, back.Null[k], want)
			}
		}
	}
	f, err := parquet.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || f.Columns[3].Unit != "us" {
		t.Errorf("found %+v, %v, expected a column of microseconds", f, err)
	}
	for _, bad := range []parquet.Field{{Name: "x", Lists: 1, Nullable: true}, {Name: "x", Type: parquet.Int64, Unit: "s"}, {Name: "x", Type: parquet.Int32, Unit: "ms"}} {
		if _, err := parquet.NewWriter(io.Discard, []parquet.Field{bad}); err == nil {
			t.Errorf("found no error of %+v", bad)
		}
	}
}
