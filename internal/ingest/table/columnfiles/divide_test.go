package columnfiles

import (
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestDivideOthers reads the parts of tables of other kinds.
func TestDivideOthers(t *testing.T) {
	dir := t.TempDir()
	spaces, err := textfiles.OpenCSV(vfs.OS, []string{tabletest.WriteText(t, dir, "e.txt", "1 2\n  \n3  4\n\t5\t6\n\n7 8")}, textfiles.CSVOptions{Names: []string{"x", "y"}})
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := arrayfiles.OpenNpy(vfs.OS, []arrayfiles.NpyColumn{{Name: "x", Path: npyInts(t, filepath.Join(dir, "x.npy"), 100)}, {Name: "y", Path: npyInts(t, filepath.Join(dir, "y.npy"), 100)}})
	if err != nil {
		t.Fatal(err)
	}
	four, err := arrayfiles.OpenNpy(vfs.OS, []arrayfiles.NpyColumn{{Name: "x", Path: npyInts(t, filepath.Join(dir, "four.npy"), 4)}})
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
	columns := []table.Column{{Name: "x", DType: graph.Int64}, {Name: "y", DType: graph.Uint64}}
	for name, whole := range map[string]table.Table{"parquet": groups, "spaces": spaces, "npy": pairs, "any": arrayfiles.Beside(spaces, four)} {
		t.Run(name, func(t *testing.T) {
			want, err := tabletest.Rows(whole, columns, 1)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(rt *rapid.T) {
				got, err := tabletest.Divided(rt, whole, columns, int64(rapid.IntRange(1, 500).Draw(rt, "size")))
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

func npyInts(t *testing.T, path string, n int) string {
	t.Helper()
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i * i)
	}
	return tabletest.WriteNpy(t, filepath.Dir(path), filepath.Base(path), "i8", []int{n}, values)
}
