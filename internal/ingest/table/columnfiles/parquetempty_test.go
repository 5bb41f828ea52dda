package columnfiles

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The columns that testdata/empty/make.py writes, as a unigraph asks for them, and the two rows of the files that
// have rows.
var (
	emptyColumns = []table.Column{
		{Name: "id", DType: graph.String, ID: true},
		{Name: "n", DType: graph.Int64},
		{Name: "x", DType: graph.Float32, Empty: table.EmptyFill, Fill: "9"},
		{Name: "l", DType: graph.Int64, Shape: []int{-1}},
		{Name: "ll", DType: graph.Float32, Shape: []int{-1, -1}},
	}
	twoRows = []string{
		`id: [] "ab" [1 2]`,
		`n: [] 01000000000000000200000000000000`,
		`x: [] 0000003f00001041`,
		`l: [[2 0]] 01000000000000000200000000000000`,
		`ll: [[2 0] [1 0]] 0000003f`,
	}
)

// checkEmpty checks files of 0 rows, alone and as shards together with one that has two rows.
func checkEmpty(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil || len(files) < 8 {
		t.Fatalf("found %v, %v", files, err)
	}
	seen := map[int]bool{} // numbers of row groups
	for _, file := range files {
		p, err := OpenParquet(vfs.OS, []string{file})
		if err != nil {
			t.Error(err)
			continue
		}
		has := func(c table.Column) bool {
			return slices.ContainsFunc(p.Fields(), func(f table.Field) bool { return f.Name == c.Name })
		}
		columns := slices.DeleteFunc(slices.Clone(emptyColumns), func(c table.Column) bool { return !has(c) })
		if len(columns) < 3 || len(p.Unreadable()) > 0 {
			t.Errorf("%s: found the fields %v", file, p.Fields())
		}
		seen[len(p.groups)] = true
		want := twoRows
		if !strings.Contains(file, "-groups") {
			want = nil
			for _, c := range columns {
				want = append(want, c.Name+":")
			}
		}
		for threads := 1; threads <= 2; threads++ {
			got, err := show(p, columns, threads)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v, -want +found:\n%s", file, err, diff)
			}
		}
		if len(columns) < len(emptyColumns) {
			continue
		}
		rows := filepath.Join("testdata/empty", "pyarrow26-groups.parquet")
		for _, shards := range [][]string{{file, rows, file}, {rows, file}, {file, file, rows}} {
			p, err := OpenParquet(vfs.OS, shards)
			if err != nil {
				t.Error(err)
				continue
			}
			if strings.Contains(file, "-groups") {
				continue // the file has rows
			}
			got, err := show(p, emptyColumns, 2)
			if diff := cmp.Diff(twoRows, got); diff != "" || err != nil {
				t.Errorf("%v: %v, -want +found:\n%s", shards, err, diff)
			}
		}
	}
	if !seen[0] || !seen[1] {
		t.Errorf("found files of %v row groups, expected some of 0 and of 1", seen)
	}
}

// Tables without rows, as real programs write them, have no rows.
func TestParquetEmpty(t *testing.T) { checkEmpty(t, "testdata/empty") }

// A shard with rows must have the types of the other shards. A shard of type null has no values, whatever is asked
// for.
func TestParquetNull(t *testing.T) {
	null := "testdata/empty/pandas3-null.parquet"
	p, err := OpenParquet(vfs.OS, []string{null})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []table.Column{{DType: graph.String, Shape: []int{2, -1}}, {DType: graph.Float64, Shape: []int{3}}, {DType: graph.Bool}} {
		c.Name = "ll"
		if got, err := show(p, []table.Column{c}, 1); err != nil || fmt.Sprint(got) != "[ll:]" {
			t.Errorf("%d: found %v, %v", i, got, err)
		}
	}
	if _, err := show(p, []table.Column{{Name: "x", DType: graph.Bool}}, 1); err == nil || !strings.Contains(err.Error(), `found float64 in column "x", expected values that can be read as bool`) {
		t.Errorf("found error %v", err)
	}
	_, err = OpenParquet(vfs.OS, []string{null, "testdata/empty/fastparquet-gzip.parquet"})
	if err == nil || !strings.Contains(err.Error(), "found the columns id string, n int64, x float64, expected id") {
		t.Errorf("found error %v", err)
	}
}
