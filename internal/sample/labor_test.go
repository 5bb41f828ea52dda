package sample

import (
	"math"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// sharp is how far a frequency of n trials may be from its chance p.
func sharp(p float64, n int) float64 { return 5*math.Sqrt(p*(1-p)/float64(n)) + 1e-9 }

// laborChances is how often LABOR picks each edge of a node, whose far ends differ: edge i has the number u / weights[i], for u uniform
// in (0, 1], and is picked where fewer than k others have smaller ones. The integral over its number is a sum of rectangles.
func laborChances(weights []float64, k int) []float64 {
	const steps = 20_000
	out := make([]float64, len(weights))
	for i, w := range weights {
		for s := range steps {
			number := (float64(s) + 0.5) / steps / w
			below := make([]float64, k+1) // chances that so many others are below; the last one: k or more
			below[0] = 1
			for j, other := range weights {
				if j == i {
					continue
				}
				p := min(1, other*number)
				below[k] += below[k-1] * p
				for n := k - 1; n > 0; n-- {
					below[n] = below[n]*(1-p) + below[n-1]*p
				}
				below[0] *= 1 - p
			}
			out[i] += (1 - below[k]) / steps
		}
	}
	return out
}

// TestLaborChances compares how often LABOR picks each edge with the law that docs/plan.md states: parallel edges share the number of
// their far end, and a weight divides it.
func TestLaborChances(t *testing.T) {
	for _, test := range []struct {
		name    string
		far     []float64
		weights []float64
		k       int
		want    []float64
	}{
		{"parallel edges", []float64{3, 0, 3, 3}, nil, 2, []float64{1, 0.5, 0.5, 0}},
		{"parallel edges, take 1", []float64{3, 0, 3, 3}, nil, 1, []float64{0.5, 0.5, 0, 0}},
		{"the heaviest parallel edge first", []float64{3, 3}, []float64{1, 2}, 1, []float64{0, 1}},
		{"no parallel edges", []float64{0, 1, 2, 3}, nil, 3, []float64{0.75, 0.75, 0.75, 0.75}},
		{"two weights", []float64{0, 1}, []float64{1.62, 0.83}, 1, []float64{1 - 0.83/1.62/2, 0.83 / 1.62 / 2}},
		{"weights", []float64{0, 1, 2, 3, 4}, []float64{5, 1, 2, 0.5, 3}, 2, laborChances([]float64{5, 1, 2, 0.5, 3}, 2)},
		{"many edges: nearly in proportion", []float64{0, 1, 2, 3, 4, 5, 6, 7}, []float64{2, 1, 2, 1, 2, 1, 2, 1}, 1, laborChances([]float64{2, 1, 2, 1, 2, 1, 2, 1}, 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := map[string][]*float64{}
			for i, u := range test.far {
				e["src"], e["dst"] = append(e["src"], number(u)), append(e["dst"], number(0))
				if test.weights != nil {
					e["w"] = append(e["w"], number(test.weights[i]))
				}
			}
			op := Op{From: []int{0}, Edges: "leaf:to:hub", Take: test.k, How: Labor}
			if test.weights != nil {
				op.Column = "w"
			}
			g := (&refGraph{Nodes: map[string]int{"leaf": 8, "hub": 1}, Edges: map[string]map[string][]*float64{"leaf:to:hub": e}}).build(graph.In)
			s, err := New(g, &Plan{SeedType: []string{"hub"}, Scope: ScopeBatch, Ops: []Op{op}}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			const batches = 50_000
			c, seen := s.NewContext(), make([]float64, len(test.far))
			for unit := range uint64(batches) {
				sub, err := c.Sample(Input{Seeds: []uint32{0}, Seed: 11, Unit: unit})
				if err != nil {
					t.Fatal(err)
				}
				for _, id := range narrow(sub.Edges[0].ID) {
					seen[id]++
				}
			}
			for i, p := range test.want {
				if got := seen[i] / batches; math.Abs(got-p) > sharp(p, batches) {
					t.Errorf("edge %d: found it in %.4f of the batches, expected %.4f", i, got, p)
				}
			}
		})
	}
}

// TestImportanceVariance pins what docs/plan.md says of LABOR-i: a mean by edge_weights has a variance of 1 to 1.4 times the variance of a mean
// over as many uniform draws without replacement as the fanout says, and now and then a node gets no edge.
func TestImportanceVariance(t *testing.T) {
	const seeds, leaves, units = 40, 150, 1500
	e := map[string][]*float64{}
	lists := make([][]int, seeds)
	state := uint64(7)
	for v := range lists {
		degree := 15 + v
		for u := range leaves { // low leaves are in many lists, high ones in few
			state = state*6364136223846793005 + 1442695040888963407
			if left := degree - len(lists[v]); float64(state>>11)/(1<<53) < 8/float64(8+u)+0.05 && left > 0 || left >= leaves-u {
				lists[v] = append(lists[v], u)
				e["src"], e["dst"] = append(e["src"], number(float64(u))), append(e["dst"], number(float64(v)))
			}
		}
	}
	value := func(u int) float64 { return math.Sin(float64(u * u)) }
	g := (&refGraph{Nodes: map[string]int{"leaf": leaves, "seed": seeds}, Edges: map[string]map[string][]*float64{"leaf:to:seed": e}}).build(graph.In)
	input := make([]uint32, seeds)
	for i := range input {
		input[i] = uint32(i)
	}
	for _, test := range []struct{ take, rounds int }{{5, 1}, {5, 2}, {10, 1}} {
		s, err := New(g, &Plan{SeedType: []string{"seed"}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: "leaf:to:seed", Take: test.take, How: Labor, Parameters: Parameters{Importance: test.rounds}}}}, Options{Weights: true})
		if err != nil {
			t.Fatal(err)
		}
		c, off := s.NewContext(), make([]float64, seeds)
		means, spread := make([]float64, seeds), make([]float64, seeds)
		for v, far := range lists {
			degree := float64(len(far))
			for _, u := range far {
				means[v] += value(u) / degree
			}
			for _, u := range far {
				spread[v] += (value(u) - means[v]) * (value(u) - means[v]) / (degree - 1)
			}
		}
		drawn, without := 0, 0
		for unit := range uint64(units) {
			sub, err := c.Sample(Input{Seeds: input, Seed: 2, Unit: unit})
			if err != nil {
				t.Fatal(err)
			}
			sum, total := make([]float64, seeds), make([]float64, seeds)
			b := sub.Edges[0]
			for i, dst := range b.Dst {
				u := sub.Nodes[g.NodeType("leaf")][b.Src[i]]
				sum[dst] += float64(b.Weight[i]) * value(int(u))
				total[dst] += float64(b.Weight[i])
			}
			for v := range sum {
				x := 0.0
				if total[v] > 0 {
					x = sum[v] / total[v]
				} else {
					without++
				}
				off[v] += (x - means[v]) * (x - means[v]) / units
			}
			drawn += len(b.Src)
		}
		s.Close()
		ratio := 0.0
		for v := range off {
			ratio += off[v] / ((1/float64(test.take) - 1/float64(len(lists[v]))) * spread[v]) / seeds
		}
		t.Logf("fanout %d, %d rounds: variance %.3f times, %.3f edges, %.5f without", test.take, test.rounds, ratio, float64(drawn)/units/seeds, float64(without)/units/seeds)
		if ratio < 1 || ratio > 1.4 {
			t.Errorf("fanout %d, %d rounds: found a variance of %.3f times that of uniform draws, expected 1 to 1.4", test.take, test.rounds, ratio)
		}
		if edges := float64(drawn) / units / seeds; edges < 0.99*float64(test.take) {
			t.Errorf("fanout %d, %d rounds: found %.3f edges per node, expected the fanout or more", test.take, test.rounds, edges)
		}
	}
}
