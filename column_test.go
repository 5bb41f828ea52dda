package graphmill_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// papers makes a store of three papers and two citations, and of a type and an edge type without rows.
func papers(t *testing.T) string {
	t.Helper()
	source := writeTables(t, map[string]string{
		"papers.csv": "id,title,x\np1,one,1 2\np2,,3 4\np3,three,5 6\n", "cites.csv": "src,dst,w\np1,p2,1\np3,p1,2\n", "venues.csv": "id,rank\n", "at.csv": "src,dst\n",
		"graph.yaml": "nodes:\n  paper:\n    table: papers.csv\n    columns: {title: string, x: \"float32[2]\"}\n  venue:\n    table: venues.csv\n    id: {column: id, dtype: string}\n    columns: {rank: int64}\n" +
			"edges:\n  paper:cites:paper: {table: cites.csv}\n  paper:at:venue: {table: at.csv}\n",
	})
	dir := filepath.Join(t.TempDir(), "g.store")
	importTables(t, source, dir, option.Import{})
	return dir
}

// columnOf is a column of a type as text, a row per line; "-" where there is none.
func columnOf(t *testing.T, dir, typ, name string) string {
	t.Helper()
	v, err := graphmill.Verify(t.Context(), dir, option.Verify{})
	if err != nil || !v.OK {
		t.Fatalf("found %+v, %v, expected a whole store", v, err)
	}
	s, err := graphmill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var columns []*graph.Column
	for _, n := range s.Graph().Nodes {
		if n.Type == typ {
			columns = n.Columns
		}
	}
	for _, e := range s.Graph().Edges {
		if e.Type.String() == typ {
			columns = e.Columns
		}
	}
	i := slices.IndexFunc(columns, func(c *graph.Column) bool { return c.Name == name })
	if i < 0 {
		return "-"
	}
	c := columns[i]
	lines := []string{cmp.Or(string(c.Unit), c.DType.String()) + strings.ReplaceAll(fmt.Sprint(c.Shape), "[]", "")}
	for row := range c.Rows {
		var line string
		switch {
		case c.Categories != nil:
			line = "-"
			if code := graph.View[int32](c.Values)[row]; code >= 0 {
				line = string(c.Categories.Text(int(code)))
			}
		case c.Ragged():
			line = fmt.Sprint(graph.View[int64](c.Values)[c.Offsets[0].At(row):c.Offsets[0].At(row+1)])
		case c.DType == graph.String:
			line = string(c.Text(row))
		case c.DType == graph.Float32:
			line = fmt.Sprint(graph.View[float32](c.Row(row)))
		case c.DType == graph.Bool:
			line = fmt.Sprint(c.Row(row))
		default:
			line = fmt.Sprint(graph.View[int64](c.Row(row)))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

const paper, cites = "paper", "paper:cites:paper"

func TestAddColumn(t *testing.T) {
	for _, c := range []struct {
		name, typ, table string
		o                option.Column
		want             string // of the column c, or
		fails            string // part of the error
	}{
		{"by ids", paper, "id,c\np3,3\np1,1\np2,2\n", option.Column{}, "int64\n[1]\n[2]\n[3]", ""},
		{"the only column", paper, "id,year\np3,3\np1,1\np2,2\n", option.Column{}, "int64\n[1]\n[2]\n[3]", ""},
		{"a named column", paper, "key,b,c\np3,7,3\np1,8,1\np2,9,2\n", option.Column{ID: "key", Column: "b"}, "int64\n[8]\n[9]\n[7]", ""},
		{"in order", paper, "c\n3\n1\n2\n", option.Column{Ordered: true}, "int64\n[3]\n[1]\n[2]", ""},
		{"edges in order", cites, "c\n7\n8\n", option.Column{}, "int64\n[7]\n[8]", ""},
		{"a relation", "cites", "c\n7\n8\n", option.Column{}, "int64\n[7]\n[8]", ""},
		{"texts", paper, "id,c\np3,ü\np1,\np2,two\n", option.Column{}, "string\n\ntwo\nü", ""},
		{"texts of some", paper, "id,c\np3,three\n", option.Column{Missing: []string{"none"}}, "string\n\n\nthree", ""},
		{"texts of some with a value", paper, "id,c\np3,three\n", option.Column{Missing: []string{"c=none"}}, "string\nnone\nnone\nthree", ""},
		{"lists", paper, "id,c\np3,7 8 9\np1,\np2,5\n", option.Column{DType: "int64[]"}, "int64[-1]\n[]\n[5]\n[7 8 9]", ""},
		{"lists of some", paper, "id,c\np3,7 8 9\n", option.Column{DType: "int64[]", Missing: []string{"0"}}, "int64[-1]\n[]\n[]\n[7 8 9]", ""},
		{"vectors of some", paper, "id,c\np2,7 8\n", option.Column{DType: "float32[2]", Missing: []string{"-1"}}, "float32[2]\n[-1 -1]\n[7 8]\n[-1 -1]", ""},
		{"categories", paper, "id,c\np3,b\np1,a\np2,b\n", option.Column{DType: "category"}, "int32\na\nb\nb", ""},
		{"categories of some", paper, "id,c\np3,b\n", option.Column{DType: "category", Missing: []string{"column"}}, "int32\n-\n-\nb", ""},
		{"times", paper, "id,c\np3,1970-01-02\np1,1970-01-01\np2,\n", option.Column{DType: "datetime[s]"}, "s\n[0]\n[-9223372036854775808]\n[86400]", ""},
		{"floats with nan", paper, "id,c\np3,nan\np1,1.5\np2,2\n", option.Column{}, "float32\n[1.5]\n[2]\n[NaN]", ""},
		{"unknown ids are dropped", paper, "id,c\nz,9\np3,3\np1,1\nq,9\np2,2\n", option.Column{UnknownIDs: option.PolicyDrop}, "int64\n[1]\n[2]\n[3]", ""},
		{"the first of duplicates", paper, "id,c\np3,3\np1,1\np3,9\np2,2\n", option.Column{DuplicateNodes: option.PolicyDrop}, "int64\n[1]\n[2]\n[3]", ""},
		{"no rows", "venue", "id,c\n", option.Column{DType: "float32[2]"}, "float32[2]", ""},
		{"no edges", "paper:at:venue", "c\n", option.Column{DType: "string"}, "string", ""},
		{"all missing", paper, "id,c\n", option.Column{DType: "float32", Missing: []string{"nan"}}, "float32\n[NaN]\n[NaN]\n[NaN]", ""},

		{"missing rows", paper, "id,c\np3,3\n", option.Column{}, "", `v.csv: found no row for 2 of the 3 nodes of type paper, the first of which has the id "p1"`},
		{"an unknown id", paper, "id,c\np1,1\nz,9\ny,9\np3,3\np2,2\n", option.Column{}, "", `v.csv:3:1: found the id "z", which none of the nodes of type paper has, and 1 more, expected`},
		{"a duplicate", paper, "id,c\np1,1\np3,3\np2,2\np1,9\n", option.Column{}, "", `v.csv:5:1: found the id "p1", which an earlier row has, expected`},
		{"an empty cell", paper, "id,c\np1,1\np2,\np3,3\n", option.Column{}, "", "v.csv:3"},
		{"too few rows", paper, "c\n3\n1\n", option.Column{Ordered: true}, "", "found 2 rows, expected 3, one for each of the nodes of type paper"},
		{"too many rows", cites, "c\n3\n1\n5\n", option.Column{}, "", "found more than 2 rows, expected 2"},
		{"no ids", paper, "c,d\n3,1\n", option.Column{}, "", "or give `Ordered`"},
		{"no such column", paper, "id,b,d\np1,1,2\n", option.Column{}, "", `found the columns id, b, d, expected "c" among them`},
		{"a wrong name", paper, "id,year\np1,1\n", option.Column{Column: "yeer"}, "", `did you mean "year"?`},
		{"a wrong dtype", paper, "id,c\np1,1\n", option.Column{DType: "float3"}, "", "`DType`"},
		{"a wrong rule", paper, "id,c\np1,1\n", option.Column{Missing: []string{"yeer=1"}}, "", "`Missing`"},
		{"a value that is none", paper, "id,c\np1,1\n", option.Column{Missing: []string{"none"}}, "", `"none"`},
		{"a wrong policy", paper, "id,c\np1,1\n", option.Column{UnknownIDs: option.PolicyKeep}, "", "found `UnknownIDs` \"keep\""},
		{"ids of edges", cites, "id,c\n1,1\n", option.Column{ID: "id"}, "", "edges have no ids"},
		{"an unknown type", "papr", "id,c\n", option.Column{}, "", `did you mean "paper"?`},
		{"an unknown source", paper, "id,c\n", option.Column{Source: []string{"titel"}}, "", `did you mean "title"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := papers(t)
			file := filepath.Join(t.TempDir(), "v.csv")
			if err := os.WriteFile(file, []byte(c.table), 0o600); err != nil {
				t.Fatal(err)
			}
			before := sumOf(t, dir)
			_, err := graphmill.AddColumn(t.Context(), dir, c.typ, "c", file, c.o)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("found %v, expected %q", err, c.fails)
				}
				if sumOf(t, dir) != before {
					t.Error("found another store after the error")
				}
			} else if err != nil {
				t.Fatal(err)
			}
			typ := c.typ
			if typ == "cites" {
				typ = cites
			}
			if got := columnOf(t, dir, typ, "c"); got != cmp.Or(c.want, "-") {
				t.Errorf("found %q, expected %q", got, c.want)
			}
			if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
				t.Errorf("found %v, %v beside the store", entries, err)
			}
		})
	}
}

func sumOf(t *testing.T, dir string) string {
	t.Helper()
	sum, err := store.Sum(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A column that is added, replaced and dropped leaves the store as it was, and what is in between says what the column is made from.
func TestReplaceAndDropColumn(t *testing.T) {
	dir := papers(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	numbers, texts := filepath.Join(t.TempDir(), "numbers.csv"), filepath.Join(t.TempDir(), "texts.csv")
	for file, text := range map[string]string{numbers: "id,c\np1,1\np2,2\np3,3\n", texts: "id,c\np1,a\np2,b\np3,c\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := sumOf(t, dir)
	var notes []string
	run := option.Run{Note: func(text string) { notes = append(notes, text) }}
	amended := func(want string) {
		t.Helper()
		made, err := store.ReadMade(vfs.OS, dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range made.Amended {
			got = append(got, a.Type+"."+a.Column+" "+a.Change+" "+strings.Join(slices.Sorted(maps.Keys(a.Inputs)), ","))
		}
		if text := strings.Join(got, "; "); text != want || made.Command != "import" {
			t.Errorf("found %q by %s, expected %q by import", text, made.Command, want)
		}
	}
	must := func(_ *graphmill.Report, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(graphmill.AddColumn(t.Context(), dir, paper, "c", numbers, option.Column{Run: run}))
	amended("paper.c add numbers.csv")
	if _, err := graphmill.AddColumn(t.Context(), dir, paper, "c", numbers, option.Column{}); !errors.Is(err, option.ErrUsage) {
		t.Errorf("found %v for a column that is there, expected ErrUsage", err)
	}
	must(graphmill.ReplaceColumn(t.Context(), link, paper, "c", texts, option.Column{Run: run})) // the link stays one
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("found %v, %v in place of the link", info, err)
	}
	amended("paper.c add texts.csv")
	if len(notes) != 1 || notes[0] != "the dtype of paper.c was int64, and is string" {
		t.Errorf("found the notes %q", notes)
	}
	if got := columnOf(t, dir, paper, "c"); got != "string\na\nb\nc" {
		t.Errorf("found %q", got)
	}
	must(graphmill.DropColumn(t.Context(), dir, paper, "c", run))
	amended("")
	if sumOf(t, dir) != before {
		t.Error("found another store than before the column was added")
	}
	must(graphmill.DropColumn(t.Context(), dir, paper, "title", run))
	amended("paper.title drop ")
	must(graphmill.AddColumn(t.Context(), dir, paper, "title", texts, option.Column{Run: run}))
	amended("paper.title replace texts.csv")
	for name, want := range map[string]string{"c": "found no column", "#id": "does not begin with #", "": "not empty", "x\n": "control"} {
		if _, err := graphmill.DropColumn(t.Context(), dir, paper, name, run); !errors.Is(err, option.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: found %v, expected %q", name, err, want)
		}
	}
	if _, err := graphmill.DropColumn(t.Context(), filepath.Join(dir, "none"), paper, "c", run); !errors.Is(err, graphmill.ErrNotStore) {
		t.Errorf("found %v for no store", err)
	}
}

// A collection, and a store whose files cannot be shared, are refused with what to do.
func TestColumnOfCollection(t *testing.T) {
	dir := inputs(t)
	_, err := graphmill.DropColumn(t.Context(), dir+"/g.coll", "_N", "x", option.Run{})
	if !errors.Is(err, option.ErrUsage) || !strings.Contains(err.Error(), "found a collection, expected a store") {
		t.Errorf("found %v", err)
	}
	_, err = graphmill.DropColumn(t.Context(), "s3://bucket/g.store", "_N", "x", option.Run{})
	if !errors.Is(err, option.ErrUsage) || !strings.Contains(err.Error(), "copy it here") {
		t.Errorf("found %v", err)
	}
}

// A column that the disk has no room for, and a call whose context has ended, change nothing.
func TestColumnNotBegun(t *testing.T) {
	dir := papers(t)
	before := sumOf(t, dir)
	file := filepath.Join(t.TempDir(), "v.csv")
	if err := os.WriteFile(file, []byte("id,c\np1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := graphmill.AddColumn(ended, dir, paper, "c", file, option.Column{Missing: []string{"0"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that the context has ended", err)
	}
	if _, err := graphmill.DropColumn(ended, dir, paper, "title", option.Run{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected that the context has ended", err)
	}
	disk := vfs.OS
	vfs.OS = full{disk}
	_, err := graphmill.AddColumn(t.Context(), dir, paper, "c", file, option.Column{DType: "float32[1000,1000]", Missing: []string{"0"}})
	vfs.OS = disk
	if !errors.Is(err, vfs.ErrSpace) {
		t.Errorf("found %v, expected that the disk is too small", err)
	}
	if sumOf(t, dir) != before {
		t.Error("found another store")
	}
}

// full is a disk with one free MiB.
type full struct{ vfs.FS }

func (full) Free(string) (int64, error) { return 1 << 20, nil }

// A column whose rows are found by ids has the values that a map from ids gives, in any order of the rows. The store does not depend on the number of threads.
func TestColumnByIDs(t *testing.T) {
	root := t.TempDir()
	number := 0
	rapid.Check(t, func(rt *rapid.T) {
		number++
		base := filepath.Join(root, strconv.Itoa(number))
		n := rapid.IntRange(0, 30).Draw(rt, "nodes")
		integers := rapid.Bool().Draw(rt, "integer ids")
		id := func(i int) string {
			if integers {
				return strconv.Itoa(i*7 + 3)
			}
			return "n" + strconv.Itoa(i)
		}
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		order := rapid.Permutation(all).Draw(rt, "order of the nodes")
		nodes := "id\n"
		for _, i := range order {
			nodes += id(i) + "\n"
		}
		kind := rapid.SampledFrom([]string{"int64", "string", "int64[]", "int64[2]"}).Draw(rt, "dtype")
		rows := rapid.SliceOfN(rapid.IntRange(0, n+3), 0, 2*n+3).Draw(rt, "rows")
		value := func(row int) string {
			return map[string]string{"int64": strconv.Itoa(row), "string": strings.Repeat("v", row%5), "int64[]": strings.TrimSpace(strings.Repeat(strconv.Itoa(row)+" ", row%4)), "int64[2]": strconv.Itoa(row) + " 1"}[kind]
		}
		table, first, unknown, twice := "id,c\n", map[int]int{}, false, false
		for row, i := range rows {
			table += id(i) + "," + value(row) + "\n"
			if _, there := first[i]; there {
				twice = twice || i < n
				continue
			}
			first[i] = row
			unknown = unknown || i >= n
		}
		o := option.Column{DType: kind, UnknownIDs: rapid.SampledFrom([]option.Policy{option.PolicyError, option.PolicyDrop}).Draw(rt, "unknown"),
			DuplicateNodes: rapid.SampledFrom([]option.Policy{option.PolicyError, option.PolicyDrop}).Draw(rt, "duplicates")}
		lacking := slices.ContainsFunc(order, func(i int) bool { _, has := first[i]; return !has })
		if rapid.Bool().Draw(rt, "missing") {
			o.Missing = []string{"c=77"}
		}
		want := map[string]string{"int64": "int64", "string": "string", "int64[]": "int64[-1]", "int64[2]": "int64[2]"}[kind]
		for _, i := range order {
			row, has := first[i]
			text := map[string]string{"int64": "77", "string": "77", "int64[]": "", "int64[2]": "77 77"}[kind]
			if has {
				text = value(row)
				if kind == "string" && text == "" && o.Missing != nil {
					text = "77"
				}
			}
			if kind != "string" {
				text = "[" + text + "]"
			}
			want += "\n" + text
		}
		fails := unknown && o.UnknownIDs == option.PolicyError || twice && o.DuplicateNodes == option.PolicyError || lacking && o.Missing == nil
		source := writeTables(t, map[string]string{"nodes.csv": nodes, "edges.csv": "src,dst\n", "v.csv": table,
			"graph.yaml": "nodes:\n  n: {table: nodes.csv, id: {column: id, dtype: " + map[bool]string{true: "integer", false: "string"}[integers] + "}}\nedges:\n  n:e:n: {table: edges.csv}\n"})
		var sums []string
		for _, threads := range []int{1, 3} {
			dir := base + "-" + strconv.Itoa(threads)
			importTables(t, source, dir, option.Import{})
			o.Threads = threads
			_, err := graphmill.AddColumn(t.Context(), dir, "n", "c", filepath.Join(source, "v.csv"), o)
			if (err != nil) != fails {
				rt.Fatalf("found %v, expected an error: %v\n%s\n%s", err, fails, nodes, table)
			}
			if err == nil {
				if got := columnOf(t, dir, "n", "c"); got != want {
					rt.Fatalf("found %q, expected %q", got, want)
				}
			}
			sums = append(sums, sumOf(t, dir))
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		if sums[0] != sums[1] {
			rt.Fatal("found other bytes with other threads")
		}
	})
}

// Whichever call fails, the store is whole, with the column or without.
func TestColumnFaults(t *testing.T) {
	dir := papers(t)
	file := filepath.Join(t.TempDir(), "v.csv")
	if err := os.WriteFile(file, []byte("id,c\np3,three\np1,one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	disk := vfs.OS
	t.Cleanup(func() { vfs.OS = disk })
	add := func(fsys vfs.FS) error {
		vfs.OS = fsys
		defer func() { vfs.OS = disk }()
		_, err := graphmill.AddColumn(t.Context(), dir, paper, "c", file, option.Column{Missing: []string{"none"}, Run: option.Run{Threads: 1}})
		return err
	}
	count := &vfs.Fault{FS: vfs.Unsynced{FS: disk}}
	if err := add(count); err != nil {
		t.Fatal(err)
	}
	for i := int64(1); i <= count.Calls(); i += int64(proof.Count(t, 23, 1)) {
		if _, err := graphmill.DropColumn(t.Context(), dir, paper, "c", option.Run{}); err != nil {
			t.Fatal(err)
		}
		err := add(&vfs.Fault{FS: vfs.Unsynced{FS: disk}, FailAt: i, Err: os.ErrPermission})
		switch got := columnOf(t, dir, paper, "c"); {
		case got == "string\none\n\nthree":
		case got != "-" || err == nil:
			t.Fatalf("call %d: found %q, %v, expected the column or an error", i, got, err)
		default:
			if err := add(disk); err != nil {
				t.Fatalf("call %d: the next run: %v", i, err)
			}
		}
	}
}
