package stream

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/store"
)

// TestCondensedEqualsMemory holds that condensed layers give what the memory executor
// gives, for any plan of scope epoch, any number of epochs together, and budgets that
// hold a part of them.
func TestCondensedEqualsMemory(t *testing.T) {
	for name, s := range map[string]*store.Store{"typed": typedStore(t), "plain": plainStore(t)} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				p := drawPlan(r, s.Graph)
				p.Scope, p.Before = sample.ScopeEpoch, nil
				job := drawJob(r, s.Graph, p)
				job.Epochs = rapid.IntRange(1, 7).Draw(r, "epochs in all")
				opt := Options{Design: Condensed, Threads: rapid.IntRange(1, 3).Draw(r, "threads"), Ops: rapid.Bool().Draw(r, "ops"), NoEdgeIDs: rapid.IntRange(0, 3).Draw(r, "no edge ids") == 0,
					Epochs: rapid.IntRange(0, 9).Draw(r, "together")}
				if rapid.Bool().Draw(r, "budget") {
					opt.Memory = int64(rapid.IntRange(64, 300).Draw(r, "MiB")) << 20
				}
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
