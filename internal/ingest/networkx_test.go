package ingest

import (
	"cmp"
	"encoding/json"
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

// rowsOf returns the rows of a table: the cells of the given columns, and the values of the others by name.
func rowsOf(t *testing.T, tb table.Table, keys []table.Column, columns []table.Column) (rows [][]any) {
	t.Helper()
	asked := append(slices.Clone(keys), columns...)
	_, err := tb.Scan(t.Context(), asked, 1, func(_ int, c *table.Chunk) error {
		for i := range c.Rows {
			cell := func(k int) any {
				v := &c.Columns[k]
				if asked[k].DType == graph.String {
					return string(texts(v)[i])
				}
				if asked[k].DType == graph.Bool {
					return v.Data[i] == 1
				}
				return number(v.Data, asked[k].DType, i)
			}
			var row []any
			values := map[string]any{}
			for k := range asked {
				if k < len(keys) {
					row = append(row, cell(k))
				} else {
					values[asked[k].Name] = cell(k)
				}
			}
			rows = append(rows, append(row, values))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// checkNetworkX compares the files of a folder with its expected.json.
func checkNetworkX(t *testing.T, dir string) {
	b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct{ Nodes, Edges [][]any }
	if err := json.Unmarshal(b, &expected); err != nil {
		t.Fatal(err)
	}
	if len(expected) < 6 {
		t.Fatalf("found %d files, expected more", len(expected))
	}
	lines := func(rows [][]any, sorted bool) string {
		var text []string
		for _, r := range rows {
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, string(b))
		}
		if sorted {
			slices.SortFunc(text, cmp.Compare)
		}
		return strings.Join(text, "\n")
	}
	for name, want := range expected {
		s, err := Open(t.Context(), vfs.OS, filepath.Join(dir, name), Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		n, e := s.Input.Nodes[0], s.Input.Edges[0]
		values := slices.DeleteFunc(e.Columns, func(c table.Column) bool { return c.Name == "key" || c.Name == "id" }) // of multigraphs
		if got, want := lines(rowsOf(t, n.Table, []table.Column{n.ID}, n.Columns), false), lines(want.Nodes, false); got != want {
			t.Errorf("%s: found nodes\n%s\nexpected\n%s", name, got, want)
		}
		rows := rowsOf(t, e.Table, []table.Column{e.Src, e.Dst}, values)
		if e.Symmetrise {
			for _, r := range rows {
				if r[0] != r[1] {
					rows = append(rows, []any{r[1], r[0], r[2]})
				}
			}
		}
		if got, want := lines(rows, true), lines(want.Edges, true); got != want {
			t.Errorf("%s: found edges\n%s\nexpected\n%s", name, got, want)
		}
		if _, err := imported(t, filepath.Join(dir, name), Options{}); err != nil {
			t.Error(fmt.Errorf("%s: %w", name, err))
		}
	}
}

// Files that networkx wrote have the nodes, edges and values that networkx had.
func TestNetworkX(t *testing.T) { checkNetworkX(t, filepath.Join("testdata", "networkx")) }
