package sample

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// linkGraph is users and items with the given edges between them, and a column w of both.
func linkGraph(users, items int, w []float64, edges [][2]int) *graph.Graph {
	r := &refGraph{Nodes: map[string]int{"user": users, "item": items}, Columns: map[string]map[string][]*float64{}}
	for t, n := range r.Nodes {
		c := make([]*float64, n)
		for i := range c {
			c[i] = number(1)
			if i < len(w) {
				c[i] = number(w[i])
			}
		}
		r.Columns[t] = map[string][]*float64{"d_w": c}
	}
	slices.SortFunc(edges, func(a, b [2]int) int { return a[1] - b[1] })
	e := map[string][]*float64{"src": {}, "dst": {}}
	for _, p := range edges {
		e["src"], e["dst"] = append(e["src"], number(float64(p[0]))), append(e["dst"], number(float64(p[1])))
	}
	r.Edges = map[string]map[string][]*float64{"user:buys:item": e, "item:rev_buys:user": {"src": {}, "dst": {}}, "user:knows:user": {"src": {}, "dst": {}}}
	return r.build(graph.In)
}

// linkPlan is a plan without ops over links from users to items.
func linkPlan(n *Negatives) *Plan {
	return &Plan{SeedType: []string{"user", "item"}, SeedEdges: "user:buys:item", Scope: ScopeBatch, Negatives: n}
}

// checkShares compares counts with their probabilities by chi-square. What has no chance must not occur.
func checkShares(t *testing.T, counts map[[2]uint32]float64, want map[[2]uint32]float64) {
	t.Helper()
	total, sum := 0.0, 0.0
	for pair, n := range counts {
		total += n
		if want[pair] == 0 {
			t.Fatalf("found the pair %v, which has no chance", pair)
		}
	}
	for _, w := range want {
		sum += w
	}
	chi := 0.0
	for pair, w := range want {
		e := w / sum * total
		if e < 10 {
			t.Fatalf("found %.1f expected draws of %v, expected a test with at least 10", e, pair)
		}
		chi += (counts[pair] - e) * (counts[pair] - e) / e
	}
	if limit := chiSquareLimit(len(want) - 1); chi > limit {
		t.Errorf("found chi-square %.1f of %d pairs, expected at most %.1f", chi, len(want), limit)
	}
}

