//go:build interopdata

package bench_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/proof"
)

// TestDataFeatureFit trains on features of an import and on those of scikit-learn, whose values the script compares. It fails if the
// results differ, or if a column that counts the future does not leak.
func TestDataFeatureFit(t *testing.T) {
	proof.OnlyLong(t, "trains many models; a minute")
	golden.Data(t) // GRAPHMILL_DATA is set
	cmd := exec.CommandContext(t.Context(), "./feature_fit.py", "--seeds", "2", "--trainings", "returns", "share")
	cmd.Stderr = os.Stderr
	if out, err := cmd.Output(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
