package sample

import (
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// PPR takes no edges: it reaches the nodes with the largest personalised PageRank.
const PPR How = 8

// ppr is the strategy of PPR.
type ppr struct{ reaching }

func (ppr) name() string { return "ppr" }

func (ppr) checkParameters(op *Op) error {
	if op.How != PPR && (op.Alpha != 0 || op.Eps != 0) {
		return fmt.Errorf("found alpha %v and eps %v with how %s, expected them with how ppr; remove them, or give how ppr", op.Alpha, op.Eps, op.How)
	}
	return nil
}

// leastPush bounds the edges that one node's PPR looks at: at most 1 / (Alpha * Eps).
const leastPush = 1e-8

func (s ppr) check(p *Plan, op *Op, et graph.EdgeType) error {
	if err := s.reaching.check(p, op, et); err != nil {
		return err
	}
	switch {
	case !(op.Alpha > 0 && op.Alpha < 1):
		return fmt.Errorf("found alpha %v, expected a probability above 0 and below 1", op.Alpha)
	case !(op.Eps > 0 && op.Eps < 1):
		return fmt.Errorf("found eps %v, expected a tolerance above 0 and below 1", op.Eps)
	case op.Alpha*op.Eps < leastPush:
		return fmt.Errorf("found alpha %v and eps %v, expected a product of at least %v: each node looks at up to 1/(alpha*eps) edges; raise eps", op.Alpha, op.Eps, leastPush)
	}
	return nil
}

func (ppr) compile(_ *op, from *opSource) (drawer, error) {
	return &pprReach{alpha: from.op.Alpha, eps: from.op.Eps}, nil
}

// pprReach is the drawer of PPR.
type pprReach struct {
	noEdges
	alpha, eps float64
}

// reach is the nodes with the largest personalised PageRank for v, largest first and without v, by the push of Andersen, Chung and
// Lang (2006).
func (s *pprReach) reach(c *Context, o *op, _ uint64, v uint32) []uint32 {
	p := c.reached(o, v, s.alpha*s.eps)
	p.residual[0], p.waits[0] = s.alpha, true
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
		add := (1 - s.alpha) * r / float64(to-from)
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
