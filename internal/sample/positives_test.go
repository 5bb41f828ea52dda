package sample

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/reftest"
)

// positivesCase is a case of the reference's positives().
type positivesCase struct {
	Graph *refGraph       `json:"graph"`
	Plan  json.RawMessage `json:"plan"`
	Nodes []uint32        `json:"nodes"`
	Times []float64       `json:"times,omitempty"`
	Seed  uint64          `json:"seed"`
	Epoch uint64          `json:"epoch"`
}

// positivesCases are random graphs, some of whose plans have messages and times.
func positivesCases(n int) (cases []*positivesCase) {
	r := rand.New(rand.NewPCG(20261128, 1))
	for len(cases) < n {
		c := &positivesCase{Nodes: []uint32{}, Graph: randomGraph(r, []string{"dst", "src"}[r.IntN(2)], r.IntN(40) == 0), Seed: r.Uint64(), Epoch: r.Uint64N(5)}
		var names []string
		for e := range c.Graph.Edges {
			names = append(names, e)
		}
		slices.Sort(names)
		name := names[r.IntN(len(names))]
		et, _ := graph.ParseEdgeType(name)
		p := &testPlan{seedType: []string{et.Src, et.Dst}, scope: ScopeBatch, ops: []map[string]any{}, more: map[string]any{"seed_edges": name}}
		if r.IntN(2) == 0 {
			p.messages(r, c.Graph, names)
		}
		for range r.IntN(3 * c.Graph.Nodes[et.Src]) {
			c.Nodes = append(c.Nodes, uint32(r.IntN(c.Graph.Nodes[et.Src])))
		}
		if c.Graph.Edges[name]["i_time"] != nil && r.IntN(2) == 0 {
			p.scope = ScopeSeed
			p.before = map[string]any{"columns": map[string]string{name: []string{"i_time", "f_time"}[r.IntN(2)]}, "or_equal": r.IntN(2) == 0}
			for range c.Nodes {
				c.Times = append(c.Times, float64(r.IntN(12)-1)+[]float64{0, 0, 0.5}[r.IntN(3)])
			}
		}
		c.Plan = p.json()
		cases = append(cases, c)
	}
	return cases
}

// newPositives prepares a case, with the lists of both directions or of one.
func newPositives(t *testing.T, c *positivesCase, both bool) (*Positives, *graph.Graph, *Plan, error) {
	t.Helper()
	p, err := ParsePlan("plan", c.Plan)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := graph.ParseDirection(c.Graph.Primary)
	if err != nil {
		t.Fatal(err)
	}
	g := c.Graph.build(dir)
	if both {
		storeBoth(t, g)
	}
	var times []Time
	for _, x := range c.Times {
		times = append(times, FloatTime(x))
	}
	x, err := NewPositives(g, p, c.Nodes, times, c.Seed)
	return x, g, p, err
}

