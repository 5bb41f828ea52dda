package sample

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/proof"
)

// Each node has this many in-edges of each type, of which an op takes one: a pick. The square less one is even, so the tail
// of the chi-square distribution is a finite sum.
const picks = 9

// The graph and the runs of the test. In the long form there are 40 times as many runs.
const (
	independentNodes = picks * 512
	independentRuns  = 12
)

// fate is the chance that a law without a fault fails the test: the sum over all statistics.
const fate = 1e-9

// The ops of the plan all start from the seeds, so each draws at each node.
var independentOps = []Op{
	{From: []int{0}, Edges: "n:cites:n", Take: 1, How: Uniform},
	{From: []int{0}, Edges: "n:cites:n", Take: 1, How: Uniform}, // the same node and list in another hop
	{From: []int{0}, Edges: "n:cites2:n", Take: 1, How: Uniform},
	{From: []int{0}, Edges: "n:cites:n", Take: 1, How: Weighted, Column: "w"},
	{From: []int{0}, Edges: "n:cites:n", Take: 2, How: Replace},
}

// streams are the picks of a run, by op: two of the last one.
const streams = 6

var streamNames = [streams]string{"op 1", "op 2", "op 3 (another relation)", "op 4 (weighted)", "op 5 (draw 0)", "op 5 (draw 1)"}

// drawn is the picks of a run: by stream, by node.
type drawn [streams][]uint8

// generator makes the picks of all nodes in one subgraph (scope batch or epoch), or in one subgraph per node (scope seed).
type generator func(scope Scope, seed, epoch, unit uint64) *drawn

// pickWeights are the weights of op 4.
var pickWeights = [picks]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}

// bySampler is the generator of the product.
func bySampler(t testing.TB) generator {
	g := independentGraph()
	contexts := map[Scope]*Context{}
	for _, scope := range []Scope{ScopeEpoch, ScopeBatch, ScopeSeed} {
		s, err := New(g, &Plan{SeedType: []string{"n"}, Scope: scope, Ops: independentOps}, Options{Ops: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		contexts[scope] = s.NewContext()
	}
	return func(scope Scope, seed, epoch, unit uint64) *drawn {
		out := &drawn{}
		for i := range out {
			out[i] = make([]uint8, independentNodes)
		}
		sample := func(seeds []uint32) {
			sub, err := contexts[scope].Sample(Input{Seeds: seeds, Seed: seed, Epoch: epoch, Unit: unit})
			if err != nil {
				t.Fatal(err)
			}
			for i, op := range sub.Ops {
				for k, id := range narrow(op.ID) {
					stream := i
					if i == len(sub.Ops)-1 {
						stream += k % 2
					}
					out[stream][id/picks] = uint8(id % picks)
				}
			}
		}
		if scope == ScopeSeed {
			for v := range uint32(independentNodes) {
				sample([]uint32{v})
			}
			return out
		}
		all := make([]uint32, independentNodes)
		for v := range all {
			all[v] = uint32(v)
		}
		sample(all)
		return out
	}
}

// independentGraph has in-edges of two types at each node. The id of an edge is its node times picks, plus its pick.
func independentGraph() *graph.Graph {
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "n", Count: independentNodes}}}
	for _, rel := range []string{"cites", "cites2"} {
		a := &graph.Adjacency{}
		w := &graph.Column{Name: "w", DType: graph.Float64, Rows: independentNodes * picks}
		var weights []float64
		for v := range independentNodes + 1 {
			a.Indptr.U32 = append(a.Indptr.U32, uint32(v*picks))
		}
		for i := range independentNodes * picks {
			a.Far.U32 = append(a.Far.U32, uint32((i/picks+i%picks+1)%independentNodes))
			weights = append(weights, pickWeights[i%picks])
		}
		w.Values = graph.Bytes(weights)
		e := &graph.Edges{Type: graph.EdgeType{Src: "n", Rel: rel, Dst: "n"}, Count: len(a.Far.U32), Primary: graph.In, Columns: []*graph.Column{w}}
		e.Adj[graph.In] = a
		g.Edges = append(g.Edges, e)
	}
	g.Sort()
	return g
}

