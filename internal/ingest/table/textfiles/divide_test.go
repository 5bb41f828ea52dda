package textfiles

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/vfs"
)

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
			files = append(files, tabletest.WriteText(t, dir, name, b.String()))
		}
		c, err := OpenCSV(vfs.OS, files, CSVOptions{Header: true})
		if err != nil {
			rt.Fatal(err)
		}
		c.chunk, c.margin = rapid.IntRange(4, 64).Draw(rt, "chunk"), rapid.IntRange(1, 32).Draw(rt, "margin")
		columns := []table.Column{{Name: "y", DType: graph.String}, {Name: "x", DType: graph.String}}
		want, err := tabletest.Rows(c, columns, 1)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := tabletest.Divided(rt, c, columns, int64(rapid.IntRange(1, 100).Draw(rt, "size")))
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("found %q, expected %q", got, want)
		}
	})
}

// TestPartChanged says what a reader of a part finds in another file than was measured.
func TestPartChanged(t *testing.T) {
	c := openText(t, "e.csv", "x\n1\n2\n3\n", CSVOptions{Header: true})
	p := table.Divide(c, 100)[0]
	p.Rows, p.Counted = 2, true
	_, err := tabletest.Rows(p.Of(c), []table.Column{{Name: "x", DType: graph.Int64}}, 1)
	if err == nil || !strings.Contains(err.Error(), "found 3 rows from row 0 on, expected 2") {
		t.Errorf("found %v", err)
	}
}
