//go:build interop

package bench_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// TestPeerGPU runs the steps of bench/gpu.py on small graphs, without a card.
func TestPeerGPU(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "./peers.sh", "pyg").Output()
	if err != nil {
		t.Fatalf("bench/peers.sh pyg: %v", err)
	}
	folder := t.TempDir()
	command := filepath.Join(folder, "graphmill")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, "../cmd/graphmill").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packed(t, command, filepath.Join(folder, "graphmill.gz"))
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"python": "python/src", "repository": "."} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(folder, link)); err != nil {
			t.Fatal(err)
		}
	}
	steps := []string{"machine", "papers", "threads"}
	if proof.More(t, "the checks and the training of bench/gpu.py") {
		steps = append(steps, "checks", "products", "card")
	}
	results := filepath.Join(folder, "results")
	args := []string{"-B", "-W", "ignore", "gpu.py", "run", "--folder", folder, "--device", "cpu", "--small", "--out", results}
	for _, step := range steps {
		args = append(args, "--only", step)
	}
	said, err := exec.CommandContext(t.Context(), strings.TrimSpace(string(out)), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	b, err := os.ReadFile(filepath.Join(results, "gpu.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Step, What, Note string }
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, row := range rows {
		if row.What == "ended early" || strings.Contains(row.Note, "Error") {
			t.Errorf("%s: found %s, expected the whole step\n%s", row.Step, row.Note, said)
		}
		if row.What == "whole step" {
			ended++
		}
	}
	if ended != len(steps) {
		t.Errorf("found %d steps, expected %d\n%s", ended, len(steps), said)
	}
}

// packed compresses a file.
func packed(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(z, in)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
