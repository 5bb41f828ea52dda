package layout_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/layout"
)

// Places of a fixed input, which are the same on every machine.
func TestPlaces(t *testing.T) {
	edges := []layout.Edge{{0, 1}, {0, 2}, {1, 3}, {2, 4}, {2, 5}}
	want := []layout.Point{{0, 0}, {520, -300}, {-520, 300}, {1039, -600}, {0, 1200}, {-1039, -600}}
	got := layout.Radial([]int{0, 1, 1, 2, 2, 2}, edges)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{0, 1, 1, 2, 2, 2, 3}, layout.Hops(7, []int{0}, edges)); diff != "" {
		t.Error(diff)
	}
}

// Nodes of a hop are on one ring, farther out than those before, and no two nodes of a graph have one place.
func TestRings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "nodes")
		seeds := rapid.IntRange(1, min(n, 4)).Draw(t, "seeds")
		hops, edges := make([]int, n), []layout.Edge(nil)
		for v := seeds; v < n; v++ {
			u := rapid.IntRange(0, v-1).Draw(t, "from")
			hops[v] = hops[u] + 1
			edges = append(edges, layout.Edge{A: u, B: v})
		}
		points := layout.Radial(hops, edges)
		radius := map[int]float64{}
		seen := map[layout.Point]bool{}
		for v, p := range points {
			r := math.Hypot(float64(p.X), float64(p.Y))
			if before, ok := radius[hops[v]]; ok && math.Abs(before-r) > 1.5 {
				t.Fatalf("hop %d: found nodes at %v and %v from the middle, expected one ring", hops[v], before, r)
			}
			radius[hops[v]] = r
			if seen[p] {
				t.Fatalf("found two nodes at %v, expected different places", p)
			}
			seen[p] = true
		}
		for h := 1; h < len(radius); h++ {
			if radius[h] < radius[h-1]+500 {
				t.Fatalf("hop %d: found the radius %v after %v, expected a ring farther out", h, radius[h], radius[h-1])
			}
		}
	})
}

// Forces keep neighbours nearer to each other than others, and repeat themselves.
func TestForces(t *testing.T) {
	edges := []layout.Edge{}
	for v := range 20 {
		edges = append(edges, layout.Edge{A: v, B: (v + 1) % 20}, layout.Edge{A: v, B: v})
	}
	points := layout.Forces(20, edges)
	if diff := cmp.Diff(points, layout.Forces(20, edges)); diff != "" {
		t.Error(diff)
	}
	far := func(a, b int) float64 {
		return math.Hypot(float64(points[a].X-points[b].X), float64(points[a].Y-points[b].Y))
	}
	near, all := 0.0, 0.0
	for a := range 20 {
		near += far(a, (a+1)%20) / 20
		for b := range 20 {
			all += far(a, b) / 380
		}
	}
	if near > all*2/3 {
		t.Errorf("found neighbours at %v and all nodes at %v from each other, expected neighbours nearer", near, all)
	}
	if len(layout.Forces(0, nil)) != 0 || len(layout.Forces(1, nil)) != 1 {
		t.Error("expected a place per node")
	}
}
