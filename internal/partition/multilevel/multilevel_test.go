package multilevel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// graph builds an undirected graph of n nodes from pairs; loops and repetitions are left out.
func graph(n int, pairs [][2]int) *undirected.Graph {
	beside := make([][]uint32, n)
	for _, p := range pairs {
		if p[0] != p[1] {
			beside[p[0]] = append(beside[p[0]], uint32(p[1]))
			beside[p[1]] = append(beside[p[1]], uint32(p[0]))
		}
	}
	g := &undirected.Graph{Offsets: []uint32{0}, Constraints: 1}
	for _, b := range beside {
		slices.Sort(b)
		g.Neighbours = append(g.Neighbours, slices.Compact(b)...)
		g.Offsets = append(g.Offsets, uint32(len(g.Neighbours)))
	}
	return g
}

func options(parts int, seed uint64) multilevel.Options {
	return multilevel.Options{Options: undirected.Options{Parts: parts, Imbalance: []float64{1.03}, Seed: seed, Threads: 2}}
}

// partition fails the test unless every node has a part and the reported cut and loads match the parts.
func partition(t rapid.TB, g *undirected.Graph, o multilevel.Options) ([]uint16, multilevel.Stats) {
	t.Helper()
	part, stats, err := multilevel.Partition(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(part) != g.Len() {
		t.Fatalf("%d parts for %d nodes", len(part), g.Len())
	}
	var cut int64
	loads := make([]int64, o.Parts*g.Constraints)
	for v, p := range part {
		if int(p) >= o.Parts {
			t.Fatalf("node %d is in part %d of %d", v, p, o.Parts)
		}
		for i := g.Offsets[v]; i < g.Offsets[v+1]; i++ {
			if u := g.Neighbours[i]; int(u) > v && part[u] != p {
				w := int64(1)
				if g.EdgeWeights != nil {
					w = int64(g.EdgeWeights[i])
				}
				cut += w
			}
		}
		for c := range g.Constraints {
			w := int64(1)
			if g.Weights != nil {
				w = int64(g.Weights[v*g.Constraints+c])
			}
			loads[int(p)*g.Constraints+c] += w
		}
	}
	if cut != stats.Cut || !slices.Equal(loads, stats.Loads) {
		t.Fatalf("cut %d loads %d, reported %d %d", cut, loads, stats.Cut, stats.Loads)
	}
	balanced := true
	caps := g.Caps(o.Parts, o.Imbalance)
	for i, w := range loads {
		balanced = balanced && w <= caps[i%g.Constraints]
	}
	if balanced != stats.Balanced {
		t.Fatalf("balanced %v with loads %d and caps %d", stats.Balanced, loads, caps)
	}
	return part, stats
}

func grid(side int) *undirected.Graph {
	var pairs [][2]int
	for y := range side {
		for x := range side {
			if x > 0 {
				pairs = append(pairs, [2]int{y*side + x - 1, y*side + x})
			}
			if y > 0 {
				pairs = append(pairs, [2]int{(y-1)*side + x, y*side + x})
			}
		}
	}
	return graph(side*side, pairs)
}

// planted has groups of size nodes, dense inside, with few edges between groups. The nodes of a group are
// spread over the ids.
func planted(groups, size, inside, between int, seed uint64) (g *undirected.Graph, cut int64) {
	state := seed
	below := func(n int) int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(state >> 33 % uint64(n))
	}
	node := func(group, i int) int { return i*groups + group }
	var pairs [][2]int
	for q := range groups {
		for i := range size {
			for range inside {
				pairs = append(pairs, [2]int{node(q, i), node(q, below(size))})
			}
		}
	}
	for range between {
		a := below(groups)
		b := (a + 1 + below(groups-1)) % groups
		pairs = append(pairs, [2]int{node(a, below(size)), node(b, below(size))})
	}
	g = graph(groups*size, pairs)
	for v := range g.Len() {
		for _, u := range g.Of(uint32(v)) {
			if int(u) > v && int(u)%groups != v%groups {
				cut++
			}
		}
	}
	return g, cut
}

