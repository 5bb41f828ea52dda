package sample

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// star is a graph of one node with n in-edges, with the given weights.
func star(weights []float64) *graph.Graph {
	n := len(weights)
	column := make([]*float64, n)
	src := make([]*float64, n)
	dst := make([]*float64, n)
	for i, w := range weights {
		column[i], src[i], dst[i] = number(w), number(float64(i)), number(0)
	}
	g := &refGraph{
		Nodes: map[string]int{"leaf": n, "hub": 1},
		Edges: map[string]map[string][]*float64{"leaf:to:hub": {"src": src, "dst": dst, "d_weight": column}},
	}
	return g.build(graph.In)
}

// inclusion is the probability of each set of k items (as bits) where items are taken one at a time in proportion to
// their weights. It enumerates all orders.
func inclusion(weights []float64, k int) map[uint32]float64 {
	sets := map[uint32]float64{0: 1}
	for range k {
		next := map[uint32]float64{}
		for set, p := range sets {
			left := 0.0
			for i, w := range weights {
				if set>>i&1 == 0 {
					left += w
				}
			}
			for i, w := range weights {
				if set>>i&1 == 0 && w > 0 {
					next[set|1<<i] += p * w / left
				}
			}
		}
		sets = next
	}
	return sets
}

// chiSquareLimit is the value that a chi-square variable of df degrees exceeds
// with a chance of 10^-6 (Wilson and Hilferty's approximation).
func chiSquareLimit(df int) float64 {
	const z = 4.7534
	d := float64(df)
	return d * math.Pow(1-2/(9*d)+z*math.Sqrt(2/(9*d)), 3)
}

// TestInclusion draws more than 10^6 edges per strategy and compares the frequency of each set of edges with its
// probability.
func TestInclusion(t *testing.T) {
	ones := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	uneven := []float64{1, 2, 3, 0.5, 10, 4, 0, 1}
	heavy := []float64{1e7, 1, 2, 1, 1, 3, 1, 1} // walk takes over
	for _, test := range []struct {
		name    string
		how     How
		weights []float64
		k       int
	}{
		{"uniform", Uniform, ones, 3},
		{"replace", Replace, ones, 3},
		{"weighted", Weighted, uneven, 3},
		{"weighted, equal", Weighted, ones, 4},
		{"weighted, one heavy", Weighted, heavy, 3},
		{"labor", Labor, ones, 3},
		{"recent", Recent, []float64{8, 1, 0.5, 4, 2, 4, 1, 0.125}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			op := Op{From: []int{0}, Edges: "leaf:to:hub", Take: test.k, How: test.how}
			column := slices.Clone(test.weights)
			switch test.how {
			case Weighted:
				op.Column = "d_weight"
			case Recent: // times with these weights
				op.Column, op.HalfLife = "d_weight", 0.25
				for i, w := range column {
					column[i] = -1e9 + 0.25*math.Log2(w)
				}
			}
			s, err := New(star(column), &Plan{SeedType: []string{"hub"}, Scope: ScopeBatch, Ops: []Op{op}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := inclusion(test.weights, test.k)
			if test.how == Replace {
				want = map[uint32]float64{}
				for item := range uint32(len(ones)) {
					want[1<<item] = 1 / float64(len(ones))
				}
			}
			c := s.NewContext()
			seen := map[uint32]float64{}
			batches := 1_000_000/test.k + 1
			if test.how == Uniform { // one edge per set: three draws each
				batches = 1_000_000
			}
			total := 0.0
			for unit := range uint64(batches) {
				sub, err := c.Sample(Input{Seeds: []uint32{0}, Seed: 5, Unit: unit})
				if err != nil {
					t.Fatal(err)
				}
				ids := narrow(sub.Edges[0].ID)
				if len(ids) != test.k {
					t.Fatalf("found %d edges, expected %d", len(ids), test.k)
				}
				if test.how == Replace {
					for _, id := range ids {
						seen[1<<id]++
						total++
					}
					continue
				}
				set := uint32(0)
				for _, id := range ids {
					set |= 1 << id
				}
				if bits.OnesCount32(set) != test.k {
					t.Fatalf("found edges %v, expected distinct ones", ids)
				}
				seen[set]++
				total++
			}
			chi, df, rare, rareSeen := 0.0, -1, 0.0, 0.0
			for set, p := range want {
				e := p * total
				if e < 10 { // too few for the approximation: all such sets are one class
					rare += e
					rareSeen += seen[set]
					continue
				}
				chi += (seen[set] - e) * (seen[set] - e) / e
				df++
			}
			for set := range seen {
				if want[set] == 0 {
					t.Fatalf("found the set %b, which has no chance", set)
				}
			}
			if rare > 5 {
				chi += (rareSeen - rare) * (rareSeen - rare) / rare
				df++
			}
			if limit := chiSquareLimit(df); chi > limit {
				t.Errorf("found chi-square %.1f with %d degrees of freedom, expected at most %.1f", chi, df, limit)
			}
		})
	}
}
