//go:build interop || interopdata

// Package examples_test runs the training examples, each with the framework that it is for, and checks
// the figures that they print.
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

	"github.com/graphmill/graphmill/internal/proof"
)

// command is the graphmill command, which the Python package starts too.
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

// timed checks that an example prints how long its goal took, and how long it waited for batches.
func timed(t *testing.T, out string) {
	t.Helper()
	if !regexp.MustCompile(` after [0-9.]+ s`).MatchString(out) {
		t.Errorf("found no time to accuracy:\n%s", out)
	}
	if !regexp.MustCompile(`waited [0-9.]+% of the time`).MatchString(out) {
		t.Errorf("found no share of waiting:\n%s", out)
	}
}

// trainPapers trains GraphSAGE on a folder as Cora's with PyG and with DGL's blocks: sampled neighbours teach as well as
// all neighbours do. The figures are means over random seeds, because figures of single seeds lie 0.05 apart.
func trainPapers(t *testing.T, data string, least float64) {
	dir := t.TempDir()
	tables, store := filepath.Join(dir, "cora"), filepath.Join(dir, "cora.store")
	python(t, "tables", "cora/prepare.py", data, tables)
	graphmill(t, "import", tables, "--out", store)
	seeds, apart := proof.Count(t, 3, 10), 0.04
	if proof.Long(t) {
		apart = 0.02
	}
	for _, framework := range []string{"pyg", "dgl"} {
		t.Run(framework, func(t *testing.T) {
			out := python(t, framework, "graphsage-cora-"+framework+"/train.py", store, strconv.Itoa(seeds))
			timed(t, out)
			sampled, full := figure(t, out, "sampled: test accuracy"), figure(t, out, "full: test accuracy")
			if math.Abs(sampled-full) > apart {
				t.Errorf("found test accuracy %.3f on samples and %.3f on full neighbourhoods, expected them within %.2f", sampled, full, apart)
			}
			if full < least {
				t.Errorf("found test accuracy %.3f on full neighbourhoods, expected at least %.2f", full, least)
			}
		})
	}
}

// trainRanking trains on whole queries: the mean NDCG@10 of five seeds is about as with a loss
// that looks at each row alone, and far above the NDCG@10 of no model.
func trainRanking(t *testing.T, data string) {
	out := python(t, "pyg", "ranking-listwise/train.py", data)
	timed(t, out)
	none, rows, queries := figure(t, out, "no model: NDCG@10"), figure(t, out, "point-wise: NDCG@10"), figure(t, out, "list-wise: NDCG@10")
	if rows < none+0.1 || queries < rows-0.01 {
		t.Errorf("found NDCG@10 %.3f of lists, %.3f of rows and %.3f of no model, expected 0.1 more than no model and about that of rows", queries, rows, none)
	}
}

// trainMolecules trains on packs of molecules, in one compiled step.
func trainMolecules(t *testing.T, data string) {
	dir := t.TempDir()
	tables, coll, plan := filepath.Join(dir, "mutag"), filepath.Join(dir, "mutag.coll"), filepath.Join(dir, "mutag.plan")
	python(t, "jraph", "molecules-jraph/prepare.py", data, tables)
	graphmill(t, "import", tables, "--out", coll)
	graphmill(t, "pack", coll, "--limit", "num_nodes=256", "--limit", "num_edges=576", "--max-graphs", "16", "--reserve", "--out", plan)
	out := python(t, "jraph", "molecules-jraph/train.py", plan, coll)
	timed(t, out)
	largest, got := figure(t, out, "largest class: accuracy"), figure(t, out, "packs: accuracy")
	if got < largest+0.08 {
		t.Errorf("found accuracy %.3f, and %.3f of the largest class, expected 0.08 more", got, largest)
	}
	if first, last := figure(t, out, "first epoch: loss"), figure(t, out, "last epoch: loss"); last > first/2 {
		t.Errorf("found loss %.3f after %.3f, expected a decrease to less than half", last, first)
	}
	if n := figure(t, out, "compiled:"); n != 1 {
		t.Errorf("found %v compilations, expected 1", n)
	}
}
