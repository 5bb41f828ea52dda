package outofcore_test

import (
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spill writes a graph to a temporary file.
func spill(t rapid.TB, fsys vfs.FS, temp string, g *undirected.Graph) *undirected.Spilled {
	t.Helper()
	w, err := undirected.NewSpillWriter(fsys, temp, g.EdgeWeights != nil)
	if err != nil {
		t.Fatal(err)
	}
	for v := range uint32(g.Len()) {
		var weights []uint32
		if g.EdgeWeights != nil {
			weights = g.EdgeWeights[g.Offsets[v]:g.Offsets[v+1]]
		}
		if err := w.Row(g.Of(v), weights); err != nil {
			t.Fatal(err)
		}
	}
	s, err := w.Done()
	if err != nil {
		t.Fatal(err)
	}
	s.Constraints, s.Weights = g.Constraints, g.Weights
	return s
}