func TestFindsPlantedParts(t *testing.T) {
	for _, preset := range []multilevel.Preset{multilevel.Fast, multilevel.Default, multilevel.High} {
		t.Run(string(preset), func(t *testing.T) {
			g, cut := planted(8, 1000, 6, 1500, 1)
			o := options(8, 3)
			o.Preset = preset
			if _, stats := partition(t, g, o); stats.Cut > cut || !stats.Balanced {
				t.Errorf("cut %d, balanced %v; the planted parts cut %d", stats.Cut, stats.Balanced, cut)
			}
		})
	}
}

func TestGrid(t *testing.T) {
	for _, c := range []struct{ side, parts, most int }{
		{64, 2, 72},    // a straight line cuts 64
		{64, 4, 145},   // two lines cut 128
		{100, 16, 660}, // three lines each way cut 600
	} {
		t.Run(fmt.Sprint(c.side, "/", c.parts), func(t *testing.T) {
			if _, stats := partition(t, grid(c.side), options(c.parts, 1)); stats.Cut > int64(c.most) || !stats.Balanced {
				t.Errorf("cut %d, balanced %v, expected at most %d", stats.Cut, stats.Balanced, c.most)
			}
		})
	}
}

// steep has nodes whose degrees fall like 1/id, without communities.
func steep(n, edges int) *undirected.Graph {
	state := uint64(1)
	end := func() int {
		state = state*6364136223846793005 + 1442695040888963407
		return int(math.Pow(float64(n), float64(state>>11)/(1<<53))) - 1
	}
	var pairs [][2]int
	for range edges {
		pairs = append(pairs, [2]int{end(), end()})
	}
	return graph(n, pairs)
}

func TestFillsByFallingDegree(t *testing.T) {
	for _, c := range []struct {
		name    string
		g       *undirected.Graph
		falling bool
	}{
		{"hubs", steep(12_000, 60_000), true},
		{"grid", grid(100), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			part, stats := partition(t, c.g, options(8, 1))
			if stats.Falling != c.falling || !stats.Balanced {
				t.Fatalf("falling %v, balanced %v, expected %v, true", stats.Falling, stats.Balanced, c.falling)
			}
			if !c.falling {
				return
			}
			for v := range c.g.Len() {
				if c.g.Degree(uint32(v)) > 100 && part[v] != part[0] {
					t.Errorf("hub %d is in part %d, expected all in %d", v, part[v], part[0])
				}
			}
		})
	}
}

func TestOddGraphs(t *testing.T) {
	star := make([][2]int, 3000)
	for i := range star {
		star[i] = [2]int{0, i + 1}
	}
	var islands [][2]int
	for i := range 900 {
		islands = append(islands, [2]int{i * 3, i*3 + 1}, [2]int{i*3 + 1, i*3 + 2})
	}
	for _, c := range []struct {
		name  string
		g     *undirected.Graph
		parts int
		most  int64 // the cut
	}{
		{"nothing", graph(0, nil), 4, 0},
		{"one node", graph(1, nil), 1, 0},
		{"one part", grid(10), 1, 0},
		{"more parts than nodes", grid(3), 20, 12},
		{"as many parts as nodes", grid(4), 16, 24},
		{"no edges", graph(5000, nil), 7, 0},
		{"star", graph(3001, star), 4, 2400},
		{"islands", graph(2700, islands), 9, 20},
		{"many parts", grid(40), 400, 3000},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, stats := partition(t, c.g, options(c.parts, 1))
			if !stats.Balanced || stats.Cut > c.most {
				t.Errorf("cut %d, expected at most %d; balanced %v: %d", stats.Cut, c.most, stats.Balanced, stats.Loads)
			}
		})
	}
}

func TestNodeHeavierThanCap(t *testing.T) {
	g := grid(30)
	g.Weights = slices.Repeat([]uint32{1}, g.Len())
	g.Weights[17] = 5000
	_, stats := partition(t, g, options(4, 1))
	if stats.Balanced {
		t.Error("balanced, with a node that no part can take")
	}
	slices.Sort(stats.Loads)
	if stats.Loads[3] > 5000+30 {
		t.Errorf("loads %d: the heavy node should be nearly alone", stats.Loads)
	}
}