// byKey is a generator whose state for the draws of an op at a node is a function of all words. It serves for wrong laws.
func byKey(key func(scope Scope, seed, epoch, word, op, node uint64) uint64) generator {
	return func(scope Scope, seed, epoch, unit uint64) *drawn {
		out := &drawn{}
		for i := range out {
			op, j := uint64(i+1), uint64(0)
			if i == streams-1 {
				op, j = op-1, 1
			}
			for v := range uint64(independentNodes) {
				word := [...]uint64{ScopeEpoch: 0, ScopeBatch: unit, ScopeSeed: v}[scope]
				r := draw.At(key(scope, seed, epoch, word, op, v), j)
				pick := draw.Below(r, picks)
				if i == 3 { // weighted
					x, sum := draw.Unit(r)*45, 0.0
					for pick = 0; ; pick++ {
						if sum += pickWeights[pick]; sum > x || pick == picks-1 {
							break
						}
					}
				}
				out[i] = append(out[i], uint8(pick))
			}
		}
		return out
	}
}

// joint counts pairs of picks.
type joint struct {
	name   string
	counts [picks][picks]float64
	p, q   *[picks]float64 // the chances of the picks; nil: all alike
	n      float64
}

// chi is the chi-square statistic of the counts, with picks² - 1 degrees of freedom: the first picks and the second ones
// have the chances that they should have, and are independent.
func (x *joint) chi() (chi float64) {
	for i := range picks {
		for j := range picks {
			e := x.n / picks / picks
			if x.p != nil {
				e *= picks * x.p[i] / 45
			}
			if x.q != nil {
				e *= picks * x.q[j] / 45
			}
			chi += (x.counts[i][j] - e) * (x.counts[i][j] - e) / e
		}
	}
	return chi
}

// tail is the chance that a chi-square variable of picks² - 1 degrees of freedom exceeds x.
func tail(x float64) float64 {
	sum, term := 0.0, math.Exp(-x/2)
	for i := range (picks*picks - 1) / 2 {
		sum += term
		term *= x / 2 / float64(i+1)
	}
	return sum
}

