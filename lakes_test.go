package graphmill_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// lakeTables are golden tables with deletion vectors.
var lakeTables = map[string]string{"delta": "internal/ingest/tablefiles/testdata/delta/vectors", "iceberg": "internal/lake/iceberg/testdata/vectors"}

// importLake imports a table, and returns the folder of the store and its number of edges.
func importLake(t *testing.T, source string, o option.Import) (dir string, edges int) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "g.store")
	s, err := graphmill.Import(t.Context(), source, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Graph().Edges {
		edges += e.Count
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, edges
}

// TestMarksOfLakes refuses the mark of another program for a type whose rows are of a lake or a query: it would stand in place of the mark by which an
// append takes new rows alone. A type of the same graph.yaml whose rows are of a file may have one.
func TestMarksOfLakes(t *testing.T) {
	dir := t.TempDir()
	table, err := filepath.Abs(lakeTables["iceberg"])
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"e.csv": "src,dst\n0,1\n", "q.db": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, edges, mark, bad string }{
		{"lake", fmt.Sprintf("  v:of:v: {table: %q, src: src, dst: src}", table), "v:of:v", `:6:3: found a mark of "v:of:v", whose rows are of a lake or a query`},
		{"query", "  v:of:v: {source: \"sqlite:q.db\", query: \"SELECT 0 AS src, 1 AS dst\"}", "v:of:v", `:6:3: found a mark of "v:of:v", whose rows are of a lake or a query`},
		{"file", fmt.Sprintf("  v:of:v: {table: %q, src: src, dst: src}", table), "v:in:v", ""},
	} {
		source := filepath.Join(dir, "graph.yaml")
		text := "nodes: {v: {count: 100000}}\nedges:\n  v:in:v: {table: e.csv}\n" + c.edges + "\nmarks:\n  " + c.mark + ": offset 4711\n"
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := option.Import{}
		o.AllowOutside = true
		s, err := graphmill.Import(t.Context(), source, filepath.Join(dir, c.name), o)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%s: found %v, expected an error with %q", c.name, err, c.bad)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLakesInBuckets imports tables of lakes from a bucket, and finds the stores of the same tables on the disk.
func TestLakesInBuckets(t *testing.T) {
	server := objectstest.New(t, "lakes")
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	for name, dir := range lakeTables {
		server.PutFolder(t, dir, "lakes/"+name)
		o := option.Import{}
		o.Columns = "src,dst"
		here, edges := importLake(t, dir, o)
		there, _ := importLake(t, "s3://lakes/"+name, o)
		if edges == 0 {
			t.Errorf("%s: found no edges, expected some", name)
		}
		if a, b := sumsOfFiles(t, here), sumsOfFiles(t, there); a != b {
			t.Errorf("%s: found the store %s from a bucket, expected %s as from the disk", name, b, a)
		}
	}
}

// TestLakesOnWebServers imports tables of lakes from a web server without lists, and finds the stores of the same tables on the disk. A table
// of Iceberg without a hint is found by its file of metadata.
func TestLakesOnWebServers(t *testing.T) {
	files := http.FileServer(http.Dir("."))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, err := os.Stat("." + r.URL.Path); err != nil || info.IsDir() {
			http.NotFound(w, r)
			return
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	o := option.Import{}
	o.Columns = "src,dst"
	hint := filepath.Join(lakeTables["iceberg"], "metadata", "version-hint.text")
	version, err := os.ReadFile(hint)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, at string }{
		{"delta", lakeTables["delta"]}, {"iceberg", lakeTables["iceberg"]}, {"iceberg", lakeTables["iceberg"] + "/metadata/v" + strings.TrimSpace(string(version)) + ".gz.metadata.json"},
	} {
		here, _ := importLake(t, lakeTables[c.name], o)
		there, _ := importLake(t, server.URL+"/"+c.at, o)
		if a, b := sumsOfFiles(t, here), sumsOfFiles(t, there); a != b {
			t.Errorf("%s: found the store %s from a web server, expected %s as from the disk", c.at, b, a)
		}
	}
	_, err = graphmill.Import(t.Context(), server.URL+"/internal/lake/iceberg/testdata/pyiceberg2", filepath.Join(t.TempDir(), "g"), o)
	if err == nil || !strings.Contains(err.Error(), "give the file of metadata of a table of Iceberg") {
		t.Errorf("found %v, expected an error that says to name the file of metadata", err)
	}
}

// sumsOfFiles are the files of a store with their checksums, but those that say where it was made from.
func sumsOfFiles(t *testing.T, dir string) string {
	t.Helper()
	m, err := store.ReadManifest(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if !strings.HasPrefix(name, "graph.json") && !strings.HasPrefix(name, "report.") {
			sums = append(sums, name+" "+m.Files[name].XXH3)
		}
	}
	return strings.Join(sums, "\n")
}

// TestLakeGrows appends the versions of a table of Delta Lake as they come: each row once, nothing where nothing is new, and an error
// where rows were deleted.
func TestLakeGrows(t *testing.T) {
	from := "internal/ingest/tablefiles/testdata/delta/ids"
	lake := filepath.Join(t.TempDir(), "follows")
	if err := os.CopyFS(lake, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(lake, "_delta_log")
	left, err := filepath.Glob(filepath.Join(log, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(version int) {
		name := fmt.Sprintf("%020d.json", version)
		b, err := os.ReadFile(filepath.Join(from, "_delta_log", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(log, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commit(0)
	commit(1)
	o := option.Import{}
	o.NumNodes = 100
	o.Both = true
	dir, edges := importLake(t, lake, o)
	if edges != 4 {
		t.Fatalf("found %d edges of version 1, expected 4", edges)
	}
	grow := func() (int, error) {
		if _, err := graphmill.Append(t.Context(), dir, lake, option.Append{}); err != nil {
			return 0, err
		}
		s, err := graphmill.Open(dir)
		if err != nil {
			return 0, err
		}
		return s.Graph().Edges[0].Count, s.Close()
	}
	for _, c := range []struct {
		commits []int
		edges   int
		bad     string
	}{
		{nil, 4, ""},
		{[]int{2, 3}, 12, ""},
		{nil, 12, ""},
		{[]int{-3}, 12, "00000000000000000003.json: found another commit than the one up to which rows were taken"},
		{[]int{3}, 12, ""},
		{[]int{4}, 0, "00000000000000000004.json: found a commit that deleted or changed rows"},
	} {
		for _, v := range c.commits {
			if v < 0 { // a restored copy has another commit of that number
				name := filepath.Join(log, fmt.Sprintf("%020d.json", -v))
				b, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, append(b, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
				continue
			}
			commit(v)
		}
		edges, err := grow()
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("found %v, expected an error with %q", err, c.bad)
			}
			continue
		}
		if err != nil || edges != c.edges {
			t.Errorf("after %v: found %d edges and %v, expected %d", c.commits, edges, err, c.edges)
		}
	}
}
