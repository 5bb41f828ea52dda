package ranges

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/fennel"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// drawGraph draws a small graph: with hubs, nodes without neighbours, weights of nodes and edges, or none of these.
func drawGraph(t *rapid.T) *undirected.Graph {
	n := rapid.IntRange(0, 300).Draw(t, "nodes")
	if n == 0 {
		return undirected.FromPairs(0, nil, nil)
	}
	random := rapid.Uint64().Draw(t, "random")
	next := func(below int) int {
		random = mix(random)
		return int(random >> 33 % uint64(below))
	}
	var src, dst []uint32
	pair := func(u, v int) { src, dst = append(src, uint32(u%n)), append(dst, uint32(v%n)) }
	for range rapid.IntRange(0, 3).Draw(t, "hubs") {
		hub := next(n)
		for range n / 2 {
			pair(hub, next(n))
		}
	}
	for range rapid.IntRange(0, 4*n).Draw(t, "pairs") {
		u := next(n)
		if next(4) > 0 {
			pair(u, u+next(20)) // near, loops among them
		} else {
			pair(u, next(n))
		}
	}
	g := undirected.FromPairs(n, src, dst)
	if rapid.Bool().Draw(t, "edge weights") {
		g.EdgeWeights = make([]uint32, len(g.Neighbours))
		for v := range uint32(n) {
			for j := g.Offsets[v]; j < g.Offsets[v+1]; j++ {
				u := g.Neighbours[j]
				g.EdgeWeights[j] = 1 + (u+v)%5
			}
		}
	}
	if c := rapid.IntRange(0, 3).Draw(t, "constraints"); c > 0 {
		g.Constraints, g.Weights = c, make([]uint32, c*n)
		for i := range g.Weights {
			g.Weights[i] = uint32(next(3))
		}
	}
	return g
}

func drawOptions(t *rapid.T) Options {
	o := Options{FS: vfs.OS}
	o.Parts = rapid.SampledFrom([]int{1, 2, 3, 8, 20}).Draw(t, "parts")
	o.Imbalance, o.Threads, o.Seed = []float64{1.03}, 2, rapid.Uint64().Draw(t, "seed")
	return o
}

// spill writes a graph to a temporary file.
func spill(t testing.TB, g *undirected.Graph, dir string) *undirected.Spilled {
	t.Helper()
	w, err := undirected.NewSpillWriter(vfs.OS, dir, g.EdgeWeights != nil)
	if err != nil {
		t.Fatal(err)
	}
	for v := range g.Len() {
		b, _ := g.Between(v, v+1, nil)
		if err := w.Row(b.Neighbours, b.EdgeWeights); err != nil {
			t.Fatal(err)
		}
	}
	s, err := w.Done()
	if err != nil {
		t.Fatal(err)
	}
	s.Constraints, s.Weights = g.Constraints, g.Weights
	return s
}

// The parts are the same with any number of workers, whether they share memory, or exchange bytes and end after each round, and from a file. Every node has a part, and the cut that is reported is
// that of a count.
func TestAnyNumberOfWorkers(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		g, o := drawGraph(rt), drawOptions(rt)
		o.Temp = dir
		var first []uint16
		var cut int64
		s := spill(t, g, dir)
		defer s.Close()
		for _, workers := range []int{1, 2, 3, 8, 64} {
			o.Workers, o.apart = workers, rapid.Bool().Draw(rt, "apart")
			rows := rapid.SampledFrom([]undirected.Placed{g, s}).Draw(rt, "rows")
			part, stats, err := Partition(t.Context(), rows, o)
			if err != nil {
				rt.Fatalf("%d workers, apart %v: %v", workers, o.apart, err)
			}
			if first != nil {
				if !slices.Equal(part, first) || stats.Cut != cut {
					rt.Fatalf("%d workers, apart %v, rows %T: found other parts than with one (cut %d and %d)", workers, o.apart, rows, stats.Cut, cut)
				}
				continue
			}
			first, cut = part, stats.Cut
			q, err := undirected.Evaluate(t.Context(), g, part, o.Parts, 1)
			if err != nil || q.Cut != stats.Cut {
				rt.Fatalf("found cut %d, expected %d: %v", stats.Cut, q.Cut, err)
			}
			for p, x := range q.Parts {
				if most := g.Caps(o.Parts, o.Imbalance)[0]; g.Weights == nil && x.Nodes > most {
					rt.Fatalf("part %d: found %d nodes, expected at most %d", p, x.Nodes, most)
				}
			}
			if stats.Passes > 12 {
				rt.Fatalf("found %.2f passes, expected at most 12", stats.Passes)
			}
			// Clusters and their pairs at the end, the contraction, the start by degree, and two refinements.
			if most := 2*(ClusterPasses*Rounds+1) + 1 + 3 + 2*len(refinement)*(2*Rounds+1); stats.Barriers > most {
				rt.Fatalf("found %d barriers, expected at most %d", stats.Barriers, most)
			}
		}
	})
}

