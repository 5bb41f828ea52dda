package table

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
		tb, err := OpenRaw(vfs.OS, []RawColumn{{Field{Name: "x", DType: graph.Uint16, Shape: []int{2}}, runs}})
		if err != nil {
			rt.Fatal(err)
		}
		tb.chunk = rapid.IntRange(1, 60).Draw(rt, "chunk")
		got := make([]string, row)
		n, err := tb.Scan(t.Context(), []Column{{Name: "x", DType: graph.Uint64, Shape: []int{2}}}, 1, func(_ int, c *Chunk) error {
			v := asWords(c.Columns[0].Data)
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
	tb, err := OpenRaw(vfs.OS, []RawColumn{{Field{Name: "x", DType: graph.Int64}, []Run{{path, 0, 2}, {path, 8, 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = tb.Scan(t.Context(), []Column{{Name: "x", DType: graph.Int64}}, 2, func(int, *Chunk) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "found 20 bytes, expected 24; the file was cut") {
		t.Errorf("found %v", err)
	}
	if got := tb.Where(3, "x"); got != path+", x[3]" {
		t.Errorf("found %s", got)
	}
	if _, err := OpenRaw(vfs.OS, []RawColumn{{Field{Name: "x", DType: graph.Int64}, []Run{{path, 0, 2}}}, {Field{Name: "y", DType: graph.Int8}, []Run{{path, 0, 3}}}}); err == nil {
		t.Error("found no error of columns with 2 and 3 rows")
	}
}

// Fill gives each row once, for any number of threads, and the error of the first chunk.
func TestFill(t *testing.T) {
	const n = 300_000
	for threads := range 4 {
		sums := make([]uint64, 4)
		rows, err := Fill(t.Context(), n, []Column{{Name: "x", DType: graph.Uint64}, {Name: "y", DType: graph.Int8, Shape: []int{3}}}, threads, func(_ int, c *Chunk) error {
			for i := range c.Rows {
				asWords(c.Columns[0].Data)[i] = c.First + uint64(i)
			}
			return nil
		}, func(worker int, c *Chunk) error {
			if len(c.Columns[0].Data) != 8*c.Rows || len(c.Columns[1].Data) != 3*c.Rows {
				return fmt.Errorf("found %d and %d bytes for %d rows", len(c.Columns[0].Data), len(c.Columns[1].Data), c.Rows)
			}
			for _, v := range asWords(c.Columns[0].Data) {
				sums[worker] += v
			}
			return nil
		})
		if total := sums[0] + sums[1] + sums[2] + sums[3]; err != nil || rows != n || total != n*(n-1)/2 {
			t.Errorf("%d threads: found %d rows with the sum %d, %v", threads, rows, total, err)
		}
	}
	bad := func(_ int, c *Chunk) error { return fmt.Errorf("row %d", c.First) }
	if _, err := Fill(t.Context(), n, []Column{{DType: graph.Uint64}}, 3, bad, bad); err == nil || err.Error() != "row 0" {
		t.Errorf("found %v, expected that of row 0", err)
	}
}
