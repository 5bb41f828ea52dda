//go:build interop || interopdata

package dglchunks_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/graphmill/graphmill/internal/export/dglchunks"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
)

// dgl is the python of the real DGL.
func dgl(t *testing.T) string {
	cmd := exec.Command("../../../bench/peers.sh", "dgl")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh dgl: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// The chunks that DGL's chunk_graph.py wrote are the graph that DGL saved, and come out
// as the same chunks.
func TestGoldenChunks(t *testing.T) {
	in, dir := golden.Dir(t, "dgl", "chunked_in"), t.TempDir()
	cut, saved := filepath.Join(dir, "chunks"), filepath.Join(dir, "saved")
	if err := load(in, cut, assemble.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := load(filepath.Join(in, "graph.bin"), saved, assemble.Options{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sums(t, saved), sums(t, cut)); diff != "" {
		t.Fatal(diff)
	}
	out := filepath.Join(dir, "out")
	if _, err := write(disk, cut, out, dglchunks.Options{Name: "deb", Chunks: 3, Edges: "csv", Features: "numpy", Threads: 2}); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][2]string{
		{"edges/package+has+tag-00002.csv", "edge_index/package:has:tag2.txt"},
		{"edges/package+recommends+package-00002.csv", "edge_index/package:recommends:package2.txt"},
		{"node_data/package/size-00001.npy", "node_data/package/size-1.npy"},
		{"edge_data/package+has+tag/w-00000.npy", "edge_data/package:has:tag/w-0.npy"},
	} {
		found, err := os.ReadFile(filepath.Join(out, names[0]))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(in, names[1]))
		if errors.Is(err, fs.ErrNotExist) { // the repository's names have no colons, which some systems refuse
			want, err = os.ReadFile(filepath.Join(in, strings.ReplaceAll(names[1], ":", "+")))
		}
		if err != nil {
			t.Fatal(err)
		}
		if string(found) != string(want) {
			t.Errorf("%s is not DGL's %s", names[0], names[1])
		}
	}
}

// What is written is, read as DGL's tools read it, the graph that DGL loads.
func TestGoldensAsChunks(t *testing.T) {
	python := dgl(t)
	for name, cases := range map[string]int{"homo_tiny_csr": 1, "hetero_hop1": 3} {
		saved, dir := filepath.Join(golden.Dir(t, "dgl", name), "graph.bin"), t.TempDir()
		in := filepath.Join(dir, "store")
		if err := load(saved, in, assemble.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, opt := range []dglchunks.Options{
			{Name: "g", Chunks: 1, Edges: "csv", Features: "numpy", Threads: 2},
			{Name: "g", Chunks: 60, Edges: "parquet", Features: "parquet", Threads: 2},
			{Name: "g", Chunks: 3, Edges: "numpy", Features: "parquet", Threads: 2},
		}[:cases] {
			out := filepath.Join(dir, "out")
			if _, err := write(disk, in, out, opt); err != nil {
				t.Fatal(err)
			}
			if text, err := exec.Command(python, "testdata/compare.py", out, saved).CombinedOutput(); err != nil {
				t.Errorf("%s, edges %s, features %s: %v\n%s", name, opt.Edges, opt.Features, err, text)
			}
		}
	}
}
