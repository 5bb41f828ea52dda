//go:build interop

package tablefiles

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/vfs"
)

// TestPeerDelta reads tables of random histories that delta-rs wrote, at random versions, and finds the rows that delta-rs reads.
func TestPeerDelta(t *testing.T) {
	dir, tables := t.TempDir(), proof.Count(t, 40, 400)
	tabletest.PeerNamed(t, "lakes", "testdata/delta/histories.py", dir, fmt.Sprint(proof.Seed(t)%1000), fmt.Sprint(tables))
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) < tables {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "@")
		files, _, err := Find(vfs.OS, dir, name+"@version="+version, false)
		if err != nil {
			t.Fatal(err)
		}
		tab, err := Open(vfs.OS, files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wantedRows(t, path, tab), lakeRows(t, tab, 2)); diff != "" {
			t.Errorf("%s: the rows differ from those of delta-rs (-want +got):\n%s", path, diff)
		}
	}
}
