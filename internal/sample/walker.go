package sample

import (
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// walker walks a plan without a sampler.
type walker struct {
	g     *graph.Graph
	p     *Plan
	sizes *Sizes
	drawn int
	dice  uint64

	// Of the subgraph that is walked:
	found   []map[uint32]bool // its nodes, by node type
	reached [][]reachedNodes  // what each op reached, with op 0
}

// reachedNodes is nodes of a type that an op reached.
type reachedNodes struct {
	kind  int             // node type
	first []uint32        // that the op was the first to find
	every []uint32        // with ExpandAll
	of    map[uint32]bool // every as a set
}

// walkedOp is an op of a plan that a walker expands.
type walkedOp struct {
	*Op
	edges    *graph.Edges
	adj      *graph.Adjacency // nil where the direction is not stored
	count    int              // nodes of the far type
	frontier []uint32
	reached  *reachedNodes
}

// random is a number below n. It need not be even: it only spreads looks over a list.
func (w *walker) random(n int) int {
	w.dice += draw.Gamma
	x := w.dice ^ w.dice>>31
	x *= 0xbf58476d1ce4e5b9
	return int((x >> 11) % uint64(n))
}

// walk adds the subgraph of some seeds to the sizes.
func (w *walker) walk(seeds [][]uint32) {
	w.found = make([]map[uint32]bool, len(w.g.Nodes))
	for i := range w.found {
		w.found[i] = map[uint32]bool{}
	}
	w.reached = [][]reachedNodes{w.visitSeeds(seeds)}
	for i := range w.p.Ops {
		w.expand(i)
	}
	for i := range w.found {
		w.sizes.Nodes[i] += float64(len(w.found[i]))
	}
	if w.p.Kind == Induced {
		for _, i := range w.p.Induced(w.g) {
			w.sizes.Edges[i] += w.induced(w.g.Edges[i])
		}
	}
}

// visitSeeds visits the ends of seeds and of their negatives.
func (w *walker) visitSeeds(seeds [][]uint32) []reachedNodes {
	var ends []reachedNodes
	for end, t := range w.p.SeedType {
		r := reachedNodes{kind: w.g.NodeType(t), of: map[uint32]bool{}}
		for _, s := range seeds {
			w.visit(&r, s[end])
			if n := w.p.Negatives; n != nil && slices.Contains(n.drawn(), end) {
				for range w.negativesOf(n) {
					w.visit(&r, uint32(w.random(max(w.g.Nodes[r.kind].Count, 1))))
				}
			}
		}
		ends = append(ends, r)
	}
	return ends
}

// negativesOf is a random number of negatives of a link.
func (w *walker) negativesOf(n *Negatives) int {
	if !n.Uneven() {
		return n.Most()
	}
	return int(n.drawnFor(uint64(w.random(math.MaxInt))))
}

// visit adds a node to the subgraph and to what an op reached.
func (w *walker) visit(r *reachedNodes, v uint32) {
	if !w.found[r.kind][v] {
		w.found[r.kind][v] = true
		r.first = append(r.first, v)
	}
	if w.p.Expand == ExpandAll && !r.of[v] {
		r.of[v] = true
		r.every = append(r.every, v)
	}
}

// expand runs an op, given by its place in the plan.
func (w *walker) expand(i int) {
	op := &w.p.Ops[i]
	e := edgesOf(w.g, op.Edges)
	r := reachedNodes{kind: w.g.NodeType(e.Type.Far(op.Dir)), of: map[uint32]bool{}}
	o := walkedOp{Op: op, edges: e, adj: e.Adj[op.Dir], count: w.g.Nodes[r.kind].Count, frontier: w.frontier(op, w.g.NodeType(e.Type.Near(op.Dir))), reached: &r}
	drawn := strategies[op.How].estimate(w, &o)
	w.sizes.Frontier[i] += float64(len(o.frontier))
	w.sizes.Drawn[i] += float64(drawn)
	if w.p.Kind != Induced {
		w.sizes.Edges[slices.Index(w.g.Edges, e)] += float64(drawn)
	}
	w.reached = append(w.reached, []reachedNodes{r})
}

// frontier is the nodes of a type that an op expands.
func (w *walker) frontier(op *Op, near int) []uint32 {
	var list []uint32
	expanded := map[uint32]bool{}
	for _, f := range unique(op.From) {
		for _, from := range w.reached[f] {
			switch {
			case from.kind != near:
			case w.p.Expand != ExpandAll:
				list = append(list, from.first...)
			default:
				for _, v := range from.every {
					if !expanded[v] {
						expanded[v] = true
						list = append(list, v)
					}
				}
			}
		}
	}
	return list
}

// expandEach visits about the far ends of the edges that an op takes of each node on its own, and returns their number. Edges are spread
// evenly over the list of a node.
func (w *walker) expandEach(o *walkedOp) (drawn int) {
	replaces := o.traits().replaces
	for _, v := range o.frontier {
		if w.drawn > 4*sizesEdges {
			break
		}
		start, degree := w.edges(o.edges, o.adj, o.Dir, v)
		take := degree
		if o.Take != All && (take > o.Take || replaces && degree > 0) {
			take = o.Take
		}
		for k := range take {
			at := k
			switch {
			case replaces:
				at = w.random(degree)
			case take < degree:
				at = (k*degree + w.random(degree)) / take % degree
			}
			far := uint64(w.random(max(o.count, 1)))
			if o.adj != nil {
				far = o.adj.Far.At(start + at)
			}
			if far < uint64(o.count) {
				w.visit(o.reached, uint32(far))
			}
		}
		drawn += take
		w.drawn += take
	}
	return drawn
}

// expandLayer visits about the nodes that an op with a budget of nodes chooses, and returns the number of edges to them. Ends of edges at
// random stand for draws by weight: one draws such an end, given the far ends of the frontier. Ops that share a budget choose each on its own.
func (w *walker) expandLayer(o *walkedOp, one func(far []uint32) uint32) (drawn int) {
	if o.adj == nil {
		drawn = min(len(o.frontier)*max(o.Take, 0), o.edges.Count)
		w.drawn += drawn
		return drawn
	}
	var far []uint32
	for _, v := range o.frontier {
		start, degree := w.edges(o.edges, o.adj, o.Dir, v)
		for k := 0; k < degree && len(far) < sizesEdges; k++ {
			far = append(far, uint32(o.adj.Far.At(start+k)))
		}
	}
	chosen := w.choose(o, far, one)
	for _, u := range far {
		if (chosen == nil || chosen[u]) && int(u) < o.count {
			drawn++
			w.visit(o.reached, u)
		}
	}
	w.drawn += drawn
	return drawn
}

// choose is about the nodes that an op with a budget of nodes chooses; nil: all.
func (w *walker) choose(o *walkedOp, far []uint32, one func(far []uint32) uint32) map[uint32]bool {
	if o.Take == All {
		return nil
	}
	chosen := map[uint32]bool{}
	for k := 0; k < min(8*o.Take, 4*sizesEdges) && len(chosen) < o.Take && len(far) > 0; k++ {
		chosen[one(far)] = true
	}
	return chosen
}

// edges is the place of a node's edges and their number.
func (w *walker) edges(e *graph.Edges, a *graph.Adjacency, dir graph.Direction, v uint32) (start, degree int) {
	if a == nil {
		near := float64(max(w.g.Nodes[w.g.NodeType(e.Type.Near(dir))].Count, 1))
		return 0, int(math.Round(float64(e.Count) / near))
	}
	if int(v)+1 >= a.Indptr.Len() {
		return 0, 0
	}
	from, to := a.Indptr.At(int(v)), a.Indptr.At(int(v)+1)
	if from > to || to > uint64(a.Far.Len()) {
		return 0, 0
	}
	return int(from), int(to - from)
}

// induced is about the edges of a type between nodes.
func (w *walker) induced(e *graph.Edges) float64 {
	a := e.Adj[e.Primary]
	if a == nil {
		return 0
	}
	near, far := w.found[w.g.NodeType(e.Type.Near(e.Primary))], w.found[w.g.NodeType(e.Type.Far(e.Primary))]
	sum, looks := 0.0, 0
	for v := range near {
		if looks > sizesEdges {
			break
		}
		start, degree := w.edges(e, a, e.Primary, v)
		n, hits := min(degree, inducedLooks), 0
		for k := range n {
			if far[uint32(a.Far.At(start+k*degree/n))] {
				hits++
			}
		}
		looks += n
		if n > 0 {
			sum += float64(hits) * float64(degree) / float64(n)
		}
	}
	return sum
}
