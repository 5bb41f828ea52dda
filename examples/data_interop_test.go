//go:build interopdata

package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/proof"
)

// The papers of Cora, the molecules of MUTAG and the queries of LightGBM's example are learned.
func TestDataCora(t *testing.T) {
	proof.OnlyLong(t, "trains for 78 s; TestPeerPapers trains the same models on random papers")
	trainPapers(t, golden.Data(t, "cora"), 0.75)
}
func TestDataMolecules(t *testing.T) {
	proof.OnlyLong(t, "trains for 26 s; TestPeerMolecules trains the same model on random molecules")
	trainMolecules(t, golden.Data(t, "small/mutag"))
}
func TestDataRanking(t *testing.T) {
	proof.OnlyLong(t, "trains for 15 s; TestPeerRanking trains the same model on random queries")
	trainRanking(t, golden.Data(t, "ltr/lightgbm_lambdarank"))
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
