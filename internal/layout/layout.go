package layout

import (
	"math"
	"sort"
)

// Point is a place in tenths of a unit.
type Point struct{ X, Y int }

// Edge joins two nodes, by their numbers.
type Edge struct{ A, B int }

// gap is the distance that neighbours on a ring have at least, in units.
const gap = 14.0

// turnOf is the sine and the cosine of a part of a full turn, from 0 to 1.
func turnOf(part float64) (sin, cos float64) {
	eighth := math.Floor(float64(part * 8))
	x := float64((part - float64(eighth/8)) * (2 * math.Pi)) // 0 to a quarter of pi
	square := float64(x * x)
	sin = float64(x * (1 - float64(square/6*(1-float64(square/20*(1-float64(square/42*(1-float64(square/72)))))))))
	cos = 1 - float64(square/2*(1-float64(square/12*(1-float64(square/30*(1-float64(square/56*(1-float64(square/90)))))))))
	const half = math.Sqrt2 / 2 // of an eighth of a turn
	for range int(eighth) % 8 {
		sin, cos = float64(half*sin)+float64(half*cos), float64(half*cos)-float64(half*sin)
	}
	return sin, cos
}

func rounded(x, y float64) Point {
	return Point{int(math.Round(float64(x * 10))), int(math.Round(float64(y * 10)))}
}

// Radial places nodes by their hops, which are at least 0; nodes of hop 0 are the seeds.
func Radial(hops []int, edges []Edge) []Point {
	n := len(hops)
	last := 0
	for _, h := range hops {
		last = max(last, h)
	}
	rings := make([][]int, last+1)
	parent, children := treeOf(hops, edges)
	// A node is as wide as all leaves below it.
	leaves := make([]int, n)
	byHop := make([]int, n)
	for i := range byHop {
		byHop[i] = i
	}
	sort.SliceStable(byHop, func(a, b int) bool { return hops[byHop[a]] > hops[byHop[b]] })
	for _, v := range byHop {
		leaves[v] = max(leaves[v], 1)
		if parent[v] >= 0 {
			leaves[parent[v]] += leaves[v]
		}
	}
	var roots []int
	total := 0
	for v := range n {
		if parent[v] < 0 {
			roots = append(roots, v)
			total += leaves[v]
		}
	}
	from := make([]float64, n) // where the sector of a node begins, in leaves
	var place func(list []int, at float64)
	place = func(list []int, at float64) {
		for _, v := range list {
			from[v] = at
			place(children[v], at)
			at += float64(leaves[v])
		}
	}
	place(roots, 0)
	for v := range n {
		rings[hops[v]] = append(rings[hops[v]], v)
	}
	points := make([]Point, n)
	radius := 0.0
	for h, ring := range rings {
		if h == 0 && len(ring) == 1 {
			continue
		}
		sort.SliceStable(ring, func(a, b int) bool { return from[ring[a]] < from[ring[b]] })
		parts := make([]float64, len(ring))
		narrow := 1.0 // the least distance of two neighbours, as a part of the turn
		for i, v := range ring {
			parts[i] = float64((from[v] + float64(float64(leaves[v])/2)) / float64(total))
			if i > 0 {
				narrow = min(narrow, float64(parts[i]-parts[i-1]))
			}
		}
		// Few nodes in a narrow sector would make a ring that is far too large: it grows to at most twice what all of them need side by side.
		need := float64(float64(len(ring)) * gap / (2 * math.Pi))
		if len(ring) > 1 && narrow > 0 {
			need = min(float64(gap/float64(narrow*2*math.Pi)), float64(2*need))
		}
		radius = max(need, radius+60)
		if h == 0 {
			radius = max(need, 30)
		}
		for i, v := range ring {
			sin, cos := turnOf(parts[i])
			points[v] = rounded(float64(radius*sin), float64(-radius*cos))
		}
	}
	return points
}

// treeOf gives each node that is no seed the first neighbour in a lower hop, the nearest hop first, as its parent.
func treeOf(hops []int, edges []Edge) (parent []int, children [][]int) {
	n := len(hops)
	parent, children = make([]int, n), make([][]int, n)
	for v := range parent {
		parent[v] = -1
	}
	better := func(v, u int) bool {
		return hops[u] < hops[v] && (parent[v] < 0 || hops[u] > hops[parent[v]] || hops[u] == hops[parent[v]] && u < parent[v])
	}
	for _, e := range edges {
		if better(e.A, e.B) {
			parent[e.A] = e.B
		}
		if better(e.B, e.A) {
			parent[e.B] = e.A
		}
	}
	for v, p := range parent {
		if p >= 0 {
			children[p] = append(children[p], v)
		}
	}
	return parent, children
}

