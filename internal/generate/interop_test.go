//go:build interop

package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommunity2M checks the graph against the sum with which its measurements are published.
func TestCommunity2M(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(os.Getenv("GRAPHMILL_SHARED"), "data", "partition", "README.md"))
	if err != nil {
		t.Fatalf("%v; set GRAPHMILL_SHARED", err)
	}
	sum := graphSum(communityGraph(t, 1, 2_000_000, 2))
	if !strings.Contains(string(readme), "| community2m | 2000000 | 29000148 | 12534 | 0 | `"+sum+"` |") {
		t.Errorf("found sum %s, expected that of community2m", sum)
	}
}
