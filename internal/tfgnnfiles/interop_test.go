//go:build interop

package tfgnnfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// The tables of a unigraph that TF-GNN's sampler reads are found.
func TestRealTables(t *testing.T) {
	shared := os.Getenv("GRAPHMILL_SHARED")
	if shared == "" {
		t.Fatal("GRAPHMILL_SHARED is not set; set it to the folder that holds data/")
	}
	schema, file, _, err := ReadSchema(vfs.OS, filepath.Join(shared, "data/golden/tfgnn/sampler/vectors_vecA/schema.pbtxt"))
	if err != nil || len(schema.NodeSets) == 0 {
		t.Fatalf("found %v, %v", schema, err)
	}
	if files, err := Tables(vfs.OS, filepath.Dir(file), "nodes.tfrecord@2", false); err != nil || len(files) != 2 {
		t.Errorf("found %v, %v", files, err)
	}
}
