package columnfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The files that pyarrow and polars wrote have the rows that pyarrow reads from them: testdata/parquet/make.py. They cover
// all codecs, times, decimals and row groups without rows.
func TestParquetRows(t *testing.T) {
	b, err := os.ReadFile("testdata/parquet/rows.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, expected := range tabletest.ParseValues(t, b) {
		t.Run(name, func(t *testing.T) { checkColumnar(t, OpenParquet, filepath.Join("testdata/parquet", name), expected) })
	}
}

func TestParquetDeclares(t *testing.T) {
	for path, want := range map[string][]table.Field{
		"testdata/parquet/snappy.parquet": {
			{Name: "id", DType: graph.Int64}, {Name: "text", DType: graph.String},
			{Name: "at_ms", DType: graph.Int64, Unit: graph.Milliseconds}, {Name: "at_us", DType: graph.Int64, Unit: graph.Microseconds},
			{Name: "at_ns", DType: graph.Int64, Unit: graph.Nanoseconds}, {Name: "date", DType: graph.Int64, Unit: graph.Seconds},
			{Name: "decimal_7_2", DType: graph.Float64}, {Name: "decimal_15_3", DType: graph.Float64}, {Name: "decimal_15_0", DType: graph.Int64},
			{Name: "decimal_30_4", DType: graph.Float64}, {Name: "decimal_38_0", DType: graph.Float64},
			{Name: "category", DType: graph.String}, {Name: "list", DType: graph.Int64, Shape: []int{-1}},
		},
		"testdata/parquet/int96.parquet": {
			{Name: "id", DType: graph.Int64}, {Name: "at_us", DType: graph.Int64, Unit: graph.Nanoseconds}, {Name: "at_ns", DType: graph.Int64, Unit: graph.Nanoseconds},
		},
	} {
		tab, err := OpenParquet(vfs.OS, []string{path})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, tab.Fields()); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}
