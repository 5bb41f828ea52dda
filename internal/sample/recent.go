package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
)

// Recent takes edges without replacement, and the chance of an edge halves with each half-life that it is older.
const Recent How = 9

// recent is the strategy of Recent.
type recent struct{ edgewise }

func (recent) name() string { return "recent" }

func (recent) traits(*Op) traits { return traits{column: needsNumbers} }

func (recent) checkParameters(op *Op) error {
	switch {
	case op.How != Recent && op.HalfLife != 0:
		return fmt.Errorf("found half_life %v with how %s, expected it with how recent; remove half_life, or give how recent", op.HalfLife, op.How)
	case op.How == Recent && !(op.HalfLife > 0 && op.HalfLife <= math.MaxFloat64):
		return fmt.Errorf("found half_life %v, expected an age above 0, in units of the column", op.HalfLife)
	}
	return nil
}

func (recent) compile(o *op, from *opSource) (drawer, error) {
	v, err := from.columns.values(from.edges, from.op.Column)
	if err != nil {
		return nil, err
	}
	return &recentDraws{times: v, halfLife: from.op.HalfLife, late: from.columns.ascending(o.adj, v)}, nil
}

// recentDraws is the drawer of Recent.
type recentDraws struct {
	times    *values
	halfLife float64
	late     bool // the times ascend within each node
}

// draw picks edges in ascending order: one after the other, in proportion to 2^(-age / half-life) among
// those that are left. The age is counted from the latest edge of the run, which changes no chance. Edges without a finite time are
// never picked. It picks fewer than the take only where fewer can be taken.
//
// Each edge has a number, and the smallest are picked: the logarithm of an exponentially distributed number over the weight. Ages
// only grow on the way back from the latest edge of a node whose times ascend, so the rest of its edges is not looked at once the age
// alone makes their numbers too large.
func (d *recentDraws) draw(c *Context, o *op, key uint64, r *run, dst []uint32) int {
	k := o.take
	if k == 0 {
		return 0
	}
	h, v := draw.Absorb(key, uint64(r.node)), d.times
	latest, ok := d.latest(o, r)
	if !ok {
		return 0
	}
	best := leastHeap{item: dst[:0], x: c.least[:0]}
	for i := r.n; i > 0; {
		i--
		e := r.edge(o.adj, int(i))
		if !v.finite(e) {
			continue
		}
		decay := float64(math.Ln2 * (v.age(latest, e) / d.halfLife))
		full := uint32(len(best.item)) == k
		if full && leastRace+decay > best.x[0] {
			if d.late {
				break
			}
			continue
		}
		x := logarithm(max(exponential(draw.At(h, uint64(i))), leastExponential)) + decay
		switch {
		case !full:
			best.item, best.x = append(best.item, i), append(best.x, x)
			best.up(len(best.item) - 1)
		case x < best.x[0] || x == best.x[0] && i < best.item[0]:
			best.replace(i, x)
		}
	}
	c.least = best.x
	slices.Sort(best.item)
	return len(best.item)
}

const (
	// leastExponential stands for an exponential of 0. All others are larger.
	leastExponential = 1.0 / (1 << 54)
	// leastRace is below the logarithm of all exponentials.
	leastRace = -38
)

// latest is the edge of a run with the latest finite time; ok is false where there is none.
func (d *recentDraws) latest(o *op, r *run) (edge uint64, ok bool) {
	for i := r.n; i > 0; {
		i--
		e := r.edge(o.adj, int(i))
		if !d.times.finite(e) {
			continue
		}
		if !ok || d.times.less(edge, e) {
			edge, ok = e, true
		}
		if d.late {
			break
		}
	}
	return edge, ok
}

// finite says whether the value of an edge is a time.
func (v *values) finite(e uint64) bool {
	if v.ints != nil {
		return !v.timed || v.ints[e] != graph.NoTime
	}
	x := v.real(e)
	return x-x == 0
}

// age is the time from an edge to a later one.
func (v *values) age(later, e uint64) float64 {
	if v.ints != nil {
		return float64(uint64(v.ints[later]) - uint64(v.ints[e]))
	}
	return v.real(later) - v.real(e)
}
