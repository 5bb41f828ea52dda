//go:build interop

package catalog_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/lakefiles"
	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/lake/catalog/catalogtest"
	"github.com/graphmill/graphmill/internal/lake/iceberg"
	"github.com/graphmill/graphmill/internal/objects/objectstest"
)

// edgesOf are the edges of the table of an address, sorted, one a line.
func edgesOf(t *testing.T, address, version string, outside bool) string {
	t.Helper()
	fsys := newFS(t)
	_, ref, err := lake.CutRef("x" + version)
	if err != nil {
		t.Fatal(err)
	}
	s, err := iceberg.Open(fsys, filepath.Clean(address), ref, "", outside)
	if err != nil {
		t.Fatal(err)
	}
	var x table.Table
	if x, err = lakefiles.Open(fsys, s, address); err != nil {
		t.Fatal(err)
	}
	values, err := tabletest.Values(x, 2)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for i := range values["src"] {
		lines = append(lines, fmt.Sprint(values["src"][i], " ", values["dst"][i]))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestPeerCatalogServer reads tables of the catalog server of Iceberg's own tests, which pyiceberg wrote.
func TestPeerCatalogServer(t *testing.T) {
	python := strings.TrimSpace(string(tabletest.PeerNamed(t, "catalog", "-c", "import sys; print(sys.executable)")))
	out := t.TempDir()
	cmd := exec.Command(python, "testdata/serve_catalog.py", out)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	uri, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	objects := objectstest.New(t, "lakes", "files")
	objects.PutFolder(t, filepath.Join(out, "objects", "lakes"), "lakes")
	objects.PutFolder(t, filepath.Join(out, "objects", "files"), "files")
	address := "iceberg+" + strings.TrimSpace(uri) + "#social.year%202026."
	if found := edgesOf(t, address+"fol%2Elows", "", false); found != "1 2\n2 0" {
		t.Errorf("found the edges %q, expected 1 2 and 2 0", found)
	}
	if found := edgesOf(t, address+"spread", "", true); found != "5 6\n6 7\n7 5" {
		t.Errorf("found the edges %q, expected 5 6, 6 7 and 7 5", found)
	}
	if _, err := openAddress(t, newFS(t), address+"none", false); err == nil || !strings.Contains(err.Error(), "found no table social.year 2026.none") {
		t.Errorf("found %v, expected an error about the table", err)
	}
}

// TestPeerCatalogClient has pyiceberg read the tables of catalogtest, whose protocol it knows, with a token by OAuth2 and with the keys that the catalog gives.
func TestPeerCatalogClient(t *testing.T) {
	o := newObjects(t)
	c := catalogtest.New(t)
	c.Path, c.Prefix, c.Warehouse, c.Client, c.Secret = "/catalog", "ws/1", "w", "me", "secret-word"
	for _, name := range []string{"first", "second", "third"} {
		c.Put(t, answerOf(t, name), map[string]any{"config": keysOf(o)}, "social", "year 2026", name)
	}
	for k, v := range map[string]string{"TYPE": "rest", "URI": c.URL + c.Path, "WAREHOUSE": c.Warehouse, "CREDENTIAL": "me:secret-word"} {
		t.Setenv("PYICEBERG_CATALOG__X__"+k, v)
	}
	for _, name := range []string{"first", "second", "third"} {
		want := strings.TrimSpace(string(tabletest.PeerNamed(t, "catalog", "testdata/read_catalog.py", "social/year 2026/"+name)))
		if found := edgesOf(t, c.Address("social.year%202026."+name), "", false); found != want {
			t.Errorf("%s: found the edges %q, expected %q as pyiceberg reads", name, found, want)
		}
	}
}
