//go:build interop

// Package python_test runs the tests of the Python client, and compares the client with the Go library.
package python_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/proof"
)

// Tests measure memory that is shared, as files in memory are, so theirs lie on the disk.
func TestMain(m *testing.M) {
	proof.OnDisk()
	os.Exit(m.Run())
}

// python is a Python command with the client's sources on its path, in the environment of a peer.
func python(t *testing.T, peer string, args ...string) *exec.Cmd {
	t.Helper()
	peers := exec.Command("../bench/peers.sh", peer)
	peers.Stderr = os.Stderr
	exe, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v", peer, err)
	}
	src, err := filepath.Abs("src") // some libraries start processes in folders of their own
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(string(bytes.TrimSpace(exe)), args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+src)
	// Several threads of a numeric library, beside other tests, spin for one another most of the time. DGL with one thread gives repeated seeds one
	// set of edges, and with several each its own.
	if !proof.More(t, "as many threads of numeric libraries as processors") && peer != "dgl" {
		cmd.Env = append(cmd.Env, "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1")
	}
	if peer == "integrations" {
		cmd.Env = append(cmd.Env, offline(t)...)
	}
	return cmd
}

// offline returns the environment in which the libraries of the peer integrations ask for nothing beyond this machine. Ray
// reports to its makers that reports are turned off, and asks what cloud it is in unless a file in the home folder says it.
func offline(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "ray_bootstrap_config.yaml"), []byte("provider: {type: local}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"HOME=" + home, "HF_HUB_OFFLINE=1", "WANDB_MODE=offline", "RAY_USAGE_STATS_ENABLED=0", "RAY_USAGE_STATS_REPORT_URL=http://127.0.0.1:9"}
}

// stores builds the command, and returns the environment that names it, and the folder of the stores that the client's tests read.
func stores(t *testing.T) (env []string, folder string) {
	t.Helper()
	dir := t.TempDir()
	command := filepath.Join(dir, "graphmill")
	for _, args := range [][]string{
		{"go", "build", "-o", command, "../cmd/graphmill"},
		{"go", "build", "-tags", "portable", "-o", command + "-portable", "../cmd/graphmill"},
		{command, "generate", "rmat", "--scale", "12", "--edge-factor", "8", "--out", filepath.Join(dir, "rmat.store")},
		{command, "quickstart", "--out", filepath.Join(dir, "quickstart")},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if err := os.Rename(filepath.Join(dir, "quickstart", "debian.store"), filepath.Join(dir, "debian.store")); err != nil {
		t.Fatal(err)
	}
	return []string{"GRAPHMILL_COMMAND=" + command, "GRAPHMILL_TEST_PORTABLE=" + command + "-portable"}, dir
}

// numpyAlone are the modules of tests that no framework has a part in: the short form runs them with NumPy alone.
var numpyAlone = []string{"addresses", "evaluate_pickles", "evaluate_protocols", "faults", "fuzz", "hostile", "hosts", "made_columns", "main", "orders", "portable", "segments", "shards", "shown", "stream", "streams", "threads", "values"}

// numpyToo are the modules with tests that the short form runs with NumPy alone, and with PyG as well. TestDocs of cmd/graphmill runs the
// documentation with NumPy alone.
var numpyToo = []string{"batches", "columns", "evaluate", "loader", "names", "store"}

// modules returns the arguments by which unittest runs the given modules of tests.
func modules(names ...string) []string {
	args := []string{"discover", "-s", "tests"}
	for _, name := range names {
		args = append(args, "-k", "test_"+name+".*")
	}
	return args
}

// withPyG returns the modules of tests that run with torch and PyG, in two halves that run side by side.
func withPyG(t *testing.T) (first, second []string) {
	t.Helper()
	files, err := filepath.Glob("tests/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("found tests %v, %v, expected some", files, err)
	}
	long := proof.More(t, "tests without a part of a framework, with torch and PyG installed")
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "test_"), ".py")
		switch {
		case !long && slices.Contains(numpyAlone, name):
		case name < "n":
			first = append(first, name)
		default:
			second = append(second, name)
		}
	}
	return first, second
}