// TestNegativesLaw draws about 200,000 negatives of each kind and compares the frequency of each pair with its
// probability.
func TestNegativesLaw(t *testing.T) {
	edges := [][2]int{{0, 0}, {0, 1}, {0, 1}, {0, 2}, {1, 0}, {1, 3}, {2, 3}, {2, 3}, {2, 3}, {3, 5}}
	w := []float64{1, 2, 0, 4, math.NaN(), 3}
	out, in := []float64{4, 2, 3, 1}, []float64{2, 2, 1, 4, 0, 1}
	isEdge := func(a, b int) bool { return slices.Contains(edges, [2]int{a, b}) }
	// A link per user, so the source of a negative tells its link under triplet and in-batch.
	seeds := []uint32{0, 1, 1, 3, 2, 3, 3, 5}
	product := func(f func(a, b int) float64) map[[2]uint32]float64 {
		m := map[[2]uint32]float64{}
		for a := range 4 {
			for b := range 6 {
				if p := f(a, b); p > 0 {
					m[[2]uint32{uint32(a), uint32(b)}] = p
				}
			}
		}
		return m
	}
	// share is the probability of each item among those that pass, of one user.
	share := func(weight func(b int) float64, pass func(a, b int) bool) map[[2]uint32]float64 {
		return product(func(a, b int) float64 {
			sum := 0.0
			for x := range 6 {
				if pass(a, x) {
					sum += weight(x)
				}
			}
			if !pass(a, b) {
				return 0
			}
			return weight(b) / sum
		})
	}
	one := func(int) float64 { return 1 }
	any := func(int, int) bool { return true }
	free := func(a, b int) bool { return !isEdge(a, b) }
	positive := func(x float64) float64 {
		if x > 0 {
			return x
		}
		return 0
	}
	for _, test := range []struct {
		name string
		n    Negatives
		want map[[2]uint32]float64
	}{
		{"binary", Negatives{How: Binary}, product(func(a, b int) float64 { return 1 })},
		{"binary by degree", Negatives{How: Binary, By: ByDegree}, product(func(a, b int) float64 { return math.Pow(out[a], 0.75) * math.Pow(in[b], 0.75) })},
		{"binary by column", Negatives{How: Binary, By: ByColumn, Column: "d_w"}, product(func(a, b int) float64 { return w[a] * positive(w[b]) })},
		{"binary, strict", Negatives{How: Binary, Strict: StrictError}, product(func(a, b int) float64 {
			if isEdge(a, b) {
				return 0
			}
			return 1
		})},
		{"triplet", Negatives{How: Triplet}, share(one, any)},
		{"triplet by degree", Negatives{How: Triplet, By: ByDegree}, share(func(b int) float64 { return math.Pow(in[b], 0.75) }, any)},
		{"triplet, strict", Negatives{How: Triplet, Strict: StrictCount}, share(one, free)},
		{"triplet by column, strict", Negatives{How: Triplet, By: ByColumn, Column: "d_w", Strict: StrictCount}, share(func(b int) float64 { return positive(w[b]) }, free)},
		{"in-batch", Negatives{How: InBatch}, map[[2]uint32]float64{
			{0, 3}: 2. / 3, {0, 5}: 1. / 3, {1, 1}: 1. / 3, {1, 3}: 1. / 3, {1, 5}: 1. / 3, {2, 1}: 1. / 3, {2, 3}: 1. / 3, {2, 5}: 1. / 3, {3, 1}: 1. / 3, {3, 3}: 2. / 3}},
		{"in-batch, strict", Negatives{How: InBatch, Strict: StrictError}, map[[2]uint32]float64{
			{0, 3}: 2. / 3, {0, 5}: 1. / 3, {1, 1}: .5, {1, 5}: .5, {2, 1}: .5, {2, 5}: .5, {3, 1}: 1. / 3, {3, 3}: 2. / 3}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.n.Each = 5
			s, err := New(linkGraph(4, 6, w, edges), linkPlan(&test.n), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			c := s.NewContext()
			counts := map[[2]uint32]float64{}
			for unit := range uint64(10_000) {
				sub, err := c.Sample(Input{Seeds: seeds, Seed: 5, Unit: unit})
				if err != nil {
					t.Fatal(err)
				}
				list := sub.Negatives.Nodes
				if len(list) != 2*5*len(seeds)/2 || sub.Negatives.Edges != 0 {
					t.Fatalf("found %d ids of negatives, of which %d pairs are edges, expected %d and none", len(list), sub.Negatives.Edges, 5*len(seeds))
				}
				for i := 0; i < len(list); i += 2 {
					counts[[2]uint32{list[i], list[i+1]}]++
					if test.n.How != Binary && list[i] != seeds[i/10*2] {
						t.Fatalf("found source %d of a negative of link %d, expected that of the link", list[i], i/10)
					}
				}
			}
			checkShares(t, counts, test.want)
		})
	}
}

