package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// TestExponential compares the logarithm of the law with math.Log.
func TestExponential(t *testing.T) {
	sum := 0.0
	const n = 100_000
	for i := range uint64(n) {
		bits := draw.At(7, i)
		got, want := exponential(bits), -math.Log(draw.Unit(bits))
		if math.Abs(got-want) > 1e-15*(1+want) {
			t.Fatalf("draw %d: found %v, expected %v", i, got, want)
		}
		sum += got
	}
	if mean := sum / n; math.Abs(mean-1) > 0.02 {
		t.Errorf("found a mean of %v, expected 1", mean)
	}
	for _, bits := range []uint64{0, 1, 1 << 11, math.MaxUint64, math.MaxUint64 >> 1} {
		if got, want := exponential(bits), -math.Log(draw.Unit(bits)); math.Abs(got-want) > 1e-15*(1+want) || got < 0 {
			t.Errorf("bits %x: found %v, expected %v", bits, got, want)
		}
	}
}

// layeredGraph is a graph of three seeds with two to four neighbours each, out of six, of which two have one edge more between them.
func layeredGraph() (*graph.Graph, [][]uint32) {
	lists := [][]uint32{{0, 1}, {1, 2, 3}, {1, 3, 4, 5}}
	g := &refGraph{Nodes: map[string]int{"seed": 3, "leaf": 6}, Edges: map[string]map[string][]*float64{"leaf:to:seed": {}}}
	e := g.Edges["leaf:to:seed"]
	for v, far := range lists {
		for _, u := range far {
			e["src"], e["dst"] = append(e["src"], number(float64(u))), append(e["dst"], number(float64(v)))
		}
	}
	return g.build(graph.In), lists
}

// TestLayerChances compares how often a layer chooses each set of nodes with the chances of its paper.
func TestLayerChances(t *testing.T) {
	g, lists := layeredGraph()
	weights := make([]float64, 6)
	sums := make([]float64, 6)
	for _, far := range lists {
		for _, u := range far {
			weights[u] += 1 / float64(len(far)*len(far))
			sums[u] += 1 / float64(len(far))
		}
	}
	squares := make([]float64, 6)
	total := 0.0
	for u, s := range sums {
		squares[u] = s * s
		total += weights[u]
	}
	independent := map[uint32]float64{}
	for a, x := range weights {
		for b, y := range weights {
			independent[1<<a|1<<b] += x * y / total / total
		}
	}
	for _, test := range []struct {
		how  How
		want map[uint32]float64
	}{{Ladies, inclusion(weights, 2)}, {HGT, inclusion(squares, 2)}, {FastGCN, independent}} {
		t.Run(test.how.String(), func(t *testing.T) {
			plan := &Plan{SeedType: []string{"seed"}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: "leaf:to:seed", Take: 2, How: test.how}}}
			s, err := New(g, plan, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			c, seen := s.NewContext(), map[uint32]float64{}
			const batches = 300_000
			for unit := range uint64(batches) {
				sub, err := c.Sample(Input{Seeds: []uint32{0, 1, 2}, Seed: 3, Unit: unit})
				if err != nil {
					t.Fatal(err)
				}
				set, edges := uint32(0), 0
				for _, u := range sub.Nodes[g.NodeType("leaf")] {
					set |= 1 << u
					for _, far := range lists {
						if slices.Contains(far, u) {
							edges++
						}
					}
				}
				if edges != len(sub.Edges[0].Src) {
					t.Fatalf("found %d edges, expected all %d to the chosen nodes", len(sub.Edges[0].Src), edges)
				}
				seen[set]++
			}
			chi, df := 0.0, -1
			for set, p := range test.want {
				e := p * batches
				if e < 10 {
					t.Fatalf("found %v expected batches of a set, expected a case for the test", e)
				}
				chi += (seen[set] - e) * (seen[set] - e) / e
				df++
				delete(seen, set)
			}
			if len(seen) > 0 || chi > chiSquareLimit(df) {
				t.Errorf("found chi-square %.1f of %d degrees and the impossible sets %v", chi, df, seen)
			}
		})
	}
}

