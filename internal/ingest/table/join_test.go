package table

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// numbered is a CSV table of the rows "r<i>,i" for i from a number on.
func numbered(t testing.TB, names []string, from, rows int) *CSV {
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "r%d,%d\n", from+i, from+i)
	}
	c := openText(t, fmt.Sprintf("%s%d.csv", names[0], from), text.String(), CSVOptions{Names: names})
	c.chunk, c.margin = 16, 64
	return c
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
	asked := []Column{col("number", graph.Uint64), col("text", graph.String)}
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
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(rt, "rows")
		a, b := numbered(t, []string{"a", "b"}, 0, n), numbered(t, []string{"c", "d"}, 100, n)
		a.chunk, b.chunk = rapid.IntRange(1, 50).Draw(rt, "a"), rapid.IntRange(1, 50).Draw(rt, "b")
		values := make([]int16, 2*n)
		for i := range values {
			values[i] = int16(i)
		}
		file := writeNpy(t, dir, "v.npy", "i2", []int{n, 2}, values)
		raw, err := OpenRaw(vfs.OS, []RawColumn{{Field{Name: "v", DType: graph.Int16, Shape: []int{2}}, []Run{{file, 128, uint64(n)}}}})
		if err != nil {
			rt.Fatal(err)
		}
		raw.chunk = rapid.IntRange(1, 200).Draw(rt, "v")
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("r%d|%d %d|%d|r%d|%d", i, 2*i, 2*i+1, 100+i, 100+i, i))
		}
		got, err := rows(InStep(a, raw, b), []Column{col("a", graph.String), col("v", graph.Int16, 2), col("d", graph.Uint8), col("c", graph.String), col("b", graph.Int32)}, 2)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// The error of the first bad row is reported, and a scan that stops leaves no goroutine.
func TestInStepErrors(t *testing.T) {
	long, short := numbered(t, []string{"a", "b"}, 0, 30), numbered(t, []string{"c", "d"}, 0, 29)
	asked := []Column{col("a", graph.String), col("c", graph.String)}
	if _, err := rows(InStep(long, short), asked, 1); err == nil || !strings.Contains(err.Error(), "c0.csv: found 29 rows, expected more, as in") {
		t.Errorf("found %v for a table that is too short", err)
	}
	if _, err := rows(InStep(long, numbered(t, []string{"c", "d"}, 0, 30)), []Column{col("a", graph.Uint64), col("c", graph.Uint64)}, 1); err == nil || !strings.Contains(err.Error(), "a0.csv:1:1") {
		t.Errorf("found %v for text", err)
	}
	for _, c := range []Column{col("e", graph.String), col("a", graph.Uint64, -1), col("a", graph.String, 2)} {
		if _, err := rows(InStep(long, short), []Column{c}, 1); !errors.Is(err, ErrFormat) {
			t.Errorf("found %v for %v", err, c)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	stop := errors.New("stop")
	seen := 0
	_, err := InStep(long, short).Scan(ctx, asked, 1, func(int, *Chunk) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("found %v, expected what fn gave", err)
	}
	if _, err = InStep(long, short).Scan(ctx, asked, 1, func(int, *Chunk) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the error of the context", err)
	}
}

// Columns side by side are the values of a row.
func TestStack(t *testing.T) {
	csv := openText(t, "v.csv", "1,2,3,4\n5,6,7,8\n9,10,11,12\n", CSVOptions{Numbered: true})
	field := Field{Name: "v", DType: graph.Int64, Shape: []int{2, 2}}
	for _, c := range []struct {
		names []string
		ask   Column
		want  string
	}{
		{[]string{"0", "1", "2", "3"}, col("v", graph.Int64, 2, 2), "[1 2][3 4],[5 6][7 8],[9 10][11 12]"},
		{[]string{"3", "0"}, col("v", graph.Float32, 2), "4 1,8 5,12 9"},
		{[]string{"2"}, col("v", graph.Uint8), "3,7,11"},
		{[]string{"2"}, col("v", graph.Uint8, 1), "3,7,11"},
		{[]string{"2", "1"}, col("v", graph.Uint8), "expected the column v of 2 values"},
		{[]string{"2", "1"}, col("w", graph.Uint8, 2), "expected the column v of 2 values"},
		{[]string{"2", "1"}, col("v", graph.String, 2), "expected the column v of 2 values"},
	} {
		got, err := rows(Stack(csv, field, c.names), []Column{c.ask}, 2)
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || err == nil && text != c.want {
			t.Errorf("%q as %v: found %q, expected %q", c.names, c.ask, text, c.want)
		}
	}
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
		file := writeNpy(t, dir, "e.npy", "i8", c.shape, []int64{1, 2, 3, 4, 5, 6}[:n])
		e, err := OpenEdgeRows(vfs.OS, file, c.edges)
		var got []string
		if err == nil {
			got, err = rows(e, []Column{col("src", graph.Uint64), col("dst", graph.Uint64)}, 2)
		}
		text := strings.Join(got, ",")
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%v: found %q, expected %q", c.shape, text, c.want)
		}
	}
	float := writeNpy(t, dir, "f.npy", "f4", []int{3, 2}, make([]float32, 6))
	if _, err := OpenEdgeRows(vfs.OS, float, 3); err == nil || !strings.Contains(err.Error(), "expected integers") {
		t.Errorf("found %v for floats", err)
	}
}

// Lists have the shape of the first row.
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
		got, err := Shaped(context.Background(), p, p.Fields()[i])
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("column %d: found %v, %v, expected %v", i, got, err, want)
		}
	}
}
