//go:build interop

package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/vfs"
)

// shared is the folder of files that DGL wrote, which must exist.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GRAPHMILL_SHARED")
	if dir == "" {
		t.Fatal("found no GRAPHMILL_SHARED, expected the folder of shared data")
	}
	return filepath.Join(dir, "data", "golden", "dgl")
}

// The output of DGL's partition_graph and dispatch is whole.
func TestGoldens(t *testing.T) {
	for name, want := range map[string]Report{
		"homo_cora":     {Config: "cora.json", Parts: 4, HaloHops: 1, Leaving: true, Nodes: 2708, Edges: 5429},
		"homo_tiny_csr": {Config: "tiny.json", Parts: 2, HaloHops: 1, Leaving: true, Nodes: 40, Edges: 83},
		"hetero_hop1":   {Config: "deb.json", Parts: 3, HaloHops: 1, Leaving: true, Nodes: 4026, Edges: 7219},
		"hetero_hop2":   {Config: "deb.json", Parts: 3, HaloHops: 2, Leaving: true, Nodes: 4026, Edges: 7219},
		"chunked_out":   {Config: "metadata.json", Parts: 3, HaloHops: 1, Nodes: 772, Edges: 977},
	} {
		path, err := parts.Find(vfs.OS, filepath.Join(shared(t), name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), vfs.OS, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Fault != nil {
			t.Errorf("%s: %v", name, r.Fault)
		}
		if !r.NodeIDs || !r.EdgeIDs {
			t.Errorf("%s: found no original ids", name)
		}
		if r.Config != want.Config || r.Parts != want.Parts || r.HaloHops != want.HaloHops || r.Leaving != want.Leaving || r.Nodes != want.Nodes || r.Edges != want.Edges {
			t.Errorf("%s: found %+v, expected %+v", name, *r, want)
		}
	}
}
