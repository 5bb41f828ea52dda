package graphmill_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// examples/library is a module of its own: it builds with what other modules can import, and prints what Example does.
func TestLibrary(t *testing.T) {
	program := filepath.Join(t.TempDir(), "library")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "examples/library"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err := exec.Command(program, "testdata/library", t.TempDir()).CombinedOutput()
	const want = "batch 0: 5 nodes, 5 edges, first row [0.9 0.1]\nbatch 1: 1 nodes, 0 edges, first row [0.3 0.8]\n5 subgraphs in 2 packs\n"
	if err != nil || string(out) != want {
		t.Errorf("%v: found\n%s\nexpected\n%s", err, out, want)
	}
}
