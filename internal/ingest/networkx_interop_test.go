//go:build interop

package ingest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Random graphs of the installed networkx are read as they are.
func TestPeerNetworkX(t *testing.T) {
	peers := exec.Command("../../bench/peers.sh", "pyg") // installs networkx, too
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh pyg: %v", err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(strings.TrimSpace(string(python)), "testdata/networkx/make.py", dir, "1", "2", "3", "4").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkNetworkX(t, dir)
}
