package supply

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestToolchain runs scripts/toolchain.sh, which every script that builds for others sources, with a Go of each version: one that is older
// than the toolchain of go.mod is replaced by it, or refused where it cannot be fetched.
func TestToolchain(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(mod), "\ntoolchain ")
	need, _, found := strings.Cut(rest, "\n")
	if !found {
		t.Fatal("found no toolchain line in go.mod")
	}
	for name, test := range map[string]struct {
		have      string
		fetched   bool // the module proxy has the toolchain
		toolchain string
		status    int
	}{
		"the same":           {need, false, "", 0},
		"newer":              {"go1.999.0", false, "", 0},
		"newer, experiments": {"go1.999.0 X:nodwarf5", false, "", 0},
		"older":              {"go1.26.8", true, need, 0},
		"older, no proxy":    {"go1.26.8", false, "", 1},
		"much older":         {"go1.9", false, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			// A Go that tells a version, and fails where it is asked to be another one that it cannot fetch.
			fake := fmt.Sprintf("#!/bin/sh\n[ -z \"$GOTOOLCHAIN\" ] || %v || exit 1\n[ \"$1\" = version ] || echo %q\n", test.fetched, test.have)
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte(fake), 0o755); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
			c := exec.Command("bash", "-c", `source scripts/toolchain.sh && echo "$GOTOOLCHAIN"`)
			c.Dir = root(t)
			c.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			var stdout, stderr strings.Builder
			c.Stdout, c.Stderr = &stdout, &stderr
			err := c.Run()
			if status := c.ProcessState.ExitCode(); status != test.status || strings.TrimSpace(stdout.String()) != test.toolchain {
				t.Errorf("found status %d, toolchain %q: %v\n%s", status, stdout.String(), err, stderr.String())
			}
			if says := "cannot get " + need; (test.status != 0) != strings.Contains(stderr.String(), says) {
				t.Errorf("found %q, expected a line that says %q only where the build is refused", stderr.String(), says)
			}
		})
	}
}