// community makes a graph of groups of 40 nodes, in which most edges stay in the group or lead to the next ones.
func community(groups int) *undirected.Graph {
	var src, dst []uint32
	x := uint64(groups)
	n := uint64(40 * groups)
	for v := range n {
		for e := range uint64(6) {
			x = mix(x)
			u := v/40*40 + x>>20%40
			if e == 4 {
				u = (v/400*400 + x>>20%400) % n
			} else if e == 5 && v%3 == 0 {
				u = x >> 20 % n
			}
			src, dst = append(src, uint32(v)), append(dst, uint32(u))
		}
	}
	return undirected.FromPairs(int(n), src, dst)
}

func mesh(side int) *undirected.Graph {
	var src, dst []uint32
	for i := range side {
		for j := range side {
			v := uint32(i*side + j)
			if j > 0 {
				src, dst = append(src, v), append(dst, v-1)
			}
			if i > 0 {
				src, dst = append(src, v), append(dst, v-uint32(side))
			}
		}
	}
	return undirected.FromPairs(side*side, src, dst)
}

// hubs makes a graph with a dense centre and many nodes around it.
func hubs(n int) *undirected.Graph {
	var src, dst []uint32
	x := uint64(n)
	for v := range uint64(n) {
		for range 6 {
			x = mix(x)
			f := float64(x>>11) / (1 << 53)
			src, dst = append(src, uint32(v)), append(dst, uint32(f*f*f*f*float64(n)))
		}
	}
	return undirected.FromPairs(n, src, dst)
}

func star(n int) *undirected.Graph {
	var src, dst []uint32
	for v := 1; v < n; v++ {
		src, dst = append(src, 0), append(dst, uint32(v))
	}
	return undirected.FromPairs(n, src, dst)
}

func optionsOf(parts int, seed uint64) Options {
	return Options{Options: undirected.Options{Parts: parts, Imbalance: []float64{1.03}, Threads: 2, Seed: seed}, FS: vfs.OS}
}