func TestSeveralConstraints(t *testing.T) {
	g, _ := planted(6, 600, 5, 900, 4)
	g.Constraints = 3
	for v := range uint32(g.Len()) {
		few := uint32(0)
		if v%40 == 0 {
			few = 1
		}
		g.Weights = append(g.Weights, 1, uint32(g.Degree(v)), few)
	}
	o := options(6, 2)
	o.Imbalance = []float64{1.05, 1.05, 1.1}
	if _, stats := partition(t, g, o); !stats.Balanced {
		t.Errorf("loads %d, caps %d", stats.Loads, g.Caps(6, o.Imbalance))
	}
}

// A grid whose weights are all in one corner can be cut so that the parts share them evenly.
func TestWeightsDecide(t *testing.T) {
	g := grid(40)
	for v := range g.Len() {
		w := uint32(0)
		if v%40 < 20 && v/40 < 20 {
			w = 3
		}
		g.Weights = append(g.Weights, w)
	}
	if _, stats := partition(t, g, options(4, 5)); !stats.Balanced || stats.Cut > 75 {
		t.Errorf("cut %d, balanced %v, loads %d", stats.Cut, stats.Balanced, stats.Loads)
	}
}

func TestSameAtAnyNumberOfThreads(t *testing.T) {
	small, _ := planted(5, 1500, 3, 2000, 9)
	two := *small
	two.Constraints = 2
	for v := range uint32(two.Len()) {
		two.Weights = append(two.Weights, 1, uint32(two.Degree(v)))
	}
	for _, c := range []struct {
		name   string
		g      *undirected.Graph
		change func(*multilevel.Options)
	}{
		{"default", small, func(*multilevel.Options) {}},
		{"volume", small, func(o *multilevel.Options) { o.Objective = multilevel.Vol }},
		{"cycles", small, func(o *multilevel.Options) { o.Preset = multilevel.High }},
		{"two constraints", &two, func(*multilevel.Options) {}},
		{"large", grid(270), func(o *multilevel.Options) { o.Preset = multilevel.Fast }},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(5, 11)
			c.change(&o)
			o.Threads = 1
			want, _ := partition(t, c.g, o)
			for _, threads := range []int{2, 3, 4} {
				o.Threads = threads
				if got, _ := partition(t, c.g, o); !slices.Equal(got, want) {
					t.Errorf("%d threads give other parts than one", threads)
				}
			}
			o.Seed++
			if got, _ := partition(t, c.g, o); slices.Equal(got, want) {
				t.Error("another seed gives the same parts")
			}
		})
	}
}

func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 120).Draw(t, "nodes")
		var pairs [][2]int
		if n > 0 {
			node := rapid.IntRange(0, n-1)
			for range rapid.IntRange(0, 3*n).Draw(t, "pairs") {
				pairs = append(pairs, [2]int{node.Draw(t, "a"), node.Draw(t, "b")})
			}
		}
		g := graph(n, pairs)
		unit := true
		if rapid.Bool().Draw(t, "edge weights") {
			weight := map[[2]uint32]uint32{}
			for v := range uint32(n) {
				for _, u := range g.Of(v) {
					key := [2]uint32{min(u, v), max(u, v)}
					if weight[key] == 0 {
						weight[key] = rapid.Uint32Range(1, 1<<32-1).Draw(t, "weight")
					}
					g.EdgeWeights = append(g.EdgeWeights, weight[key])
				}
			}
		}
		if n > 0 && rapid.Bool().Draw(t, "node weights") {
			unit = false
			g.Constraints = rapid.IntRange(1, 3).Draw(t, "constraints")
			for range n * g.Constraints {
				g.Weights = append(g.Weights, rapid.Uint32Range(0, 9).Draw(t, "weight"))
			}
			for c := range g.Constraints {
				g.Weights[c]++
			}
		}
		o := options(rapid.IntRange(1, 9).Draw(t, "parts"), rapid.Uint64().Draw(t, "seed"))
		o.Preset = rapid.SampledFrom([]multilevel.Preset{multilevel.Fast, multilevel.Default, multilevel.High}).Draw(t, "preset")
		o.Objective = rapid.SampledFrom([]multilevel.Objective{multilevel.Cut, multilevel.Vol}).Draw(t, "objective")
		part, stats := partition(t, g, o)
		if unit && !stats.Balanced {
			t.Fatalf("loads %d exceed %d", stats.Loads, g.Caps(o.Parts, o.Imbalance))
		}
		o.Threads = 3
		if again, _ := partition(t, g, o); !slices.Equal(part, again) {
			t.Fatal("two runs differ")
		}
	})
}

