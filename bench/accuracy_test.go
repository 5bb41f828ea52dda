//go:build interop

package bench_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// accurate trains on small random data with the peer's loaders and with Graphmill's. The script fails if a mean differs by
// more than its bound, or if a training without edges, times or training is as good.
func accurate(t *testing.T, peer string, trainings ...string) {
	t.Helper()
	proof.OnlyLong(t, "trains many models; minutes")
	args := append([]string{"--made", "--seeds", "3", "--peers", peer, "--trainings"}, trainings...)
	cmd := exec.CommandContext(t.Context(), "./accuracy.py", args...)
	cmd.Stderr = os.Stderr
	if out, err := cmd.Output(); err != nil {
		t.Errorf("%q: %v\n%s", args, err, out)
	}
}

func TestPeerAccuracyPyG(t *testing.T) {
	accurate(t, "pyg", "papers", "saint", "clusters", "shadow", "words", "links", "held-out", "events")
}
func TestPeerAccuracyDGL(t *testing.T) { accurate(t, "dgl", "papers", "labor", "links", "graphs") }