// TestFractions checks negatives of a number with a fraction: their share over many links is within six standard deviations of the binomial law, a link has one of the two
// whole numbers beside it, and its negatives are the first of those that it has of the next whole number.
func TestFractions(t *testing.T) {
	const links = 4_000
	var seeds []uint32
	for i := range uint32(links) {
		seeds = append(seeds, i%50, i/50%40)
	}
	for _, scope := range []Scope{ScopeEpoch, ScopeBatch, ScopeSeed} {
		for _, how := range []Corruption{Binary, Triplet, InBatch} {
			for _, each := range []float64{0.001, 0.5, 1.5, 3.9} {
				if how == InBatch && scope == ScopeSeed {
					continue
				}
				name := fmt.Sprintf("%s, %s, %v", scope, how, each)
				batch := func(each float64, epoch uint64) (lists [][]uint32) {
					plan := linkPlan(&Negatives{How: how, Each: each})
					plan.Scope = scope
					s, err := New(linkGraph(50, 40, nil, [][2]int{{3, 4}}), plan, Options{})
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					c, size := s.NewContext(), 500
					if scope == ScopeSeed {
						size = 1
					}
					for i := 0; i < links; i += size {
						sub, err := c.Sample(Input{Seeds: seeds[2*i : 2*(i+size)], Seed: 9, Epoch: epoch, Unit: uint64(i)})
						if err != nil {
							t.Fatal(err)
						}
						if got := len(sub.Negatives.Ends); got != size && each != math.Trunc(each) {
							t.Fatalf("%s: found %d ends of lists, expected %d", name, got, size)
						}
						for link := range size {
							from, to := sub.Negatives.Span(link, size)
							lists = append(lists, slices.Clone(sub.Negatives.Nodes[2*from:2*to]))
						}
					}
					return lists
				}
				got, more, next := batch(each, 3), batch(math.Ceil(each), 3), batch(each, 4)
				whole, fraction := math.Modf(each)
				again, extra := map[[2]uint32]int{}, 0
				changed := false
				for i, list := range got {
					n := len(list) / 2
					if d := n - int(whole); d != 0 && d != 1 || !slices.Equal(list, more[i][:2*n]) {
						t.Fatalf("%s: link %d: found negatives %v, expected the first %v or %v of %v", name, i, list, whole, whole+1, more[i])
					}
					link := [2]uint32(seeds[2*i:])
					if before, ok := again[link]; ok && before != n && scope != ScopeBatch {
						t.Fatalf("%s: link %v: found %d and %d negatives in an epoch, expected as many", name, link, before, n)
					}
					again[link] = n
					extra += n - int(whole)
					changed = changed || n != len(next[i])/2
				}
				drawn := float64(links)
				if scope != ScopeBatch { // each of the links is there several times
					drawn = float64(len(again))
				}
				if share, bound := float64(extra)/links, 6*math.Sqrt(fraction*(1-fraction)/drawn); math.Abs(share-fraction) > bound {
					t.Errorf("%s: found a further negative for %.4f of the links, expected %.4f within %.4f", name, share, fraction, bound)
				}
				if !changed && fraction > 0.01 {
					t.Errorf("%s: found the same numbers of negatives in two epochs, expected others", name)
				}
			}
		}
	}
}