func TestCancelled(t *testing.T) {
	g := grid(700)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond) // any moment of the work
	defer cancel()
	o := options(64, 1)
	o.Preset = multilevel.High
	_, _, err := multilevel.Partition(ctx, g, o)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
}

func TestRefusesOptions(t *testing.T) {
	for name, change := range map[string]func(*multilevel.Options){
		"no parts":        func(o *multilevel.Options) { o.Parts = 0 },
		"too many parts":  func(o *multilevel.Options) { o.Parts = undirected.MaxParts + 1 },
		"preset":          func(o *multilevel.Options) { o.Preset = "best" },
		"objective":       func(o *multilevel.Options) { o.Objective = "edges" },
		"imbalances":      func(o *multilevel.Options) { o.Imbalance = []float64{1, 1, 1} },
		"imbalance below": func(o *multilevel.Options) { o.Imbalance = []float64{0.9} },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(4, 1)
			change(&o)
			if _, _, err := multilevel.Partition(context.Background(), grid(4), o); err == nil {
				t.Error("accepted")
			}
		})
	}
	t.Run("edge weights", func(t *testing.T) {
		star := make([][2]int, 40_000)
		for i := range star {
			star[i] = [2]int{0, i + 1}
		}
		g := graph(len(star)+1, star)
		g.EdgeWeights = slices.Repeat([]uint32{1<<32 - 1}, len(g.Neighbours))
		if _, _, err := multilevel.Partition(context.Background(), g, options(4, 1)); err == nil || !strings.Contains(err.Error(), "divide the weights") {
			t.Errorf("found the error %v, expected one about the sum of the weights", err)
		}
	})
}

func TestVolume(t *testing.T) {
	g, _ := planted(4, 1000, 2, 3000, 2)
	volume := func(part []uint16) (sum int) {
		for v := range uint32(g.Len()) {
			others := map[uint16]bool{}
			for _, u := range g.Of(v) {
				others[part[u]] = true
			}
			delete(others, part[v])
			sum += len(others)
		}
		return sum
	}
	o := options(12, 1)
	cut, _ := partition(t, g, o)
	o.Objective = multilevel.Vol
	vol, stats := partition(t, g, o)
	if volume(vol) > volume(cut)*98/100 || !stats.Balanced {
		t.Errorf("volume %d, and %d where the cut is the objective; balanced %v", volume(vol), volume(cut), stats.Balanced)
	}
}

// Weights near the largest 32-bit number are cut like small ones: the weight of a cluster does not overflow.
func TestHeavyWeights(t *testing.T) {
	cuts := map[uint32]int64{}
	for _, weight := range []uint32{1, 1_000_000_000} {
		g := grid(60)
		g.Constraints, g.Weights = 1, make([]uint32, g.Len())
		for v := range g.Weights {
			g.Weights[v] = weight
		}
		_, stats, err := multilevel.Partition(t.Context(), g, options(8, 1))
		if err != nil {
			t.Fatal(err)
		}
		if !stats.Balanced {
			t.Errorf("weight %d: found unbalanced parts", weight)
		}
		cuts[weight] = stats.Cut
	}
	if cuts[1_000_000_000] > cuts[1]*5/4 {
		t.Errorf("found a cut of %d with heavy nodes, expected about the %d of light ones", cuts[1_000_000_000], cuts[1])
	}
}
