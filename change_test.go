package graphmill_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	bounds "github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// A change of few rows writes the blocks of a column that have them, and one of many rows all of it. Both may follow one another, and new rows: the values are the last ones.
func TestChangeBlocks(t *testing.T) {
	defer func(align int64) { bounds.ShardAlign = align }(bounds.ShardAlign)
	bounds.ShardAlign = int64(os.Getpagesize())
	dir := t.TempDir()
	ctx, in := context.Background(), filepath.Join(dir, "g.store")
	random := rand.New(rand.NewPCG(1, 2))
	var want []float64
	yaml := func(edges string) string {
		return "nodes:\n  n: {table: n.csv, id: {column: id, dtype: integer}, columns: {v: float64, pair: \"float64[2]\"}}\n" + edges
	}
	write := func(name, edges string, rows func(line func(node int, v float64))) string {
		at := filepath.Join(dir, name)
		text := strings.Builder{}
		text.WriteString("id,v,pair\n")
		rows(func(node int, v float64) { fmt.Fprintf(&text, "%d,%g,\"[%g, %d]\"\n", node, v, v, node) })
		for file, text := range map[string]string{"n.csv": text.String(), "graph.yaml": yaml(edges), "e.csv": "a,b\n1,2\n"} {
			if err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, file), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	rows := func(n int) func(line func(node int, v float64)) {
		return func(line func(node int, v float64)) {
			for range n {
				v := float64(random.IntN(1 << 20))
				line(len(want), v)
				want = append(want, v)
			}
		}
	}
	s, err := graphmill.Import(ctx, write("first", "edges:\n  n:e:n: {table: e.csv, src: a, dst: b}\n", rows(20_000)), in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(at string, s *store.Store) {
		t.Helper()
		columns := s.Graph.Nodes[s.Graph.NodeType("n")].Columns
		v, pair := graph.View[float64](graph.FindColumn(columns, "v").Values), graph.View[float64](graph.FindColumn(columns, "pair").Values)
		for i, w := range want {
			if v[i] != w || pair[2*i] != w || pair[2*i+1] != float64(i) {
				t.Fatalf("%s: found %g and %g of node %d, expected %g", at, v[i], pair[2*i:2*i+2], i, w)
			}
		}
		path, start := s.ArrayFile(s.Meta.Nodes["n"].Columns["v"].File)
		f, err := s.Joined(vfs.OS).Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		node := random.IntN(len(want) - 100)
		part := make([]byte, 800)
		if _, err := f.ReadAt(part, start+int64(8*node)); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if got := math.Float64frombits(binary.LittleEndian.Uint64(part[8*i:])); got != want[node+i] {
				t.Fatalf("%s: found %g of node %d in the file, expected %g", at, got, node+i, want[node+i])
			}
		}
	}
	for k, n := range []int{1, 3, -100, 5, 2000, 7, -3000, 12_000, 4, 1, -1, 2} {
		at := fmt.Sprintf("step %d", k)
		o := option.Append{}
		source := ""
		if n < 0 {
			source = write(at, "", rows(-n))
		} else {
			o.Change = write(at, "", func(line func(node int, v float64)) {
				for _, node := range random.Perm(len(want))[:n] {
					want[node] = float64(random.IntN(1 << 20))
					line(node, want[node])
				}
			})
		}
		if _, err := graphmill.Append(ctx, in, source, o); err != nil {
			t.Fatal(err)
		}
		s, err := store.OpenMerged(vfs.OS, in, -1)
		if err != nil {
			t.Fatal(err)
		}
		check(at, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	m, err := store.ReadManifest(vfs.OS, in)
	if err != nil {
		t.Fatal(err)
	}
	files := slices.Sorted(maps.Keys(m.Files))
	for _, name := range []string{"segments/1/nodes/n/v.npy.blocks", "segments/5/nodes/n/v.npy", "segments/10/nodes/n/pair.npy.blocks"} {
		if !slices.Contains(files, name) {
			t.Errorf("found no file %s, expected one: %v", name, files)
		}
	}
	if _, err := graphmill.Compact(ctx, in, option.Run{}); err != nil {
		t.Fatal(err)
	}
	whole, err := store.Open(vfs.OS, in)
	if err != nil {
		t.Fatal(err)
	}
	check("after a compaction", whole)
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
}

// What cannot be changed is named, and the store stays as it was.
func TestChangeErrors(t *testing.T) {
	dir := t.TempDir()
	ctx, in := context.Background(), filepath.Join(dir, "g.store")
	write := func(name string, files map[string]string) string {
		at := filepath.Join(dir, name)
		for file, text := range files {
			if err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, file), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	const nodes = "nodes:\n  p: {table: p.csv, id: id, columns: {year: int64, kind: category, size: {dtype: int64, missing: column}}}\n"
	s, err := graphmill.Import(ctx, write("first", map[string]string{"p.csv": "id,year,kind,size\nann,1990,x,\nbob,1985,y,2\n", "e.csv": "a,b,w\nann,bob,1\nann,bob,2\nbob,ann,3\n",
		"graph.yaml": nodes + "edges:\n  p:e:p: {table: e.csv, src: a, dst: b, columns: {w: float32}}\n"}), in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	was, err := store.ReadManifest(vfs.OS, in)
	if err != nil {
		t.Fatal(err)
	}
	const edges = "nodes:\n  p: {}\nedges:\n  p:e:p: {table: e.csv, src: a, dst: b, columns: {w: float32}}\n"
	const years = "nodes:\n  p: {table: p.csv, id: id, columns: {year: int64}}\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"unknown node":             {map[string]string{"graph.yaml": years, "p.csv": "id,year\ncid,1\n"}, `p.csv:2:1: found the id "cid", expected one of the nodes of type p in the store; append it`},
		"node twice":               {map[string]string{"graph.yaml": years, "p.csv": "id,year\nann,1\nbob,2\nann,3\n"}, `p.csv:4:1: found the id "ann" a second time, expected one row per node; keep`},
		"unknown column":           {map[string]string{"graph.yaml": strings.Replace(years, "year", "age", 1), "p.csv": "id,age\nann,1\n"}, `found the column "age", expected the columns of the store (kind, size, size_missing, year); leave it out`},
		"no column":                {map[string]string{"graph.yaml": strings.Replace(years, "year: int64", "", 1), "p.csv": "id,age\nann,1\n"}, "found no column to change, expected one of the store (kind, size, size_missing, year); add it"},
		"unknown type":             {map[string]string{"graph.yaml": strings.Replace(years, "  p:", "  q:", 1), "p.csv": "id,year\nann,1\n"}, "found nodes of type q to change, expected a type of the store"},
		"no ids":                   {map[string]string{"graph.yaml": strings.Replace(years, "id: id", "id: null", 1), "p.csv": "id,year\nann,1\n"}, "found row numbers for nodes of type p to change, expected columns of ids"},
		"unknown edge":             {map[string]string{"graph.yaml": edges, "e.csv": "a,b,w\nann,bob,5\nbob,bob,5\n"}, "e.csv:3:1: found an edge of type p:e:p to change that the store does not have"},
		"edge twice":               {map[string]string{"graph.yaml": edges, "e.csv": "a,b,w\nann,bob,5\nbob,ann,4\nann,bob,6\n"}, "e.csv:4:1: found an edge of type p:e:p to change a second time"},
		"unknown end":              {map[string]string{"graph.yaml": edges, "e.csv": "a,b,w\nann,cid,5\n"}, `e.csv:2:5: found the id "cid"`},
		"unknown edge type":        {map[string]string{"graph.yaml": strings.Replace(edges, "p:e:p", "p:f:p", 1), "e.csv": "a,b,w\nann,bob,5\n"}, "found edges of type p:f:p to change, expected a type of the store"},
		"a value without its mark": {map[string]string{"graph.yaml": strings.Replace(years, "year: int64", "size: int64", 1), "p.csv": "id,size\nann,3\n"}, `found "size" without "size_missing", expected both`},
		"value of another type":    {map[string]string{"graph.yaml": years, "p.csv": "id,year\nann,soon\n"}, `p.csv:2:5: `},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := graphmill.Append(ctx, in, "", option.Append{Change: write(name, c.files)})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("found %v, expected %s", err, c.want)
			}
		})
	}
	for name, o := range map[string]option.Append{"drop": {Drop: "x", Change: "y"}, "follow": {Follow: "x", Change: "y"}, "more": {More: []string{"x"}, Change: "y"}} {
		if _, err := graphmill.Append(ctx, in, "", o); err == nil || !strings.Contains(err.Error(), "found `Change` with other sources") {
			t.Errorf("%s: found %v, expected an error", name, err)
		}
	}
	now, err := store.ReadManifest(vfs.OS, in)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(now.Files, was.Files) {
		t.Fatalf("found the files %v, expected those before: %v", now.Files, was.Files)
	}
	change := func(name string, files map[string]string) {
		t.Helper()
		if _, err := graphmill.Append(ctx, in, "", option.Append{Change: write(name, files)}); err != nil {
			t.Fatal(err)
		}
	}
	change("kinds", map[string]string{"graph.yaml": "nodes:\n  p: {table: p.csv, id: id, columns: {kind: category}}\n", "p.csv": "id,kind\nbob,z\n"}) // a new text has the next code
	change("all", map[string]string{"graph.yaml": edges, "e.csv": "a,b,w\nann,bob,9\n"})                                                              // all edges with the ends
	change("marks", map[string]string{"graph.yaml": strings.Replace(years, "year: int64", "size: {dtype: int64, missing: column}", 1), "p.csv": "id,size\nbob,\nann,7\n"})
	c, err := store.OpenMerged(vfs.OS, in, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if missing := graph.FindColumn(c.Graph.Nodes[0].Columns, "size_missing").Values; !slices.Equal(missing, []byte{0, 1}) {
		t.Errorf("found the marks %v of missing values, expected those of the new values", missing)
	}
	kind := graph.FindColumn(c.Graph.Nodes[0].Columns, "kind")
	if codes := graph.View[int32](kind.Values); !slices.Equal(codes, []int32{0, 2}) || string(kind.Categories.Text(2)) != "z" || kind.Categories.Rows != 3 {
		t.Errorf("found the codes %v of %d categories, expected 0 and 2 of 3", codes, kind.Categories.Rows)
	}
	if w := graph.View[float32](graph.FindColumn(c.Graph.Edges[0].Columns, "w").Values); !slices.Equal(w, []float32{3, 9, 9}) {
		t.Errorf("found the weights %v, expected 3, 9 and 9", w)
	}
	if err := c.Check(ctx); err != nil {
		t.Error(err)
	}
}

// Categories of edges grow by appends and by changes, in the base and in segments, and codes keep their texts.
func TestChangeCategories(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "g.store")
	write := func(name, rows string) string {
		at := filepath.Join(dir, name)
		yaml := "nodes: {n: {}}\nedges:\n  n:e:n: {table: e.csv, columns: {kind: category}}\n"
		if err := errors.Join(os.MkdirAll(at, 0o755), os.WriteFile(filepath.Join(at, "e.csv"), []byte("src,dst,kind\n"+rows), 0o644), os.WriteFile(filepath.Join(at, "graph.yaml"), []byte(yaml), 0o644)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	s, err := graphmill.Import(t.Context(), write("0", "0,1,m\n1,2,\n2,0,k\n"), in, option.Import{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"0,1": "m", "1,2": "", "2,0": "k"}
	check := func(at string) {
		t.Helper()
		s, err := store.OpenMerged(vfs.OS, in, -1)
		if err != nil {
			t.Fatal(err)
		}
		e := s.Graph.Edges[0]
		kind, a := graph.FindColumn(e.Columns, "kind"), e.Adj[e.Primary]
		got := map[string]string{}
		for v := range a.Indptr.Len() - 1 {
			for id := a.Indptr.At(v); id < a.Indptr.At(v+1); id++ {
				text := ""
				if code := graph.View[int32](kind.Values)[id]; code >= 0 {
					text = string(kind.Categories.Text(int(code)))
				}
				got[fmt.Sprintf("%d,%d", a.Far.At(int(id)), v)] = text
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: found %v, expected %v", at, got, want)
		}
		if err := errors.Join(s.Check(t.Context()), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		change bool
		rows   string
	}{{true, "1,2,a\n"}, {false, "0,2,z\n1,0,a\n"}, {true, "0,2,b\n0,1,z\n"}, {false, "2,1,c\n"}, {true, "1,0,\n2,1,k\n2,0,c\n"}, {true, "1,2,new\n"}} {
		source, o := write(fmt.Sprint(i+1), step.rows), option.Append{}
		if step.change {
			o.Change, source = source, ""
		}
		if _, err := graphmill.Append(t.Context(), in, source, o); err != nil {
			t.Fatal(err)
		}
		for _, row := range strings.Split(strings.TrimSpace(step.rows), "\n") {
			at := strings.LastIndexByte(row, ',')
			want[row[:at]] = row[at+1:]
		}
		check(fmt.Sprint("step ", i))
		if step.change { // once more, as after a kill
			before, err := store.Sum(vfs.OS, in)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := graphmill.Append(t.Context(), in, "", o); err != nil {
				t.Fatal(err)
			}
			if after, err := store.Sum(vfs.OS, in); err != nil || after != before {
				t.Errorf("step %d: found another store after the same changes, %v", i, err)
			}
		}
	}
	if _, err := graphmill.Compact(t.Context(), in, option.Run{}); err != nil {
		t.Fatal(err)
	}
	check("after a compaction")
}
