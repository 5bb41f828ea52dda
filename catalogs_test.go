package graphmill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/lake/catalog/catalogtest"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
	"github.com/graphmill/graphmill/option"
)

const catalogAnswers = "internal/lake/catalog/testdata"

// newCatalog is a catalog with a table, as another one answered for it, whose objects lie in a bucket that the credentials of the environment do
// not open. answer puts another version of the table.
func newCatalog(t *testing.T) (c *catalogtest.Server, answer func(name string)) {
	t.Helper()
	objects := objectstest.New(t, "lakes", "files")
	objects.PutFolder(t, filepath.Join(catalogAnswers, "objects", "lakes"), "lakes")
	objects.PutFolder(t, filepath.Join(catalogAnswers, "objects", "files"), "files")
	objects.Key, objects.Session = "VENDED", "vended-session"
	t.Setenv("GRAPHMILL_CACHE", t.TempDir())
	c = catalogtest.New(t)
	keys := map[string]string{"s3.access-key-id": "VENDED", "s3.secret-access-key": "vended-word", "s3.session-token": "vended-session", "s3.endpoint": objects.URL, "s3.region": "eu-west-1", "s3.path-style-access": "true"}
	return c, func(name string) {
		b, err := os.ReadFile(filepath.Join(catalogAnswers, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		table := "fol.lows"
		if name == "spread" {
			table = name
		}
		c.Put(t, b, map[string]any{"config": keys}, "social", "year 2026", table)
	}
}

// edgesOf is the number of edges of a store.
func edgesOf(t *testing.T, dir string) int {
	t.Helper()
	s, err := graphmill.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := s.Graph().Edges[0].Count
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCatalogGrows imports a table of a catalog, appends its rows as they come, and refuses the append of a version that deleted some.
func TestCatalogGrows(t *testing.T) {
	c, answer := newCatalog(t)
	answer("first")
	address := c.Address("social.year 2026.fol%2Elows")
	o := option.Import{}
	o.NumNodes = 10
	dir, edges := importLake(t, address, o)
	if edges != 2 {
		t.Errorf("found %d edges, expected 2", edges)
	}
	for _, v := range []struct {
		answer string
		edges  int
		bad    string
	}{{"first", 2, ""}, {"second", 3, ""}, {"second", 3, ""}, {"third", 3, "which deleted or changed rows"}} {
		answer(v.answer)
		_, err := graphmill.Append(t.Context(), dir, address, option.Append{})
		if v.bad != "" && (err == nil || !strings.Contains(err.Error(), v.bad)) || v.bad == "" && err != nil {
			t.Errorf("%s: found %v, expected %q", v.answer, err, v.bad)
		}
		if n := edgesOf(t, dir); n != v.edges {
			t.Errorf("%s: found %d edges, expected %d", v.answer, n, v.edges)
		}
	}
	dir, edges = importLake(t, address+"@version=2576295511059072811", o)
	if edges != 2 {
		t.Errorf("%s: found %d edges of the first snapshot, expected 2", dir, edges)
	}
}

// TestFollowsLakes follows the table of a lake by its name alone, in a catalog and in a folder.
func TestFollowsLakes(t *testing.T) {
	c, answer := newCatalog(t)
	answer("first")
	address := c.Address("social.year 2026.fol%2Elows")
	o := option.Import{}
	o.NumNodes = 10
	dir, _ := importLake(t, address, o)
	for _, v := range []struct {
		answer string
		edges  int
	}{{"first", 2}, {"second", 3}, {"second", 3}} {
		answer(v.answer)
		if _, err := graphmill.Append(t.Context(), dir, "", option.Append{Follow: address}); err != nil {
			t.Fatal(err)
		}
		if n := edgesOf(t, dir); n != v.edges {
			t.Errorf("%s: found %d edges, expected %d", v.answer, n, v.edges)
		}
	}
	table := lakeTables["iceberg"]
	o = option.Import{}
	o.Columns = "src,dst"
	dir, edges := importLake(t, table, o)
	again := option.Append{Follow: table}
	again.Columns = o.Columns
	if _, err := graphmill.Append(t.Context(), dir, "", again); err != nil || edgesOf(t, dir) != edges {
		t.Errorf("found %v and %d edges, expected %d", err, edgesOf(t, dir), edges)
	}
	if _, err := graphmill.Append(t.Context(), dir, "", option.Append{Follow: filepath.Join(table, "data")}); err == nil || !strings.Contains(err.Error(), "give the folder "+table) {
		t.Errorf("found %v, expected an error that names the folder of the table", err)
	}
}

// TestCatalogInGraphYAML imports a graph.yaml whose table is one of a catalog, where the environment or the user allows the catalog, and appends to it.
func TestCatalogInGraphYAML(t *testing.T) {
	c, answer := newCatalog(t)
	answer("first")
	c.Token = "the-token-word"
	dir := t.TempDir()
	text := "nodes:\n  user: {count: 10}\nedges:\n  user:follows:user: {table: \"" + c.Address("social.year 2026.fol%2Elows") + "\", src: src, dst: dst}\n"
	source := filepath.Join(dir, "graph.yaml")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := func(o option.Import, want string) {
		t.Helper()
		_, err := graphmill.Import(t.Context(), source, filepath.Join(t.TempDir(), "g"), o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "word") {
			t.Errorf("found %v, expected an error with %q", err, want)
		}
	}
	bad(option.Import{}, "the table of a catalog that the environment does not name")
	o := option.Import{}
	o.AllowOutside = true
	bad(o, "found a catalog that wants credentials")
	t.Setenv("PYICEBERG_CATALOG__ELSEWHERE__URI", "https://host.example")
	t.Setenv("PYICEBERG_CATALOG__ELSEWHERE__TOKEN", "other-word")
	bad(option.Import{}, "the table of a catalog that the environment does not name")
	t.Setenv("PYICEBERG_CATALOG__HERE__URI", c.URL+"/")
	t.Setenv("PYICEBERG_CATALOG__HERE__TOKEN", c.Token)
	store, edges := importLake(t, source, option.Import{})
	if edges != 2 {
		t.Errorf("found %d edges, expected 2", edges)
	}
	answer("second")
	for range 2 {
		if _, err := graphmill.Append(t.Context(), store, "", option.Append{Follow: source}); err != nil {
			t.Fatal(err)
		}
		if n := edgesOf(t, store); n != 3 {
			t.Errorf("found %d edges, expected 3", n)
		}
	}
}

// TestDraftOfCatalog drafts a graph.yaml of a table of a catalog, which names it by its whole address.
func TestDraftOfCatalog(t *testing.T) {
	c, answer := newCatalog(t)
	answer("second")
	address := c.Address("social.year%202026.fol%2Elows")
	var text strings.Builder
	_, err := graphmill.Draft(t.Context(), address, &text, option.Draft{})
	if err != nil || !strings.Contains(text.String(), address) {
		t.Errorf("found %s and %v, expected a draft with %s", text.String(), err, address)
	}
}
