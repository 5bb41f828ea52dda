package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/limits"
)

// TestPartitionTooManyEdges: where a graph has more edges than multilevel can number in memory, the commands divide it out
// of core and say why; a bound of the memory is blamed only where that does not suffice.
func TestPartitionTooManyEdges(t *testing.T) {
	dir := t.TempDir()
	graphmill := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if status := runCommand(append([]string{"graphmill"}, args...), &out, &out); status != want {
			t.Fatalf("%v: status %d, expected %d: %s", args, status, want, out.String())
		}
		return out.String()
	}
	g := filepath.Join(dir, "g.store")
	graphmill(exitDone, "generate", "community", "--n", "3000", "--seed", "4", "--out", g)
	defer func(n int64) { limits.Neighbours = n }(limits.Neighbours)
	limits.Neighbours = 20_000
	for i, command := range []string{"partition", "partition-graph"} {
		for _, more := range [][]string{nil, {"--memory", "1GiB"}} {
			out := filepath.Join(dir, fmt.Sprint("out", i, len(more)))
			text := graphmill(exitDone, append([]string{command, g, "--parts", "4", "--out", out}, more...)...)
			if !strings.Contains(text, "edges, and in memory multilevel numbers at most 10,000: it runs out of core") || strings.Contains(text, "multilevel needs about") {
				t.Errorf("%s %v: found %s", command, more, text)
			}
		}
	}
	if text := graphmill(exitDone, "partition", g, "--parts", "4", "--method", "fennel", "--out", filepath.Join(dir, "fennel")); strings.Contains(text, "warning") {
		t.Errorf("found %s", text)
	}
}
