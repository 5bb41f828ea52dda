package tabletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Peer runs a script with the python of the peers of tables, and returns what it prints.
func Peer(t *testing.T, args ...string) []byte {
	t.Helper()
	return PeerNamed(t, "tables", args...)
}

// PeerNamed runs a script with the python of a peer of bench/peers.sh, and returns what it prints.
func PeerNamed(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	root := ".."
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join("..", root)
	}
	peers := exec.Command(filepath.Join(root, "bench/peers.sh"), name)
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh %s: %v", name, err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out
}
