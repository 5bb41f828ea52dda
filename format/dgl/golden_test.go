package dgl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/vfs"
)

// All files of real partitions are made again, the same bytes.
func TestGoldenPartitions(t *testing.T) { testGoldens(t, golden.Dir(t, "dgl")) }

// Configurations that DGL wrote mean the same when they are written again.
func TestGoldenConfigs(t *testing.T) {
	for _, p := range golden.Partitions(t) {
		path := golden.Dir(t, "dgl", p.Name, p.Config)
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
			t.Errorf("%s: found %v, expected %v", path, got, want)
		}
	}
	// What GraphBolt's conversion adds is no hindrance.
	converted, err := filepath.Glob(golden.Dir(t, "dgl", "*_graphbolt", "*.json"))
	if err != nil || len(converted) != 2 {
		t.Fatalf("found %d configurations that GraphBolt converted, %v, expected 2", len(converted), err)
	}
	for _, path := range converted {
		if _, err := ReadConfig(vfs.OS, path, false); err != nil {
			t.Error(err)
		}
	}
}
