//go:build interopdata

package examples_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
)

// TestDataCora trains GraphSAGE with PyG and with DGL's blocks: sampled neighbours teach as well as
// all neighbours do. The figures are means of ten seeds: those of single seeds lie 0.05 apart.
func TestDataCora(t *testing.T) {
	dir := t.TempDir()
	tables, store := filepath.Join(dir, "cora"), filepath.Join(dir, "cora.store")
	python(t, "tables", "cora/prepare.py", golden.Data(t, "cora"), tables)
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

// TestDataDebian predicts the sections of packages on a typed graph: neighbours tell far more than the
// packages' own columns do, and those more than nothing.
func TestDataDebian(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("tar", "xzf", golden.Data(t, "debian_packages.tar.gz"), "-C", dir).CombinedOutput(); err != nil {
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

// TestDataRanking trains on whole queries: the mean NDCG@10 of five seeds is about that of a loss
// that looks at each row alone, on 50 queries, and far above that of no model.
func TestDataRanking(t *testing.T) {
	out := python(t, "pyg", "ranking-listwise/train.py", golden.Data(t, "ltr/lightgbm_lambdarank"))
	timed(t, out)
	none, rows, queries := figure(t, out, "no model: NDCG@10"), figure(t, out, "point-wise: NDCG@10"), figure(t, out, "list-wise: NDCG@10")
	if rows < none+0.1 || queries < rows-0.01 {
		t.Errorf("found NDCG@10 %.3f of lists, %.3f of rows and %.3f of no model, expected about 0.75, 0.74 and 0.57", queries, rows, none)
	}
}

// TestDataMolecules trains on packs of molecules, in one compiled step.
func TestDataMolecules(t *testing.T) {
	dir := t.TempDir()
	tables, coll, plan := filepath.Join(dir, "mutag"), filepath.Join(dir, "mutag.coll"), filepath.Join(dir, "mutag.plan")
	python(t, "jraph", "molecules-jraph/prepare.py", golden.Data(t, "small/mutag"), tables)
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
