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
