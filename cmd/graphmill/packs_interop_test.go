//go:build interop

package main

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeerPacksInPython builds GraphsTuples, PyG Batches and padded GraphTensors of packs,
// with NumPy and with the real TF-GNN, and compares the sums over each graph with the
// collection. examples/packs/check.py uses jraph and torch_geometric if they are installed.
func TestPeerPacksInPython(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	graphmill := func(args ...string) {
		t.Helper()
		var stderr bytes.Buffer
		if status := runCommand(append([]string{"graphmill"}, args...), io.Discard, &stderr); status != exitDone {
			t.Fatalf("%v: status %d: %s", args, status, stderr.String())
		}
	}
	schema := filepath.Join("..", "..", "examples", "packs", "schema.pbtxt")
	graphmill("tfgnn", "random", schema, "--count", "300", "--out", in("random"))
	graphmill("import", in("random/random.tfrecord-00000-of-00001"), "--schema", schema, "--out", in("c"))
	graphmill("pack", in("c"), "--limit", "num_nodes=32", "--limit", "num_edges=48", "--max-graphs", "16", "--reserve", "--effort", "0.1", "--out", in("plan"))
	graphmill("pack", "materialise", in("plan"), in("c"), "--seed", "3", "--epoch", "1", "--out", in("arrays"))
	graphmill("pack", "materialise", in("plan"), in("c"), "--seed", "3", "--epoch", "1", "--format", "tfrecord", "--shards", "2", "--out", in("records"))
	for _, c := range []struct{ peer, script, packs string }{{"tables", "check.py", "arrays"}, {"tfgnn", "check_tfgnn.py", "records"}} {
		t.Run(c.peer, func(t *testing.T) {
			peers := exec.Command("../../bench/peers.sh", c.peer)
			var stderr bytes.Buffer
			peers.Stderr = &stderr
			python, err := peers.Output()
			if err != nil {
				t.Fatalf("bench/peers.sh %s: %v\n%s", c.peer, err, stderr.String())
			}
			out, err := exec.Command(strings.TrimSpace(string(python)), "-B", "../../examples/packs/"+c.script, in(c.packs), in("c")).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "300 graphs: equal sums with") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
