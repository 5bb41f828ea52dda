package views

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func col(name string, d graph.DType, shape ...int) table.Column {
	return table.Column{Name: name, DType: d, Shape: shape}
}

func openText(t testing.TB, name, text string, o textfiles.CSVOptions) table.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := textfiles.OpenCSV(vfs.OS, []string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// numbered is a CSV table of the rows "r<i>,i" for i from a number on.
func numbered(t testing.TB, names []string, from, rows int) table.Table {
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "r%d,%d\n", from+i, from+i)
	}
	return openText(t, fmt.Sprintf("%s%d.csv", names[0], from), text.String(), textfiles.CSVOptions{Names: names})
}

// counted is a table in memory whose row i has the text "r<i>" in a column of strings and i in one of integers, or in the shape
// [n] i*n, i*n+1, ...; i counts from a number on.
type counted struct {
	fields            []table.Field
	from, rows, chunk int
}

func (t *counted) Fields() []table.Field       { return t.fields }
func (t *counted) Files() []string             { return []string{t.fields[0].Name} }
func (t *counted) Bytes() int64                { return int64(8 * t.rows) }
func (t *counted) Where(uint64, string) string { return t.fields[0].Name }

func (t *counted) Scan(_ context.Context, columns []table.Column, _ int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	for first := 0; first < t.rows; first += t.chunk {
		c := &table.Chunk{First: uint64(first), Rows: min(t.chunk, t.rows-first)}
		for _, asked := range columns {
			var v table.Vector
			per := 1
			for _, d := range asked.Shape {
				per *= d
			}
			data := graph.Bytes(make([]uint64, c.Rows*per))[:0] // at an 8-byte boundary
			for i := (t.from + first) * per; i < (t.from+first+c.Rows)*per; i++ {
				if asked.DType == graph.String {
					data = fmt.Append(data, "r", i)
					v.Ends = append(v.Ends, uint32(len(data)))
					continue
				}
				data = append(data, binary.LittleEndian.AppendUint64(nil, uint64(i))[:asked.DType.Size()]...)
			}
			v.Data = data
			c.Columns = append(c.Columns, v)
		}
		if err := fn(0, c); err != nil {
			return 0, err
		}
	}
	return uint64(t.rows), nil
}

// rows scans a table and shows each row as text, in order: columns are separated by '|', values of a vector by a space.
func rows(t table.Table, columns []table.Column, threads int) ([]string, error) {
	var mu sync.Mutex
	var out []string
	n, err := t.Scan(context.Background(), columns, threads, func(_ int, c *table.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for len(out) < int(c.First)+c.Rows {
			out = append(out, "missing")
		}
		for r := range c.Rows {
			var cells []string
			for i, asked := range columns {
				per := 1
				for _, d := range asked.Shape {
					per *= d
				}
				var values []string
				for k := range per {
					values = append(values, value(asked.DType, &c.Columns[i], r*per+k))
				}
				cells = append(cells, strings.Join(values, " "))
			}
			out[int(c.First)+r] = strings.Join(cells, "|")
		}
		return nil
	})
	if err == nil && int(n) != len(out) {
		return nil, fmt.Errorf("scan says %d rows, gave %d", n, len(out))
	}
	return out, err
}

// value shows one value of a vector.
func value(d graph.DType, v *table.Vector, i int) string {
	if d == graph.String {
		start := uint32(0)
		if i > 0 {
			start = v.Ends[i-1]
		}
		return string(v.Data[start:v.Ends[i]])
	}
	b := make([]byte, 8)
	copy(b, v.Data[i*d.Size():][:d.Size()])
	n := binary.LittleEndian.Uint64(b)
	if d == graph.Float32 {
		return fmt.Sprint(math.Float32frombits(uint32(n)))
	}
	if shift := 64 - 8*d.Size(); d.IsInt() && d < graph.Uint8 {
		return fmt.Sprint(int64(n<<shift) >> shift)
	}
	return fmt.Sprint(n)
}

