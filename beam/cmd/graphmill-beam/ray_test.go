//go:build cluster

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// Tasks of a Ray on this machine make the output of one process, and the error of a step ends the command.
func TestRay(t *testing.T) {
	proof.OnlyLong(t, "a Ray, which takes 300 MB of packages")
	peers := exec.CommandContext(t.Context(), "../../../bench/peers.sh", "integrations")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh integrations: %v", err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store := shopStore(t)
	fanout := []string{"--seeds", "user", "--direction", "out", "--fanout", "4,3,2"}
	dir := t.TempDir()
	one, out := filepath.Join(dir, "one"), filepath.Join(dir, "out")
	alone(t, one, append([]string{store}, fanout...)...)
	run := func(args ...string) (string, error) {
		all := slices.Concat([]string{"-B", filepath.Join(stepFiles, "ray", "steps.py"), "--program", program, "--wait", "1m", "2", "sample"}, args, []string{"--method", "shuffle", "--out", out})
		text, err := exec.CommandContext(t.Context(), strings.TrimSpace(string(python)), all...).CombinedOutput()
		return string(text), err
	}
	if text, err := run("no.store", "--fanout", "2"); err == nil || !strings.Contains(text, "no.store") {
		t.Errorf("found %v, %q, expected an error about the store", err, text)
	}
	if text, err := run(append([]string{store}, fanout...)...); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got, want := manifest(t, out), manifest(t, one); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	onlyOutput(t, dir, "one", "out")
}
