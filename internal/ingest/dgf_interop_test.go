//go:build interop

package ingest

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// Random graphs that the installed DGF writes are read as it reads them.
func TestPeerDGF(t *testing.T) {
	peers := exec.Command("../../bench/peers.sh", "frames")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh frames: %v", err)
	}
	args := []string{"-W", "ignore", "testdata/dgf/make.py", t.TempDir()}
	for seed := range proof.Count(t, 20, 200) {
		args = append(args, strconv.Itoa(seed))
	}
	if out, err := exec.Command(strings.TrimSpace(string(python)), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkDGF(t, args[3])
}
