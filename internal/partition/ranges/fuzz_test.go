package ranges

import (
	"errors"
	"testing"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// FuzzMessages reads any bytes as each kind of message. They are refused, or name only nodes, clusters and parts that there are.
func FuzzMessages(f *testing.F) {
	p, err := NewPlan(100, true, []int64{100, 50}, undirected.Options{Parts: 4, Imbalance: []float64{1.03}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add((&Proposals{Items: []Proposal{{1, 2, 3}}, Sizes: []uint32{4, 5}}).Append(nil))
	f.Add((&Joins{Items: []Join{{1, 2}, {99, 0}}, Sizes: []uint32{1, 0, 1, 1}}).Append(nil))
	f.Add(AppendPairs(nil, []Pair{{1, 2, 3}, {1, 4, 1}}))
	f.Add((&Histogram{Bins: []Bin{{0, 7}, {3, 1}}, Weights: []int64{1, 2, 3, 4}}).Append(nil, make([]bool, 8)))
	f.Add((&Moves{Items: []Move{{1, 3}, {7, 0}}, Shift: make([]int64, 8)}).Append(nil))
	f.Add((&Wants{Items: []Want{{1, 3, 300}, {7, 0, 2}}, Sizes: []uint32{1, 0, 1, 1}}).Append(nil))
	f.Add(Degrees{{3, 2, 6}, {4, 1, 4}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			check := func(err error) bool {
				if err != nil && !errors.Is(err, ErrMessage) {
					t.Errorf("found %v, expected %v", err, ErrMessage)
				}
				return err == nil
			}
			if m, err := p.ParseProposals(b); check(err) {
				for _, x := range m.Items {
					if x.Target >= 100 || x.Node >= 100 || len(m.Sizes) != 2*len(m.Items) {
						t.Errorf("found %v", m)
					}
				}
			}
			if m, err := p.ParseJoins(b); check(err) {
				for _, x := range m.Items {
					if x.To >= 100 || x.Node >= 100 || len(m.Sizes) != 2*len(m.Items) {
						t.Errorf("found %v", m)
					}
				}
			}
			if pairs, err := ParsePairs(b, 10); check(err) {
				for _, x := range pairs {
					if x.A >= x.B || x.B >= 10 {
						t.Errorf("found %v", x)
					}
				}
			}
			if m, demand, err := p.ParseHistogram(b); check(err) && (len(demand) != 8 || len(m.Weights) != 2*len(m.Bins)) {
				t.Errorf("found %v, %v", m, demand)
			}
			if m, err := p.ParseMoves(b); check(err) {
				for _, x := range m.Items {
					if x.Node >= 100 || x.To >= 4 {
						t.Errorf("found %v", x)
					}
				}
			}
			if m, err := p.ParseWants(b); check(err) {
				for _, x := range m.Items {
					if x.Node >= 100 || x.To >= 4 || len(m.Sizes) != 2*len(m.Items) {
						t.Errorf("found %v", m)
					}
				}
			}
			_, err := ParseDegrees(b)
			check(err)
		})
	})
}
