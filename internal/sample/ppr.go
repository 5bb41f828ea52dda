package sample

import (
	"cmp"
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// push is the buffers of a personalised PageRank, or of walks. Nodes have local numbers in the order in which they are found.
type push struct {
	nodes           localIDs
	value, residual []float64
	least           []float64 // the residual from which a node is pushed
	waits           []bool
	queue           []uint32
	far             []uint32
	order           []uint32
	at              []uint32 // of walks: the local node of each; its size after the end
}

// runReached runs an op that takes no edges for a block of nodes. prefix is the key without the op.
func (c *Context) runReached(o *op, prefix uint64, b block) error {
	c.locate(o, b)
	key := draw.Absorb(prefix, o.number)
	for _, v := range b.node {
		nodes := c.ranks
		if o.how == Walk {
			nodes = func(o *op, v uint32) []uint32 { return c.walked(draw.Absorb(key, uint64(v)), o, v) }
		}
		if err := c.visit(o, nodes(o, v)); err != nil {
			return err
		}
	}
	if c.sub.Ops != nil {
		st := &c.ops[o.number]
		st.frontier = append(st.frontier, b.local...)
	}
	return nil
}

// ranks is the nodes with the largest personalised PageRank for v, largest first and without v, by the push of Andersen, Chung and
// Lang (2006). It is valid until the next call.
func (c *Context) ranks(o *op, v uint32) []uint32 {
	p := c.reached(o, v)
	p.residual[0], p.waits[0] = o.alpha, true
	p.queue = append(p.queue, 0)
	for head := 0; head < len(p.queue); head++ {
		u := p.queue[head]
		if head >= 1<<12 && 2*head > len(p.queue) { // those that were pushed make room
			p.queue = p.queue[:copy(p.queue, p.queue[head:])]
			head = 0
		}
		r := p.residual[u]
		p.waits[u], p.residual[u] = false, 0
		p.value[u] += r
		from, to := o.adj.span(p.nodes.nodes[u])
		p.far = append(p.far[:0], o.adj.far[from:to]...)
		p.number(o, p.far)
		add := (1 - o.alpha) * r / float64(to-from)
		for _, w := range p.far {
			p.residual[w] += add
			if p.residual[w] >= p.least[w] && !p.waits[w] {
				p.waits[w] = true
				p.queue = append(p.queue, w)
			}
		}
	}
	return p.most(o.take)
}

// reached is empty buffers that have numbered v.
func (c *Context) reached(o *op, v uint32) *push {
	if c.push == nil {
		c.push = &push{nodes: localIDs{count: c.local[o.far].count, forced: relabelWide}}
	}
	p := c.push
	p.nodes.begin()
	p.value, p.residual, p.least, p.waits, p.queue = p.value[:0], p.residual[:0], p.least[:0], p.waits[:0], p.queue[:0]
	p.far = append(p.far[:0], v)
	p.number(o, p.far)
	return p
}

// walked is the nodes that random walks from v visit most, most visited first and without v. It is valid until the next call. All
// walks take a step before the next one, so that their reads overlap.
func (c *Context) walked(h uint64, o *op, v uint32) []uint32 {
	const ended = math.MaxUint32
	p := c.reached(o, v)
	p.at = slices.Grow(p.at[:0], o.walks)[:o.walks]
	for r := range p.at {
		p.at[r] = v
	}
	for j := range o.length {
		p.far = p.far[:0]
		for r, u := range p.at {
			step := 2 * uint64(r*o.length+j)
			switch {
			case u == ended:
			case draw.Unit(draw.At(h, step)) <= o.restart:
				p.at[r] = v
			default:
				from, to := o.adj.span(u)
				if from == to {
					p.at[r] = ended
					continue
				}
				p.at[r] = o.adj.far[from+draw.Below(draw.At(h, step+1), to-from)]
				p.far = append(p.far, p.at[r])
			}
		}
		p.number(o, p.far)
		for _, u := range p.far {
			p.value[u]++
		}
	}
	return p.most(o.take)
}

// number replaces nodes by their numbers.
func (p *push) number(o *op, nodes []uint32) {
	at := p.nodes.n
	p.nodes.visit(nodes)
	for ; at < p.nodes.n; at++ {
		from, to := o.adj.span(p.nodes.nodes[at])
		p.value, p.residual, p.waits = append(p.value, 0), append(p.residual, 0), append(p.waits, false)
		p.least = append(p.least, o.alpha*o.eps*float64(max(1, to-from)))
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
