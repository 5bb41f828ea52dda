package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
)

// Labor takes edges without replacement so that the nodes of an op share far ends (LABOR), alike or in proportion to a column.
const Labor How = 4

// labor is the strategy of Labor.
type labor struct{ edgewise }

// maxImportance bounds the rounds of LABOR-i, which converges in fewer.
const maxImportance = 100

func (labor) name() string { return "labor" }

func (labor) traits(op *Op) traits {
	shared := op.Importance > 0
	return traits{column: optionalWeights, farEnds: true, frontier: shared, weighs: shared}
}

func (labor) checkParameters(op *Op) error {
	switch {
	case op.Importance < 0 || op.Importance > maxImportance:
		return fmt.Errorf("found importance %d, expected 0 to %d rounds", op.Importance, maxImportance)
	case op.Importance > 0 && (op.How != Labor || op.Column != ""):
		return fmt.Errorf("found importance %d with how %s and column %q, expected it with how labor and no column; remove importance, or the column", op.Importance, op.How, op.Column)
	}
	return nil
}

func (labor) most(op *Op, from, edges int64) (drawn, found int64) {
	if op.Importance > 0 {
		return edges, edges
	}
	return edgewise{}.most(op, from, edges)
}

func (labor) compile(o *op, from *opSource) (drawer, error) {
	if from.op.Importance > 0 {
		o.take = takeAll // it takes more edges than its take of some nodes
		return &sharedLabor{rounds: from.op.Importance, each: uint32(from.op.Take)}, nil
	}
	if from.op.Column == "" {
		return laborDraws{}, nil
	}
	v, err := from.columns.values(from.edges, from.op.Column)
	return laborDraws{v}, err
}

// laborDraws is the drawer of Labor without importance.
type laborDraws struct {
	weights *values // nil where all edges are alike
}

// draw picks edges in ascending order: those whose far ends have the smallest numbers. The number of a far end is drawn from its own id,
// and not from the id of the node that is expanded. So all nodes that the op expands prefer the same far ends, and reach fewer of them (LABOR-0 with a fixed number of edges:
// Balin and Çatalyürek 2023, arXiv 2210.13339, sections 3.2 and A.3). With a column, the number is divided by the weight. It
// picks fewer than the take only where fewer can be taken.
//
// One pass keeps the best so far in a heap with the worst on top.
func (d laborDraws) draw(c *Context, o *op, key uint64, r *run, dst []uint32) int {
	k := o.take
	if r.n <= k && d.weights == nil {
		for i := range dst[:r.n] {
			dst[i] = uint32(i)
		}
		return int(r.n)
	}
	if k == 0 {
		return 0
	}
	h := leastHeap{item: dst[:0], x: c.least[:0]}
	i := uint32(0)
	for ; i < r.n && uint32(len(h.item)) < k; i++ {
		if x, ok := d.number(key, o, r, i); ok {
			h.item, h.x = append(h.item, i), append(h.x, x)
			h.up(len(h.item) - 1)
		}
	}
	if d.weights == nil && r.at == nil {
		scanFar(&h, key, o.adj.far[r.base+uint64(r.start):][:r.n], i)
	} else {
		for ; i < r.n; i++ {
			if x, ok := d.number(key, o, r, i); ok && x < h.x[0] { // of equal numbers the earlier edge is picked
				h.replace(i, x)
			}
		}
	}
	c.least = h.x
	slices.Sort(h.item)
	return len(h.item)
}

// number is the number of an edge of a run, by index; ok is false where it is never drawn.
func (d laborDraws) number(key uint64, o *op, r *run, i uint32) (x float64, ok bool) {
	p := r.position(i)
	x = draw.Unit(draw.At(key, uint64(o.adj.far[p])))
	if d.weights != nil {
		w := d.weights.weight(o.adj.edge(p))
		return x / w, w > 0
	}
	return x, true
}

// scanFar offers the far ends from index i on to a full heap. Hubs have most of the edges that LABOR looks at, and nearly none of
// them enters the heap, so that the bits of a number are compared before it is made a float64.
func scanFar(h *leastHeap, key uint64, far []uint32, i uint32) {
	bound := unitBound(h.x[0])
	for at := int(i); at < len(far); at++ {
		bits := draw.At(key, uint64(far[at]))
		if bits >= bound {
			continue
		}
		if x := draw.Unit(bits); x < h.x[0] { // of equal numbers the earlier edge is picked
			h.replace(uint32(at), x)
			bound = unitBound(h.x[0])
		}
	}
}

// unitBound is bits from which on draw.Unit is at least x.
func unitBound(x float64) uint64 {
	if n := uint64(x*(1<<53)) + 1; n < 1<<53 {
		return n << 11
	}
	return math.MaxUint64
}
