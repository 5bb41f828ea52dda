package ingest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// strangers is what another program reads from files, in expected.json beside them. Ids are texts.
type strangers struct {
	Program string
	Tables  map[string]struct {
		Rows []map[string]any
		// Warning is a part of each warning; empty: there is none.
		Warning string
		Columns string // Options.Columns
		Empty   string // Options.Missing, for all columns
		// Error is a part of the error, if the other program refuses the file.
		Error string
	}
}

// TestStrangeTables imports small files of other programs, with the rows that other programs read from them: the make.py
// beside each expected.json says which.
func TestStrangeTables(t *testing.T) {
	for _, kind := range []string{"columnar", "headers", "misnamed"} {
		dir := filepath.Join("testdata", "strangers", kind)
		b, err := os.ReadFile(filepath.Join(dir, "expected.json"))
		if err != nil {
			t.Fatal(err)
		}
		var expected strangers
		if err := json.Unmarshal(b, &expected); err != nil {
			t.Fatal(err)
		}
		for name, want := range expected.Tables {
			t.Run(kind+"/"+name, func(t *testing.T) {
				var missing []Missing
				if want.Empty != "" {
					missing = []Missing{{Value: want.Empty}}
				}
				s, src, err := built(t, filepath.Join(dir, name), Options{Columns: want.Columns, Missing: missing})
				if want.Error != "" {
					if err == nil || !strings.Contains(err.Error(), want.Error) {
						t.Errorf("found error %v, expected %q", err, want.Error)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Rows, edgesOf(t, s, "src", "dst")); diff != "" {
					t.Errorf("%s reads other rows (- expected, + found)\n%s", expected.Program, diff)
				}
				if (want.Warning == "") != (len(src.Warnings) == 0) {
					t.Errorf("found the warnings %q, expected %q", src.Warnings, want.Warning)
				}
				for _, w := range src.Warnings {
					if !strings.Contains(w, want.Warning) {
						t.Errorf("found the warning %q, expected %q in it", w, want.Warning)
					}
				}
			})
		}
	}
}

// latin1 returns text, and bytes that are no UTF-8 as Latin-1, which JSON can hold.
func latin1(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var s []rune
	for _, c := range b {
		s = append(s, rune(c))
	}
	return string(s)
}

// edgesOf returns the edges of a store of one edge type in the order of the input, with their ids under the names src and dst. A
// value that is missing is nil.
func edgesOf(t *testing.T, s *store.Store, src, dst string) []map[string]any {
	t.Helper()
	e := s.Graph.Edges[0]
	id := func(typ string, i int) string {
		n := s.Graph.Nodes[slices.IndexFunc(s.Graph.Nodes, func(n *graph.Nodes) bool { return n.Type == typ })]
		if n.IDs == nil {
			return fmt.Sprint(i)
		}
		return latin1(n.IDs.Text(i))
	}
	rows := make([]map[string]any, e.Count)
	position := graph.FindColumn(e.Columns, graph.PositionColumn)
	a := e.Adj[e.Primary]
	for near := range a.Indptr.Len() - 1 {
		for k := int(a.Indptr.At(near)); k < int(a.Indptr.At(near+1)); k++ {
			from, to := int(a.Far.At(k)), near
			if e.Primary == graph.Out {
				from, to = to, from
			}
			row := map[string]any{src: id(e.Type.Src, from), dst: id(e.Type.Dst, to)}
			for _, c := range e.Columns {
				switch {
				case c == position:
				case c.DType == graph.String:
					row[c.Name] = string(c.Text(k))
				case c.DType == graph.Bool:
					row[c.Name] = number(c.Values, c.DType, k) == 1
				default:
					v := number(c.Values, c.DType, k)
					if row[c.Name] = any(v); v != v {
						row[c.Name] = nil
					}
				}
			}
			at := k
			if position != nil {
				at = int(number(position.Values, position.DType, k))
			}
			rows[at] = row
		}
	}
	return rows
}