// Hops are the least numbers of edges from the seeds, in any direction. Nodes that no path reaches are a hop after the last.
func Hops(n int, seeds []int, edges []Edge) []int {
	near := make([][]int, n)
	for _, e := range edges {
		near[e.A], near[e.B] = append(near[e.A], e.B), append(near[e.B], e.A)
	}
	hops := make([]int, n)
	for v := range hops {
		hops[v] = -1
	}
	var queue []int
	for _, s := range seeds {
		if hops[s] < 0 {
			hops[s] = 0
			queue = append(queue, s)
		}
	}
	last := 0
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		last = hops[v]
		for _, u := range near[v] {
			if hops[u] < 0 {
				hops[u] = hops[v] + 1
				queue = append(queue, u)
			}
		}
	}
	for v := range hops {
		if hops[v] < 0 {
			hops[v] = last + 1
		}
	}
	return hops
}

// steps is how often Forces moves all nodes.
const steps = 300

// Forces places nodes without hops.
func Forces(n int, edges []Edge) []Point {
	if n == 0 {
		return nil
	}
	const length = 40.0 // of an edge
	x, y := make([]float64, n), make([]float64, n)
	for v := range n { // the seeds of a sunflower
		sin, cos := turnOf(float64(float64(v)*0.3819660112501051) - math.Floor(float64(float64(v)*0.3819660112501051)))
		r := float64(length / 2 * math.Sqrt(float64(v)+0.5))
		x[v], y[v] = float64(r*sin), float64(r*cos)
	}
	joined := distinct(edges)
	fx, fy := make([]float64, n), make([]float64, n)
	reach := float64(length * math.Sqrt(float64(n)))
	for step := range steps {
		clear(fx)
		clear(fy)
		for a := range n {
			for b := a + 1; b < n; b++ {
				dx, dy := x[a]-x[b], y[a]-y[b]
				square := max(float64(dx*dx)+float64(dy*dy), 1)
				push := float64(length * length / square)
				px, py := float64(dx*push), float64(dy*push)
				fx[a], fy[a], fx[b], fy[b] = fx[a]+px, fy[a]+py, fx[b]-px, fy[b]-py
			}
			fx[a] -= float64(x[a] * 0.4) // so that parts without edges between them stay
			fy[a] -= float64(y[a] * 0.4)
		}
		for _, e := range joined {
			dx, dy := x[e.A]-x[e.B], y[e.A]-y[e.B]
			pull := float64(math.Sqrt(float64(dx*dx)+float64(dy*dy)) / length)
			px, py := float64(dx*pull), float64(dy*pull)
			fx[e.A], fy[e.A], fx[e.B], fy[e.B] = fx[e.A]-px, fy[e.A]-py, fx[e.B]+px, fy[e.B]+py
		}
		most := float64(reach / 8 * float64(float64(steps-step)/steps)) // a step gets shorter
		for v := range n {
			force := math.Sqrt(float64(fx[v]*fx[v]) + float64(fy[v]*fy[v]))
			if force > most {
				scale := float64(most / force)
				fx[v], fy[v] = float64(fx[v]*scale), float64(fy[v]*scale)
			}
			x[v] += fx[v]
			y[v] += fy[v]
		}
	}
	farthest := 1.0
	for v := range n {
		farthest = max(farthest, math.Abs(x[v]), math.Abs(y[v]))
	}
	scale := min(1, float64(30*math.Sqrt(float64(n)))/farthest)
	points := make([]Point, n)
	for v := range n {
		points[v] = rounded(float64(scale*x[v]), float64(scale*y[v]))
	}
	return points
}

// distinct are the pairs of different nodes that edges join, each once.
func distinct(edges []Edge) (out []Edge) {
	seen := map[Edge]bool{}
	for _, e := range edges {
		if e.A > e.B {
			e.A, e.B = e.B, e.A
		}
		if e.A != e.B && !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}
