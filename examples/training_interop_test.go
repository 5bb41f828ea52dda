//go:build interop || interopdata

// Package examples_test runs the training examples, each with the framework that it is for, and checks
// the figures that they print.
package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
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