// TestPositivesReference compares positives of random graphs with those of the reference, with the lists of one direction and of both. Each is an edge of its seed that is a message.
func TestPositivesReference(t *testing.T) {
	cases, drawn, left := positivesCases(300), 0, 0
	for i, want := range reftest.Answers[[][2]uint32](t, reftest.NeedPython(t), reference, cases) {
		for _, both := range []bool{false, true} {
			c := cases[i]
			x, g, p, err := newPositives(t, c, both)
			if len(want) == 0 {
				if err == nil || !strings.Contains(err.Error(), "as its positive, expected some") {
					t.Fatalf("case %d: found error %v, expected that no seed has a positive", i, err)
				}
				continue
			}
			if err != nil {
				t.Fatalf("case %d: %v", i, err)
			}
			links, err := x.Links(c.Epoch)
			if err != nil {
				t.Fatal(err)
			}
			var got [][2]uint32
			e := edgesOf(g, p.SeedEdges)
			for k, row := range x.Rows() {
				got = append(got, [2]uint32{row, links.Edges[k]})
				src, dst := e.Ends(int(links.Edges[k]))
				if src != uint64(c.Nodes[row]) || links.Ends[2*k] != c.Nodes[row] || links.Ends[2*k+1] != uint32(dst) {
					t.Fatalf("case %d: seed %d: found the link %v of edge %d from %d to %d", i, c.Nodes[row], links.Ends[2*k:2*k+2], links.Edges[k], src, dst)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("case %d: found positives %v, expected %v", i, got, want)
			}
			drawn, left = drawn+len(got), left+len(c.Nodes)-len(got)
		}
	}
	if drawn < 1000 || left < 100 {
		t.Errorf("found %d positives, and %d seeds without one, expected more", drawn, left)
	}
}

// TestPositivesLaw draws a positive of each of 50 seeds in 4,000 epochs: all edges of a seed, parallel ones too, come alike, by chi-square, and those of two seeds or two epochs do not follow
// each other.
func TestPositivesLaw(t *testing.T) {
	const seeds, degree, epochs = 50, 8, 4000
	var edges [][2]int
	for v := range seeds {
		for k := range degree {
			edges = append(edges, [2]int{v, (v + k/2) % 60})
		}
	}
	p := linkPlan(nil)
	var nodes []uint32
	for v := range uint32(seeds) {
		nodes = append(nodes, v)
	}
	g := linkGraph(seeds, 60, nil, edges)
	x, err := NewPositives(g, p, nodes, nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([][]uint32, seeds)
	for id := range uint32(len(edges)) {
		src, _ := edgesOf(g, p.SeedEdges).Ends(int(id))
		ids[src] = append(ids[src], id)
	}
	single, neighbours, following := make([]float64, seeds*degree), make([]float64, degree*degree), make([]float64, degree*degree)
	var before []int
	for epoch := range uint64(epochs) {
		links, err := x.Links(epoch)
		if err != nil {
			t.Fatal(err)
		}
		at := make([]int, seeds)
		for v := range seeds {
			at[v] = slices.Index(ids[v], links.Edges[v])
			single[v*degree+at[v]]++
			if v > 0 {
				neighbours[at[v-1]*degree+at[v]]++
			}
			if before != nil {
				following[before[v]*degree+at[v]]++
			}
		}
		before = at
	}
	for name, counts := range map[string][]float64{"edges of a seed": single, "two seeds": neighbours, "two epochs": following} {
		total, chi := 0.0, 0.0
		for _, n := range counts {
			total += n
		}
		want := total / float64(len(counts))
		for _, n := range counts {
			chi += (n - want) * (n - want) / want
		}
		if limit := chiSquareLimit(len(counts) - 1); chi > limit {
			t.Errorf("%s: found chi-square %.1f, expected at most %.1f", name, chi, limit)
		}
	}
}

// TestPositivesEpochs checks that links of an epoch are the same whenever they are asked for, and by how many goroutines.
func TestPositivesEpochs(t *testing.T) {
	c := positivesCases(40)
	at := slices.IndexFunc(c, func(c *positivesCase) bool {
		x, _, _, err := newPositives(t, c, false)
		return err == nil && len(x.Nodes()) > 5
	})
	x, _, _, _ := newPositives(t, c[at], false)
	text := func(x *Positives, epoch uint64) string {
		links, err := x.Links(epoch)
		if err != nil {
			t.Error(err)
			return ""
		}
		return fmt.Sprint(links.Ends, links.Edges)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for _, epoch := range rand.Perm(12) {
				alone, _, _, _ := newPositives(t, c[at], true)
				if got, want := text(x, uint64(epoch)), text(alone, uint64(epoch)); got != want {
					t.Errorf("epoch %d: found %s, expected %s", epoch, got, want)
				}
			}
		})
	}
	wait.Wait()
	if text(x, 0) == text(x, 1) {
		t.Error("found the same positives in two epochs, expected others")
	}
}

// TestPositivesRefused checks the errors of positives that do not fit a job.
func TestPositivesRefused(t *testing.T) {
	g, p := linkGraph(4, 4, nil, [][2]int{{0, 1}, {2, 3}}), linkPlan(nil)
	if _, err := NewPositives(g, p, []uint32{0, 9}, nil, 1); err == nil || !strings.Contains(err.Error(), "seed 1: found node 9 of type user, expected less than 4") {
		t.Errorf("found error %v, expected the error of node 9", err)
	}
	if _, err := NewPositives(g, p, nil, nil, 1); err == nil || !strings.Contains(err.Error(), "one of the 0 seeds") {
		t.Errorf("found error %v, expected the error of no seeds", err)
	}
	x, err := NewPositives(g, p, []uint32{0, 1, 2, 3}, nil, 1)
	if err != nil || !slices.Equal(x.Rows(), []uint32{0, 2}) {
		t.Fatalf("found rows %v, %v, expected 0 and 2", x.Rows(), err)
	}
	for _, job := range []*Job{
		{Seeds: []uint32{0, 1}, BatchSize: 1, Positives: x},
		{Seeds: []uint32{0, 1, 2, 3}, BatchSize: 1, Positives: x, Negatives: NegativeLists{Nodes: []uint32{1, 1}, Targets: true}},
	} {
		if _, err := job.Batches(2); err == nil || !strings.Contains(err.Error(), "the positives of 2 nodes, expected a pair for each, and no lists") {
			t.Errorf("found error %v, expected the error of another job", err)
		}
	}
}