// TestImportance checks that the chances of LABOR-i fill the take of each node, and that more rounds reach fewer nodes.
func TestImportance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		x := &candidates{}
		d := 2 + r.IntN(40)
		far := make([]uint32, d)
		for i := range far {
			far[i] = uint32(i)
			x.weight = append(x.weight, math.Exp(3*r.NormFloat64()))
		}
		k := uint32(1 + r.IntN(d-1))
		c, sum := x.factor(far, k), 0.0
		for _, w := range x.weight {
			sum += 1 / min(1, c*w)
		}
		if want := float64(d*d) / float64(k); math.Abs(sum-want) > 1e-9*want {
			t.Fatalf("found a sum of inverse chances of %v for %d of %d, expected %v", sum, k, d, want)
		}
	}
	g, seeds := rmatGraph(t, 12, 16)
	last := math.MaxInt
	for rounds := range 4 {
		plan, err := FromFanouts(g, Fanouts{Each: []int{10}}, FanoutOptions{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, How: Labor, Parameters: Parameters{Importance: rounds}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(g, plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		nodes, drawn := 0, uint64(0)
		c := s.NewContext()
		for at := 0; at+200 <= len(seeds) && at < 4000; at += 200 {
			sub, err := c.Sample(Input{Seeds: seeds[at : at+200], Unit: uint64(at)})
			if err != nil {
				t.Fatal(err)
			}
			nodes += len(sub.Nodes[0])
			drawn += sub.Drawn
		}
		s.Close()
		if nodes >= last {
			t.Errorf("found %d nodes with %d rounds, expected fewer than %d", nodes, rounds, last)
		}
		t.Logf("%d rounds: %d nodes, %d edges", rounds, nodes, drawn)
		last = nodes
	}
}

// TestWeights checks that means by the weights of edges are about those over all edges, where the means without them are not.
func TestWeights(t *testing.T) {
	g, seeds := rmatGraph(t, 10, 16)
	adj := g.Edges[0].Adj[graph.In]
	degree := func(v uint32) float64 { return float64(adj.Indptr.At(int(v)+1) - adj.Indptr.At(int(v))) }
	// Far ends that many nodes have are drawn more often: their values are another.
	have := make([]float64, g.Nodes[0].Count)
	for i := range adj.Far.Len() {
		have[adj.Far.At(i)]++
	}
	value := func(u uint32) float64 { return math.Log1p(have[u]) }
	for _, op := range []Op{{How: Ladies, Take: 200}, {How: FastGCN, Take: 400}, {How: Labor, Take: 5, Parameters: Parameters{Importance: 1}}, {How: Labor, Take: 5, Parameters: Parameters{Importance: 3}}} {
		t.Run(fmt.Sprintf("%s %d", op.How, op.Importance), func(t *testing.T) {
			op.From, op.Edges = []int{0}, graph.HomogeneousEdge.String()
			plan := &Plan{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Ops: []Op{op}}
			s, err := New(g, plan, Options{Weights: true})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			c := s.NewContext()
			off, offAlike, nodes := 0.0, 0.0, 0.0
			for unit := range uint64(400) {
				at := int(unit*64) % (len(seeds) - 64)
				sub, err := c.Sample(Input{Seeds: seeds[at : at+64], Unit: unit})
				if err != nil {
					t.Fatal(err)
				}
				e := sub.Edges[0]
				sum, alike, count := make([]float64, len(sub.Nodes[0])), make([]float64, len(sub.Nodes[0])), make([]float64, len(sub.Nodes[0]))
				total := make([]float64, len(sub.Nodes[0]))
				for i, src := range e.Src {
					x := value(sub.Nodes[0][src])
					sum[e.Dst[i]] += float64(e.Weight[i]) * x
					alike[e.Dst[i]] += x
					total[e.Dst[i]] += float64(e.Weight[i])
					count[e.Dst[i]]++
				}
				for l, n := range count {
					v := sub.Nodes[0][l]
					if n == 0 || degree(v) < 20 {
						continue
					}
					if math.Abs(total[l]-n) > 1e-4*n {
						t.Fatalf("found weights with a sum of %v over %v edges, expected a mean of 1", total[l], n)
					}
					all := 0.0
					for p := adj.Indptr.At(int(v)); p < adj.Indptr.At(int(v)+1); p++ {
						all += value(uint32(adj.Far.At(int(p))))
					}
					off += sum[l]/n - all/degree(v)
					offAlike += alike[l]/n - all/degree(v)
					nodes++
				}
			}
			t.Logf("off by %.4f with weights and by %.4f without them", off/nodes, offAlike/nodes)
			if nodes < 1000 || math.Abs(off) > math.Abs(offAlike)/2 { // a mean of few edges by weights is not free of bias
				t.Errorf("found means that are off by %v with weights and by %v without them, over %v nodes; expected weights to help", off/nodes, offAlike/nodes, nodes)
			}
		})
	}
	plan := &Plan{SeedType: []string{graph.HomogeneousNode}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: graph.HomogeneousEdge.String(), Take: 2, How: Labor}}}
	if _, err := New(g, plan, Options{Weights: true}); err == nil || !strings.Contains(err.Error(), "found weights of edges with ops that draw alike") {
		t.Errorf("found error %v, expected one about ops that draw alike", err)
	}
}

