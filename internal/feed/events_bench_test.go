package feed

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/event"
	"github.com/graphmill/graphmill/internal/event/eventtest"
)

// BenchmarkEvents writes slots of batches of 200 events of a million, of 10,000 nodes, with 10 neighbours.
func BenchmarkEvents(b *testing.B) {
	const events, nodes, batch = 1_000_000, 10_000, 200
	g, c := eventtest.Random(events, nodes)
	s, err := event.Open(b.Context(), g, []event.Source{{Time: c}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for name, history := range map[string]event.History{"event": event.BeforeEvent, "batch": event.BeforeBatch, "pyg": event.LikePyG} {
		b.Run(name, func(b *testing.B) {
			src, err := NewEvents(g, s, s.Divide(batch, false), EventOptions{Options: event.Options{Neighbours: 10, History: history}, Types: []int{0}, Ranks: 1}, Features{NoEdgeIDs: true})
			if err != nil {
				b.Fatal(err)
			}
			m, dst := src.Maker(), make([]uint64, src.slot/8+1)
			for b.Loop() {
				for slot := range src.Slots() {
					n, _ := m.Batch(nil, 0, slot)
					m.write(graph.Bytes(dst)[:n], ticket{})
				}
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
