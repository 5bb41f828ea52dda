package audit

import (
	"testing"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The parts that DGL's partition_graph and dispatch wrote are whole.
func TestGoldens(t *testing.T) {
	for _, want := range golden.Partitions(t) {
		path, err := parts.Find(vfs.OS, golden.Dir(t, "dgl", want.Name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), vfs.OS, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Fault != nil {
			t.Errorf("%s: %v", want.Name, r.Fault)
		}
		if !r.NodeIDs || !r.EdgeIDs {
			t.Errorf("%s: found no original ids", want.Name)
		}
		if r.Config != want.Config || r.Parts != want.Parts || r.HaloHops != want.Hops || r.Leaving != want.Leaving || r.Nodes != want.Nodes || r.Edges != want.Edges {
			t.Errorf("%s: found %+v, expected %+v", want.Name, *r, want)
		}
	}
}