// Concatenated tables are one table, whatever the names of their columns.
func TestConcat(t *testing.T) {
	var pieces []Piece
	var want []string
	for _, n := range []int{5, 0, 1, 30} {
		pieces = append(pieces, Piece{Table: numbered(t, []string{fmt.Sprint("a", n), "b"}, len(want), n), Rows: uint64(n), Says: "meta"})
		for range n {
			want = append(want, fmt.Sprintf("%d|r%d", len(want), len(want)))
		}
	}
	all, err := Concat([]string{"text", "number"}, pieces)
	if err != nil {
		t.Fatal(err)
	}
	asked := []table.Column{col("number", graph.Uint64), col("text", graph.String)}
	for threads := range 4 {
		got, err := rows(all, asked, threads)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	if got := all.Where(6, "number"); !strings.HasSuffix(got, "a306.csv:1:4") {
		t.Errorf("row 6 is at %s", got)
	}
	pieces[3].Rows = 29
	if _, err := rows(all, asked, 2); err == nil || !strings.Contains(err.Error(), "rows, expected 29, as meta says") {
		t.Errorf("found %v for a piece that is too long", err)
	}
	pieces[3].Rows = 31
	if _, err := rows(all, asked, 2); err == nil || !strings.Contains(err.Error(), "found 30 rows, expected 31, as meta says") {
		t.Errorf("found %v for a piece that is too short", err)
	}
	if _, err := Concat([]string{"one"}, pieces); err == nil {
		t.Error("found no error for a name too few")
	}
	none, err := Concat([]string{"a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := rows(none, nil, 1); err != nil || len(got) > 0 {
		t.Errorf("found %v, %v of no tables", got, err)
	}
}

// Tables side by side give the rows of each table, wherever their chunks end.
func TestInStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "rows")
		texts := func(from int, text, number string) *counted {
			return &counted{[]table.Field{{Name: text, DType: graph.String}, {Name: number, DType: graph.Int64}}, from, n, rapid.IntRange(1, 12).Draw(t, text)}
		}
		a, b := texts(0, "a", "b"), texts(100, "c", "d")
		v := &counted{[]table.Field{{Name: "v", DType: graph.Int16, Shape: []int{2}}}, 0, n, rapid.IntRange(1, 50).Draw(t, "v")}
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("r%d|%d %d|%d|r%d|%d", i, 2*i, 2*i+1, 100+i, 100+i, i))
		}
		got, err := rows(InStep(a, v, b), []table.Column{col("a", graph.String), col("v", graph.Int16, 2), col("d", graph.Uint8), col("c", graph.String), col("b", graph.Int32)}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Lists beside a table whose chunks end elsewhere are those of their table alone: lists, lists of pairs and lists of lists.
func TestInStepLists(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "rows")
		short := &counted{[]table.Field{{Name: "a", DType: graph.Int64}}, 0, n, rapid.IntRange(1, 12).Draw(t, "a")}
		many := func(name, text string) string {
			return strings.TrimSpace(strings.Repeat(text, rapid.IntRange(0, 3).Draw(t, name)))
		}
		var csv strings.Builder
		for i := range n {
			fmt.Fprintf(&csv, "%s|%s|%s|[%s]|x%d\n", many("n", fmt.Sprint(i, " ")), many("s", fmt.Sprintf("t%d ", i)), many("p", fmt.Sprint(i, " ", -i, " ")), strings.ReplaceAll(many("d", "["+many("in", "7 ")+"] "), "] ", "], "), i)
		}
		lists := openText(outer, "lists.csv", csv.String(), textfiles.CSVOptions{Names: []string{"n", "s", "p", "d", "x"}, Delimiter: '|'})
		asked := []table.Column{col("n", graph.Int64, -1), col("s", graph.String, -1), col("p", graph.Float32, -1, 2), col("d", graph.Int32, -1, -1), col("x", graph.String)}
		want, err := listRows(lists, asked)
		if err != nil {
			t.Fatal(err)
		}
		got, err := listRows(InStep(lists, short), append(asked, col("a", graph.Int64)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] += fmt.Sprint("|", i)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// listRows shows the rows of a table: the lengths of the lists of each column, and the values.
func listRows(t table.Table, columns []table.Column) (out []string, err error) {
	_, err = t.Scan(context.Background(), columns, 1, func(_ int, c *table.Chunk) error {
		cells := make([][]string, c.Rows)
		for i, asked := range columns {
			v := &c.Columns[i]
			from, at := make([]int, len(v.Lengths)), 0
			for row := range cells {
				text, values, k := "", 1, 0
				for _, d := range asked.Shape {
					if d > 0 {
						values *= d
						continue
					}
					lengths := v.Lengths[k][from[k] : from[k]+values]
					from[k], values = from[k]+values, 0
					for _, n := range lengths {
						values += int(n)
					}
					text += fmt.Sprint(lengths)
					k++
				}
				for range values {
					text += " " + value(asked.DType, v, at)
					at++
				}
				cells[row] = append(cells[row], strings.TrimSpace(text))
			}
		}
		for _, row := range cells {
			out = append(out, strings.Join(row, "|"))
		}
		return nil
	})
	return out, err
}

// The error of the first bad row is reported, and a scan that stops leaves no goroutine.
func TestInStepErrors(t *testing.T) {
	long, short := numbered(t, []string{"a", "b"}, 0, 30), numbered(t, []string{"c", "d"}, 0, 29)
	asked := []table.Column{col("a", graph.String), col("c", graph.String)}
	if _, err := rows(InStep(long, short), asked, 1); err == nil || !strings.Contains(err.Error(), "c0.csv: found 29 rows, expected more, as in") {
		t.Errorf("found %v for a table that is too short", err)
	}
	if _, err := rows(InStep(long, numbered(t, []string{"c", "d"}, 0, 30)), []table.Column{col("a", graph.Uint64), col("c", graph.Uint64)}, 1); err == nil || !strings.Contains(err.Error(), "a0.csv:1:1") {
		t.Errorf("found %v for text", err)
	}
	for _, c := range []table.Column{col("e", graph.String), col("a", graph.Uint64, -1), col("a", graph.String, 2)} {
		if _, err := rows(InStep(long, short), []table.Column{c}, 1); !errors.Is(err, table.ErrFormat) {
			t.Errorf("found %v for %v", err, c)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop := errors.New("stop")
	seen := 0
	chunks := InStep(&counted{[]table.Field{{Name: "a", DType: graph.String}}, 0, 30, 4}, &counted{[]table.Field{{Name: "c", DType: graph.String}}, 0, 30, 7})
	_, err := chunks.Scan(ctx, asked, 1, func(int, *table.Chunk) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("found %v, expected what fn gave", err)
	}
	if _, err = chunks.Scan(ctx, asked, 1, func(int, *table.Chunk) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the context", err)
	}
}

// Columns side by side are the values of a row.
func TestStack(t *testing.T) {
	csv := openText(t, "v.csv", "1,2,3,4\n5,6,7,8\n9,10,11,12\n", textfiles.CSVOptions{Numbered: true})
	field := table.Field{Name: "v", DType: graph.Int64, Shape: []int{2, 2}}
	for _, c := range []struct {
		names []string
		ask   table.Column
		want  string
	}{
		{[]string{"0", "1", "2", "3"}, col("v", graph.Int64, 2, 2), "1 2 3 4,5 6 7 8,9 10 11 12"},
		{[]string{"3", "0"}, col("v", graph.Float32, 2), "4 1,8 5,12 9"},
		{[]string{"2"}, col("v", graph.Uint8), "3,7,11"},
		{[]string{"2"}, col("v", graph.Uint8, 1), "3,7,11"},
		{[]string{"2", "1"}, col("v", graph.Uint8), "expected the column v of 2 values"},
		{[]string{"2", "1"}, col("w", graph.Uint8, 2), "expected the column v of 2 values"},
		{[]string{"2", "1"}, col("v", graph.String, 2), "expected the column v of 2 values"},
	} {
		got, err := rows(Stack(csv, field, c.names), []table.Column{c.ask}, 2)
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || err == nil && text != c.want {
			t.Errorf("%q as %v: found %q, expected %q", c.names, c.ask, text, c.want)
		}
	}
}

// Tables that are made of others convert values like these.
func TestValuesOfJoins(t *testing.T) {
	csv := openText(t, "e.csv", "at,a,b\n1970-01-02,1,\n,2,4\n", textfiles.CSVOptions{})
	at := table.Column{Name: "at", DType: graph.Int64, Unit: graph.Seconds}
	path := filepath.Join(t.TempDir(), "raw")
	if err := os.WriteFile(path, graph.Bytes([]int64{1000, 2000}), 0o600); err != nil {
		t.Fatal(err)
	}
	number, err := arrayfiles.OpenRaw(vfs.OS, []arrayfiles.RawColumn{{Field: table.Field{Name: "n", DType: graph.Int64, Unit: graph.Milliseconds}, Runs: []arrayfiles.Run{{Path: path, Rows: 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	n := table.Column{Name: "n", DType: graph.Int64, Unit: graph.Seconds}
	vector := table.Column{Name: "v", DType: graph.Float32, Shape: []int{2}, Empty: table.EmptyFill, Fill: "0 0"}
	mark := table.Column{Name: "m", DType: graph.Bool, Missing: &vector}
	renamed, err := Concat([]string{"when", "x", "y"}, []Piece{{csv, 2, "it"}, {csv, 2, "it"}})
	if err != nil {
		t.Fatal(err)
	}
	when := at
	when.Name = "when"
	xy := table.Column{Name: "xy", DType: graph.Int8, Shape: []int{2}, From: []string{"x", "y"}, Empty: table.EmptyFill, Fill: "9"}
	none := fmt.Sprint(graph.NoTime)
	for _, c := range []struct {
		name    string
		t       table.Table
		columns []table.Column
		want    []string
	}{
		{"in step", InStep(csv, number), []table.Column{n, at}, []string{"1|86400", "2|" + none}},
		{"stack", Stack(csv, table.Field{Name: "v"}, []string{"a", "b"}), []table.Column{vector, mark}, []string{"1 0|1", "2 4|0"}},
		{"stack in step", InStep(number, Stack(csv, table.Field{Name: "v"}, []string{"a", "b"})), []table.Column{mark}, []string{"1", "0"}},
		{"concat", renamed, []table.Column{when, xy}, []string{"86400|1 9", none + "|2 4", "86400|1 9", none + "|2 4"}},
	} {
		for _, threads := range []int{1, 4} {
			got, err := rows(c.t, c.columns, threads)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		}
	}
}

// Integers below a number are their own numbers, as those that a function finds.
func TestNumbered(t *testing.T) {
	find := func(id []byte) (uint64, bool) {
		v := binary.LittleEndian.Uint64(id)
		return v, v < 10
	}
	unknown := uint64(99)
	for _, c := range []struct {
		text    string
		empty   table.Empty
		unknown *uint64
		want    string
	}{
		{"a\n3\n9\n0\n", table.EmptyError, nil, "3,9,0"},
		{"a\n", table.EmptyError, nil, ""},
		{"a\n3\n10\n0\n", table.EmptyError, nil, "found the id 10, which none of the nodes has"},
		{"a\n3\n10\n0\n", table.EmptyError, &unknown, "3,99,0"},
		{"a,b\n3,x\n,x\n9,x\n", table.EmptyAbsent, nil, "3,0,9"},
	} {
		for _, n := range []Numbers{{Find: find}, {Below: 10}} {
			n.Column, n.As, n.Of, n.Unknown = table.Column{Name: "a", DType: graph.Uint64, Empty: c.empty}, "#a", "the nodes", c.unknown
			got, err := rows(Numbered(openText(t, "a.csv", c.text, textfiles.CSVOptions{}), n), []table.Column{col("#a", graph.Uint64)}, 2)
			text := strings.Join(got, ",")
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, c.want) || err == nil && text != c.want {
				t.Errorf("%q: found %q, expected %q", c.text, text, c.want)
			}
		}
	}
}

// Ids of several columns are their texts, one after the other or with a sign between them, whatever the chunks are.
func TestJoined(t *testing.T) {
	csv := openText(t, "j.csv", "a,b,c\nx,1,p\n,02,q\n,,r\ny;,3,s\n", textfiles.CSVOptions{})
	id := table.Column{Name: "id", DType: graph.String}
	for _, c := range []struct {
		between string
		ask     table.Column
		want    string
	}{
		{"", id, "x1|p,02|q,|r,y;3|s"},
		{"+", id, "x+1|p,+02|q,|r,y;+3|s"},
		{";", id, "j.csv:5:1: found the part \"y;\" of an id of several columns, expected none with \";\""},
		{"", table.Column{Name: "id", DType: graph.String, ID: true}, "j.csv:4:1: found no id in the columns a, b, expected one in at least one of them"},
		{"", table.Column{Name: "id", DType: graph.String, ID: true, Empty: table.EmptyFill, Mark: true}, "x1|p,02|q,|r,y;3|s"},
		{"", table.Column{Name: "id", DType: graph.Uint64}, "found a request for ids of several columns as uint64"},
		{"", table.Column{Name: "id", DType: graph.String, Shape: []int{2}}, "found a request for ids of several columns as string of shape [2]"},
	} {
		got, err := rows(Joined(csv, "id", []string{"a", "b"}, c.between), []table.Column{c.ask, col("c", graph.String)}, 2)
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || err == nil && text != c.want {
			t.Errorf("%q, %+v: found %q, expected %q", c.between, c.ask, text, c.want)
		}
	}
}
