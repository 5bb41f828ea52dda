package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// Walk takes no edges: it reaches the nodes that random walks visit most.
const Walk How = 10

// walks is the strategy of Walk.
type walks struct{ reaching }

func (walks) name() string { return "walk" }

func (walks) checkParameters(op *Op) error {
	if op.How != Walk && (op.Walks != 0 || op.Length != 0 || op.Restart != 0) {
		return fmt.Errorf("found walks %d, length %d and restart %v with how %s, expected them with how walk; remove them, or give how walk", op.Walks, op.Length, op.Restart, op.How)
	}
	return nil
}

// mostSteps bounds the steps of the walks of Walk from one node.
const mostSteps = 1 << 20

func (s walks) check(p *Plan, op *Op, et graph.EdgeType) error {
	if err := s.reaching.check(p, op, et); err != nil {
		return err
	}
	switch {
	case op.Walks < 1 || op.Length < 1 || op.Walks > mostSteps/op.Length:
		return fmt.Errorf("found walks %d and length %d, expected at least 1 each, and at most %d steps per node together", op.Walks, op.Length, mostSteps)
	case !(op.Restart >= 0 && op.Restart < 1):
		return fmt.Errorf("found restart %v, expected a probability from 0 to below 1", op.Restart)
	}
	return nil
}

func (walks) compile(_ *op, from *opSource) (drawer, error) {
	return &walkReach{walks: from.op.Walks, length: from.op.Length, restart: from.op.Restart}, nil
}

// walkReach is the drawer of Walk.
type walkReach struct {
	noEdges
	walks, length int
	restart       float64
}

// reach is the nodes that random walks from v visit most, most visited first and without v. All
// walks take a step before the next one, so that their reads overlap.
func (s *walkReach) reach(c *Context, o *op, key uint64, v uint32) []uint32 {
	const ended = math.MaxUint32
	h, p := draw.Absorb(key, uint64(v)), c.reached(o, v, 0)
	p.at = slices.Grow(p.at[:0], s.walks)[:s.walks]
	for r := range p.at {
		p.at[r] = v
	}
	for j := range s.length {
		p.far = p.far[:0]
		for r, u := range p.at {
			step := 2 * uint64(r*s.length+j)
			switch {
			case u == ended:
			case draw.Unit(draw.At(h, step)) <= s.restart:
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