// divided divides a graph, and returns the quality, which it checks against what Partition says.
func divided(t testing.TB, g *undirected.Graph, o Options) (*undirected.Quality, *Stats) {
	t.Helper()
	part, stats, err := Partition(t.Context(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	q, err := undirected.Evaluate(t.Context(), g, part, o.Parts, 2)
	if err != nil || q.Cut != stats.Cut || stats.Passes > 12 {
		t.Fatalf("found a cut of %d in %.1f passes, expected %d in at most 12: %v", stats.Cut, stats.Passes, q.Cut, err)
	}
	for c, most := range undirected.Caps(undirected.Totals(g), o.Parts, o.Imbalance) {
		for p, x := range q.Parts {
			if x.Weights[c] > most {
				t.Errorf("part %d: found a weight of %d, expected at most %d", p, x.Weights[c], most)
			}
		}
	}
	return q, &stats
}

// streamedCut is the cut of fennel.
func streamedCut(t testing.TB, g *undirected.Graph, o Options) int64 {
	t.Helper()
	part, err := fennel.Partition(t.Context(), g, fennel.Options{Options: o.Options, Passes: 5})
	if err != nil {
		t.Fatal(err)
	}
	q, err := undirected.Evaluate(t.Context(), g, part, o.Parts, 2)
	if err != nil {
		t.Fatal(err)
	}
	return q.Cut
}

// The cut is near that in memory and never above fennel's, and the parts are within their caps. A mesh is the worst case.
func TestCuts(t *testing.T) {
	for name, c := range map[string]struct {
		graph *undirected.Graph
		most  float64 // relative to the cut in memory
	}{
		"community": {community(500), 1.08}, "mesh": {mesh(150), 1.25}, "hubs": {hubs(20_000), 1.06}, "star": {star(3000), 1}, "no pairs": {undirected.FromPairs(3000, nil, nil), 1},
	} {
		for _, parts := range []int{2, 8, 64} {
			o := optionsOf(parts, 1)
			q, stats := divided(t, c.graph, o)
			o.Whole = math.MaxInt64
			whole, _ := divided(t, c.graph, o)
			if f := streamedCut(t, c.graph, o); q.Cut > f || float64(q.Cut) > c.most*float64(whole.Cut) {
				t.Errorf("%s, %d parts: found a cut of %d, expected at most %.2f of %d, and %d", name, parts, q.Cut, c.most, whole.Cut, f)
			}
			t.Logf("%s, %d parts: %d, whole %d: %v", name, parts, q.Cut, whole.Cut, stats)
		}
	}
}

// The means of five random seeds on graphs of the size for which workers are.
func TestCutsOfLargeGraphs(t *testing.T) {
	proof.OnlyLong(t, "some ten minutes; TestCuts divides small graphs")
	for name, g := range map[string]*undirected.Graph{"community": community(10_000), "hubs": hubs(400_000)} {
		for parts, most := range map[int]float64{8: 1.05, 64: 1.08} {
			var cuts, wholes int64
			for seed := range uint64(5) {
				o := optionsOf(parts, seed)
				q, _ := divided(t, g, o)
				o.Whole = math.MaxInt64
				whole, _ := divided(t, g, o)
				if f := streamedCut(t, g, o); q.Cut > f {
					t.Errorf("%s, %d parts, seed %d: found a cut of %d, expected at most fennel's %d", name, parts, seed, q.Cut, f)
				}
				cuts, wholes = cuts+q.Cut, wholes+whole.Cut
			}
			ratio := float64(cuts) / float64(wholes)
			if t.Logf("%s, %d parts: %.3f of the cut in memory", name, parts, ratio); ratio > most {
				t.Errorf("%s, %d parts: found %.3f of the cut in memory, expected at most %.2f", name, parts, ratio, most)
			}
		}
	}
}

// What was divided once stays so: a change that alters it alters the parts of every user.
func TestGolden(t *testing.T) {
	weighted := community(30)
	weighted.Constraints, weighted.Weights = 2, make([]uint32, 2*weighted.Len())
	for v := range weighted.Len() {
		weighted.Weights[2*v], weighted.Weights[2*v+1] = 1, uint32(v%3)
	}
	for name, c := range map[string]struct {
		graph *undirected.Graph
		parts int
		want  string
	}{
		"community": {community(50), 8, "8f91aab5a5958e89"}, "mesh": {mesh(40), 4, "11fb64163a9871cf"}, "hubs": {hubs(2000), 8, "a0a7b766273f45b2"}, "two constraints": {weighted, 5, "44d6fcf0b7f34b32"},
	} {
		part, _, err := Partition(t.Context(), c.graph, optionsOf(c.parts, 7))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(graph.Bytes(part))
		if got := hex.EncodeToString(sum[:8]); got != c.want {
			t.Errorf("%s: found %s, expected %s", name, got, c.want)
		}
	}
}

func TestCorners(t *testing.T) {
	for name, c := range map[string]struct {
		graph *undirected.Graph
		parts int
		cut   int64
	}{
		"no nodes": {undirected.FromPairs(0, nil, nil), 3, 0}, "a node": {undirected.FromPairs(1, nil, nil), 3, 0}, "one part": {mesh(20), 1, 0},
		"more parts than nodes": {mesh(3), 100, 12}, "as many parts as nodes": {mesh(3), 9, 12}, "a loop and parallel pairs": {undirected.FromPairs(2, []uint32{0, 0, 1, 1}, []uint32{0, 1, 0, 0}), 2, 1},
	} {
		for _, workers := range []int{1, 64} {
			o := optionsOf(c.parts, 1)
			o.Workers = workers
			if q, _ := divided(t, c.graph, o); q.Cut != c.cut {
				t.Errorf("%s, %d workers: found a cut of %d, expected %d", name, workers, q.Cut, c.cut)
			}
		}
	}
}

func TestRefusesWhatItCannotDivide(t *testing.T) {
	for want, c := range map[string]struct {
		nodes  int
		totals []int64
		o      undirected.Options
	}{
		"expected at most 2147483647": {1 << 31, []int64{1}, undirected.Options{Parts: 2, Imbalance: []float64{1}}},
		"found 0 parts":               {5, []int64{5}, undirected.Options{Imbalance: []float64{1}}},
		"found 3 imbalances":          {5, []int64{5, 5}, undirected.Options{Parts: 2, Imbalance: []float64{1, 1, 1}}},
	} {
		if _, err := NewPlan(c.nodes, false, c.totals, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// No cluster exceeds its caps, but a node that does alone, and a leader leads itself.
func TestClustersKeepTheirCaps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g, o := drawGraph(rt), drawOptions(rt)
		o.Parts = max(1, min(o.Parts, g.Len()/(coarsest+1)))
		if g.Len() == 0 {
			return
		}
		p, err := NewPlan(g.Len(), g.Weights != nil, undirected.Totals(g), o.Options)
		if err != nil {
			rt.Fatal(err)
		}
		o.Workers = 3
		o.Threads = 1
		r := newRun(g, p, o)
		r.staff()
		n, coarse, err := r.cluster(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		sums, nodes := make([]uint32, n*p.Constraints), make([]int, n)
		p.AddWeights(sums, 0, g.Len(), g.Weights, coarse)
		for _, c := range coarse {
			nodes[c]++
		}
		for c, k := range nodes {
			for i, most := range p.ClusterCaps {
				if w := sums[c*p.Constraints+i]; k == 0 || k > 1 && int64(w) > most {
					rt.Fatalf("cluster %d: found %d nodes of weight %d, expected at most %d", c, k, w, most)
				}
			}
		}
	})
}

// A lonely node that leads others is not joined by those whose target it is: together they could exceed the cap.
func TestPairKeepsCaps(t *testing.T) {
	p := &Plan{Nodes: 4, Parts: 1, Block: 1, Constraints: 1, Weighted: true, ClusterCaps: []int64{2}}
	k := NewClusters(p, []uint32{1, 2, 1, 1})
	joins := k.Pair(&Proposals{Items: []Proposal{{Target: 1, Node: 0}, {Target: 1, Node: 3}, {Target: 0, Node: 2}}, Sizes: []uint32{1, 1, 1}})
	if want := []Join{{Node: 3, To: 0}}; !slices.Equal(joins.Items, want) {
		t.Errorf("found the joins %v, expected %v", joins.Items, want)
	}
}

// The core has a node for each cluster and the sum of the edges between each two, from memory and from disk.
func TestCore(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGraph(rt)
		n := rapid.IntRange(1, max(1, g.Len())).Draw(rt, "clusters")
		coarse := make([]uint32, g.Len())
		want := map[[2]uint32]uint32{}
		for v := range coarse {
			coarse[v] = uint32(mix(uint64(v)) % uint64(n))
		}
		for v := range uint32(g.Len()) {
			for j := g.Offsets[v]; j < g.Offsets[v+1]; j++ {
				if a, b := coarse[v], coarse[g.Neighbours[j]]; a != b {
					w := uint32(1)
					if g.EdgeWeights != nil {
						w = g.EdgeWeights[j]
					}
					want[[2]uint32{a, b}] += w
				}
			}
		}
		o := optionsOf(2, 1)
		o.Temp, o.Workers = dir, 3
		p, err := NewPlan(g.Len(), g.Weights != nil, undirected.Totals(g), o.Options)
		if err != nil {
			rt.Fatal(err)
		}
		o.Threads = 1
		r := newRun(g, p, o)
		r.staff()
		core, err := r.contract(t.Context(), n, coarse)
		if err != nil {
			rt.Fatal(err)
		}
		s := spill(t, g, dir)
		defer s.Close()
		rows, err := outofcore.Contract(t.Context(), s, coarse, n, outofcore.Options{Options: o.Options, FS: vfs.OS, Temp: dir, Memory: math.MaxInt64 / 2})
		if err != nil {
			rt.Fatal(err)
		}
		defer rows.Close()
		loaded, err := outofcore.Load(t.Context(), rows, outofcore.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer outofcore.Free(loaded)
		if !slices.Equal(core.Offsets, loaded.Offsets) || !slices.Equal(core.Neighbours, loaded.Neighbours) || !slices.Equal(core.EdgeWeights, loaded.EdgeWeights) {
			rt.Fatal("found other rows from disk than in memory")
		}
		if len(want) != len(core.Neighbours) {
			rt.Fatalf("found %d neighbours, expected %d", len(core.Neighbours), len(want))
		}
		for v := range uint32(n) {
			row := core.Of(v)
			for j, u := range row {
				if want[[2]uint32{v, u}] != core.EdgeWeights[int(core.Offsets[v])+j] || j > 0 && row[j-1] >= u {
					rt.Fatalf("found %v as the row of %d", row, v)
				}
			}
		}
	})
}

// A core that does not fit the memory is divided out of core. Another number of workers gives the same parts there too.
func TestCoreOutOfCore(t *testing.T) {
	g, dir := hubs(90_000), t.TempDir()
	s := spill(t, g, dir)
	defer s.Close()
	o := optionsOf(8, 1)
	o.Temp, o.Memory = dir, Least(int64(g.Len()), 1, 8)
	var first []uint16
	for _, workers := range []int{1, 5} {
		o.Workers = workers
		part, stats, err := Partition(t.Context(), s, o)
		if err != nil || stats.OutOfCore == nil {
			t.Fatalf("found %v, %v", &stats, err)
		}
		if first == nil {
			first = part
		}
		q, err := undirected.Evaluate(t.Context(), g, part, 8, 1)
		if err != nil || q.Cut != stats.Cut || !slices.Equal(part, first) {
			t.Errorf("found a cut of %d, expected %d: %v", stats.Cut, q.Cut, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("found %v, %v, expected no files", left, err)
	}
}

// A run ends at any stage soon after its context.
func TestStops(t *testing.T) {
	g := star(1500)
	stages := 0
	o := optionsOf(4, 1)
	o.Progress = func(string, int64, string) func(int64) { stages++; return nil }
	if _, _, err := Partition(t.Context(), g, o); err != nil || stages < 6 {
		t.Fatalf("%d stages: %v", stages, err)
	}
	for at := 1; at <= stages; at++ {
		ctx, cancel := context.WithCancel(t.Context())
		now := 0
		o.Progress = func(string, int64, string) func(int64) {
			if now++; now == at {
				cancel()
			}
			return nil
		}
		if _, _, err := Partition(ctx, g, o); !errors.Is(err, context.Canceled) {
			t.Errorf("stage %d of %d: found %v", at, stages, err)
		}
		cancel()
	}
}

// Every call of the file system may fail, the last one too.
func TestFaults(t *testing.T) {
	g := community(30)
	o := optionsOf(4, 1)
	o.Temp, o.Threads, o.Workers, o.Memory = t.TempDir(), 1, 2, Least(int64(g.Len()), 1, 4)
	full := errors.New("disk full")
	calls := int64(math.MaxInt64)
	for at := int64(0); at <= calls; at += 1 + at/10 {
		// The rows are read through the same faults.
		fault := &vfs.Fault{FS: vfs.OS}
		w, err := undirected.NewSpillWriter(fault, o.Temp, false)
		if err != nil {
			t.Fatal(err)
		}
		for v := range g.Len() {
			if err := w.Row(g.Of(uint32(v)), nil); err != nil {
				t.Fatal(err)
			}
		}
		s, err := w.Done()
		if err != nil {
			t.Fatal(err)
		}
		if at > 0 {
			fault.FailAt, fault.Err = fault.Calls()+at, full
		}
		before := fault.Calls()
		o.FS = fault
		_, _, err = Partition(t.Context(), s, o)
		if at == 0 {
			calls = fault.Calls() - before
		}
		if (at == 0) != (err == nil) || at > 0 && !errors.Is(err, full) {
			t.Errorf("call %d of %d: found %v", at, calls, err)
		}
		fault.FailAt = 0
		_ = s.Close()
	}
	if left, err := os.ReadDir(o.Temp); err != nil || len(left) > 0 {
		t.Errorf("found %v, %v, expected no files", left, err)
	}
}

// Moves are refused where they do not fit a part all together, and the best ones are taken first.
func TestChoose(t *testing.T) {
	p := &Plan{Nodes: 10, Parts: 2, Constraints: 1, Caps: []int64{6}}
	d := NewDivision(p, make([]uint16, 10), []int64{5, 3}, nil)
	worse, better := keyOf(1, 0), keyOf(9, 0)
	if better >= worse {
		t.Fatalf("found keys %d and %d, expected the lower one for the larger gain", better, worse)
	}
	hs := []Histogram{{Bins: []Bin{{1, worse}}, Weights: []int64{2}}, {Bins: []Bin{{0, worse}, {1, better}}, Weights: []int64{1, 2}}}
	if got, want := d.Choose(hs), []uint32{Bin{1, worse}.number()}; !slices.Equal(got, want) {
		t.Errorf("found %v refused, expected %v", got, want)
	}
}

func ExampleStats_String() {
	fmt.Println(&Stats{CoreNodes: 1000, CorePairs: 20000, Passes: 7, Barriers: 169, Sent: 1 << 20, Received: 1 << 10, ByDegree: true})
	// Output: multilevel divided 1,000 clusters with 20,000 pairs; 7.0 passes over the edges, 169 barriers; workers sent 1.00 MiB in all, and each received 1.00 KiB; parts filled by falling degree gave the smaller cut
}
