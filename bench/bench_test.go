//go:build interop

package bench_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// TestRatios runs the sampling race on a small graph with the real DGL. The
// script itself fails when the contestants do not draw the same number of edges.
func TestRatios(t *testing.T) {
	if os.Getenv("GRAPHMILL_SHARED") == "" {
		t.Fatal("GRAPHMILL_SHARED is not set; set it to the folder that holds data/ and peers/")
	}
	cmd := exec.CommandContext(t.Context(), "python3", "bench.py", "sample",
		"--graph", "rmat", "--scale", "12", "--batches", "5", "--threads", "2", "--repeat", "1", "--work", t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Races []struct {
			What   string
			Ratios map[string]float64
		}
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(result.Races) != 1 {
		t.Fatalf("found %d races, expected 1", len(result.Races))
	}
	for _, peer := range []string{"DGL NeighborSampler, 64-bit ids", "DGL GraphBolt, 32-bit ids", "DGL GraphBolt, 64-bit ids"} {
		if r := result.Races[0].Ratios[peer]; r <= 0 {
			t.Errorf("%s: found ratio %v to %s, expected a positive one", result.Races[0].What, r, peer)
		}
	}
}