// The client's own tests pass: those of a framework with that framework, the others with NumPy alone, in the long form all of them with torch and
// PyG and with NumPy alone. The blocks of the documentation run too.
func TestPeerClient(t *testing.T) {
	t.Parallel()
	env, folder := stores(t)
	env = append(env, fmt.Sprintf("GRAPHMILL_TEST_GRAPHS=%d", proof.Count(t, 20, 300)))
	first, second := withPyG(t)
	numpy := []string{"discover", "-s", "tests"}
	if !proof.More(t, "all tests with NumPy alone, documentation included") {
		numpy = modules(append(numpyAlone, numpyToo...)...)
	}
	integrations := []string{"discover", "-s", "tests", "-k", "test_integrations", "-k", "test_notebooks", "-k", "test_docs_integrations", "-k", "test_docs_serving"}
	if !proof.Long(t) { // the others are the examples that TestPeerMolecules and the pages train
		integrations = []string{"discover", "-s", "tests", "-k", "test_integrations", "-k", "TestCommitted", "-k", "TestRun.test_citations", "-k", "TestRun.test_database", "-k", "TestRun.test_recommender", "-k", "test_docs_integrations", "-k", "test_docs_serving"}
	}
	for _, run := range []struct {
		peer string
		args []string
		all  bool // none of the tests may be left out
	}{
		{"pyg", modules(first...), false},
		{"pyg", modules(second...), false},
		{"tables", numpy, false},
		{"dgl", []string{"discover", "-s", "tests", "-k", "TestDGL", "-k", "TestPandas", "-k", "TestPages"}, true},
		{"lightning", []string{"discover", "-s", "tests", "-k", "TestStateful", "-k", "Lightning", "-k", "TestTorchMetrics", "-k", "test_docs_python"}, true},
		{"card", []string{"discover", "-s", "tests", "-p", "test_card.py"}, true},
		{"databases", []string{"discover", "-s", "tests", "-k", "TestDatabases"}, true},
		{"integrations", integrations, true},
		{"frames", []string{"discover", "-s", "tests", "-k", "test_docs_coming_from_dgf"}, true},
		{"features", []string{"discover", "-s", "tests", "-p", "test_evaluate.py", "-k", "TestScikitLearn"}, true},
		{"features", []string{"discover", "-s", "tests", "-p", "test_splits.py", "-k", "TestScikitLearn"}, true},
		{"ogb", []string{"discover", "-s", "tests", "-p", "test_evaluate*.py", "-k", "TestOGB", "-k", "TestTorchFiles"}, true},
		{"tgb", []string{"discover", "-s", "tests", "-p", "test_evaluate_protocols.py", "-k", "TestTGBPackage"}, true},
		{"files", []string{"discover", "-s", "tests", "-p", "test_files.py"}, true},
		{"neo4j", []string{"discover", "-s", "tests", "-p", "test_neo4j.py"}, true},
		{"jraph", []string{"discover", "-s", "tests", "-k", "TestJraph", "-k", "TestPages"}, true},
		{"tfgnn", []string{"discover", "-s", "tests", "-k", "TestTFGNN", "-k", "TestPages"}, true},
	} {
		t.Run(run.peer, func(t *testing.T) {
			t.Parallel() // tests of loaders wait for other processes much of the time
			cmd := python(t, run.peer, append([]string{"-m", "unittest"}, run.args...)...)
			// Ranks of one store share a feed, so each suite has stores of its own.
			own := t.TempDir()
			for _, name := range []string{"rmat.store", "debian.store"} {
				if err := os.CopyFS(filepath.Join(own, name), os.DirFS(filepath.Join(folder, name))); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Env = append(append(cmd.Env, env...), "GRAPHMILL_TEST_STORES="+own)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			// The tests of a framework that cannot be imported would be skipped.
			if run.all && bytes.Contains(out, []byte("skipped")) {
				t.Errorf("found tests left out, expected none\n%s", out)
			}
		})
	}
}

// Both languages go through the same items, for 1,000 random sizes, seeds and epochs.
func TestPeerOrdersAgree(t *testing.T) {
	t.Parallel()
	type order struct {
		N, Seed, Epoch uint64
		At, Items      []uint64
	}
	r := rand.New(rand.NewPCG(1, 2))
	var orders []order
	for range 1000 {
		o := order{N: 1 + r.Uint64N(1<<r.Uint64N(40)), Seed: r.Uint64(), Epoch: r.Uint64N(1000)}
		d := draw.NewOrder(o.N, draw.Key(o.Seed, o.Epoch, draw.OrderWord))
		for range 20 {
			o.At = append(o.At, r.Uint64N(o.N))
			o.Items = append(o.Items, d.At(o.At[len(o.At)-1]))
		}
		orders = append(orders, o)
	}
	cmd := python(t, "tables", "-c", `
import json, sys
import numpy as np
from graphmill._order import ORDER, Order, key
for o in json.load(sys.stdin):
    got = Order(o["N"], key(o["Seed"], o["Epoch"], ORDER))(np.array(o["At"], np.int64)).tolist()
    assert got == o["Items"], (o, got)
`)
	data, err := json.Marshal(orders)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The wheel installs the command and the client into an empty environment, and the first example of its readme
// runs there.
func TestPeerWheel(t *testing.T) {
	t.Parallel()
	env := filepath.Join(t.TempDir(), "env")
	wheel := exec.Command("make", "wheel")
	if !proof.Long(t) { // the static command takes a minute to compile
		command := filepath.Join(t.TempDir(), "graphmill")
		if out, err := exec.Command("go", "build", "-o", command, "../cmd/graphmill").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		wheel.Args = append(wheel.Args, "COMMAND="+command)
	}
	wheel.Dir = ".."
	for _, cmd := range []*exec.Cmd{wheel, exec.Command("python3", "-m", "venv", env)} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
	}
	wheels, err := filepath.Glob("../dist/graphmill-*.whl")
	if err != nil || len(wheels) != 1 {
		t.Fatalf("found wheels %v, %v, expected one", wheels, err)
	}
	bin := filepath.Join(env, "bin")
	for _, args := range [][]string{
		{filepath.Join(bin, "pip"), "install", "--quiet", "--disable-pip-version-check", wheels[0]},
		{filepath.Join(bin, "graphmill"), "generate", "rmat", "--scale", "10", "--edge-factor", "8", "--out", filepath.Join(env, "g.store")},
		{filepath.Join(bin, "python"), "-c", `
import sys
import numpy as np
from graphmill import BatchIter, NodeLoader

x, y = np.zeros((1000, 4)), np.arange(1000)
assert sorted(i for xb, yb in BatchIter(x, y, batch_size=64, seed=42) for i in yb) == list(range(1000))
with NodeLoader(sys.argv[1], fanout=[15, 10], batch_size=128) as loader:
    assert sum(b.batch_size for b in loader) == 1024
`, filepath.Join(env, "g.store")},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		// Only the installed package is available: no command from PATH, and no sources.
		cmd.Env = append(os.Environ(), "PATH="+bin, "PYTHONPATH=", "GRAPHMILL_COMMAND=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}
