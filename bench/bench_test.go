//go:build interop

package bench_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// race is one race in the JSON of bench.py.
type race struct {
	What   string
	Ratios map[string]float64
}

// races runs bench.py on a small graph with the real peers. The script itself fails when the
// contestants of a race do not draw the same number of edges.
func races(t *testing.T, args ...string) []race {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./bench.py", append(args, "--scale", "12", "--repeat", "1", "--work", t.TempDir())...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Races []race }
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return result.Races
}

// raced checks that each race has a positive ratio to each of its peers.
func raced(t *testing.T, found []race, peers ...[]string) {
	t.Helper()
	if len(found) != len(peers) {
		t.Fatalf("found %d races, expected %d", len(found), len(peers))
	}
	for i, r := range found {
		if len(r.Ratios) != len(peers[i]) {
			t.Errorf("%s: found ratios %v, expected those to %q", r.What, r.Ratios, peers[i])
		}
		for _, peer := range peers[i] {
			if r.Ratios[peer] <= 0 {
				t.Errorf("%s: found ratio %v to %s, expected a positive one", r.What, r.Ratios[peer], peer)
			}
		}
	}
}

func TestPeerRatios(t *testing.T) {
	proof.OnlyLong(t, "a race; TestPeerColumnar runs the program, and the number of edges of a draw has tests of its own")
	raced(t, races(t, "sample", "--graph", "rmat", "--batches", "5", "--threads", "2"),
		[]string{"DGL NeighborSampler, 64-bit ids", "DGL GraphBolt, 32-bit ids", "DGL GraphBolt, 64-bit ids"})
}

// The race of layer-wise inference runs against PyG and DGL.
func TestPeerInference(t *testing.T) {
	sizes := func(peer string) []string {
		return []string{peer + ", batches of 1024", peer + ", batches of 8192", peer + ", batches of 65536"}
	}
	proof.OnlyLong(t, "a race; the results of layer-wise inference are compared in python/tests")
	raced(t, races(t, "inference"), sizes("PyG BasicGNN.inference"), sizes("DGL's loop"))
}

// The loaders of PyG and of DGL yield as many edges per batch as Graphmill's, alone and in training.
func TestPeerLoaders(t *testing.T) {
	proof.OnlyLong(t, "a race; python/tests compares the batches themselves")
	pyg := []string{"PyG NeighborLoader (torch-sparse), no workers", "PyG NeighborLoader (torch-sparse), 2 workers"}
	dgl := []string{"DGL DataLoader, prefetch", "GraphBolt"}
	raced(t, races(t, "loader", "--batches", "20", "--warm-seconds", "0"), pyg, dgl, pyg, dgl)
}

// The makers of packs of molecules run against jraph and PyG, in memory and on the disk.
func TestPeerPacks(t *testing.T) {
	proof.OnlyLong(t, "a race")
	raced(t, races(t, "packs", "--molecules", "1", "--threads", "1"), []string{"jraph.dynamically_batch"}, []string{"PyG DataLoader with DynamicBatchSampler"}, nil)
}

// RelBench and PyG find as many edges in the past of the seeds as Graphmill does.
func TestPeerRelational(t *testing.T) {
	proof.OnlyLong(t, "a race")
	raced(t, races(t, "relational", "--people", "2000", "--relational-batches", "5"),
		[]string{"RelBench and PyG (torch-sparse), no workers", "RelBench and PyG (torch-sparse), 2 workers"}, []string{"psql, COPY to /dev/null"})
}

// All contestants train under one limit of memory. A user who may not set one gets an error that says to run as root.
func TestPeerLarger(t *testing.T) {
	proof.OnlyLong(t, "a race")
	args := []string{"larger", "--larger-scale", "14", "--larger-memory", "128MiB", "--larger-seconds", "1", "--batches", "10"}
	if os.Geteuid() != 0 {
		cmd := exec.CommandContext(t.Context(), "./bench.py", append(args, "--work", t.TempDir())...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "run as root") {
			t.Errorf("found error %v and %s, expected that it says to run as root", err, out)
		}
		return
	}
	raced(t, races(t, args...), []string{"DGL DataLoader, memory maps"}, []string{"PyG NeighborLoader (torch-sparse), memory maps"})
}

func TestPeerHelp(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "./bench.py", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"examples:", "races:\n  sample", "\n  loader", "GRAPHMILL_DATA"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("found no %q in the help, expected it:\n%s", want, out)
		}
	}
}

func TestPeerColumnar(t *testing.T) {
	raced(t, races(t, "parquet", "arrow", "--threads", "2"), []string{"polars", "duckdb", "pyarrow"}, []string{"polars", "duckdb"},
		[]string{"polars", "pyarrow"}, []string{"polars"})
}

// The profiles are judged against the real partitioners: every contestant has a share of graphs for each factor, and one of
// them has the least cut.
func TestPeerProfiles(t *testing.T) {
	proof.OnlyLong(t, "cuts 30 graphs by each partitioner")
	cmd := exec.CommandContext(t.Context(), "./bench.py", "profiles", "--parts", "4", "--cut-seeds", "1", "--work", t.TempDir())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		Profiles []struct {
			Profiles map[string]map[string]float64
			Ratios   map[string]struct{ Mean float64 }
		}
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(result.Profiles) != 1 || len(result.Profiles[0].Profiles) != 6 {
		t.Fatalf("found %v, expected one race with six contestants", result.Profiles)
	}
	best := 0.0
	for name, share := range result.Profiles[0].Profiles {
		best = max(best, share["1.0"])
		if share["2.0"] < share["1.0"] || share["2.0"] <= 0 {
			t.Errorf("%s: found shares %v, expected shares that grow", name, share)
		}
	}
	if best <= 0 {
		t.Errorf("found no contestant with the least cut in %v", result.Profiles[0].Profiles)
	}
	for what, r := range result.Profiles[0].Ratios {
		if r.Mean <= 0 {
			t.Errorf("%s: found the ratio %v, expected a positive one", what, r.Mean)
		}
	}
}
