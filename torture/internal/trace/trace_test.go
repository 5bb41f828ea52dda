package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/graphmill/graphmill/torture/internal/command"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cat := command.Call{Program: "/bin/sh", Args: []string{"-c", "cat f; cat f > g"}, Dir: dir} // cat is a child process
	log := filepath.Join(t.TempDir(), "log")
	outcome, r := Run(t, cat, Options{Below: dir, Log: log})
	if r.Status != 0 || r.Stdout != "text\n" {
		t.Fatalf("%s", r)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if int64(len(lines)) != outcome.Calls || !strings.Contains(string(b), " open "+dir+"/f\n") || !strings.Contains(string(b), " create "+dir+"/g\n") {
		t.Fatalf("found %d calls: %s", outcome.Calls, b)
	}
	failed, killed := 0, 0
	for at := int64(1); at <= outcome.Calls; at++ {
		got, r := Run(t, cat, Options{Below: dir, At: at, Errno: unix.EIO})
		if got.Hit == nil || got.Hit.Number != at {
			t.Errorf("call %d was not met: %+v", at, got)
		} else if got.Hit.Op == "read" && strings.Contains(r.Stderr, "Input/output error") {
			failed++
		}
		if _, r = Run(t, cat, Options{Below: dir, At: at, Signal: unix.SIGKILL}); r.Signal == unix.SIGKILL || strings.Contains(r.Stderr, "Killed") {
			killed++
		}
	}
	if failed == 0 || killed != int(outcome.Calls) {
		t.Errorf("found %d reads that failed, and %d of %d runs killed", failed, killed, outcome.Calls)
	}
}