// TestRanks compares the push with a solution of the PageRank to convergence, and with the bound on its error.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		n := 3 + r.IntN(30)
		have := map[[2]int]bool{}
		for range n + r.IntN(4*n) {
			a, b := r.IntN(n), r.IntN(n)
			have[[2]int{a, b}], have[[2]int{b, a}] = true, true
		}
		var pairs [][2]int
		for p := range have {
			pairs = append(pairs, p)
		}
		slices.SortFunc(pairs, func(a, b [2]int) int { return (a[1]-b[1])*n + a[0] - b[0] })
		e, degree := map[string][]*float64{}, make([]float64, n)
		for _, p := range pairs {
			e["src"], e["dst"] = append(e["src"], number(float64(p[0]))), append(e["dst"], number(float64(p[1])))
			degree[p[1]]++
		}
		g := (&refGraph{Nodes: map[string]int{"_N": n}, Edges: map[string]map[string][]*float64{"_N:_E:_N": e}}).build(graph.In)
		alpha, eps := []float64{0.15, 0.5}[r.IntN(2)], []float64{1e-2, 1e-5}[r.IntN(2)]
		plan := &Plan{SeedType: []string{"_N"}, Kind: Induced, Ops: []Op{{From: []int{0}, Edges: "_N:_E:_N", Take: All, How: PPR, Parameters: Parameters{Alpha: alpha, Eps: eps}}}}
		s, err := New(g, plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := s.NewContext()
		v := r.IntN(n)
		if _, err := c.Sample(Input{Seeds: []uint32{uint32(v)}}); err != nil {
			t.Fatal(err)
		}
		// The exact ranks: where a walk from v is, times the chance that it ends there.
		exact, at := make([]float64, n), make([]float64, n)
		at[v] = 1
		for range 3000 {
			next := make([]float64, n)
			for u, p := range at {
				exact[u] += alpha * p
			}
			for _, p := range pairs {
				next[p[0]] += (1 - alpha) * at[p[1]] / degree[p[1]]
			}
			at = next
		}
		got := make([]float64, n)
		for i, u := range c.push.nodes.nodes[:c.push.nodes.n] {
			got[u] = c.push.value[i]
		}
		for u := range got {
			if below := exact[u] - got[u]; below < -1e-12 || below > eps*max(1, degree[u])+1e-12 {
				t.Fatalf("alpha %v, eps %v: found rank %v of node %d with %v edges, expected at most %v below %v", alpha, eps, got[u], u, degree[u], eps*degree[u], exact[u])
			}
		}
		s.Close()
	}
}

