//go:build interop

package generate_test

import (
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// TestPeerCommunity2M holds the graph to the sum that its measurements are published with, which bench/partition_graphs.py has too.
func TestPeerCommunity2M(t *testing.T) {
	proof.OnlyLong(t, "29 million edges")
	const want = "b171db2522012e5e7e5102a7e5e521ba5968317f580eb26d82443dc5cfeb10fe"
	if g := communityGraph(t, 1, 2_000_000, 2); g.Pairs() != 29_000_148 || graphSum(g) != want {
		t.Errorf("found %d pairs of sum %s, expected 29000148 of %s", g.Pairs(), graphSum(g), want)
	}
}
