package sample

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// reaching is what the strategies have in common that take no edges, but reach nodes within a node type.
type reaching struct{ edgewise }

func (reaching) traits(*Op) traits { return traits{reaches: true, frontier: true} }

func (reaching) check(p *Plan, op *Op, et graph.EdgeType) error {
	if et.Src != et.Dst {
		return fmt.Errorf("found how %s along %s, expected edges within one node type; take how uniform for these edges", op.How, et)
	}
	if p.Before != nil || p.Exclude != nil {
		return fmt.Errorf("found how %s with before or exclude, expected neither: it follows all edges; remove before and exclude, or take another how", op.How)
	}
	return nil
}

func (reaching) most(op *Op, from, edges int64) (drawn, found int64) {
	_, found = edgewise{}.most(op, from, edges)
	return 0, found
}

func (reaching) estimate(w *walker, o *walkedOp) int {
	w.expandEach(o)
	return 0
}

// noEdges is the part of a drawer that draws no edges.
type noEdges struct{}

func (noEdges) draw(*Context, *op, uint64, *run, []uint32) int { return 0 }

// runReached runs an op that takes no edges for a block of nodes. prefix is the key without the op.
func (c *Context) runReached(o *op, prefix uint64, b block) error {
	c.locate(o, b)
	key, r := draw.Absorb(prefix, o.number), o.drawer.(nodeReacher)
	for _, v := range b.node {
		if err := c.visit(o, r.reach(c, o, key, v)); err != nil {
			return err
		}
	}
	if c.sub.Ops != nil {
		st := &c.ops[o.number]
		st.frontier = append(st.frontier, b.local...)
	}
	return nil
}

// push is the buffers of a personalised PageRank, or of walks. Nodes have local numbers in the order in which they are found.
type push struct {
	nodes           localIDs
	value, residual []float64
	tolerance       float64   // of a PageRank: the residual per edge from which a node is pushed
	least           []float64 // the residual from which a node is pushed
	waits           []bool
	queue           []uint32
	far             []uint32
	order           []uint32
	at              []uint32 // of walks: the local node of each; its size after the end
}

// reached is empty buffers that have numbered v.
func (c *Context) reached(o *op, v uint32, tolerance float64) *push {
	if c.push == nil {
		c.push = &push{nodes: localIDs{count: c.local[o.far].count, forced: relabelWide}}
	}
	p := c.push
	p.tolerance = tolerance
	p.nodes.begin()
	p.value, p.residual, p.least, p.waits, p.queue = p.value[:0], p.residual[:0], p.least[:0], p.waits[:0], p.queue[:0]
	p.far = append(p.far[:0], v)
	p.number(o, p.far)
	return p
}

// number replaces nodes by their numbers.
func (p *push) number(o *op, nodes []uint32) {
	at := p.nodes.n
	p.nodes.visit(nodes)
	for ; at < p.nodes.n; at++ {
		from, to := o.adj.span(p.nodes.nodes[at])
		p.value, p.residual, p.waits = append(p.value, 0), append(p.residual, 0), append(p.waits, false)
		p.least = append(p.least, p.tolerance*float64(max(1, to-from)))
	}
}

// most is the k nodes with the largest values after the first one, largest first; of equal ones the lower id comes first.
func (p *push) most(k uint32) []uint32 {
	order := p.order[:0]
	for u := uint32(1); u < p.nodes.n; u++ {
		if p.value[u] > 0 {
			order = append(order, u)
		}
	}
	p.order = order
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(p.value[b], p.value[a]), cmp.Compare(p.nodes.nodes[a], p.nodes.nodes[b]))
	})
	order = order[:min(uint32(len(order)), k)]
	for i, u := range order {
		order[i] = p.nodes.nodes[u]
	}
	return order
}
