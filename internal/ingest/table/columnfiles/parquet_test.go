package columnfiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

type parquetRow struct {
	ID     string     `parquet:"id"`
	Small  int8       `parquet:"small"`
	Big    uint64     `parquet:"big"`
	Maybe  *int64     `parquet:"maybe,optional"`
	Name   *string    `parquet:"name,optional,dict"`
	Vector []float32  `parquet:"vector,list"`
	Deep   [][]string `parquet:"deep,list"`
	Struct struct {
		A, B int64
	} `parquet:"struct"`
}

func writeParquet[T any](t testing.TB, path string, rows []T, options ...pq.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func some[T any](v T) *T { return &v }

// show collects the vectors of a scan, one line per column.
func show(t *Columnar, columns []table.Column, threads int) ([]string, error) {
	type part struct {
		first  uint64
		vector []string
		absent string
	}
	parts := map[uint64]part{}
	total := uint64(0)
	turn := make(chan struct{}, 1)
	rows, err := t.Scan(context.Background(), columns, threads, func(_ int, c *table.Chunk) error {
		turn <- struct{}{}
		defer func() { <-turn }()
		p := part{first: c.First}
		for i, v := range c.Columns {
			line := fmt.Sprintf("%v %x", v.Lengths, v.Data)
			if columns[i].DType == graph.String {
				line = fmt.Sprintf("%v %q %v", v.Lengths, v.Data, v.Ends)
			}
			p.vector = append(p.vector, line)
		}
		if c.Absent != nil {
			p.absent = fmt.Sprint(" absent ", c.Absent)
		}
		parts[c.First] = p
		total += uint64(c.Rows)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rows != total {
		return nil, fmt.Errorf("found %d rows in chunks of %d", rows, total)
	}
	var out []string
	for i := range columns {
		line := columns[i].Name + ":"
		for at := uint64(0); at <= rows; at++ {
			if p, ok := parts[at]; ok {
				line += " " + p.vector[i] + p.absent
			}
		}
		out = append(out, line)
	}
	return out, nil
}

func TestParquet(t *testing.T) {
	rows := []parquetRow{
		{ID: "a", Small: -1, Big: 1 << 63, Maybe: some(int64(7)), Name: some("x"), Vector: []float32{1, 2}, Deep: [][]string{{"p", "q"}, {}}},
		{ID: "b", Small: 2, Big: 3, Vector: nil, Deep: nil},
		{ID: "c", Small: 3, Big: 4, Maybe: some(int64(-1)), Name: some(""), Vector: []float32{0.5, 0}, Deep: [][]string{{"r"}}},
	}
	dir := t.TempDir()
	a := writeParquet(t, filepath.Join(dir, "a.parquet"), rows[:2], pq.MaxRowsPerRowGroup(1))
	b := writeParquet(t, filepath.Join(dir, "b.parquet"), rows[2:])
	p, err := OpenParquet(vfs.OS, []string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	fields := []table.Field{{Name: "id", DType: graph.String}, {Name: "small", DType: graph.Int8}, {Name: "big", DType: graph.Uint64}, {Name: "maybe", DType: graph.Int64},
		{Name: "name", DType: graph.String}, {Name: "vector", DType: graph.Float32, Shape: []int{-1}}, {Name: "deep", DType: graph.String, Shape: []int{-1, -1}}}
	if diff := cmp.Diff(fields, p.Fields()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`"struct" (a struct)`}, p.Unreadable()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{a, b}, p.Files()); diff != "" {
		t.Error(diff)
	}
	columns := []table.Column{
		{Name: "id", DType: graph.String, ID: true},
		{Name: "small", DType: graph.Float32},
		{Name: "big", DType: graph.String},
		{Name: "maybe", DType: graph.Int16, Empty: table.EmptyFill, Fill: "9"},
		{Name: "name", DType: graph.String},
		{Name: "vector", DType: graph.Float64, Shape: []int{-1}},
		{Name: "vector", DType: graph.Float32, Shape: []int{-1, 2}},
		{Name: "deep", DType: graph.String, Shape: []int{-1, -1}},
		{Name: "small", DType: graph.Int8, Shape: []int{1}},
		{Name: "id", DType: graph.String},
	}
	want := []string{
		`id: [] "a" [1] [] "b" [1] [] "c" [1]`,
		`small: [] 000080bf [] 00000040 [] 00004040`,
		`big: [] "9223372036854775808" [19] [] "3" [1] [] "4" [1]`,
		`maybe: [] 0700 [] 0900 [] ffff`,
		`name: [] "x" [1] [] "" [0] [] "" [0]`,
		`vector: [[2]] 000000000000f03f0000000000000040 [[0]]  [[2]] 000000000000e03f0000000000000000`,
		`vector: [[1]] 0000803f00000040 [[0]]  [[1]] 0000003f00000000`,
		`deep: [[2] [2 0]] "pq" [1 2] [[0] []] "" [] [[1] [1]] "r" [1]`,
		`small: [] ff [] 02 [] 03`,
		`id: [] "a" [1] [] "b" [1] [] "c" [1]`,
	}
	// Empty cells among others, in one chunk.
	c := writeParquet(t, filepath.Join(dir, "c.parquet"), []parquetRow{{ID: "a"}, {ID: "b", Maybe: some(int64(1))}, {ID: "c"}, {ID: "d", Maybe: some(int64(2))}, {ID: "e", Maybe: some(int64(3))}})
	one, err := OpenParquet(vfs.OS, []string{c})
	if err != nil {
		t.Fatal(err)
	}
	got, err := show(one, []table.Column{{Name: "maybe", DType: graph.Int16, Empty: table.EmptyFill, Fill: "-1"}, {Name: "maybe", DType: graph.String, ID: true, Empty: table.EmptyAbsent}}, 1)
	if diff := cmp.Diff([]string{"maybe: [] ffff0100ffff02000300 absent [true false true false false]", `maybe: [] "123" [0 1 1 2 3] absent [true false true false false]`}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for threads := 1; threads <= 4; threads++ {
		got, err := show(p, columns, threads)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if got, want := p.Where(1, ""), a+": row 1 (row group 1)"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	if got, want := p.Where(2, ""), b+": row 0 (row group 0)"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

// Columns of different widths advance together, whatever a chunk holds.
func TestParquetChunks(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "a", strings.Repeat("long", 20)})
	draw := rapid.Custom(func(t *rapid.T) parquetRow {
		r := parquetRow{ID: text.Draw(t, "id"), Small: rapid.Int8().Draw(t, "small"), Vector: rapid.SliceOfN(rapid.Float32(), 0, 5).Draw(t, "vector"),
			Deep: rapid.SliceOfN(rapid.SliceOfN(text, 0, 3), 0, 3).Draw(t, "deep")}
		if rapid.Bool().Draw(t, "some") {
			r.Maybe, r.Name = some(rapid.Int64Range(0, 1<<30).Draw(t, "maybe")), some(text.Draw(t, "name"))
		}
		return r
	})
	columns := []table.Column{{Name: "id", DType: graph.String, ID: true, Empty: table.EmptyFill, Fill: "none"}, {Name: "small", DType: graph.Int8}, {Name: "maybe", DType: graph.Uint64, Empty: table.EmptyAbsent}, {Name: "maybe", DType: graph.Int32, Empty: table.EmptyFill, Fill: "-5"},
		{Name: "name", DType: graph.String}, {Name: "vector", DType: graph.Float32, Shape: []int{-1}}, {Name: "deep", DType: graph.String, Shape: []int{-1, -1}}}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := writeParquetFor(t, dir, rapid.SliceOfN(draw, 1, 60).Draw(t, "rows"), pq.PageBufferSize(rapid.SampledFrom([]int{16, 500}).Draw(t, "page")))
		p, err := OpenParquet(vfs.OS, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		whole := gather(t, p, columns)
		p.chunk = rapid.IntRange(1, 300).Draw(t, "chunk")
		if diff := cmp.Diff(whole, gather(t, p, columns)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func writeParquetFor(t *rapid.T, dir string, rows []parquetRow, options ...pq.WriterOption) string {
	var b bytes.Buffer
	w := pq.NewGenericWriter[parquetRow](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "t.parquet")
	if err := errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// gather scans with one thread and returns one list per column: lengths, values, texts.
func gather(t *rapid.T, p *Columnar, columns []table.Column) []string {
	out := make([][]string, len(columns))
	_, err := p.Scan(context.Background(), columns, 1, func(_ int, c *table.Chunk) error {
		for i, v := range c.Columns {
			for level, lengths := range v.Lengths {
				for _, n := range lengths {
					out[i] = append(out[i], fmt.Sprintf("%d:%d", level, n))
				}
			}
			start := uint32(0)
			for _, end := range v.Ends {
				out[i] = append(out[i], fmt.Sprintf("%q", v.Data[start:end]))
				start = end
			}
			if v.Ends == nil {
				for _, b := range v.Data {
					out[i] = append(out[i], fmt.Sprint(b))
				}
			}
		}
		for r := range c.Rows {
			out[0] = append(out[0], fmt.Sprint("absent ", c.Absent != nil && c.Absent[r]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range out {
		// Where chunks end, the levels alternate: only the order within each level is compared.
		for _, kind := range []string{"0:", "1:", "absent", ""} {
			line := kind
			for _, x := range out[i] {
				if strings.HasPrefix(x, kind) {
					line += " " + x
				}
			}
			if kind != "" || len(columns[i].Shape) == 0 && i > 0 {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func TestParquetErrors(t *testing.T) {
	dir := t.TempDir()
	good := writeParquet(t, filepath.Join(dir, "good.parquet"), []parquetRow{
		{ID: "a", Small: 3, Vector: []float32{1, 2}, Maybe: some(int64(1)), Deep: [][]string{{"x"}}}, {ID: "", Small: -3, Vector: []float32{1}, Deep: [][]string{{"x"}, {"y"}}}})
	other := writeParquet(t, filepath.Join(dir, "other.parquet"), []struct {
		ID string `parquet:"id"`
	}{{"x"}})
	nulls := writeParquet(t, filepath.Join(dir, "nulls.parquet"), []struct {
		List []*int64 `parquet:"list,list"`
	}{{nil}, {[]*int64{some(int64(1)), nil}}})
	text := filepath.Join(dir, "text.parquet")
	cut := filepath.Join(dir, "cut.parquet")
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{text: []byte("id,name\n1,Ada\n2,Alan\n"), cut: b[:len(b)-20]} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name   string
		paths  []string
		column table.Column
		want   string
	}{
		{"text", []string{text}, table.Column{}, text + `: byte 0: found "id,n", expected "PAR1"`},
		{"cut", []string{cut}, table.Column{}, cut + ": byte"},
		{"missing", []string{filepath.Join(dir, "none.parquet")}, table.Column{}, "no such file"},
		{"folder", []string{dir}, table.Column{}, "found a folder"},
		{"shards that differ", []string{good, other}, table.Column{}, other + ": found the columns id string, expected id string, small int8"},
		{"no column", []string{good}, table.Column{Name: "x", DType: graph.Int64}, good + ": found the columns id, small, big, maybe, name, vector, deep, expected \"x\" among them"},
		{"struct", []string{good}, table.Column{Name: "struct", DType: graph.Int64}, `found a struct in column "struct", expected numbers`},
		{"string as number", []string{good}, table.Column{Name: "id", DType: graph.Int64}, `found string in column "id", expected values that can be read as int64`},
		{"list as value", []string{good}, table.Column{Name: "vector", DType: graph.Float32}, good + `: row 0 (row group 0): found 2 values in column "vector", expected 1`},
		{"list of another depth", []string{good}, table.Column{Name: "vector", DType: graph.Float32, Shape: []int{-1, -1}}, `found lists of depth 1 in column "vector", expected depth 2`},
		{"range", []string{good}, table.Column{Name: "small", DType: graph.Uint8}, good + `: row 1 (row group 0): found -3 in column "small", expected an integer from 0 to 255`},
		{"no id", []string{good}, table.Column{Name: "id", DType: graph.String, ID: true}, good + `: row 1 (row group 0): found an empty cell in column "id", expected an id`},
		{"null", []string{good}, table.Column{Name: "maybe", DType: graph.Int64}, good + `: row 1 (row group 0): found an empty cell in column "maybe", expected an integer from`},
		{"length", []string{good}, table.Column{Name: "vector", DType: graph.Float32, Shape: []int{2}}, good + `: row 1 (row group 0): found a list of 1 in column "vector", expected 2 in dimension 1`},
		{"flat length", []string{good}, table.Column{Name: "vector", DType: graph.Float32, Shape: []int{-1, 2}}, good + `: row 1 (row group 0): found 1 values in column "vector", expected a multiple of 2`},
		{"deep length", []string{good}, table.Column{Name: "deep", DType: graph.String, Shape: []int{1, -1}}, good + `: row 1 (row group 0): found a list of 2 in column "deep", expected 1 in dimension 1`},
		{"null in a list", []string{nulls}, table.Column{Name: "list", DType: graph.Int64, Shape: []int{-1}}, nulls + `: row group 0: column "list": row`},
	} {
		p, err := OpenParquet(vfs.OS, test.paths)
		if err == nil && test.column.Name != "" {
			_, err = p.Scan(context.Background(), []table.Column{test.column}, 2, func(int, *table.Chunk) error { return nil })
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: found %v, expected %s", test.name, err, test.want)
		}
		if test.name != "missing" && err != nil && !errors.Is(err, table.ErrFormat) {
			t.Errorf("%s: %v is no ErrFormat", test.name, err)
		}
	}
}

// Each call of the file system that fails is an error with the path.
func TestParquetFaults(t *testing.T) {
	path := writeParquet(t, filepath.Join(t.TempDir(), "t.parquet"), []parquetRow{{ID: "a"}, {ID: "b"}}, pq.MaxRowsPerRowGroup(1))
	read := func(fsys vfs.FS) error {
		p, err := OpenParquet(fsys, []string{path})
		if err == nil {
			_, err = p.Scan(context.Background(), []table.Column{{Name: "id", DType: graph.String}, {Name: "small", DType: graph.Int8}}, 1, func(int, *table.Chunk) error { return nil })
		}
		return err
	}
	count := &vfs.Fault{FS: vfs.OS}
	if err := read(count); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for i := int64(1); i <= count.Calls(); i++ {
		if err := read(&vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}); !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
			t.Errorf("call %d of %d failed: found %v", i, count.Calls(), err)
		}
	}
}

// FuzzParquet scans any bytes as a table. It gets an ErrFormat or consistent chunks.
func FuzzParquet(f *testing.F) {
	dir := f.TempDir()
	for i, rows := range [][]parquetRow{nil, {{ID: "a", Maybe: some(int64(7)), Vector: []float32{1, 2}, Deep: [][]string{{"p", "q"}, {}}}, {ID: "b"}}} {
		b, err := os.ReadFile(writeParquet(f, filepath.Join(dir, fmt.Sprint(i)), rows))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	path := filepath.Join(dir, "fuzz.parquet")
	enough := errors.New("enough")
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := OpenParquet(vfs.OS, []string{path})
			if err != nil {
				if !errors.Is(err, table.ErrFormat) {
					t.Fatal(err)
				}
				return
			}
			p.chunk = 1 << 10
			var columns []table.Column
			for _, f := range p.Fields()[:min(len(p.Fields()), 20)] {
				columns = append(columns, table.Column{Name: f.Name, DType: f.DType, Shape: f.Shape, Empty: table.EmptyAbsent})
			}
			_, err = p.Scan(context.Background(), columns, 1, func(_ int, c *table.Chunk) error {
				for i, v := range c.Columns {
					n := c.Rows
					for level := range columns[i].Shape {
						if len(v.Lengths[level]) != n {
							t.Fatalf("column %d: found %d lists, expected %d", i, len(v.Lengths[level]), n)
						}
						n = 0
						for _, k := range v.Lengths[level] {
							n += int(k)
						}
					}
					if d := columns[i].DType; d == graph.String && len(v.Ends) != n || d != graph.String && len(v.Data) != n*d.Size() {
						t.Fatalf("column %d: found %d bytes and %d ends, expected %d values", i, len(v.Data), len(v.Ends), n)
					}
				}
				if c.First > 10000 {
					return enough
				}
				return nil
			})
			if err != nil && !errors.Is(err, table.ErrFormat) && !errors.Is(err, enough) {
				t.Fatal(err)
			}
		})
	})
}

// TestShardsOfBytes checks that a shard of bytes that are no text is read beside one whose bytes are declared as text,
// because a writer may declare each file by what is in it.
func TestShardsOfBytes(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "t-0.parquet"), filepath.Join(dir, "t-1.parquet")}
	err := errors.Join(pq.WriteFile(paths[0], []struct {
		X string `parquet:"x"`
	}{{"plain"}}), pq.WriteFile(paths[1], []struct {
		X []byte `parquet:"x"`
	}{{[]byte("\xceF")}}))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := OpenParquet(vfs.OS, paths)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tabletest.Rows(tab, tabletest.Strings("x"), 1)
	if diff := cmp.Diff([]string{"plain", "\xceF"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// Lists have the shape that the first row has.
func TestShaped(t *testing.T) {
	type row struct {
		A []float32 `parquet:",list"`
		C []int64   `parquet:",list"`
	}
	file := writeParquet(t, filepath.Join(t.TempDir(), "v.parquet"), []row{{A: []float32{1, 2}}, {A: []float32{1}}})
	p, err := OpenParquet(vfs.OS, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{2}, {0}} {
		got, err := table.Shaped(context.Background(), p, p.Fields()[i])
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("column %d: found %v, %v, expected %v", i, got, err, want)
		}
	}
}