// TestRanksMakeRoom checks that the queue of a push does not hold the nodes that were pushed: they are as many as the work, and those
// that wait at most as many as the nodes.
func TestRanksMakeRoom(t *testing.T) {
	g, seeds := rmatGraph(t, 10, 8)
	plan := &Plan{SeedType: []string{graph.HomogeneousNode}, Ops: []Op{{From: []int{0}, Edges: graph.HomogeneousEdge.String(), Take: 5, How: PPR, Parameters: Parameters{Alpha: 0.1, Eps: 2e-7}}}}
	s, err := New(g, plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := s.NewContext()
	if _, err := c.Sample(Input{Seeds: seeds[:1]}); err != nil {
		t.Fatal(err)
	}
	if most := 1<<13 + 2*g.Nodes[0].Count; cap(c.push.queue) > 2*most {
		t.Errorf("found room for %d nodes that wait, expected at most %d", cap(c.push.queue), 2*most)
	}
}

// TestLayerPlans checks the errors of plans with budgets, rounds and PageRanks.
func TestLayerPlans(t *testing.T) {
	g, _ := layeredGraph()
	self := &graph.Edges{Type: graph.EdgeType{Src: "leaf", Rel: "self", Dst: "leaf"}}
	self.Adj[graph.In] = &graph.Adjacency{Indptr: graph.Index{U32: make([]uint32, 7)}}
	g.Edges = append(g.Edges, self)
	g.Sort()
	to := Op{From: []int{0}, Edges: "leaf:to:seed", Take: 2}
	with := func(edit func(o *Op)) *Plan {
		o := to
		edit(&o)
		return &Plan{SeedType: []string{"seed"}, Scope: ScopeBatch, Ops: []Op{o}}
	}
	walk := func(alpha, eps float64) *Plan {
		return &Plan{SeedType: []string{"leaf"}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: "leaf:self:leaf", Take: 2, How: PPR, Parameters: Parameters{Alpha: alpha, Eps: eps}}}}
	}
	two := with(func(o *Op) { o.How = Ladies })
	two.Ops = append(two.Ops, two.Ops[0])
	two.Ops[1].Take = 3
	walked := func(walks, length int, restart float64) *Plan {
		return &Plan{SeedType: []string{"leaf"}, Scope: ScopeBatch, Ops: []Op{{From: []int{0}, Edges: "leaf:self:leaf", Take: 2, How: Walk, Parameters: Parameters{Walks: walks, Length: length, Restart: restart}}}}
	}
	timed := walk(0.1, 0.1)
	timed.Scope, timed.Before = ScopeSeed, &Before{NodeColumns: map[string]string{"leaf": "t"}}
	for _, test := range []struct {
		plan *Plan
		want string
	}{
		{two, `op 2: found take 3 where op 1 has 2, expected the same: both choose nodes of type "leaf" for hop 1`},
		{with(func(o *Op) { o.How, o.Column = HGT, "d_weight" }), "found column \"d_weight\" with how hgt, expected none"},
		{with(func(o *Op) { o.Importance = 1 }), "found importance 1 with how uniform"},
		{with(func(o *Op) { o.How, o.Importance = Labor, -1 }), "found importance -1, expected 0 to 100 rounds"},
		{with(func(o *Op) { o.Alpha = 0.5 }), "found alpha 0.5 and eps 0 with how uniform"},
		{with(func(o *Op) { o.How, o.Alpha, o.Eps = PPR, 0.5, 0.1 }), "found how ppr along leaf:to:seed, expected edges within one node type"},
		{walk(0, 0.1), "found alpha 0, expected a probability above 0 and below 1"},
		{walk(1, 0.1), "found alpha 1, expected"},
		{walk(math.NaN(), 0.1), "found alpha NaN, expected"},
		{walk(0.1, 0), "found eps 0, expected a tolerance above 0 and below 1"},
		{walk(0.1, 1e-9), "found alpha 0.1 and eps 1e-09, expected a product of at least 1e-08: each node looks at up to 1/(alpha*eps) edges"},
		{with(func(o *Op) { o.Walks = 3 }), "found walks 3, length 0 and restart 0 with how uniform, expected them with how walk"},
		{walked(0, 3, 0), "found walks 0 and length 3, expected at least 1 each"},
		{walked(3, -1, 0), "found walks 3 and length -1, expected at least 1 each"},
		{walked(1<<40, 1<<40, 0), "and at most 1048576 steps per node together"},
		{walked(3, 3, 1), "found restart 1, expected a probability from 0 to below 1"},
		{walked(3, 3, math.NaN()), "found restart NaN"},
		{timed, "found how ppr with before or exclude, expected neither"},
	} {
		if err := test.plan.check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("found error %v, expected %q", err, test.want)
		}
	}
	_, err := FromFanouts(g, Fanouts{Types: []TypeFanouts{{Edges: "leaf:to:seed", Hops: []int{2}}}}, FanoutOptions{SeedType: []string{"seed"}, How: HGT})
	if want := `found "leaf:to:seed" in fanout, expected one of the node types ["leaf" "seed"], because the nodes of a hop share the budget of a node type`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found error %v, expected %q", err, want)
	}
	over := &Plan{SeedType: []string{"seed"}, Ops: []Op{{From: []int{0}, Edges: "leaf:to:seed", Take: 7, How: Ladies}}}
	err = over.Validate(g)
	if want := "found a budget of 7 nodes of type leaf, which has 6, expected at most as many; -1 takes all"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("found error %v, expected %q", err, want)
	}
	for _, f := range []Fanouts{{Each: []int{7}}, {Types: []TypeFanouts{{Edges: "leaf", Hops: []int{7}}}}} {
		if p, err := FromFanouts(g, f, FanoutOptions{SeedType: []string{"seed"}, How: Ladies}); err != nil || p.Ops[0].Take != 6 {
			t.Errorf("%+v: found plan %+v and error %v, expected a budget of all 6 nodes", f, p, err)
		}
	}
	p, err := FromFanouts(g, Fanouts{Types: []TypeFanouts{{Edges: "leaf", Hops: []int{2, 3}}}}, FanoutOptions{SeedType: []string{"seed"}, How: HGT, Expand: ExpandAll})
	if err != nil || len(p.Ops) != 3 || p.Ops[0].Take != 2 || p.Ops[1].Take != 3 || p.Ops[2].Take != 3 || p.Ops[2].Hop != 2 {
		t.Errorf("found plan %+v and error %v, expected hop 1 to leaf and both edge types to it in hop 2", p, err)
	}
}
