//go:build interop

package iceberg

import (
	"fmt"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table/tabletest"
	"github.com/graphmill/graphmill/internal/proof"
)

// TestPeerIceberg reads tables of random histories that pyiceberg wrote, at random snapshots, and finds the rows that pyiceberg reads.
func TestPeerIceberg(t *testing.T) {
	dir, tables := t.TempDir(), 20
	if proof.Long(t) {
		tables = 300
	}
	tabletest.PeerNamed(t, "lakes", "testdata/histories.py", dir, fmt.Sprint(proof.Seed(t)%1000), fmt.Sprint(tables))
	if n := checkTables(t, dir); n != tables {
		t.Errorf("found %d tables, expected %d", n, tables)
	}
}
