package sample

import (
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// FastGCN takes every edge to some nodes that are chosen for all the nodes of an op together, by the edges that lead to them in the whole
// graph.
const FastGCN How = 6

// fastGCN is the strategy of FastGCN.
type fastGCN struct{ layered }

func (fastGCN) name() string { return "fastgcn" }

func (fastGCN) traits(*Op) traits { return traits{layered: true, frontier: true, weighs: true} }

func (fastGCN) need(n *need, op *Op, e *graph.Edges) {
	if far := e.Type.Far(op.Dir); n.first(held{nodes: n.g.Nodes[n.g.NodeType(far)], sums: true}) {
		n.bytes += 16 * n.nodes(far)
	}
}

func (fastGCN) estimate(w *walker, o *walkedOp) int {
	return w.expandLayer(o, func([]uint32) uint32 { return uint32(o.adj.Far.At(w.random(o.adj.Far.Len()))) })
}

// shares are the weights of the nodes of a type by which FastGCN chooses.
type shares struct {
	weights []float64
	nodeWeights
}

// compileLayer weighs the nodes of the type: the weight of a node is the sum of 1/degree² of the nodes that have it as a neighbour.
func (fastGCN) compileLayer(s *Sampler, l *layer) chooser {
	w := make([]float64, s.g.Nodes[l.far].Count)
	for _, i := range l.ops {
		a := s.ops[i].adj
		for v := range uint32(a.nodes()) {
			from, to := a.span(v)
			add := squaredShare(uint32(to - from))
			for _, u := range a.far[from:to] {
				w[u] += add
			}
		}
	}
	n := &shares{weights: w, nodeWeights: nodeWeights{prefix: make([]float64, len(w))}}
	sum := 0.0
	for u, x := range w {
		sum += x
		n.prefix[u] = sum
	}
	return n
}

// choose draws nodes with replacement.
func (n *shares) choose(c *Context, l *layer, h uint64, x *candidates) error {
	if l.take == takeAll {
		if err := c.weighLayer(l, x, false, squaredShare); err != nil {
			return err
		}
		x.fits(l.take)
		return nil
	}
	x.far, x.inverse = x.far[:0], x.inverse[:0]
	if len(n.prefix) == 0 || n.prefix[len(n.prefix)-1] == 0 {
		return nil
	}
	for i := range uint64(l.take) {
		u, _ := n.place(draw.At(h, i), uint64(len(n.prefix)))
		x.far = append(x.far, uint32(u))
	}
	x.nodes.visit(x.far)
	x.inverse = slices.Grow(x.inverse, int(x.nodes.n))[:x.nodes.n]
	clear(x.inverse)
	for _, at := range x.far {
		x.inverse[at]++
	}
	for at, u := range x.nodes.nodes[:x.nodes.n] {
		x.inverse[at] /= n.weights[u]
	}
	return nil
}
