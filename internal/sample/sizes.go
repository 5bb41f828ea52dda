package sample

import (
	"slices"

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
	scale := w.walkBatch(job, seeds, size)
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

// walkBatch walks from some seeds of a batch of a size, of a number of seeds, and returns how many times as much the batch has.
func (w *walker) walkBatch(job *Job, seeds, size int) (scale float64) {
	width, step := len(w.p.SeedType), max(seeds/size, 1)
	if job.Shuffle {
		step = max(step/2*2+1, 1) // seeds from all over the job
	}
	at := func(i int) []uint32 {
		if job.Shuffle || w.p.Scope == ScopeSeed {
			i = i * step % seeds
		}
		return job.Seeds[i*width : (i+1)*width]
	}
	if w.p.Scope == ScopeSeed {
		n := min(size, sizesSeeds)
		if n < size {
			step = max(seeds/n, 1)
		}
		for i := 0; i < n && (i == 0 || w.drawn < sizesEdges); i++ {
			w.walk([][]uint32{at(i)})
			scale = float64(size) / float64(i+1)
		}
		w.sizes.Subgraphs = float64(size)
		return scale
	}
	n := size
	for n > 16 && w.most(n) > sizesEdges {
		n /= 2
	}
	var batch [][]uint32
	for i := range n {
		batch = append(batch, at(i))
	}
	w.walk(batch)
	return float64(size) / float64(n)
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
		if o.Take == All || !o.traits().replaces && reach[i+1] > float64(e.Count) {
			reach[i+1] = float64(e.Count)
		}
		sum += reach[i+1]
	}
	return sum
}
