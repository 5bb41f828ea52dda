package tabletest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Peer runs a script with the python of the peers of tables, and returns what it prints.
func Peer(t *testing.T, args ...string) []byte {
	t.Helper()
	peers := exec.Command("../../../../bench/peers.sh", "tables")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tables: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}
