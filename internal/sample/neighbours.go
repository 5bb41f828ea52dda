package sample

import (
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// Neighbours are the edges that an op of a plan takes from, for packages that follow edges and make no subgraphs. Its slices
// belong to the Sampler, and are valid until its Close.
type Neighbours struct {
	// Indptr has the positions of the edges of each near node, Far the node at the other end of the edge at each position.
	// The offsets are in U32, except for an edge type of 2^32 edges and more.
	Indptr graph.Index
	Far    []uint32
	// Ascending says that the far ends of each node ascend.
	Ascending bool

	adj     *adjacency
	weights *weights
}

// Neighbours is what an op takes from; ops count from 1. The Sampler must read neighbours: Options.Fetch and Given do not.
func (s *Sampler) Neighbours(op int) Neighbours {
	o := &s.ops[op-1]
	n := Neighbours{Indptr: o.adj.indptr, Far: o.adj.far, Ascending: s.ascendsFar(o.adj), adj: o.adj}
	if w, ok := o.drawer.(weightedDraws); ok {
		n.weights = w.weights
	}
	return n
}

// Span is the positions [from, to) of the edges of a node.
func (n *Neighbours) Span(v uint32) (from, to uint64) { return n.adj.span(v) }

// EdgeID is the id of the edge at a position.
func (n *Neighbours) EdgeID(p uint64) uint64 { return n.adj.edge(p) }

// Weight is the weight of the edge at a position; 0 for one that is never drawn. The op must be Weighted.
func (n *Neighbours) Weight(p uint64) float64 { return n.weights.weight(n.adj.edge(p)) }

// Choose is the position of the edge of a node, whose edges have the positions [from, to), that a draw chooses in
// proportion to the weights: the first up to which they sum up to more than draw.Unit(r) times their total. The op must be Weighted.
// No edge is chosen where none has a positive weight.
func (n *Neighbours) Choose(from, to, r uint64) (p uint64, ok bool) {
	if from == to {
		return 0, false
	}
	first, cells := uint32(0), n.weights.cells != nil
	if cells {
		var sure bool
		if first, sure = n.weights.cellEdge(r, uint32(from), uint32(to-from)); sure {
			return from + uint64(first), true
		}
	}
	prefix := n.weights.prefix[from:to]
	total := prefix[len(prefix)-1]
	if total == 0 {
		return 0, false
	}
	x := draw.Unit(r) * total
	if cells {
		p = uint64(seek(prefix, first, x))
	} else {
		p = uint64(sort.Search(len(prefix), func(i int) bool { return prefix[i] > x }))
	}
	if p == uint64(len(prefix)) { // the product was rounded up to the total: the last edge that can be drawn
		for p--; n.Weight(from+p) == 0; p-- {
		}
	}
	return from + p, true
}
