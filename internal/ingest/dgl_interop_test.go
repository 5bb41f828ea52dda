//go:build interop

package ingest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/vfs"
)

// A graph that the real DGL partitioned is made whole again: the arrays are those of the original graph, and
// trainer_id if DGL added it.
func TestGoldenParts(t *testing.T) {
	for parts, input := range map[string]string{
		"homo_cora": "homo_cora", "homo_tiny_csr": "homo_tiny_csr", "hetero_hop1": "hetero_hop1", "hetero_hop2": "hetero_hop1", "chunked_out": "chunked_in",
	} {
		want, _, err := stored(t, vfs.OS, shared(t, "golden", "dgl", input, "graph.bin"))
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := stored(t, vfs.OS, shared(t, "golden", "dgl", parts))
		if err != nil {
			t.Error(err)
			continue
		}
		for name := range got {
			if filepath.Base(name) == "trainer_id.npy" && parts == "hetero_hop2" {
				delete(got, name)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", parts, d)
		}
	}
}

// Graphs of different types in one file are not a collection, and the error says so.
func TestGoldenMany(t *testing.T) {
	_, err := Open(t.Context(), vfs.OS, shared(t, "dgl", "hetero1.bin"), Options{})
	if err == nil || !strings.Contains(err.Error(), "in graph 1, expected 1 and 2 as in graph 0") {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), vfs.OS, shared(t, "dgl", "graph_0.9a220622.dgl"), Options{}); err != nil {
		t.Fatal(err)
	}
}
