package textfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Rows with another number of fields, or a stray quote, are kept, with their numbers, for any number of threads and size of chunks.
func TestRagged(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b,c\n")
	var want []uint64
	var cells []string
	for i := range 500 {
		switch i % 50 {
		case 7:
			fmt.Fprintf(&b, "%d,x\n", i)
			cells = append(cells, fmt.Sprintf("%d|x|", i))
		case 23:
			fmt.Fprintf(&b, "%d,x,y,z,\n", i)
			cells = append(cells, fmt.Sprintf("%d|x|y", i))
		case 31:
			fmt.Fprintf(&b, "%d,\"x\"\"\"q\",y\n", i)
			cells = append(cells, fmt.Sprintf("%d||", i))
		default:
			fmt.Fprintf(&b, "%d,\"x\ny\",y\n", i)
			cells = append(cells, fmt.Sprintf("%d|x\ny|y", i))
			continue
		}
		want = append(want, uint64(i))
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	columns := []table.Column{{Name: "a", DType: graph.String}, {Name: "b", DType: graph.String}, {Name: "c", DType: graph.String}}
	for _, threads := range []int{1, 3} {
		tab, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{Ragged: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		found := make([]string, len(cells))
		read := make(chan struct{}, 1)
		rows, err := tab.Scan(t.Context(), columns, threads, func(_ int, c *table.Chunk) error {
			read <- struct{}{}
			defer func() { <-read }()
			for _, r := range c.Ragged {
				got = append(got, c.First+uint64(r))
			}
			for i := range c.Rows {
				var row []string
				for _, v := range c.Columns {
					from := uint32(0)
					if i > 0 {
						from = v.Ends[i-1]
					}
					row = append(row, string(v.Data[from:v.Ends[i]]))
				}
				found[c.First+uint64(i)] = strings.Join(row, "|")
			}
			return nil
		})
		if slices.Sort(got); err != nil || rows != uint64(len(cells)) || !slices.Equal(got, want) || !slices.Equal(found, cells) {
			t.Errorf("%d threads: found %d rows, of which %v are ragged, %v, expected %d and %v", threads, rows, got, err, len(cells), want)
		}
		if where := tab.Where(want[3], ""); !strings.HasPrefix(where, path+":") {
			t.Errorf("found the place %s", where)
		}
	}
	tab, err := OpenCSV(vfs.OS, []string{path}, CSVOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tab.Scan(t.Context(), columns, 1, func(int, *table.Chunk) error { return nil }); err == nil || !strings.Contains(err.Error(), "found 2 fields, expected 3") {
		t.Errorf("found %v, expected the first row with fewer fields", err)
	}
}
