//go:build interopdata

package dgl

import (
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Older files of save_graphs are read: one graph, and six with labels.
func TestDataOlderFiles(t *testing.T) {
	for name, want := range map[string]int{"graph_0.9a220622.dgl": 1, "hetero1.bin": 6} {
		f, err := OpenGraphs(vfs.OS, golden.Data(t, "dgl", name))
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		if f.Len() != want {
			t.Errorf("%s: found %d graphs, expected %d", name, f.Len(), want)
		}
		for i := range f.Len() {
			if _, err := f.Graph(i); err != nil {
				t.Errorf("%s, graph %d: %v", name, i, err)
			}
		}
	}
}