// TestLinkTwice checks that a link that is twice among the seeds has the same negatives with scope seed, wherever it comes, and others in
// the next epoch.
func TestLinkTwice(t *testing.T) {
	plan := linkPlan(&Negatives{How: Binary, Each: 20})
	plan.Scope = ScopeSeed
	s, err := New(linkGraph(50, 50, nil, [][2]int{{3, 4}}), plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := s.NewContext()
	drawn := func(unit, epoch uint64) string {
		sub, err := c.Sample(Input{Seeds: []uint32{3, 4}, Unit: unit, Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(sub.Nodes)
	}
	if a, b := drawn(0, 0), drawn(7, 0); a != b {
		t.Errorf("found negatives %s and %s of the same link, expected the same", a, b)
	}
	if a, b := drawn(0, 0), drawn(0, 1); a == b {
		t.Errorf("found negatives %s in two epochs, expected others", a)
	}
}

// TestStrictBounded checks graphs where every pair is an edge, or joins a node with itself: the tries end, and the
// pairs are counted or an error.
func TestStrictBounded(t *testing.T) {
	g := linkGraph(2, 2, nil, [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}})
	for _, how := range []Corruption{Binary, Triplet, InBatch} {
		s, err := New(g, linkPlan(&Negatives{How: how, Each: 3, Strict: StrictCount}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		sub, err := s.NewContext().Sample(Input{Seeds: []uint32{0, 0, 1, 1}})
		if err != nil || sub.Negatives.Edges != 6 || len(sub.Negatives.Nodes) != 12 {
			t.Fatalf("%s: found %+v, %v, expected 6 negatives that are edges", how, sub, err)
		}
		var stats Stats
		stats.Count(sub)
		if stats.Negatives != 6 || stats.NegativeEdges != 6 {
			t.Errorf("%s: found %d negatives and %d edges among them in the statistics, expected 6 of each", how, stats.Negatives, stats.NegativeEdges)
		}
		s.Close()
		if s, err = New(g, linkPlan(&Negatives{How: how, Each: 3, Strict: StrictError}), Options{}); err != nil {
			t.Fatal(err)
		}
		_, err = s.NewContext().Sample(Input{Seeds: []uint32{0, 0, 1, 1}})
		if want := "link 0 (from node 0 to node 0): found no negative that is not an edge of user:buys:item in 64 draws"; !errors.Is(err, ErrSeed) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: found error %v, expected %s", how, err, want)
		}
		s.Close()
	}
	plan := linkPlan(&Negatives{How: Triplet, Each: 1, Strict: StrictCount})
	plan.SeedType, plan.SeedEdges = []string{"user", "user"}, "user:knows:user"
	s, err := New(linkGraph(1, 1, nil, nil), plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if sub, err := s.NewContext().Sample(Input{Seeds: []uint32{0, 0}}); err != nil || sub.Negatives.Edges != 1 {
		t.Errorf("found %+v, %v, expected one negative that joins a node with itself", sub, err)
	}
}

// TestInBatchAlone checks that a batch of one link is refused before and while it is sampled.
func TestInBatchAlone(t *testing.T) {
	s, err := New(linkGraph(4, 4, nil, nil), linkPlan(&Negatives{How: InBatch, Each: 1}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const want = "found a batch of one link and negatives in-batch"
	if _, err := s.NewContext().Sample(Input{Seeds: []uint32{0, 0}}); !errors.Is(err, ErrSeed) || !strings.Contains(err.Error(), want) {
		t.Errorf("found error %v, expected %s", err, want)
	}
	seeds := []uint32{0, 0, 1, 1, 2, 2, 3, 3}
	for size, ok := range map[int]bool{1: false, 2: true, 3: false, 4: true, 5: true} {
		_, err := s.Batches(&Job{Seeds: seeds, BatchSize: size})
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d links in batches of %d: found error %v", len(seeds)/2, size, err)
		}
	}
}

// TestLinkPlansRefused checks the errors of plans that say something about links or times.
func TestLinkPlansRefused(t *testing.T) {
	user := func(p *Plan) { p.SeedType, p.SeedEdges = []string{"user"}, "" }
	before := func(b Before) func(*Plan) {
		return func(p *Plan) { p.Scope, p.Negatives, p.Before = ScopeSeed, nil, &b }
	}
	for _, test := range []struct {
		name string
		edit func(*Plan)
		want string
	}{
		{"good", func(*Plan) {}, ""},
		{"negatives of nodes", user, "negatives: found one seed type, expected two"},
		{"seed edges of nodes", func(p *Plan) { p.SeedType = []string{"user"} }, "found seed_edges user:buys:item and one seed type"},
		{"seed edges of other types", func(p *Plan) { p.SeedEdges = "user:knows:user" }, "seed_edges: found user:knows:user, expected an edge type from user to item"},
		{"no such seed edges", func(p *Plan) { p.SeedEdges = "user:sells:item" }, `seed_edges: found edge type "user:sells:item", expected one of`},
		{"seed edges no edge type", func(p *Plan) { p.SeedEdges = "buys" }, `seed_edges: found edge type "buys"`},
		{"exclude", func(p *Plan) { p.SeedEdges, p.Exclude = "", &Exclude{} }, "found exclude without seed_edges"},
		{"no reverse", func(p *Plan) { p.Exclude = &Exclude{"user:buys:item"} }, "exclude: reverse: found user:buys:item, expected an edge type from item to user"},
		{"no such reverse", func(p *Plan) { p.Exclude = &Exclude{"item:back:user"} }, `exclude: reverse: found edge type "item:back:user"`},
		{"reverse", func(p *Plan) { p.Exclude = &Exclude{"item:rev_buys:user"} }, ""},
		{"none", func(p *Plan) { p.Negatives.Each = 0 }, "negatives: found each 0, expected a number above 0 and at most 65536"},
		{"many", func(p *Plan) { p.Negatives.Each = 100_000 }, "negatives: found each 100000"},
		{"many and a fraction", func(p *Plan) { p.Negatives.Each = 65536.5 }, "negatives: found each 65536.5"},
		{"below none", func(p *Plan) { p.Negatives.Each = -0.5 }, "negatives: found each -0.5, expected a number above 0"},
		{"no number", func(p *Plan) { p.Negatives.Each = math.NaN() }, "negatives: found each NaN, expected a number above 0"},
		{"without end", func(p *Plan) { p.Negatives.Each = math.Inf(1) }, "negatives: found each +Inf, expected a number above 0"},
		{"a fraction", func(p *Plan) { p.Negatives.Each = 0.5 }, ""},
		{"a fraction of a list", func(p *Plan) { p.Negatives.How, p.Negatives.Each = Listed, 1.5 }, "negatives: found each 1.5 with how listed, expected the length of the longest list"},
		{"in-batch, seed", func(p *Plan) { p.Negatives.How, p.Scope = InBatch, ScopeSeed }, "found how in-batch with scope seed"},
		{"in-batch, weights", func(p *Plan) { p.Negatives.How, p.Negatives.By = InBatch, ByDegree }, "found by degree with how in-batch"},
		{"degree", func(p *Plan) { p.Negatives.By, p.SeedEdges = ByDegree, "" }, "found by degree without seed_edges"},
		{"strict", func(p *Plan) { p.Negatives.Strict, p.SeedEdges = StrictCount, "" }, "found strict count without seed_edges"},
		{"no column", func(p *Plan) { p.Negatives.By = ByColumn }, "found by column and no column"},
		{"column", func(p *Plan) { p.Negatives.Column = "d_w" }, `found column "d_w" with by uniform`},
		{"no such column", func(p *Plan) { p.Negatives.By, p.Negatives.Column = ByColumn, "w" }, `negatives: found no column "w" in node type item, expected one weight per row: one of ["d_w"]`},
		{"weights of times", func(p *Plan) { p.Negatives.How, p.Negatives.By, p.Negatives.Column = Binary, ByColumn, "l_t" }, `found column "l_t" of node type user, whose values are times`},
		{"named values", func(p *Plan) { p.Negatives.Strict = 9 }, "expected named values"},
		{"kind", func(p *Plan) { p.Kind = 9 }, "found subgraph 9, expected a named value"},
		{"no weight", func(p *Plan) { p.Negatives.By = ByDegree }, "found no node of type item with a positive weight"},
		{"no times", before(Before{}), "before: found no column"},
		{"window", before(Before{NodeColumns: map[string]string{"item": "d_w"}, Window: -1}), "before: found window -1"},
		{"infinite window", before(Before{NodeColumns: map[string]string{"item": "d_w"}, Window: math.Inf(1)}), "before: found window +Inf"},
		{"NaN window", before(Before{NodeColumns: map[string]string{"item": "d_w"}, Window: math.NaN()}), "before: found window NaN"},
		{"times of nodes", before(Before{NodeColumns: map[string]string{"item": "d_w"}}), ""},
		{"no such node type", before(Before{NodeColumns: map[string]string{"shop": "d_w"}}), `before: node_columns: found node type "shop", expected one of`},
		{"no such edge type", before(Before{Columns: map[string]string{"a:b:c": "d_w"}}), `before: columns: found edge type "a:b:c", expected one of`},
		{"no edge type", before(Before{Columns: map[string]string{"c": "d_w"}}), `before: columns: found edge type "c"`},
		{"no column of nodes", before(Before{NodeColumns: map[string]string{"item": "t"}}), `before: node_columns: found no column "t" in node type item, expected one number per row: one of ["d_w" "i_t"]; name one of these, or import the column; leave out node types`},
		{"empty column of nodes", before(Before{NodeColumns: map[string]string{"item": ""}}), `before: node_columns: found no column of "item"`},
		{"empty column of edges", before(Before{Columns: map[string]string{"user:buys:item": ""}}), "before: columns: found no column of user:buys:item"},
		{"timed and untimed", before(Before{Columns: map[string]string{"user:buys:item": "t"}, Untimed: []string{"user:buys:item"}}), "found user:buys:item in columns and in untimed"},
		{"scope", func(p *Plan) { p.Before = &Before{Column: "t"} }, "found before with scope batch"},
		{"fraction of whole numbers", before(Before{NodeColumns: map[string]string{"item": "i_t"}, Window: 1.5}), `found window 1.5 and whole numbers in column "i_t" of node type item`},
		{"units", before(Before{NodeColumns: map[string]string{"item": "i_t", "user": "l_t"}, Window: 1}), `found column "l_t" of node type user in s, expected numbers without a unit`},
	} {
		g := linkGraph(3, 3, nil, nil)
		i, u := g.Nodes[g.NodeType("item")], g.Nodes[g.NodeType("user")]
		i.Columns = append(i.Columns, testColumn("i_t", []*float64{number(1), number(2), number(3)}))
		u.Columns = append(u.Columns, testColumn("l_t", []*float64{number(1), number(2), number(3)}))
		u.Columns[len(u.Columns)-1].Unit = "s"
		if test.name == "no such column" || test.name == "no times" {
			i.Columns = i.Columns[:1]
		}
		p := linkPlan(&Negatives{How: Triplet, Each: 1})
		test.edit(p)
		_, err := New(g, p, Options{})
		if test.want == "" && err == nil || test.want != "" && errors.Is(err, ErrPlan) && strings.Contains(err.Error(), test.want) {
			continue
		}
		t.Errorf("%s: found error %v, expected %q", test.name, err, test.want)
	}
}

// TestReverseTypes checks which edge types have each other's reverses, and that these are refused where neighbours are
// fetched.
func TestReverseTypes(t *testing.T) {
	g := emptyGraph("user:buys:item", "item:rev_buys:user", "user:knows:user", "user:rev_likes:user", "user:likes:user", "user:sees:item")
	for name, want := range map[string]string{
		"user:buys:item": "item:rev_buys:user", "item:rev_buys:user": "user:buys:item", "user:knows:user": "user:knows:user",
		"user:likes:user": "user:rev_likes:user", "user:rev_likes:user": "user:likes:user", "user:sees:item": "",
	} {
		i, err := g.EdgeType(name)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r := ReverseType(g, i); r >= 0 {
			got = g.Edges[r].Type.String()
		}
		if got != want {
			t.Errorf("%s: found reverse %q, expected %q", name, got, want)
		}
	}
	plan := &Plan{SeedType: []string{"item"}, Scope: ScopeBatch, Kind: Bidirectional, Ops: []Op{{From: []int{0}, Edges: "user:buys:item", Take: 1}}}
	if _, err := New(g, plan, Options{Fetch: true}); !errors.Is(err, ErrFetch) || !strings.Contains(err.Error(), "user:buys:item and item:rev_buys:user") {
		t.Errorf("found error %v, expected one that names both types", err)
	}
	plan.Ops[0].Edges = "user:sees:item"
	if err := plan.CanFetch(g); err != nil {
		t.Errorf("found error %v, expected none for a type without a reverse", err)
	}
}

// TestWindowEnds checks windows at the ends of 64-bit times against exact numbers.
func TestWindowEnds(t *testing.T) {
	ints := []int64{math.MinInt64, math.MinInt64 + 1, -2, -1, 0, 1, 2, math.MaxInt64 - 1, math.MaxInt64}
	v := &values{ints: ints}
	for _, at := range ints {
		for _, window := range []float64{1, 2, 1 << 52, 1 << 62, 1 << 63, 1<<63 + 1<<11, 1 << 64, 1e300} {
			for _, orEqual := range []bool{false, true} {
				in := v.interval(IntTime(at), &Before{OrEqual: orEqual, Window: window})
				for e, x := range ints {
					d := uint64(at) - uint64(x) // of an earlier time, exact in 64 bits without a sign
					want := x <= at && (d > 0 || orEqual)
					if want && window < 1<<64 {
						want = d < uint64(window) || !orEqual && d == uint64(window)
					}
					if got := v.within(uint64(e), &in); got != want {
						t.Errorf("%d before %d within %v (equal: %v): found %v", x, at, window, orEqual, got)
					}
				}
			}
		}
	}
}
