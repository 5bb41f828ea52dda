package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDocs runs the blocks of the documentation as printed, with this command and a Python that has
// NumPy alone: python/tests/test_docs.py says how. `make interop` runs the blocks that need frameworks.
func TestDocs(t *testing.T) {
	python, named := os.LookupEnv("GRAPHMILL_PYTHON")
	if !named {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil && named {
		t.Fatalf("GRAPHMILL_PYTHON=%s: %v\n%s; expected a Python with NumPy", python, err, out)
	} else if err != nil {
		t.Skip("python3 has no NumPy; set GRAPHMILL_PYTHON to a Python that has it")
	}
	command, err := exec.LookPath("graphmill") // of TestMain
	if err != nil {
		t.Fatal(err)
	}
	seen(t, "../../README.md", "../../CONTRIBUTING.md", "../../docs", "../../examples", "../../python")
	cmd := exec.Command(python, "-B", "-m", "unittest", "discover", "-s", "../../python/tests", "-p", "test_docs.py")
	cmd.Env = append(os.Environ(), "GRAPHMILL_COMMAND="+command, "PYTHONPATH=../../python/src")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// seen tells go test which files the result depends on, so that it runs the test again after
// one of them has changed.
func seen(t *testing.T, roots ...string) {
	t.Helper()
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = os.Stat(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
