package event

import (
	"testing"

	"github.com/graphmill/graphmill/internal/event/eventtest"
)

// BenchmarkMake makes batches of 200 of a million events of 10,000 nodes with their 10 latest neighbours, the shape of the study.
func BenchmarkMake(b *testing.B) {
	const events, nodes, batch = 1_000_000, 10_000, 200
	g, c := eventtest.Random(events, nodes)
	s, err := Open(b.Context(), g, []Source{{Time: c}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for name, history := range map[string]History{"event": BeforeEvent, "batch": BeforeBatch, "pyg": LikePyG} {
		b.Run(name, func(b *testing.B) {
			m := NewMaker(s.Divide(batch, false), Options{Neighbours: 10, History: history})
			for b.Loop() {
				for at := range events / batch {
					m.Make(0, at)
				}
			}
			b.ReportMetric(float64(events)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
