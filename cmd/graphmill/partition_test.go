package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/limits"
)

// TestPartitionTooManyEdges: where a graph has more edges than multilevel can number, the
// commands say so, ask for another method and write nothing; a bound of the memory is blamed
// only where there is one that does not suffice.
func TestPartitionTooManyEdges(t *testing.T) {
	dir := t.TempDir()
	graphmill := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if status := run(append([]string{"graphmill"}, args...), &out, &out); status != want {
			t.Fatalf("%v: status %d, expected %d: %s", args, status, want, out.String())
		}
		return out.String()
	}
	g := filepath.Join(dir, "g.store")
	graphmill(exitDone, "generate", "community", "--n", "3000", "--seed", "4", "--out", g)
	defer func(n int64) { limits.Neighbours = n }(limits.Neighbours)
	limits.Neighbours = 20_000
	for _, command := range []string{"partition", "partition-graph"} {
		for _, more := range [][]string{nil, {"--memory", "1GiB"}} {
			text := graphmill(exitUsage, append([]string{command, g, "--parts", "4", "--out", filepath.Join(dir, "out")}, more...)...)
			if !strings.Contains(text, "edges, expected at most 10,000 for the method multilevel, which numbers neighbours with 32 bits") ||
				!strings.Contains(text, "; give --method fennel") || strings.Contains(text, "memory") {
				t.Errorf("%s %v: found %s", command, more, text)
			}
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*out*")); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v", command, left)
		}
	}
	if text := graphmill(exitDone, "partition", g, "--parts", "4", "--memory", "21000KiB", "--out", filepath.Join(dir, "bound")); !strings.Contains(text, "multilevel needs about") ||
		!strings.Contains(text, "more than the memory bound of 20.5 MiB: fennel, which streams the graph, took its place") {
		t.Errorf("found %s", text)
	}
	if text := graphmill(exitDone, "partition", g, "--parts", "4", "--method", "fennel", "--out", filepath.Join(dir, "fennel")); strings.Contains(text, "warning") {
		t.Errorf("found %s", text)
	}
}
