package outofcore

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// hopeless is the cut of the second start after a pass, relative to the best one, from which on it ends.
const hopeless = 1.25

// byDegree makes the second start: it fills part after part with the nodes in the order of falling degree, and refines the
// result. It is for one constraint. d keeps the better division.
func (r *run) byDegree(ctx context.Context, d *division) error {
	l := r.levels[0]
	if l.constraints > 1 || r.Parts == 1 {
		return nil
	}
	cut, over := d.bestCut, d.bestOver
	if err := r.fill(ctx, d, l); err != nil {
		return err
	}
	clear(d.prices)
	for i, priced := range refinement {
		if err := r.improve(ctx, d, l, fmt.Sprintf("second start, pass %d of at most %d", i+1, len(refinement)), priced); err != nil {
			return err
		}
		if float64(d.cut) > hopeless*float64(cut) {
			break
		}
	}
	r.stats.ByDegree = d.bestOver < over || d.bestOver == over && d.bestCut < cut
	return nil
}

// fill fills the parts up to their cap in the order of falling degree; nodes of the same class are in the order of their
// numbers.
func (r *run) fill(ctx context.Context, d *division, l *level) error {
	place := make([]int64, undirected.DegreeClasses) // the weight of the nodes before the next one of the class
	each := func(fn func(v uint32, class int, weight int64)) error {
		r.stats.Read += 4 * int64(l.g.Len())
		return l.g.Degrees(ctx, func(first uint32, ends []uint32) error {
			for i := range len(ends) - 1 {
				v := first + uint32(i)
				fn(v, undirected.DegreeClass(ends[i+1]-ends[i]), l.weight(v, 0))
			}
			return nil
		})
	}
	if err := each(func(_ uint32, class int, weight int64) { place[class] += weight }); err != nil {
		return err
	}
	before := int64(0)
	for i := undirected.DegreeClasses - 1; i >= 0; i-- {
		place[i], before = before, before+place[i]
	}
	defer func() { d.weigh(l) }()
	return each(func(v uint32, class int, weight int64) {
		d.part[v] = uint16(min(place[class]/max(r.caps[0], 1), int64(r.Parts-1)))
		place[class] += weight
	})
}
