package ingest

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The parts that the real DGL wrote are made whole again: the arrays equal the arrays of the graph that it
// partitioned, and trainer_id where it added that.
func TestGoldenParts(t *testing.T) {
	for _, p := range golden.Partitions(t) {
		want, _, err := stored(t, vfs.OS, p.Input)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := stored(t, vfs.OS, golden.Dir(t, "dgl", p.Name))
		if err != nil {
			t.Error(err)
			continue
		}
		for name := range got {
			if filepath.Base(name) == "trainer_id.npy" && p.Trainers {
				delete(got, name)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", p.Name, d)
		}
	}
}
