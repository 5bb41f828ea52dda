package stream

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/store"
)

// drawSpill is sizes so small that streams have many extents, runs of blocks several
// parts, and epochs several windows.
func drawSpill(t *rapid.T) *spillSizes {
	return &spillSizes{
		extent: 4096 * rapid.IntRange(1, 2).Draw(t, "extent"), run: uint32(rapid.IntRange(1, 3).Draw(t, "run")),
		group: uint64(rapid.IntRange(1, 4).Draw(t, "group")), window: uint64(rapid.IntRange(1, 60).Draw(t, "window")),
		sort: rapid.SampledFrom([]int{500, 3000, 100_000}).Draw(t, "sort"),
	}
}

// TestSpilledEqualsMemory holds that an epoch on disk gives what the memory executor
// gives.
func TestSpilledEqualsMemory(t *testing.T) {
	for name, s := range map[string]*store.Store{"typed": typedStore(t), "plain": plainStore(t)} {
		t.Run(name, func(t *testing.T) {
			scratch := t.TempDir()
			rapid.Check(t, func(r *rapid.T) {
				p := drawPlan(r, s.Graph)
				job := drawJob(r, s.Graph, p)
				opt := Options{Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Ops: rapid.Bool().Draw(r, "ops"), NoEdgeIDs: rapid.IntRange(0, 3).Draw(r, "no edge ids") == 0,
					Design: Spilled, Scratch: scratch, spill: drawSpill(r)}
				want, stats := memory(t, s, p, job, opt)
				if len(want) > 0 && rapid.Bool().Draw(r, "later") {
					job.From = uint64(rapid.IntRange(0, int(stats.Batches)).Draw(r, "from"))
					want, stats = memory(t, s, p, job, opt)
				}
				got, counted, _ := streamed(t, s, p, job, opt)
				if !slices.Equal(got, want) {
					r.Fatalf("found\n%q\nexpected\n%q", got, want)
				}
				if counted != stats {
					r.Fatalf("found counts %+v, expected %+v", counted, stats)
				}
			})
		})
	}
}
