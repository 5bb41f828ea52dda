package sample

import (
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// Sizes is about what the subgraphs of one batch have together, by type.
type Sizes struct {
	Nodes, Edges []float64
	Frontier     []float64 // nodes that each op expands, from op 1
	Drawn        []float64 // edges that each op draws, from op 1
	Subgraphs    float64
}

const (
	// sizesEdges bounds the edges that a walk of Foresee draws, and those that it looks up for Induced.
	sizesEdges = 1 << 20
	// sizesSeeds is the number of subgraphs of single seeds that give a good mean.
	sizesSeeds = 256
	// inducedLooks is the number of edges of a node that are looked up for Induced.
	inducedLooks = 32
)

// Foresee walks a plan from one batch of a job, and returns what it found, so that the memory of a run is known before anything is
// compiled. It reads the lists of neighbours where they are, about as much as one batch reads, and draws by degrees alone: it takes
// columns of weights and times for even, and what Exclude leaves out for small. A direction that is not stored has mean degrees. The
// plan and the job must be valid; ids out of range are ignored.
func Foresee(g *graph.Graph, p *Plan, job *Job) Sizes {
	z := Sizes{Nodes: make([]float64, len(g.Nodes)), Edges: make([]float64, len(g.Edges)), Frontier: make([]float64, len(p.Ops)), Drawn: make([]float64, len(p.Ops)), Subgraphs: 1}
	width := len(p.SeedType)
	seeds := len(job.Seeds) / width
	size := min(job.BatchSize, seeds)
	if size == 0 {
		return z
	}
	w := walker{g: g, p: p, sizes: &z}
	step := max(seeds/size, 1)
	if job.Shuffle {
		step = max(step/2*2+1, 1) // seeds from all over the job
	}
	at := func(i int) []uint32 {
		if job.Shuffle || p.Scope == ScopeSeed {
			i = i * step % seeds
		}
		return job.Seeds[i*width : (i+1)*width]
	}
	scale := 1.0
	if p.Scope == ScopeSeed {
		n := min(size, sizesSeeds)
		if n < size {
			step = max(seeds/n, 1)
		}
		for i := 0; i < n && (i == 0 || w.drawn < sizesEdges); i++ {
			w.walk([][]uint32{at(i)})
			scale = float64(size) / float64(i+1)
		}
		z.Subgraphs = float64(size)
	} else {
		n := size
		for n > 16 && w.most(n) > sizesEdges {
			n /= 2
		}
		var batch [][]uint32
		for i := range n {
			batch = append(batch, at(i))
		}
		w.walk(batch)
		scale = float64(size) / float64(n)
	}
	to, from := p.reverses(g)
	drawn := slices.Clone(z.Edges)
	for i := range to {
		z.Edges[to[i]] += drawn[from[i]]
	}
	for _, list := range [][]float64{z.Nodes, z.Edges, z.Frontier, z.Drawn} {
		for i := range list {
			list[i] *= scale
		}
	}
	if p.Scope != ScopeSeed {
		// More seeds meet the same nodes.
		for i := range z.Nodes {
			z.Nodes[i] = min(z.Nodes[i], float64(g.Nodes[i].Count))
		}
	}
	return z
}

// walker walks a plan without a sampler.
type walker struct {
	g     *graph.Graph
	p     *Plan
	sizes *Sizes
	drawn int
	dice  uint64
}

// most is an upper bound of the edges that n seeds draw.
func (w *walker) most(n int) float64 {
	reach, sum := make([]float64, len(w.p.Ops)+1), 0.0
	reach[0] = float64(n * len(w.p.SeedType))
	for i := range w.p.Ops {
		o := &w.p.Ops[i]
		e := edgesOf(w.g, o.Edges)
		for _, f := range unique(o.From) {
			reach[i+1] += reach[f] * float64(o.Take)
		}
		if o.Take == All || o.How != Replace && reach[i+1] > float64(e.Count) {
			reach[i+1] = float64(e.Count)
		}
		sum += reach[i+1]
	}
	return sum
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
	found := make([]map[uint32]bool, len(w.g.Nodes))
	for i := range found {
		found[i] = map[uint32]bool{}
	}
	type reached struct {
		kind  int
		first []uint32 // that the op was the first to find
		every []uint32 // with ExpandAll
	}
	results := make([][]reached, len(w.p.Ops)+1)
	visit := func(r *reached, of map[uint32]bool, v uint32) {
		known := found[r.kind][v]
		if !known {
			found[r.kind][v] = true
			r.first = append(r.first, v)
		}
		if w.p.Expand == ExpandAll && !of[v] {
			of[v] = true
			r.every = append(r.every, v)
		}
	}
	for end, t := range w.p.SeedType {
		r, of := reached{kind: w.g.NodeType(t)}, map[uint32]bool{}
		for _, s := range seeds {
			visit(&r, of, s[end])
			if n := w.p.Negatives; n != nil && n.How != InBatch && (end == 1 || n.How == Binary) {
				for range n.Each {
					visit(&r, of, uint32(w.random(max(w.g.Nodes[r.kind].Count, 1))))
				}
			}
		}
		results[0] = append(results[0], r)
	}
	for i := range w.p.Ops {
		o := &w.p.Ops[i]
		e := edgesOf(w.g, o.Edges)
		near := w.g.NodeType(e.Type.Near(o.Dir))
		r, of := reached{kind: w.g.NodeType(e.Type.Far(o.Dir))}, map[uint32]bool{}
		count, a := uint64(w.g.Nodes[r.kind].Count), e.Adj[o.Dir]
		var frontier []uint32
		expanded := map[uint32]bool{}
		for _, f := range unique(o.From) {
			for _, from := range results[f] {
				list := from.first
				if w.p.Expand == ExpandAll {
					list = from.every
				}
				if from.kind != near {
					continue
				}
				for _, v := range list {
					if w.p.Expand != ExpandAll || !expanded[v] {
						expanded[v] = w.p.Expand == ExpandAll
						frontier = append(frontier, v)
					}
				}
			}
		}
		drawn := 0
		if o.How.Layered() {
			drawn = w.layer(e, a, o, frontier, func(v uint32) { visit(&r, of, v) })
			w.drawn += drawn
		}
		for _, v := range frontier {
			if o.How.Layered() {
				break
			}
			if w.drawn > 4*sizesEdges {
				break
			}
			start, degree := w.edges(e, a, o.Dir, v)
			take := degree
			if o.Take != All && (take > o.Take || o.How == Replace && degree > 0) {
				take = o.Take
			}
			for k := range take {
				at := k
				switch {
				case o.How == Replace:
					at = w.random(degree)
				case take < degree:
					at = (k*degree + w.random(degree)) / take % degree
				}
				far := uint64(w.random(max(int(count), 1)))
				if a != nil {
					far = a.Far.At(start + at)
				}
				if far < count {
					visit(&r, of, uint32(far))
				}
			}
			if !o.How.Reaches() {
				drawn += take
			}
			w.drawn += take
		}
		w.sizes.Frontier[i] += float64(len(frontier))
		w.sizes.Drawn[i] += float64(drawn)
		if w.p.Kind != Induced {
			w.sizes.Edges[slices.Index(w.g.Edges, e)] += float64(drawn)
		}
		results[i+1] = []reached{r}
	}
	for i := range found {
		w.sizes.Nodes[i] += float64(len(found[i]))
	}
	if w.p.Kind == Induced {
		for _, i := range w.p.Induced(w.g) {
			w.sizes.Edges[i] += w.induced(w.g.Edges[i], found)
		}
	}
}

// layer visits about the nodes that an op with a budget of nodes chooses, and returns the number of edges to them. The ends of edges at
// random stand for draws by weight. Ops that share a budget choose each on its own.
func (w *walker) layer(e *graph.Edges, a *graph.Adjacency, o *Op, frontier []uint32, visit func(v uint32)) int {
	if a == nil {
		return min(len(frontier)*max(o.Take, 0), e.Count)
	}
	var far []uint32
	for _, v := range frontier {
		start, degree := w.edges(e, a, o.Dir, v)
		for k := 0; k < degree && len(far) < sizesEdges; k++ {
			far = append(far, uint32(a.Far.At(start+k)))
		}
	}
	chosen, tries := map[uint32]bool{}, len(far)
	if o.Take != All {
		tries = min(8*o.Take, 4*sizesEdges)
	}
	for k := 0; k < tries && (o.Take == All || len(chosen) < o.Take) && len(far) > 0; k++ {
		switch {
		case o.Take == All:
			chosen[far[k]] = true
		case o.How == FastGCN:
			chosen[uint32(a.Far.At(w.random(a.Far.Len())))] = true
		default:
			chosen[far[w.random(len(far))]] = true
		}
	}
	drawn, count := 0, w.g.Nodes[w.g.NodeType(e.Type.Far(o.Dir))].Count
	for _, u := range far {
		if chosen[u] && int(u) < count {
			drawn++
			visit(u)
		}
	}
	return drawn
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
func (w *walker) induced(e *graph.Edges, found []map[uint32]bool) float64 {
	a := e.Adj[e.Primary]
	if a == nil {
		return 0
	}
	near, far := found[w.g.NodeType(e.Type.Near(e.Primary))], found[w.g.NodeType(e.Type.Far(e.Primary))]
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
