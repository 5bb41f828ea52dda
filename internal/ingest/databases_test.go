package ingest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// stranger is a file or folder of testdata/strangers.
func stranger(name string) string { return filepath.Join("testdata", "strangers", name) }

// counted returns the counts of an import: a line for each type.
func counted(t *testing.T, path string, o Options, dangling assemble.Policy) (string, error) {
	t.Helper()
	src, err := Open(t.Context(), vfs.OS, path, o)
	if err != nil {
		return "", err
	}
	w, err := store.Create(vfs.Unsynced{FS: vfs.OS}, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	r, err := assemble.Build(t.Context(), vfs.OS, w, src.Input, assemble.Options{Primary: src.Primary, Threads: 2, DanglingEdges: dangling})
	if failed := w.Abort(); failed != nil {
		t.Fatal(failed)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s", src.Format)
	for _, n := range r.Nodes {
		fmt.Fprintf(&b, "\n%s %d", n.Type, n.Count)
	}
	for _, e := range r.Edges {
		fmt.Fprintf(&b, "\n%s %d", e.Type, e.Count)
	}
	return b.String(), src.Close()
}

// TestStrangersOfDatabases imports what databases and their users have written. MANIFEST.md beside the files says who.
func TestStrangersOfDatabases(t *testing.T) {
	for _, x := range []struct {
		name, want string
		missing    []Missing
		drop       bool
	}{
		{name: "neptune", drop: true, want: "neptune\nnode 499\nroot 1\nnode:left:node 246\nnode:right:node 250\nroot:left:node 1\nroot:right:node 1"},
		{name: "apoc/all_withoutNodeProps_withRelProps.json", want: "apoc-json\nUser 3\nUser:KNOWS:User 1"},
		{name: "apoc/all_withNodeProps_withoutRelProps.json", missing: []Missing{{"bool", "column"}}, want: "apoc-json\nUser 3\nUser:KNOWS:User 1"},
	} {
		t.Run(x.name, func(t *testing.T) {
			policy := assemble.Error
			if x.drop {
				policy = assemble.Drop
			}
			got, err := counted(t, stranger(x.name), Options{Missing: x.missing}, policy)
			if err != nil {
				t.Fatal(err)
			}
			if got != x.want {
				t.Errorf("found\n%s\nexpected\n%s", got, x.want)
			}
		})
	}
}

// TestStrangersManifest checks that each file of databases is the one that MANIFEST.md names.
func TestStrangersManifest(t *testing.T) {
	text, err := os.ReadFile(stranger("MANIFEST.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cell := strings.Split(line, "|")
		if len(cell) < 4 || len(strings.TrimSpace(cell[2])) != 16 {
			continue
		}
		b, err := os.ReadFile(stranger(strings.Trim(cell[1], " `")))
		if err != nil {
			t.Error(err)
			continue
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(b))[:16]; sum != strings.TrimSpace(cell[2]) {
			t.Errorf("%s: found the checksum %s, expected that of the list, %s", cell[1], sum, cell[2])
		}
	}
}
