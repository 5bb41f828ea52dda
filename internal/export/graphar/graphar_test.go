package graphar_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/graphar"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// imported imports a source and opens the store.
func imported(t *testing.T, path string, primary graph.Direction) *store.Store {
	t.Helper()
	src, err := ingest.Open(t.Context(), vfs.OS, path, ingest.Options{Missing: []ingest.Missing{{What: "int", Value: "0"}, {What: "bool", Value: "false"}}})
	if err == nil {
		err = src.Collect(t.Context(), 1, 0, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "g.store")
	w, err := store.Create(vfs.OS, out, false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(t.Context(), vfs.OS, w, src.Input, assemble.Options{Primary: primary, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Seal(t.Context(), r.Meta, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Publish(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(vfs.OS, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// listed is the edges and the columns of a store, with ids as the column id.
func listed(s *store.Store) (lines []string) {
	show := func(owner string, c *graph.Column, name string) {
		line := owner + "." + name
		for row := range c.Rows {
			from, to := c.Span(row, row+1)
			line += " |"
			for i := from; i < to; i++ {
				switch {
				case c.Categories != nil && graph.View[int32](c.Values)[i] >= 0:
					line += string(c.Categories.Text(int(graph.View[int32](c.Values)[i])))
				case c.Categories != nil:
				case c.DType == graph.String:
					line += string(c.Text(i))
				default:
					line += fmt.Sprintf("%x,", c.Values[i*c.DType.Size():(i+1)*c.DType.Size()])
				}
			}
		}
		lines = append(lines, line)
	}
	for _, n := range s.Graph.Nodes {
		lines = append(lines, fmt.Sprintf("%s %d", n.Type, n.Count))
		if n.IDs != nil {
			show(n.Type, n.IDs, "id")
		}
		for _, c := range n.Columns {
			show(n.Type, c, c.Name)
		}
	}
	for _, e := range s.Graph.Edges {
		line := e.Type.String()
		for i := range e.Count {
			src, dst := e.Ends(i)
			line += fmt.Sprintf(" %d>%d", src, dst)
		}
		lines = append(lines, line)
		for _, c := range e.Columns {
			if c.Name != graph.PositionColumn {
				show(e.Type.String(), c, c.Name)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// TestRoundTrip checks that what is exported is imported again, for chunks of all sizes and both directions, with types without nodes, edges and columns.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"graph.yaml": "nodes:\n  'a;b': {table: a.csv, id: {column: id, dtype: string}, columns: {i: int64, k: int32, f: float32, d: float64, b: bool, s: string, m: {dtype: int32, missing: column}, bm: {dtype: bool, missing: column}, v: 'float32[3]', at: 'datetime[ms]', l: 'int64[]', t: 'string[]'}}\n  n: {count: 3}\nedges:\n  'a;b:r:a;b': {table: e.csv, columns: {w: int32, x: string, l: 'int32[]', t: 'string[]'}}\n  'a;b:to:n': {table: n.csv}\n  'n:none:n': {table: none.csv}\n",
		"a.csv":      "id,i,k,f,d,b,s,m,bm,v,at,l,t\np,1,-2,0.5,0.1,true,ä b,,true,1 2 3,2024-01-02T03:04:05,1 2,\nq,2,3,1.5,0.2,false,,7,,4 5 6,,,one;two\nr,3,4,2.5,0.3,true,\"x, y\",0,false,7 8 9,1969-12-31,3,three\n",
		"e.csv":      "src,dst,w,x,l,t\np,q,1,one,1 2,\nr,p,2,,,a;b\np,r,3,three,3,c\nq,q,4,four,,\np,q,5,five,4 5 6,d\n",
		"n.csv":      "src,dst\nq,2\np,0\n",
		"none.csv":   "src,dst\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, primary := range []graph.Direction{graph.In, graph.Out} {
		s := imported(t, filepath.Join(dir, "graph.yaml"), primary)
		want := slices.DeleteFunc(listed(s), func(line string) bool { return strings.Contains(line, "_missing |") }) // nulls tell it
		for _, rows := range [][2]int{{0, 0}, {1, 1}, {2, 3}, {3, 2}} {
			out := filepath.Join(t.TempDir(), "gar")
			w, err := store.Create(vfs.OS, out, false)
			if err != nil {
				t.Fatal(err)
			}
			r, err := graphar.Write(t.Context(), w, s, graphar.Options{Name: "g: 1", VertexChunk: rows[0], EdgeChunk: rows[1]})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slices.Sorted(slices.Values(r.Nulls)), []string{"a;b.bm", "a;b.m"}) || r.Nodes != 6 || r.Edges != 7 || r.Left != nil {
				t.Errorf("found %+v, expected 6 nodes, 7 edges and no column left", r)
			}
			got := listed(imported(t, w.Dir(), primary))
			got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "n.id ") })
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("chunks of %v: found\n%s\nexpected\n%s", rows, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if err := w.Abort(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNoEdges checks that a graph of vertices alone is imported and exported.
func TestNoEdges(t *testing.T) {
	s := imported(t, filepath.Join("..", "..", "ingest", "testdata", "strangers", "graphar", "ldbc"), graph.In)
	w, err := store.Create(vfs.OS, filepath.Join(t.TempDir(), "gar"), false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := graphar.Write(t.Context(), w, s, graphar.Options{Name: "g", VertexChunk: 1000}); err != nil {
		t.Fatal(err)
	}
	got := slices.DeleteFunc(listed(imported(t, w.Dir(), graph.In)), func(line string) bool { return strings.Contains(line, ".id |") })
	if want := listed(s); len(want) != 6 || !slices.Equal(got, want) {
		t.Errorf("found\n%.2000s\nexpected\n%.2000s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
}
