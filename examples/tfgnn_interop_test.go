//go:build interop

package examples_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// TestPeerTFGNN trains a Keras model of TF-GNN on the TFRecords of the quickstart.
func TestPeerTFGNN(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "quickstart")
	graphmill(t, "quickstart", "--out", dir)
	out := python(t, "tfgnn", "debian-tfgnn/train.py", filepath.Join(dir, "samples"), strconv.Itoa(proof.Count(t, 1, 3)))
	timed(t, out)
	if largest, got := figure(t, out, "largest section: test accuracy"), figure(t, out, "TFRecords: test accuracy"); got < largest+0.3 {
		t.Errorf("found a test accuracy of %.3f, and a largest section with %.3f of the papers, expected an accuracy of about 0.73 after one epoch or 0.83 after three, and a share of 0.36", got, largest)
	}
}
