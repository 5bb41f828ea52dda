package sample

import (
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Layered says whether the plan has an op with a budget of nodes, whose strategy is Layered.
func (p *Plan) Layered() bool {
	return slices.ContainsFunc(p.Ops, func(o Op) bool { return o.How.Layered() })
}

// checkLayers refuses ops that would share a budget and do not agree on it.
func (p *Plan) checkLayers(reaches [][]string) error {
	if !p.Layered() {
		return nil
	}
	hops := p.OpHops()
	for i, op := range p.Ops {
		if !op.How.Layered() {
			continue
		}
		for j, other := range p.Ops[:i] {
			if hops[j+1] == hops[i+1] && other.How == op.How && reaches[j+1][0] == reaches[i+1][0] && other.Take != op.Take {
				return tagged.Errorf(ErrPlan, "op %d: found take %d where op %d has %d, expected the same: both choose nodes of type %q for hop %d; give both the same take", i+1, op.Take, j+1, other.Take, reaches[i+1][0], hops[i+1])
			}
		}
	}
	return nil
}

// budget is a strategy with a budget of nodes. It embeds layered.
type budget interface {
	strategy
	// compileLayer makes what the nodes of a layer are chosen by.
	compileLayer(s *Sampler, l *layer) chooser
}

// chooser chooses the nodes of a layer. It is immutable and safe for concurrent use.
type chooser interface {
	// choose fills x with the candidates of a layer, and with what it chose. h is the state of the draw law for the layer.
	choose(c *Context, l *layer, h uint64, x *candidates) error
}

// layered is what the strategies with a budget of nodes have in common: an op takes every edge to the nodes that are chosen for its layer.
type layered struct{}

func (layered) check(*Plan, *Op, graph.EdgeType) error { return nil }

func (layered) need(*need, *Op, *graph.Edges) {}

func (layered) most(op *Op, _, edges int64) (drawn, found int64) {
	if op.Take == All {
		return edges, math.MaxInt64
	}
	return edges, int64(op.Take) // and each of them may have edges from all nodes
}

func (layered) estimate(w *walker, o *walkedOp) int {
	return w.expandLayer(o, func(far []uint32) uint32 { return far[w.random(len(far))] })
}

func (layered) compile(o *op, from *opSource) (drawer, error) {
	l := &layer{ops: []int{int(o.number) - 1}, far: o.far, take: uint32(from.op.Take)}
	o.take = takeAll
	return l, nil
}

// layer is the ops that share a budget, and the drawer of each of them.
type layer struct {
	ops     []int  // places in Sampler.ops
	far     int    // node type
	take    uint32 // nodes, or takeAll
	chooser chooser
}

// compileLayers joins the layers of ops that share budgets.
func (s *Sampler) compileLayers() {
	for i := range s.ops {
		o := &s.ops[i]
		l, ok := o.drawer.(*layer)
		if !ok {
			continue
		}
		for j := range s.ops[:i] {
			if first := &s.ops[j]; s.plan.Ops[j].How == s.plan.Ops[i].How && first.far == o.far && s.opHop[first.number] == s.opHop[o.number] {
				shared := first.drawer.(*layer)
				shared.ops = append(shared.ops, l.ops...)
				o.drawer = shared
				break
			}
		}
	}
	for i := range s.ops {
		if l, ok := s.ops[i].drawer.(*layer); ok && l.chooser == nil {
			l.chooser = strategies[s.plan.Ops[i].How].(budget).compileLayer(s, l)
		}
	}
}

// prepare chooses the nodes of a layer, before its first op.
func (l *layer) prepare(c *Context, o *op, prefix uint64) error {
	if l.ops[0] != int(o.number)-1 {
		return nil
	}
	return l.chooser.choose(c, l, draw.Absorb(prefix, o.number), c.noCandidates(o))
}

// draw picks the edges of a run whose far ends are chosen.
func (l *layer) draw(c *Context, o *op, _ uint64, r *run, dst []uint32) int {
	x, n := &c.candidates[l.ops[0]], 0
	for i := range r.n {
		if at, ok := x.nodes.find(o.adj.far[r.position(i)]); ok && x.inverse[at] > 0 {
			dst[n] = i
			n++
			c.share = append(c.share, x.inverse[at])
		}
	}
	c.shareOut(n)
	return n
}

// shareOut turns the last n shares, which are inverse chances of the edges of a node, into weights of a mean of 1.
func (c *Context) shareOut(n int) {
	total, of := 0.0, c.share[len(c.share)-n:]
	for _, x := range of {
		total += x
	}
	for i, x := range of {
		of[i] = x * float64(n) / total
	}
}

// Weighs says whether the edges of a subgraph have weights (Options.Weights): all ops choose far ends by known chances that are not
// alike.
func (p *Plan) Weighs() bool {
	return len(p.Ops) > 0 && p.Kind == Directional && !slices.ContainsFunc(p.Ops, func(o Op) bool {
		return !o.traits().weighs
	})
}
