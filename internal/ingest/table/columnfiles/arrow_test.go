package columnfiles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The files that pyarrow and polars wrote have the rows that pyarrow reads from them: testdata/arrow/make.py.
func TestArrowRows(t *testing.T) {
	b, err := os.ReadFile("testdata/arrow/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, expected := range tabletest.ParseValues(t, b) {
		t.Run(name, func(t *testing.T) { checkColumnar(t, OpenArrow, filepath.Join("testdata/arrow", name), expected) })
	}
}

// checkColumnar checks that a file has the expected rows, whatever the number of threads and the size of chunks.
func checkColumnar(t *testing.T, open func(fsys vfs.FS, paths []string) (*Columnar, error), path string, expected map[string][]any) {
	t.Helper()
	for _, threads := range []int{1, 4} {
		for _, chunk := range []int{table.ChunkSize, 64, 1} {
			tab, err := open(vfs.OS, []string{path})
			if err != nil {
				t.Fatal(err)
			}
			tab.chunk = chunk
			found, err := tabletest.Values(tab, threads)
			if err != nil {
				t.Fatal(err)
			}
			tabletest.SameValues(t, path, found, expected)
		}
	}
}

func TestArrowFields(t *testing.T) {
	tab, err := OpenArrow(vfs.OS, []string{"testdata/arrow/plain.arrow"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]table.Field{}
	for _, f := range tab.Fields() {
		found[f.Name] = f
	}
	for _, want := range []table.Field{
		{Name: "int8", DType: graph.Int8},
		{Name: "uint64", DType: graph.Uint64},
		{Name: "half", DType: graph.Float16},
		{Name: "bool", DType: graph.Bool},
		{Name: "large_string", DType: graph.String},
		{Name: "at_s", DType: graph.Int64, Unit: graph.Seconds},
		{Name: "at_ns", DType: graph.Int64, Unit: graph.Nanoseconds},
		{Name: "zoned", DType: graph.Int64, Unit: graph.Milliseconds},
		{Name: "date32", DType: graph.Int64, Unit: graph.Seconds},
		{Name: "date64", DType: graph.Int64, Unit: graph.Milliseconds},
		{Name: "decimal", DType: graph.Float64},
		{Name: "whole", DType: graph.Int64},
		{Name: "category", DType: graph.String, Category: true},
		{Name: "coded", DType: graph.Int64},
		{Name: "sized", DType: graph.Float32, Shape: []int{-1}},
		{Name: "deep", DType: graph.Int64, Shape: []int{-1, -1}},
	} {
		if diff := cmp.Diff(want, found[want.Name]); diff != "" {
			t.Error(diff)
		}
	}
	if diff := cmp.Diff([]string{`"struct" (a struct)`, `"map" (a map)`}, tab.Unreadable()); diff != "" {
		t.Error(diff)
	}
	if where := tab.Where(20, ""); where != "testdata/arrow/plain.arrow: row 20 (record batch 1)" {
		t.Error(where)
	}
}

func TestArrowErrors(t *testing.T) {
	good, err := os.ReadFile("testdata/arrow/plain.arrow")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		column     table.Column
		want       string
	}{
		{"v1", "FEA1" + strings.Repeat("x", 100), table.Column{}, "found a Feather file of version 1, expected version 2; write it with"},
		{"cut", string(good[:len(good)-30]), table.Column{}, "the file is cut, or was not completed"},
		{"short", "ARROW1\x00\x00abc", table.Column{}, "found 11 bytes, expected an Arrow file; the file is cut"},
		{"none", "", table.Column{}, "found 0 bytes, expected an Arrow file or stream"},
		{"text", strings.Repeat("src,dst\n", 20), table.Column{}, "the file is cut or damaged"},
		{"struct", string(good), table.Column{Name: "struct", DType: graph.Int64}, `found a struct in column "struct", expected numbers`},
		{"null", string(good), table.Column{Name: "int8", DType: graph.Int8}, `: row 3 (record batch 0): found an empty cell in column "int8", expected an integer`},
		{"range", string(good), table.Column{Name: "last", DType: graph.Bool}, `: row 2 (record batch 0): found 2 in column "last", expected 0, 1, true or false`},
	} {
		path := tabletest.WriteText(t, t.TempDir(), c.name+".arrow", c.text)
		tab, err := OpenArrow(vfs.OS, []string{path})
		if err == nil {
			_, err = tab.Scan(t.Context(), []table.Column{c.column}, 2, func(int, *table.Chunk) error { return nil })
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: found error %v, expected %q", c.name, err, c.want)
		}
	}
}
