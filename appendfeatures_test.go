package graphmill_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// The new rows of a store with features get those of the store: as an import of all tables like the base has them, in all their forms.
func TestAppendFeatures(t *testing.T) {
	const yaml = `
nodes:
  user:
    table: users.csv
    id: {column: id, dtype: string}
    columns: {age: float64, city: category, bio: string, vec: "float32[2]"}
    features:
      x:
        - {from: age, impute: median, scale: standard}
        - {from: city, encode: one-hot}
        - {from: bio, encode: hash, dim: 40}
      small: {bits: 8, parts: [{from: vec, clip: [-4, 4]}]}
      code: {from: city, encode: code}
edges:
  user:knows:user:
    table: knows.csv
    columns: {price: float64}
    features:
      e: [{from: price, impute: mean, scale: log}]
`
	const split = "transforms:\n  split: {user: [0.6, 0.2, 0.2]}\n"
	dir := t.TempDir()
	write := func(name string, files map[string]string) string {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	r := rand.New(rand.NewPCG(3, 9))
	users := func(from, to int, part string) (rows string) {
		for i := from; i < to; i++ {
			age := fmt.Sprint(20 + r.IntN(50))
			if r.IntN(5) == 0 {
				age = ""
			}
			rows += fmt.Sprintf("u%d,%s,%s,%s,[%d %d]%s\n", i, age, []string{"Rome", "Oslo", ""}[r.IntN(3)], []string{"likes tea", "", "reads"}[r.IntN(3)], r.IntN(9), r.IntN(9), part)
		}
		return rows
	}
	knows := func(most, n int) (rows string) {
		for range n {
			rows += fmt.Sprintf("u%d,u%d,%s\n", r.IntN(most), r.IntN(most), []string{"2.5", "", "100"}[r.IntN(3)])
		}
		return rows
	}
	const head, edges = "id,age,city,bio,vec\n", "src,dst,price\n"
	firstUsers, firstKnows := users(0, 60, ""), knows(60, 200)
	moreUsers, moreKnows := users(60, 75, ""), knows(75, 40)
	run := option.Run{NoReport: true}
	imported := func(from, name string, o option.Import) string {
		out := filepath.Join(dir, name)
		o.Run = run
		s, err := graphmill.Import(t.Context(), from, out, o)
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, transforms := range map[string]string{"plain": "", "split": split} {
		base := write(name+"-base", map[string]string{"users.csv": head + firstUsers, "knows.csv": edges + firstKnows, "graph.yaml": yaml + transforms})
		grown := imported(base, name+"-grown.store", option.Import{})
		whole := imported(write(name+"-all", map[string]string{"users.csv": head + firstUsers + moreUsers, "knows.csv": edges + firstKnows + moreKnows, "graph.yaml": yaml}),
			name+"-whole.store", option.Import{Like: grown})
		more := map[string]string{"users.csv": head + moreUsers, "knows.csv": edges + moreKnows, "graph.yaml": yaml + transforms}
		if transforms != "" { // the tables say the parts of new rows
			more["users.csv"] = "id,age,city,bio,vec,split\n" + strings.ReplaceAll(moreUsers, "\n", ",test\n")
		}
		if _, err := graphmill.Append(t.Context(), grown, write(name+"-more", more), option.Append{Run: run}); err != nil {
			t.Fatal(err)
		}
		compare := func(what string) {
			t.Helper()
			got, err := store.OpenMerged(vfs.OS, grown, -1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := store.Open(vfs.OS, whole)
			if err != nil {
				t.Fatal(err)
			}
			g := *got.Graph.Nodes[0]
			for i, c := range g.Columns {
				if c.Name == "split" {
					if text := c.Categories.Text(int(c.Values[4*60])); string(text) != "test" {
						t.Errorf("%s: found the part %s of a new row, expected test", what, text)
					}
					got.Graph.Nodes[0].Columns = append(append(g.Columns[:0:0], g.Columns[:i]...), g.Columns[i+1:]...)
				}
			}
			sameGraph(t, got.Graph, want.Graph)
			if len(g.Columns) < 7 {
				t.Errorf("%s: found %d columns, expected those of features", what, len(g.Columns))
			}
			if err := errors.Join(got.Close(), want.Close()); err != nil {
				t.Fatal(err)
			}
		}
		compare(name + ", grown")
		if transforms == "" { // changed rows get the features of their new values
			changed := func(rows string, key int) (all, some string) {
				for i, row := range strings.SplitAfter(rows, "\n") {
					if cells := strings.Split(row, ","); row != "" && i%9 == 0 {
						if key == 1 {
							row = strings.Replace(users(0, 1, ""), "u0", cells[0], 1)
						} else {
							row = cells[0] + "," + cells[1] + ",77\n"
						}
						if !strings.Contains(some, "\n"+strings.Join(cells[:key], ",")+",") {
							some += row
						}
					}
					all += row
				}
				return all, some
			}
			users, someUsers := changed(firstUsers+moreUsers, 1)
			knows, someKnows := changed(firstKnows+moreKnows, 2)
			for _, row := range strings.Split(strings.TrimSpace(someKnows), "\n") { // all edges with these ends
				cells := strings.Split(row, ",")
				lines := strings.SplitAfter(knows, "\n")
				for i, line := range lines {
					if strings.HasPrefix(line, cells[0]+","+cells[1]+",") {
						lines[i] = row + "\n"
					}
				}
				knows = strings.Join(lines, "")
			}
			change := option.Append{Run: run, Change: write(name+"-change", map[string]string{"users.csv": head + someUsers, "knows.csv": edges + someKnows, "graph.yaml": yaml})}
			if _, err := graphmill.Append(t.Context(), grown, "", change); err != nil {
				t.Fatal(err)
			}
			whole = imported(write(name+"-changed", map[string]string{"users.csv": head + users, "knows.csv": edges + knows, "graph.yaml": yaml}), name+"-changed.store", option.Import{Like: grown})
			compare(name + ", changed")
			change.Change = write(name+"-some", map[string]string{"users.csv": "id,age\nu1,3\n", "knows.csv": edges, "graph.yaml": strings.Replace(yaml, "columns: {age: float64, city: category, bio: string, vec: \"float32[2]\"}", "columns: {age: float64}", 1)})
			if _, err := graphmill.Append(t.Context(), grown, "", change); err == nil || !strings.Contains(err.Error(), `expected it`) {
				t.Errorf("found %v for a change of one column that features are made of, expected that the others are named", err)
			}
		}
		fitted, err := os.ReadFile(filepath.Join(grown, store.FeaturesFile))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := graphmill.Compact(t.Context(), grown, run); err != nil {
			t.Fatal(err)
		}
		compare(name + ", compacted")
		if kept, err := os.ReadFile(filepath.Join(grown, store.FeaturesFile)); err != nil || string(kept) != string(fitted) {
			t.Errorf("%s: found %q, %v after a compaction, expected what the features were fitted to", name, kept, err)
		}
		if report, err := graphmill.Verify(t.Context(), grown, option.Verify{}); err != nil {
			t.Errorf("%v: %v", err, report)
		}
	}
	// Edges alone, whose graph.yaml has no table of nodes, and tables without rows.
	sparse := imported(filepath.Join(dir, "plain-base"), "sparse.store", option.Import{})
	for name, files := range map[string]map[string]string{
		"edges": {"knows.csv": edges + "u1,u2,7\n", "graph.yaml": "nodes: {user: {}}\nedges:\n  user:knows:user: {table: knows.csv, columns: {price: float64}}\n"},
		"nodes": {"users.csv": head + "v1,,,,[1 2]\n", "knows.csv": edges, "graph.yaml": yaml},
		"heads": {"users.csv": head, "knows.csv": edges + "u2,u1,\n", "graph.yaml": yaml},
	} {
		if _, err := graphmill.Append(t.Context(), sparse, write("sparse-"+name, files), option.Append{Run: run}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := graphmill.Compact(t.Context(), sparse, run); err != nil {
		t.Fatal(err)
	}
	if _, err := graphmill.Append(t.Context(), sparse, write("sparse-again", map[string]string{"users.csv": head + "w1,30,Rome,,[1 2]\n", "knows.csv": edges + "w1,v1,\n", "graph.yaml": yaml}), option.Append{Run: run}); err != nil {
		t.Errorf("after a compaction: %v", err)
	}
	grown, err := store.OpenMerged(vfs.OS, sparse, -1)
	if err != nil {
		t.Fatal(err)
	}
	if n, e := grown.Graph.Nodes[0], grown.Graph.Edges[0]; n.Count != 62 || e.Count != 203 || graph.FindColumn(n.Columns, "code").Rows != 62 || graph.FindColumn(e.Columns, "e").Rows != 203 {
		t.Errorf("found %d nodes and %d edges, expected 62 and 203, with rows of features for each", n.Count, e.Count)
	}
	if err := grown.Close(); err != nil {
		t.Fatal(err)
	}
	// A feature of the whole graph changes with each edge.
	degrees := write("degrees", map[string]string{"users.csv": head + firstUsers, "knows.csv": edges + firstKnows,
		"graph.yaml": strings.Replace(yaml, "      small:", "      d: {structure: log-degree}\n      small:", 1)})
	if _, err := graphmill.Append(t.Context(), imported(degrees, "degrees.store", option.Import{}), filepath.Join(dir, "plain-more"), option.Append{Run: run}); err == nil || !strings.Contains(err.Error(), "the feature user/d, which is made of all edges") {
		t.Errorf("found %v for a feature of all edges, expected that it is named", err)
	}
}

// Categories that a store does not have get codes after its own, so that no code changes; a part of a split that it does not have is an error.
func TestAppendCategories(t *testing.T) {
	const yaml = "nodes:\n  p: {table: p.csv, id: {column: id, dtype: string}, columns: {kind: category, part: category}}\nedges:\n  p:r:p: {table: e.csv, columns: {how: category}}\n"
	dir := t.TempDir()
	put := func(name, nodes, edges string) string {
		folder := filepath.Join(dir, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"graph.yaml": yaml, "p.csv": "id,kind,part\n" + nodes, "e.csv": "src,dst,how\n" + edges} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return folder
	}
	out := filepath.Join(dir, "g.store")
	run := option.Run{NoReport: true}
	s, err := graphmill.Import(t.Context(), put("0", "n0,x,train\nn1,m,valid\nn2,,test\n", "n0,n1,slow\nn1,n1,fast\n"), out, option.Import{Build: option.Build{Run: run}})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var warned []string
	run.Warn = func(text string) { warned = append(warned, text) }
	for _, from := range []string{
		put("1", "n3,z,train\nn4,a,test\nn5,m,train\n", "n3,n0,ferry\nn0,n0,fast\n"),
		put("2", "n6,x,train\n", "n2,n6,slow\n"),
		put("3", "n7,b,train\nn8,z,train\nn9,,train\n", "n7,n7,air\nn0,n0,\nn8,n0,ferry\n"),
	} {
		if _, err := graphmill.Append(t.Context(), out, from, option.Append{Run: run}); err != nil {
			t.Fatal(err)
		}
	}
	if len(warned) != 4 || !strings.Contains(warned[0], `column "kind" has 2 categories that the store does not have`) || !strings.Contains(warned[0], "a, z") {
		t.Errorf("found the warnings %q, expected four, the first of two categories", warned)
	}
	if _, err := graphmill.Append(t.Context(), out, put("4", "q,x,tset\n", ""), option.Append{Run: run}); err == nil || !strings.Contains(err.Error(), `"tset"`) {
		t.Errorf("found %v, expected an error with the part tset", err)
	}
	check := func(what string) {
		t.Helper()
		s, err := store.OpenMerged(vfs.OS, out, -1)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		texts := func(c *graph.Column) (all []string, codes []int32) {
			codes = graph.View[int32](c.Values)
			for _, code := range codes {
				text := ""
				if code >= 0 {
					text = string(c.Categories.Text(int(code)))
				}
				all = append(all, text)
			}
			return all, codes
		}
		kinds, codes := texts(graph.FindColumn(s.Graph.Nodes[0].Columns, "kind"))
		if want := []string{"x", "m", "", "z", "a", "m", "x", "b", "z", ""}; !slices.Equal(kinds, want) || !slices.Equal(codes, []int32{1, 0, -1, 3, 2, 0, 1, 4, 3, -1}) {
			t.Errorf("%s: found the kinds %q with the codes %d, expected %q with those of the store first", what, kinds, codes, want)
		}
		how, _ := texts(graph.FindColumn(s.Graph.Edges[0].Columns, "how"))
		if want := []string{"ferry", "fast", "", "ferry", "slow", "fast", "slow", "air"}; !slices.Equal(how, want) {
			t.Errorf("%s: found the edges %q, expected %q", what, how, want)
		}
	}
	check("grown")
	if _, err := graphmill.Compact(t.Context(), out, option.Run{NoReport: true}); err != nil {
		t.Fatal(err)
	}
	check("compacted")
	if _, err := graphmill.Verify(t.Context(), out, option.Verify{}); err != nil {
		t.Error(err)
	}
}
