//go:build interop

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
)

// ogbPython is the python of the environment with OGB and SciPy.
func ogbPython(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../../bench/peers.sh", "ogb")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh ogb: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// ogbCounts runs a script of bench/peers and returns the numbers that it prints.
func ogbCounts(t *testing.T, args ...string) (counts map[string]int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), ogbPython(t), append([]string{golden.Peers(t, args[0])}, args[1:]...)...).Output()
	if err != nil {
		text := ""
		if e := (*exec.ExitError)(nil); errors.As(err, &e) {
			text = string(e.Stderr)
		}
		t.Fatalf("%v: %v\n%s%s", args, err, out, text)
	}
	if len(out) > 0 {
		if err := json.Unmarshal(out, &counts); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	return counts
}

// Random data sets of nodes, in OGB's text and written by OGB's own DatasetSaver, are imported as OGB reads them: ends,
// all columns, labels and splits.
func TestPeerOGB(t *testing.T) {
	const sets = 24
	dir := t.TempDir()
	ogbCounts(t, "ogb_check.py", "make", dir, "1", fmt.Sprint(sets))
	for i := range sets {
		root := filepath.Join(dir, fmt.Sprint(i))
		options, err := os.ReadFile(filepath.Join(root, "options"))
		if err != nil {
			t.Fatal(err)
		}
		call(t, append([]string{"import", root, "--out", root + ".store", "--memory", "64MiB"}, strings.Fields(string(options))...)...)
	}
	if counts := ogbCounts(t, "ogb_check.py", "check", dir); counts["sets"] != sets || counts["arrays"] < 4*sets {
		t.Errorf("found %v, expected %d sets with several arrays each", counts, sets)
	} else {
		t.Log(counts)
	}
}

// Random sparse matrices that SciPy saved, as .npz and as Matrix Market files, are imported with the entries that SciPy
// reads.
func TestPeerSciPy(t *testing.T) {
	const matrices = 48
	dir := t.TempDir()
	ogbCounts(t, "scipy_check.py", "make", dir, "1", fmt.Sprint(matrices))
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, _, _ := strings.Cut(f.Name(), ".")
		call(t, "import", filepath.Join(dir, f.Name()), "--out", filepath.Join(dir, name+".store"))
	}
	if counts := ogbCounts(t, "scipy_check.py", "check", dir); counts["matrices"] != matrices {
		t.Errorf("found %v, expected %d matrices", counts, matrices)
	}
}
