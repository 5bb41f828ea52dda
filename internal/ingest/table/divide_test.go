package table

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// counted adds the rows before a part to those that its scans count, as the helper rows expects.
type counted struct {
	Table
	first uint64
}

func (c counted) Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	n, err := c.Table.Scan(ctx, columns, threads, fn)
	if n == 0 {
		return 0, err
	}
	return c.first + n, err
}

// divided reads a table part by part, as several processes do.
func divided(t *rapid.T, whole Table, columns []Column, size int64) ([]string, error) {
	parts := Divide(whole, size)
	measured := make([]Measured, len(parts))
	for i, p := range parts {
		var err error
		if measured[i], err = Measure(context.Background(), whole, p); err != nil {
			return nil, err
		}
	}
	total := Settle(parts, measured)
	var all []string
	for _, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q Part
		if err := json.Unmarshal(b, &q); err != nil {
			t.Fatal(err)
		}
		if q.First != uint64(len(all)) {
			t.Fatalf("part %+v starts after %d rows", q, len(all))
		}
		list, err := rows(counted{q.Of(whole), q.First}, columns, 2)
		if err != nil {
			return nil, err
		}
		all = append(all, list[min(q.First, uint64(len(list))):]...)
	}
	if total != uint64(len(all)) {
		t.Fatalf("found %d rows, counted %d", len(all), total)
	}
	return all, nil
}

func TestDivideCSV(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		cell := rapid.SampledFrom([]string{"1", "abc", `"x,y"`, `"a` + "\n" + `b"`, `"a` + "\r\n\n" + `b"`, `"say ""x"""`, "", `""`, "a longer cell of some bytes"})
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n", "\n\r\n"})
		var files []string
		for k := range rapid.IntRange(1, 3).Draw(rt, "files") {
			var b strings.Builder
			b.WriteString("x,y\n")
			n := rapid.IntRange(0, 20).Draw(rt, "rows")
			for i := range n {
				b.WriteString(cell.Draw(rt, "x") + "," + cell.Draw(rt, "y"))
				if i < n-1 || rapid.Bool().Draw(rt, "last") {
					b.WriteString(end.Draw(rt, "end"))
				}
			}
			name := fmt.Sprintf("f%d.csv", k)
			if rapid.IntRange(0, 4).Draw(rt, "compressed") == 0 {
				name += ".gz"
			}
			files = append(files, write(t, dir, name, b.String()))
		}
		c, err := OpenCSV(vfs.OS, files, CSVOptions{Header: true})
		if err != nil {
			rt.Fatal(err)
		}
		c.chunk, c.margin = rapid.IntRange(4, 64).Draw(rt, "chunk"), rapid.IntRange(1, 32).Draw(rt, "margin")
		columns := []Column{{Name: "y", DType: graph.String}, {Name: "x", DType: graph.String}}
		want, err := rows(c, columns, 1)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := divided(rt, c, columns, int64(rapid.IntRange(1, 100).Draw(rt, "size")))
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("found %q, expected %q", got, want)
		}
	})
}

// TestDivideOthers reads the parts of tables of other kinds.
func TestDivideOthers(t *testing.T) {
	dir := t.TempDir()
	spaces, err := OpenCSV(vfs.OS, []string{write(t, dir, "e.txt", "1 2\n  \n3  4\n\t5\t6\n\n7 8")}, CSVOptions{Names: []string{"x", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := OpenNpy(vfs.OS, []NpyColumn{{Name: "x", Path: npyInts(t, filepath.Join(dir, "x.npy"), 100)}, {Name: "y", Path: npyInts(t, filepath.Join(dir, "y.npy"), 100)}})
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		X int64 `parquet:"x"`
		Y int64 `parquet:"y"`
	}
	var list []row
	for i := range int64(50) {
		list = append(list, row{i, i * i})
	}
	groups, err := OpenParquet(vfs.OS, []string{
		writeParquet(t, filepath.Join(dir, "a.parquet"), list[:30], pq.MaxRowsPerRowGroup(7)), writeParquet(t, filepath.Join(dir, "b.parquet"), list[30:], pq.MaxRowsPerRowGroup(9))})
	if err != nil {
		t.Fatal(err)
	}
	columns := []Column{{Name: "x", DType: graph.Int64}, {Name: "y", DType: graph.Uint64}}
	for name, whole := range map[string]Table{"parquet": groups, "spaces": spaces, "npy": pairs, "any": Beside(spaces, firstRows(pairs, 4))} {
		t.Run(name, func(t *testing.T) {
			want, err := rows(whole, columns, 1)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				got, err := divided(rt, whole, columns, int64(rapid.IntRange(1, 500).Draw(rt, "size")))
				if err != nil {
					rt.Fatal(err)
				}
				if !slices.Equal(got, want) {
					rt.Fatalf("found %q, expected %q", got, want)
				}
			})
		})
	}
}

func firstRows(t *Npy, n int) *Npy {
	x := *t
	x.rows = n
	return &x
}

func npyInts(t *testing.T, path string, n int) string {
	t.Helper()
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i * i)
	}
	return writeNpy(t, filepath.Dir(path), filepath.Base(path), "i8", []int{n}, values)
}

// TestPartChanged says what a reader of a part finds in another file than was measured.
func TestPartChanged(t *testing.T) {
	c := openText(t, "e.csv", "x\n1\n2\n3\n", CSVOptions{Header: true})
	p := Divide(c, 100)[0]
	p.Rows, p.Counted = 2, true
	_, err := rows(p.Of(c), []Column{{Name: "x", DType: graph.Int64}}, 1)
	if err == nil || !strings.Contains(err.Error(), "found 3 rows from row 0 on, expected 2") {
		t.Errorf("found %v", err)
	}
}
