package arrayfiles

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Rows in any runs of several files are read in order, whatever the chunks.
func TestRaw(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var runs []Run
		files := make([][]byte, 2)
		var want []string
		row := uint16(0)
		for range rapid.IntRange(1, 6).Draw(rt, "runs") {
			k := rapid.IntRange(0, 1).Draw(rt, "file")
			files[k] = append(files[k], make([]byte, rapid.IntRange(0, 5).Draw(rt, "gap"))...)
			r := Run{Path: filepath.Join(dir, fmt.Sprint(k)), Offset: int64(len(files[k])), Rows: uint64(rapid.IntRange(0, 9).Draw(rt, "rows"))}
			for range r.Rows {
				files[k] = binary.LittleEndian.AppendUint16(files[k], row)
				files[k] = binary.LittleEndian.AppendUint16(files[k], row+1000)
				want = append(want, fmt.Sprintf("%d %d", row, row+1000))
				row++
			}
			runs = append(runs, r)
		}
		for k, b := range files {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tb, err := OpenRaw(vfs.OS, []RawColumn{{table.Field{Name: "x", DType: graph.Uint16, Shape: []int{2}}, runs}})
		if err != nil {
			rt.Fatal(err)
		}
		tb.chunk = rapid.IntRange(1, 60).Draw(rt, "chunk")
		got := make([]string, row)
		n, err := tb.Scan(t.Context(), []table.Column{{Name: "x", DType: graph.Uint64, Shape: []int{2}}}, 1, func(_ int, c *table.Chunk) error {
			v := scalar.AsWords(c.Columns[0].Data)
			for i := range c.Rows {
				got[int(c.First)+i] = fmt.Sprintf("%d %d", v[2*i], v[2*i+1])
			}
			return nil
		})
		if err != nil || n != uint64(row) || !slices.Equal(got, want) {
			rt.Fatalf("found %d rows, %v: %s", n, err, cmp.Diff(want, got))
		}
	})
}

// A file that is shorter than declared is an error of the scan.
func TestRawCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 20), 0o644); err != nil {
		t.Fatal(err)
	}
	tb, err := OpenRaw(vfs.OS, []RawColumn{{table.Field{Name: "x", DType: graph.Int64}, []Run{{path, 0, 2}, {path, 8, 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tb.Scan(t.Context(), []table.Column{{Name: "x", DType: graph.Int64}}, 2, func(int, *table.Chunk) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "found 20 bytes, expected 24; the file was cut") {
		t.Errorf("found %v", err)
	}
	if got := tb.Where(3, "x"); got != path+", x[3]" {
		t.Errorf("found %s", got)
	}
	if _, err := OpenRaw(vfs.OS, []RawColumn{{table.Field{Name: "x", DType: graph.Int64}, []Run{{path, 0, 2}}}, {table.Field{Name: "y", DType: graph.Int8}, []Run{{path, 0, 3}}}}); err == nil {
		t.Error("found no error of columns with 2 and 3 rows")
	}
}
