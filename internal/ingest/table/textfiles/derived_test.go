package textfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

func categories(t testing.TB, texts ...string) *table.Categories {
	t.Helper()
	c, err := table.NewCategories(texts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestValues(t *testing.T) {
	low := categories(t, "low", "mid", "high")
	at := func(u graph.Unit) table.Column { return table.Column{Name: "a", DType: graph.Int64, Unit: u} }
	kind := table.Column{Name: "a", DType: graph.Int32, Categories: low}
	no := fmt.Sprint(graph.NoTime)
	for _, c := range []struct {
		name, cells string
		column      table.Column
		want        string // rows with ", " between, or a part of the error
	}{
		{"dates", "1970-01-02\n2024-02-29", at(graph.Seconds), "86400, 1709164800"},
		{"dates in ms", "1970-01-02\n\"1970-01-01 00:00:00,5\"", at(graph.Milliseconds), "86400000, 500"},
		{"zones", "1970-01-01T02:00:00+02:00\n1969-12-31T22:00-0200", at(graph.Nanoseconds), "0, 0"},
		{"spaces around", " 1970-01-02 \n\"  \"", at(graph.Seconds), "86400, " + no},
		{"epochs", "12\n-5\n+7", at(graph.Microseconds), "12, -5, 7"},
		{"missing times", "1\n\"\"", at(graph.Seconds), "1, " + no},
		{"zeros of a fraction", "1970-01-01T00:00:01.000", at(graph.Seconds), "1"},
		{"a coarser unit", "1970-01-01\n1970-01-01T00:00:01.25", at(graph.Seconds), `e.csv:3:1: found "1970-01-01T00:00:01.25" in column "a", expected a whole number of s; give the column the dtype datetime[ms]`},
		{"out of range", "1600-01-01", at(graph.Nanoseconds), "expected a time that 64 bits hold in ns; give the column the dtype datetime[us], or a coarser one"},
		{"no time", "1970-01-01\nyesterday", at(graph.Seconds), `e.csv:3:1: found "yesterday" in column "a", expected a time in ISO 8601, such as 2024-02-29T13:45:07Z, or an integer, counted in s since 1970`},
		{"a float", "1.5", at(graph.Seconds), `found "1.5"`},
		{"an empty time is an error", "1\n\"\"", table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds, Given: true}, `e.csv:3:1: found "" in column "a"`},
		{"an empty time has a value", "1\n\"\"", table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds, Given: true, Empty: table.EmptyFill, Fill: "1970-01-02"}, "1, 86400"},
		{"a fill value that is no time", "1", table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds, Given: true, Empty: table.EmptyFill, Fill: "soon"}, `e.csv: column "a": found the fill value "soon", expected a time`},
		{"vectors of times", "1970-01-02;5\n1;2", table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds, Shape: []int{2}}, "86400 5, 1 2"},
		{"lists of times", "1970-01-02;5\n\"\"", table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds, Shape: []int{-1}}, "86400 5, "},
		{"a bad time in a list", "1970-01-02;5\n1;x", table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds, Shape: []int{-1}}, `e.csv:3:1: found "x"`},

		{"codes", "high\nlow\n\"\"\nmid", kind, "2, 0, -1, 1"},
		{"spaces count", "high\n high", kind, `e.csv:3:1: found " high" in column "a", expected one of the categories low, mid, high; add it to the list of categories, or correct the cell`},
		{"an empty category is an error", "high\n\"\"", table.Column{Name: "a", DType: graph.Int32, Categories: low, Given: true}, `e.csv:3:1: found "" in column "a"`},
		{"an empty category has a value", "high\n\"\"", table.Column{Name: "a", DType: graph.Int32, Categories: low, Given: true, Empty: table.EmptyFill, Fill: "mid"}, "2, 1"},
		{"a fill value that is no category", "high", table.Column{Name: "a", DType: graph.Int32, Categories: low, Given: true, Empty: table.EmptyFill, Fill: "x"}, `found the fill value "x", expected one of the categories low`},
		{"vectors of codes", "high;low", table.Column{Name: "a", DType: graph.Int32, Categories: low, Shape: []int{2}}, "2 0"},
		{"categories that are not known", "high", table.Column{Name: "a", DType: graph.Int32, Categories: &table.Categories{}}, "expected Collect before a scan"},

		{"a mark of a number", "1\n\"\"\n3\n\" \"", table.Column{Name: "m", DType: graph.Bool, Missing: &table.Column{Name: "a", DType: graph.Int8, Empty: table.EmptyFill, Fill: "0"}}, "0, 1, 0, 1"},
		{"a mark of a string", "1\n\"\"\n3", table.Column{Name: "m", DType: graph.Bool, Missing: &table.Column{Name: "a", DType: graph.String}}, "0, 1, 0"},
		{"a mark of a time", "1\n\"\"\n\" \"", table.Column{Name: "m", DType: graph.Bool, Missing: &table.Column{Name: "a", DType: graph.Int64, Unit: graph.Seconds}}, "0, 1, 1"},
		{"a mark of a vector", "1 2\n\"\"", table.Column{Name: "m", DType: graph.Bool, Missing: &table.Column{Name: "a", DType: graph.Float32, Shape: []int{2}, Empty: table.EmptyFill, Fill: "nan nan"}}, "0, 1"},

		{"a fill value that fits no number, without an empty cell", "1\n2", table.Column{Name: "a", DType: graph.Int8, Empty: table.EmptyFill, Fill: "nan"}, "1, 2"},
		{"a fill value that fits no number", "1\n\"\"", table.Column{Name: "a", DType: graph.Int8, Empty: table.EmptyFill, Fill: "nan"}, `e.csv:3:1: found "" in column "a", expected an integer from -128 to 127, which "nan" is not; give ` + "`Missing` another value"},
		{"a string has a value", "x\n\"\"", table.Column{Name: "a", DType: graph.String, Given: true, Empty: table.EmptyFill, Fill: "?"}, "x, ?"},
		{"an empty string is an error", "x\n\"\"", table.Column{Name: "a", DType: graph.String, Given: true}, `e.csv:3:1: found "" in column "a", expected a string; fill the cell`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, threads := range []int{1, 4} {
				for _, size := range []int{3, table.ChunkSize} {
					f := openText(t, "e.csv", "a\n"+c.cells+"\n", CSVOptions{})
					f.chunk, f.margin = size, 8
					got, err := tabletest.Rows(f, []table.Column{c.column}, threads)
					switch {
					case err != nil && !strings.Contains(err.Error(), c.want):
						t.Fatalf("error %v, want %s", err, c.want)
					case err != nil && strings.HasPrefix(c.want, "e.csv:") && !errors.Is(err, table.ErrFormat):
						t.Fatalf("error %v, want one about the bytes", err)
					case err == nil && strings.Join(got, ", ") != c.want:
						t.Fatalf("rows %q, want %q", got, c.want)
					}
				}
			}
		})
	}
}

