//go:build interop

// Package examples_test runs the training examples, each with its framework, and checks the results that they
// print.
package examples_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// command is the path of the graphmill command, which the Python package runs too.
var command string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "examples")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		command = filepath.Join(dir, "graphmill")
		if out, err := exec.Command("go", "build", "-o", command, "../cmd/graphmill").CombinedOutput(); err != nil {
			panic(string(out))
		}
		return m.Run()
	}())
}

// shared is a file or folder of the shared data.
func shared(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("GRAPHMILL_SHARED")
	if root == "" {
		t.Fatal("found no GRAPHMILL_SHARED, expected the folder of shared data; set it")
	}
	return filepath.Join(root, "data", name)
}

func graphmill(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(command, args...).CombinedOutput(); err != nil {
		t.Fatalf("graphmill %q: %v\n%s", args, err, out)
	}
}

// python runs a script in the environment of a peer, and returns what it prints.
func python(t *testing.T, peer string, args ...string) string {
	t.Helper()
	peers := exec.Command("../bench/peers.sh", peer)
	var stderr bytes.Buffer
	peers.Stderr = &stderr
	exe, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v\n%s", peer, err, stderr.String())
	}
	sources, err := filepath.Abs("../python/src")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), string(bytes.TrimSpace(exe)), append([]string{"-B"}, args...)...)
	stderr.Reset()
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "PYTHONPATH="+sources, "GRAPHMILL_COMMAND="+command, "DGLBACKEND=pytorch", "TF_CPP_MIN_LOG_LEVEL=2")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q with %s: %v\n%s%s", args, peer, err, out, stderr.String())
	}
	t.Logf("%s", out)
	return string(out)
}

// figure is the number after a text at the beginning of a line.
func figure(t *testing.T, out, before string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(before) + ` (-?[0-9.]+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("found no line that begins with %q and a number:\n%s", before, out)
	}
	x, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// timed checks that an example prints the time to its goal and the share of time that it waited for batches.
func timed(t *testing.T, out string) {
	t.Helper()
	if !regexp.MustCompile(` after [0-9.]+ s`).MatchString(out) {
		t.Errorf("found no time to accuracy:\n%s", out)
	}
	if !regexp.MustCompile(`waited [0-9.]+% of the time`).MatchString(out) {
		t.Errorf("found no share of waiting:\n%s", out)
	}
}

// TestCora trains GraphSAGE with PyG and with DGL's blocks: training with sampled neighbours is as good as
// with all neighbours. The results are means of ten random seeds; single ones differ by 0.05.
func TestCora(t *testing.T) {
	dir := t.TempDir()
	tables, store := filepath.Join(dir, "cora"), filepath.Join(dir, "cora.store")
	python(t, "tables", "cora/prepare.py", shared(t, "cora"), tables)
	graphmill(t, "import", tables, "--out", store)
	for _, framework := range []string{"pyg", "dgl"} {
		t.Run(framework, func(t *testing.T) {
			out := python(t, framework, "graphsage-cora-"+framework+"/train.py", store)
			timed(t, out)
			sampled, full := figure(t, out, "sampled: test accuracy"), figure(t, out, "full: test accuracy")
			if math.Abs(sampled-full) > 0.02 {
				t.Errorf("found test accuracy %.3f on samples and %.3f on full neighbourhoods, expected them within 0.02", sampled, full)
			}
			if full < 0.75 {
				t.Errorf("found test accuracy %.3f on full neighbourhoods, expected about 0.78", full)
			}
		})
	}
}

// TestDebian predicts the sections of packages on a typed graph: with neighbours far better than with the
// packages' own columns alone, and with these better than with nothing.
func TestDebian(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("tar", "xzf", shared(t, "debian_packages.tar.gz"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	tables, store := filepath.Join(dir, "debian_packages"), filepath.Join(dir, "debian.store")
	yaml, err := os.ReadFile("debian-sections-pyg/graph.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tables, "graph.yaml"), yaml, 0o644); err != nil {
		t.Fatal(err)
	}
	graphmill(t, "import", tables, "--dangling-edges", "drop", "--out", store)
	out := python(t, "pyg", "debian-sections-pyg/train.py", store)
	timed(t, out)
	nothing, alone, all := figure(t, out, "largest section: test accuracy"), figure(t, out, "without neighbours: test accuracy"), figure(t, out, "with neighbours: test accuracy")
	if alone < nothing+0.05 || all < alone+0.4 {
		t.Errorf("found test accuracy %.3f with neighbours, %.3f without and %.3f of the largest section, expected about 0.75, 0.2 and 0.1", all, alone, nothing)
	}
}

// TestRanking trains on whole queries: on 50 queries, the mean NDCG@10 of five random seeds is about that of a
// loss per row, and far above that without a model.
func TestRanking(t *testing.T) {
	out := python(t, "pyg", "ranking-listwise/train.py", shared(t, "ltr/lightgbm_lambdarank"))
	timed(t, out)
	none, rows, queries := figure(t, out, "no model: NDCG@10"), figure(t, out, "point-wise: NDCG@10"), figure(t, out, "list-wise: NDCG@10")
	if rows < none+0.1 || queries < rows-0.01 {
		t.Errorf("found NDCG@10 %.3f of lists, %.3f of rows and %.3f of no model, expected about 0.75, 0.74 and 0.57", queries, rows, none)
	}
}

// TestMolecules trains on packs of molecules, in one compiled step.
func TestMolecules(t *testing.T) {
	dir := t.TempDir()
	tables, coll, plan := filepath.Join(dir, "mutag"), filepath.Join(dir, "mutag.coll"), filepath.Join(dir, "mutag.plan")
	python(t, "jraph", "molecules-jraph/prepare.py", shared(t, "small/mutag"), tables)
	graphmill(t, "import", tables, "--out", coll)
	graphmill(t, "pack", coll, "--limit", "num_nodes=256", "--limit", "num_edges=576", "--max-graphs", "16", "--reserve", "--out", plan)
	out := python(t, "jraph", "molecules-jraph/train.py", plan, coll)
	timed(t, out)
	largest, got := figure(t, out, "largest class: accuracy"), figure(t, out, "packs: accuracy")
	if got < largest+0.08 {
		t.Errorf("found accuracy %.3f, and %.3f of the largest class, expected about 0.81 and 0.665", got, largest)
	}
	if first, last := figure(t, out, "first epoch: loss"), figure(t, out, "last epoch: loss"); last > first/2 {
		t.Errorf("found loss %.3f after %.3f, expected a decrease to less than half", last, first)
	}
	if n := figure(t, out, "compiled:"); n != 1 {
		t.Errorf("found %v compilations, expected 1", n)
	}
}

// TestTFGNN trains a Keras model of TF-GNN on the TFRecords of the quickstart.
func TestTFGNN(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "quickstart")
	graphmill(t, "quickstart", "--out", dir)
	out := python(t, "tfgnn", "debian-tfgnn/train.py", filepath.Join(dir, "samples"))
	timed(t, out)
	if largest, got := figure(t, out, "largest section: test accuracy"), figure(t, out, "TFRecords: test accuracy"); got < largest+0.3 {
		t.Errorf("found test accuracy %.3f, and %.3f of the largest section, expected about 0.83 and 0.36", got, largest)
	}
}