// limitOf is the value that the statistic exceeds with the chance p.
func limitOf(p float64) float64 {
	low, high := 0.0, 1000.0
	for range 100 {
		if mid := (low + high) / 2; tail(mid) > p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// joints are the statistics, by name, in the order of their first pairs.
type joints struct {
	list []*joint
	by   map[string]*joint
}

func (js *joints) of(name string) *joint {
	x := js.by[name]
	if x == nil {
		x = &joint{name: name}
		js.by[name] = x
		js.list = append(js.list, x)
	}
	return x
}

// add counts the pairs (a[i], b[i+shift]).
func (js *joints) add(name string, a, b []uint8, shift int) {
	x := js.of(name)
	for i := range len(a) - shift {
		x.counts[a[i]][b[i+shift]]++
	}
	x.n += float64(len(a) - shift)
}

// runs counts the pairs of each stream of a with the same one of b: one statistic for weighted draws, one for the others.
func (js *joints) runs(name string, a, b *drawn) {
	for i := range streams {
		if i == 3 {
			x := js.of(name + ", weighted")
			x.p, x.q = &pickWeights, &pickWeights
			js.add(x.name, a[i], b[i], 0)
			continue
		}
		js.add(name, a[i], b[i], 0)
	}
}

// independence measures all pairs of a generator, over runs of consecutive seeds, epochs and batches.
func independence(gen generator, runs int) *joints {
	js := &joints{by: map[string]*joint{}}
	base := uint64(1000)
	for r := range uint64(runs) {
		seed, epoch, unit := base+r, r%7, r%5
		at := func(scope Scope, ds, de, du uint64) *drawn { return gen(scope, seed+ds, epoch+de, unit+du) }
		for scope, name := range map[Scope]string{ScopeEpoch: "scope epoch", ScopeBatch: "scope batch", ScopeSeed: "scope seed"} {
			if scope == ScopeSeed && r%4 != 0 { // a subgraph per node takes longer
				continue
			}
			x := at(scope, 0, 0, 0)
			// Ops, hops, relations and ways to draw: all pairs of streams at the same node.
			for i := range streams {
				for j := range i {
					pair := js.of(fmt.Sprintf("%s: %s, %s", name, streamNames[j], streamNames[i]))
					if i == 3 {
						pair.q = &pickWeights
					}
					if j == 3 {
						pair.p = &pickWeights
					}
					js.add(pair.name, x[j], x[i], 0)
				}
			}
			// Neighbouring nodes, and draw j + 1 of a node with draw j of the next one.
			for _, shift := range []int{1, 2, 16, 256} {
				js.add(fmt.Sprintf("%s: nodes v, v+%d", name, shift), x[0], x[0], shift)
			}
			js.add(name+": op 1 at v, op 2 at v+1", x[0], x[1], 1)
			js.add(name+": op 2 at v, op 1 at v+1", x[1], x[0], 1)
			js.add(name+": draw 1 at v, draw 0 at v+1", x[5], x[4], 1)
			js.runs(name+": seeds s, s+1", x, at(scope, 1, 0, 0))
			js.runs(name+": epochs e, e+1", x, at(scope, 0, 1, 0))
			js.runs(name+": seed s epoch e+1, seed s+1 epoch e", at(scope, 0, 1, 0), at(scope, 1, 0, 0))
			js.runs(name+": seed a epoch b, seed b epoch a", gen(scope, 3*r+1, 3*r+2, unit), gen(scope, 3*r+2, 3*r+1, unit))
			if scope == ScopeBatch {
				js.runs(name+": batches b, b+1", x, at(scope, 0, 0, 1))
				js.runs(name+": epoch e batch b+1, epoch e+1 batch b", at(scope, 0, 0, 1), at(scope, 0, 1, 0))
				js.runs(name+": seed s batch b+1, seed s+1 batch b", at(scope, 0, 0, 1), at(scope, 1, 0, 0))
				js.runs("scopes batch, epoch", x, at(ScopeEpoch, 0, 0, 0))
				// Node v in batch b, and node b in batch v.
				a, b := gen(scope, seed, epoch, 3), gen(scope, seed, epoch, 4)
				js.add(name+": node v in batch 3, node v+1 in batch 4", a[0], b[0], 1)
			}
			if scope == ScopeSeed {
				js.runs("scopes seed, batch", x, at(ScopeBatch, 0, 0, 0))
				js.runs("scopes seed, epoch", x, at(ScopeEpoch, 0, 0, 0))
			}
		}
	}
	return js
}

// reacher is the picks of the nodes v + 1 to v + picks in the subgraph of the seed v, under scope seed.
type reacher func(seed, epoch uint64, v uint32) [picks]uint8

// reachedBySampler is the reacher of the product: op 1 takes all in-edges of the seed, op 2 draws at the nodes that they
// come from.
func reachedBySampler(t testing.TB) reacher {
	s, err := New(independentGraph(), &Plan{SeedType: []string{"n"}, Scope: ScopeSeed,
		Ops: []Op{{From: []int{0}, Edges: "n:cites:n", Take: All}, {From: []int{1}, Edges: "n:cites:n", Take: 1}}}, Options{Ops: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := s.NewContext()
	return func(seed, epoch uint64, v uint32) (out [picks]uint8) {
		sub, err := c.Sample(Input{Seeds: []uint32{v}, Seed: seed, Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range narrow(sub.Ops[1].ID) {
			out[(id/picks+independentNodes-v-1)%independentNodes] = uint8(id % picks)
		}
		return out
	}
}

// around adds the picks of one node in the subgraphs of two seeds.
func around(js *joints, reach reacher, runs int) {
	for r := range uint64(runs) {
		seed, epoch := 4000+r, r%7
		last := reach(seed, epoch, 0)
		for v := uint32(1); v < independentNodes; v++ {
			next := reach(seed, epoch, v)
			js.add("scope seed: the same node around seeds v, v+1", last[1:], next[:picks-1], 0)
			js.add("scope seed: two nodes around a seed", next[:1], next[1:2], 0)
			last = next
		}
	}
}

// orders adds the shuffled orders of epochs, sorted and computed, and of packs. key is the key of an order; more words are
// keys of packs.
func orders(js *joints, gen generator, runs int, key func(seed, epoch uint64, more ...uint64) uint64) {
	for _, n := range []uint64{independentNodes, picks << 13} {
		of := func(seed, epoch uint64, more ...uint64) []uint8 {
			items := make([]uint64, n)
			draw.NewOrder(n, key(seed, epoch, more...)).Fill(items, 0)
			out := make([]uint8, n)
			for i, x := range items {
				out[i] = uint8(x % picks)
			}
			return out
		}
		for r := range uint64(runs) {
			seed, epoch := 2000+r, r%7
			name := fmt.Sprintf("orders of %d: ", n)
			a := of(seed, epoch)
			js.add(name+"epochs e, e+1", a, of(seed, epoch+1), 0)
			js.add(name+"seeds s, s+1", a, of(seed+1, epoch), 0)
			js.add(name+"seed s epoch e+1, seed s+1 epoch e", of(seed, epoch+1), of(seed+1, epoch), 0)
			js.add(name+"positions p, p+1", a, a, 1)
			js.add(name+"packs of shapes k, k+1", of(seed, epoch, 1), of(seed, epoch, 2), 0)
			js.add(name+"packs, items", a, of(seed, epoch, 1), 0)
			if n == independentNodes {
				x := gen(ScopeBatch, seed, epoch, 0)
				js.add(name+"item at v, pick of v", a, x[0], 0)
				js.add(name+"item at v, draw 1 of v", a, x[5], 0)
			}
		}
	}
}

// negativePairs adds the negatives of links: both ends of each, the ends of neighbouring links, and the picks at their sources.
func negativePairs(t testing.TB, js *joints, runs int) {
	g := independentGraph()
	links := make([]uint32, 2*independentNodes)
	for i := range independentNodes {
		links[2*i], links[2*i+1] = uint32(i), uint32((i+1)%independentNodes)
	}
	for scope, name := range map[Scope]string{ScopeEpoch: "scope epoch", ScopeBatch: "scope batch"} {
		s, err := New(g, &Plan{SeedType: []string{"n", "n"}, SeedEdges: "n:cites:n", Scope: scope, Negatives: &Negatives{How: Binary, Each: 2},
			Ops: []Op{{From: []int{0}, Edges: "n:cites:n", Take: 1}}}, Options{Ops: true})
		if err != nil {
			t.Fatal(err)
		}
		c := s.NewContext()
		run := func(seed, epoch, unit uint64) (ends [4][]uint8, pick []uint8) {
			sub, err := c.Sample(Input{Seeds: links, Seed: seed, Epoch: epoch, Unit: unit})
			if err != nil {
				t.Fatal(err)
			}
			for i := range sub.Negatives.Nodes {
				ends[i%4] = append(ends[i%4], uint8(sub.Negatives.Nodes[i]%picks))
			}
			pick = make([]uint8, independentNodes)
			for _, id := range narrow(sub.Ops[0].ID) {
				pick[id/picks] = uint8(id % picks)
			}
			return ends, pick
		}
		for r := range uint64(runs) {
			seed, epoch, unit := 3000+r, r%7, r%5
			x, pick := run(seed, epoch, unit)
			js.add(name+": negatives, source and target", x[0], x[1], 0)
			js.add(name+": negatives 0, 1 of a link, sources", x[0], x[2], 0)
			js.add(name+": negative 0 target, 1 source of a link", x[1], x[2], 0)
			js.add(name+": negatives of links i, i+1, sources", x[0], x[0], 1)
			js.add(name+": negatives of links i, i+1, targets", x[1], x[1], 1)
			js.add(name+": negative source of link v, pick of v", x[0], pick, 0)
			js.add(name+": negative target of link v, pick of v", x[1], pick, 0)
			y, _ := run(seed+1, epoch, unit)
			js.add(name+": negatives of seeds s, s+1", x[0], y[0], 0)
			y, _ = run(seed, epoch+1, unit)
			js.add(name+": negatives of epochs e, e+1", x[0], y[0], 0)
			if scope == ScopeBatch {
				y, _ = run(seed, epoch, unit+1)
				js.add(name+": negatives of batches b, b+1", x[0], y[0], 0)
			}
		}
		s.Close()
	}
}

// above lists the statistics above the bound, and the largest one in relation to it.
func (js *joints) above() (list []string, largest, bound float64, name string) {
	bound = limitOf(fate / float64(len(js.list)))
	for _, x := range js.list {
		chi := x.chi()
		if chi > largest {
			largest, name = chi, x.name
		}
		if chi > bound {
			list = append(list, fmt.Sprintf("%s: chi-square %.0f", x.name, chi))
		}
	}
	return list, largest, bound, name
}

// TestIndependence compares the joint frequencies of picks that must not know of each other with the products of their
// chances: of different ops, hops, relations, nodes, scopes, batches, epochs and random seeds, of uniform and weighted
// draws, of negatives, and of orders. The bound holds for all statistics together: a right law exceeds it once in 10^9
// choices of the first random seed, which is fixed.
func TestIndependence(t *testing.T) {
	runs := proof.Count(t, independentRuns, 40*independentRuns)
	gen := bySampler(t)
	js := independence(gen, runs)
	around(js, reachedBySampler(t), runs/4)
	orders(js, gen, runs, func(seed, epoch uint64, more ...uint64) uint64 {
		return draw.Key(seed, append([]uint64{epoch, draw.OrderWord}, more...)...)
	})
	negativePairs(t, js, runs)
	list, largest, bound, name := js.above()
	pairs := 0.0
	for _, x := range js.list {
		pairs += x.n
	}
	t.Logf("%d statistics over %.3g pairs of draws; the largest is chi-square %.1f (%s), the bound %.1f", len(js.list), pairs, largest, name, bound)
	if list != nil {
		t.Errorf("found draws that are not independent, expected chi-square up to %.1f:\n%s", bound, strings.Join(list, "\n"))
	}
}

// TestDependenceIsFound shows that the statistics find laws that leave a word out, or mix words badly.
func TestDependenceIsFound(t *testing.T) {
	for _, c := range []struct {
		name string
		key  func(scope Scope, seed, epoch, word, op, node uint64) uint64
		want string // part of the name of a statistic that finds it; "" for a right law
	}{
		{"right", func(scope Scope, seed, epoch, word, op, node uint64) uint64 {
			return draw.Key(seed, epoch, uint64(scope), word, op, node)
		}, ""},
		{"without op", func(scope Scope, seed, epoch, word, _, node uint64) uint64 {
			return draw.Key(seed, epoch, uint64(scope), word, node)
		}, "op 1, op 2"},
		{"without epoch", func(scope Scope, seed, _, word, op, node uint64) uint64 {
			return draw.Key(seed, uint64(scope), word, op, node)
		}, "epochs e, e+1"},
		{"without seed", func(scope Scope, _, epoch, word, op, node uint64) uint64 {
			return draw.Key(0, epoch, uint64(scope), word, op, node)
		}, "seeds s, s+1"},
		{"without batch", func(scope Scope, seed, epoch, _, op, node uint64) uint64 {
			return draw.Key(seed, epoch, uint64(scope), op, node)
		}, "batches b, b+1"},
		{"without scope", func(_ Scope, seed, epoch, word, op, node uint64) uint64 {
			return draw.Key(seed, epoch, word*0, op, node)
		}, "scopes batch, epoch"},
		{"without node", func(scope Scope, seed, epoch, word, op, _ uint64) uint64 {
			return draw.Key(seed, epoch, uint64(scope), word, op)
		}, "nodes v, v+1"},
		{"sum of seed and epoch", func(scope Scope, seed, epoch, word, op, node uint64) uint64 {
			return draw.Key(seed+epoch, uint64(scope), word, op, node)
		}, "seed s epoch e+1, seed s+1 epoch e"},
		{"symmetric in seed and epoch", func(scope Scope, seed, epoch, word, op, node uint64) uint64 {
			return draw.Absorb(draw.Absorb(draw.Mix(seed)^draw.Mix(epoch), uint64(scope)+word), op<<32|node)
		}, "seed a epoch b, seed b epoch a"},
		{"sum of op and node", func(scope Scope, seed, epoch, word, op, node uint64) uint64 {
			return draw.Key(seed, epoch, uint64(scope), word, op+node)
		}, "op 2 at v, op 1 at v+1"},
		{"nodes a step of the generator apart", func(scope Scope, seed, epoch, word, op, node uint64) uint64 {
			return draw.Key(seed, epoch, uint64(scope), word, op) + node*draw.Gamma
		}, "draw 1 at v, draw 0 at v+1"},
		{"without the seed node of the scope", func(scope Scope, seed, epoch, word, op, node uint64) uint64 {
			if scope == ScopeSeed {
				word = 0
			}
			return draw.Key(seed, epoch, uint64(scope), word, op, node)
		}, "the same node around seeds v, v+1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			js := independence(byKey(c.key), 4)
			around(js, func(seed, epoch uint64, v uint32) (out [picks]uint8) {
				for k := range out {
					h := c.key(ScopeSeed, seed, epoch, uint64(v), 2, uint64(v)+uint64(k)+1)
					out[k] = uint8(draw.Below(draw.At(h, 0), picks))
				}
				return out
			}, 4)
			orders(js, byKey(c.key), 2, func(seed, epoch uint64, more ...uint64) uint64 {
				h := c.key(3, seed, epoch, 0, 0, 0)
				for _, m := range more {
					h = draw.Absorb(h, m)
				}
				return h
			})
			list, largest, bound, name := js.above()
			t.Logf("%d of %d statistics above %.1f; the largest is %.1f (%s)", len(list), len(js.list), bound, largest, name)
			if text := strings.Join(list, "\n"); (c.want == "") != (list == nil) || !strings.Contains(text, c.want) {
				t.Errorf("found\n%s\nexpected %q among them", text, c.want)
			}
		})
	}
}