// Texts of times, categories, numbers and strings, some of them empty, give what a model of one cell says, with any
// number of threads and any size of chunks, in any selection of columns.
func TestValuesEqualModel(t *testing.T) {
	dir := t.TempDir()
	list := []string{"b", "a", "ccc"}
	kinds := categories(t, list...)
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		text.WriteString("at,kind,x,y,s\n")
		unit := rapid.SampledFrom([]graph.Unit{graph.Seconds, graph.Milliseconds, graph.Microseconds, graph.Nanoseconds}).Draw(t, "unit")
		x := table.Column{Name: "x", DType: graph.Float64, Empty: table.EmptyFill, Fill: "nan"}
		y := table.Column{Name: "y", DType: graph.Int16, Empty: table.EmptyFill, Fill: "0"}
		at := table.Column{Name: "at", DType: graph.Int64, Unit: unit}
		kind := table.Column{Name: "kind", DType: graph.Int32, Categories: kinds}
		s := table.Column{Name: "s", DType: graph.String}
		mark := func(c table.Column) table.Column {
			return table.Column{Name: c.Name + "_missing", DType: graph.Bool, Missing: &c}
		}
		pair := table.Column{Name: "pair", DType: graph.Float32, Shape: []int{2}, From: []string{"y", "x"}, Empty: table.EmptyFill, Fill: "-1"}
		pairMark := mark(pair)
		pairMark.From, pairMark.Shape = pair.From, pair.Shape
		all := []table.Column{at, kind, x, y, s, mark(at), mark(kind), mark(x), mark(y), mark(s), pair, pairMark}
		want := make([][]string, len(all)) // by column
		for range rapid.IntRange(0, 30).Draw(t, "rows") {
			cells := [5]string{}
			empty := [5]bool{}
			for i := range empty {
				empty[i] = rapid.IntRange(0, 3).Draw(t, "empty") == 0
			}
			values := [5]string{fmt.Sprint(graph.NoTime), "-1", "NaN", "0", ""}
			if !empty[0] {
				when := time.Unix(rapid.Int64Range(-5e9, 5e9).Draw(t, "time"), 0)
				cells[0] = when.In(time.FixedZone("", 1800)).Format(time.RFC3339)
				if rapid.Bool().Draw(t, "number") {
					cells[0] = fmt.Sprint(when.Unix() * unit.PerSecond())
				}
				values[0] = fmt.Sprint(when.Unix() * unit.PerSecond())
			}
			if !empty[1] {
				k := rapid.IntRange(0, 2).Draw(t, "kind")
				cells[1], values[1] = list[k], fmt.Sprint(k)
			}
			if !empty[2] {
				cells[2] = fmt.Sprint(rapid.IntRange(-9, 9).Draw(t, "x"))
				values[2] = cells[2]
			}
			if !empty[3] {
				cells[3] = fmt.Sprint(rapid.IntRange(-9, 9).Draw(t, "y"))
				values[3] = cells[3]
			}
			if !empty[4] {
				cells[4] = rapid.StringMatching("[a-z ]{1,4}").Draw(t, "s")
				values[4] = cells[4]
			}
			fmt.Fprintln(&text, strings.Join(cells[:], ","))
			for i := range 5 {
				want[i] = append(want[i], values[i])
				bit := "0"
				if empty[i] {
					bit = "1"
				}
				want[5+i] = append(want[5+i], bit)
			}
			pair := []string{cells[3], cells[2]}
			for i := range pair {
				if pair[i] == "" {
					pair[i] = "-1"
				}
			}
			want[10] = append(want[10], strings.Join(pair, " "))
			n := len(want[0]) - 1
			want[11] = append(want[11], want[8][n]+" "+want[7][n])
		}
		asked := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).Draw(t, "columns")[:rapid.IntRange(1, 12).Draw(t, "asked")]
		var columns []table.Column
		for _, i := range asked {
			columns = append(columns, all[i])
		}
		var expected []string
		for row := range want[0] {
			var cells []string
			for _, i := range asked {
				cells = append(cells, want[i][row])
			}
			expected = append(expected, strings.Join(cells, "|"))
		}
		path := filepath.Join(dir, "e.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f.chunk, f.margin = rapid.IntRange(1, 200).Draw(t, "chunk"), 16
		got, err := tabletest.Rows(f, columns, rapid.SampledFrom([]int{1, 4}).Draw(t, "threads"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// raw writes numbers as a file and opens them as one column that the format declares.
func rawTable(t testing.TB, f table.Field, values ...int64) *arrayfiles.Npy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raw")
	var b []byte
	for _, v := range values {
		switch f.DType.Size() {
		case 8:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case 4:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		}
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := arrayfiles.OpenRaw(vfs.OS, []arrayfiles.RawColumn{{Field: f, Runs: []arrayfiles.Run{{Path: path, Rows: uint64(len(values))}}}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDeclaredValues(t *testing.T) {
	ms := table.Field{Name: "a", DType: graph.Int64, Unit: graph.Milliseconds}
	number := table.Field{Name: "a", DType: graph.Int32}
	at := func(u graph.Unit) table.Column { return table.Column{Name: "a", DType: graph.Int64, Unit: u} }
	no := graph.NoTime
	for _, c := range []struct {
		field  table.Field
		values []int64
		column table.Column
		want   string
	}{
		{ms, []int64{5, no}, at(graph.Milliseconds), fmt.Sprint(5, ", ", no)},
		{ms, []int64{5, no, -1}, at(graph.Nanoseconds), fmt.Sprint(5000000, ", ", no, ", ", -1000000)},
		{ms, []int64{5000, no, -1000}, at(graph.Seconds), fmt.Sprint(5, ", ", no, ", ", -1)},
		{ms, []int64{5000, 1500}, at(graph.Seconds), `raw, a[1]: found 1500 ms in column "a", expected a whole number of s; give the column the dtype datetime[ms]`},
		{ms, []int64{math.MaxInt64 / 1000}, at(graph.Nanoseconds), "expected a time that 64 bits hold in ns; give the column the dtype datetime[ms]"},
		{ms, []int64{5, 6}, table.Column{Name: "a", DType: graph.Int64}, "5, 6"},
		{number, []int64{5, -6}, at(graph.Seconds), "5, -6"},
		{number, []int64{5, -6}, table.Column{Name: "a", DType: graph.Int32, Categories: categories(t, "-6", "5")}, "1, 0"},
		{number, []int64{5, 7}, table.Column{Name: "a", DType: graph.Int32, Categories: categories(t, "-6", "5")}, `raw, a[1]: found "7" in column "a", expected one of the categories -6, 5`},
		{table.Field{Name: "a", DType: graph.Float32}, []int64{0}, at(graph.Seconds), "found float32, expected a dtype that can be read as string"},
	} {
		got, err := tabletest.Rows(rawTable(t, c.field, c.values...), []table.Column{c.column}, 1)
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && strings.Join(got, ", ") != c.want {
			t.Errorf("%v %v as %v: found %q and %v, want %s", c.field, c.values, c.column, got, err, c.want)
		}
	}
}

// Tables side by side convert values like these.
func TestValuesOfBeside(t *testing.T) {
	csv := openText(t, "e.csv", "at,a,b\n1970-01-02,1,\n,2,4\n", CSVOptions{})
	number := rawTable(t, table.Field{Name: "n", DType: graph.Int64, Unit: graph.Milliseconds}, 1000, 2000)
	columns := []table.Column{{Name: "at", DType: graph.Int64, Unit: graph.Seconds}, {Name: "n", DType: graph.Int64, Unit: graph.Seconds}}
	for _, threads := range []int{1, 4} {
		got, err := tabletest.Rows(arrayfiles.Beside(csv, number), columns, threads)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"86400|1", fmt.Sprint(graph.NoTime, "|2")}, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestCollect(t *testing.T) {
	f := openText(t, "e.csv", "a,b,n\nz,x;y,3\na,,10\n,y;y,3\nä,x;z,-1\nz,z;q,\n", CSVOptions{})
	f.chunk, f.margin = 4, 4
	for _, threads := range []int{1, 4} {
		got, err := table.Collect(t.Context(), f, []table.Column{{Name: "a"}, {Name: "b", Shape: []int{2}}, {Name: "n"}}, threads, table.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var texts [][]string
		for _, c := range got {
			texts = append(texts, c.Texts())
		}
		if diff := cmp.Diff([][]string{{"a", "z", "ä"}, {"q", "x", "y", "z"}, {"-1", "10", "3"}}, texts); diff != "" {
			t.Errorf("%d threads: %s", threads, diff)
		}
	}
	for want, limits := range map[string]table.Limits{
		`found "ä" in column "a", the category after 2 others, expected at most so many; read the column as string`:                              {Categories: 2},
		"found \"ä\" in column \"a\", after 140 bytes of categories, expected at most so many; give more `Memory`, or read the column as string": {Bytes: 140},
	} {
		if _, err := table.Collect(t.Context(), f, []table.Column{{Name: "a"}}, 1, limits); err == nil || !strings.Contains(err.Error(), "e.csv:5:1: "+want) {
			t.Errorf("%v: found %v, want %s", limits, err, want)
		}
	}
	n, err := table.Collect(t.Context(), rawTable(t, table.Field{Name: "n", DType: graph.Int32}, 7, -3, 7), []table.Column{{Name: "n"}}, 1, table.Limits{})
	if err != nil || !slices.Equal(n[0].Texts(), []string{"-3", "7"}) {
		t.Errorf("found %v and %v, want the numbers", n, err)
	}
}

func TestNewCategories(t *testing.T) {
	for want, texts := range map[string][]string{
		`found the category "b" twice`: {"a", "b", "c", "b"},
		"found an empty category":      {"a", ""},
	} {
		if _, err := table.NewCategories(texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, want %s", texts, err, want)
		}
	}
}

func TestGuessValues(t *testing.T) {
	f := openText(t, "e.csv", "t,u,b,m,e\n2024-01-01,2024-01-01T00:00:00.5Z,true,2024-01-01,1700000000000\n,2024-01-01 00:00,FALSE,x,-5\n2024-01-03,2024-01-01,False,1,3\n", CSVOptions{})
	guesses, err := f.Guess()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range guesses {
		g := &guesses[i]
		unit, counted := g.Unit()
		got = append(got, fmt.Sprintf("%v %v %s %v", g.Time, g.Bool, unit, counted))
	}
	if diff := cmp.Diff([]string{"true false s false", "true false ms false", "false true s false", "false false s false", "false false ms true"}, got); diff != "" {
		t.Error(diff)
	}
	for largest, want := range map[uint64]graph.Unit{1: "s", 99999999999: "s", 1e11: "ms", 99999999999999: "ms", 1e14: "us", 1e17: "ns", math.MaxInt64: "ns"} {
		peeked, err := table.Peek(t.Context(), rawTable(t, table.Field{Name: "n", DType: graph.Int64}, -int64(largest), 3), table.Field{Name: "n", DType: graph.Int64})
		if err != nil {
			t.Fatal(err)
		}
		if unit, counted := peeked.Unit(); unit != want || !counted {
			t.Errorf("%d: found %s %v, want %s", largest, unit, counted, want)
		}
	}
}

// BenchmarkVector reads 128 columns on their own, and as one vector.
func BenchmarkVector(b *testing.B) {
	var text strings.Builder
	var names []string
	for i := range 128 {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	text.WriteString(strings.Join(names, ","))
	for r := range 20000 {
		text.WriteByte('\n')
		for i := range 128 {
			if i > 0 {
				text.WriteByte(',')
			}
			fmt.Fprintf(&text, "0.%d", (r*131+i*7919)%100000)
		}
	}
	text.WriteByte('\n')
	t := openText(b, "e.csv", text.String(), CSVOptions{})
	var alone []table.Column
	for _, n := range names {
		alone = append(alone, table.Column{Name: n, DType: graph.Float32})
	}
	for name, columns := range map[string][]table.Column{
		"alone":  alone,
		"vector": {{Name: "v", DType: graph.Float32, Shape: []int{128}, From: names}},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := t.Scan(b.Context(), columns, 1, func(int, *table.Chunk) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
