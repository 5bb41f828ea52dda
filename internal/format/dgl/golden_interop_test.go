//go:build interop

package dgl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// shared returns a folder of files that the real DGL wrote, which must exist.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	dir := os.Getenv("GRAPHMILL_SHARED")
	if dir == "" {
		t.Fatal("found no GRAPHMILL_SHARED, expected the folder of shared data")
	}
	return filepath.Join(append([]string{dir, "data"}, elem...)...)
}

// All files of real partitions are made again with the same bytes.
func TestGoldenPartitions(t *testing.T) { testGoldens(t, shared(t, "golden", "dgl")) }

// Configurations that DGL wrote keep their meaning when they are written again.
func TestGoldenConfigs(t *testing.T) {
	for _, name := range []string{"homo_cora/cora.json", "hetero_hop1/deb.json", "hetero_hop2/deb.json", "homo_tiny_csr/tiny.json", "chunked_out/metadata.json"} {
		path := shared(t, "golden", "dgl", name)
		c, err := ReadConfig(vfs.OS, path, false)
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(c.JSON(), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: found %v, expected %v", name, got, want)
		}
	}
	// The keys that GraphBolt's conversion adds are ignored.
	for _, name := range []string{"homo_cora_graphbolt/cora.json", "hetero_hop1_graphbolt/deb.json"} {
		if _, err := ReadConfig(vfs.OS, shared(t, "golden", "dgl", name), false); err != nil {
			t.Error(err)
		}
	}
}

// Older files of save_graphs are read: one graph, and six with labels.
func TestOlderFiles(t *testing.T) {
	for name, want := range map[string]int{"graph_0.9a220622.dgl": 1, "hetero1.bin": 6} {
		f, err := OpenGraphs(vfs.OS, shared(t, "dgl", name))
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
