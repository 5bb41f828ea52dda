package outofcore

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// division is the parts of the nodes of a level.
type division struct {
	part []uint16
	// loads are the weights of the parts, by part and constraint, and cut is the weight of the pairs between parts.
	loads []int64
	cut   int64
	// best are the parts after the best pass so far, with its cut and overload.
	best     []uint16
	bestCut  int64
	bestOver float64
	// prices are what a unit of weight costs in a part, by part and constraint. They stay from level to level.
	prices []float64
}

// newDivision makes a division of a level with all nodes in part 0. The caller sets the parts and calls weigh.
func newDivision(l *level, parts int) (*division, error) {
	d := &division{loads: make([]int64, parts*l.constraints), prices: make([]float64, parts*l.constraints), bestCut: -1}
	var err error
	if d.part, err = takeZeros[uint16](l.g.Len()); err != nil {
		return nil, err
	}
	if d.best, err = takeZeros[uint16](l.g.Len()); err != nil {
		d.free()
		return nil, err
	}
	return d, nil
}

func (d *division) free() {
	free(d.part)
	free(d.best)
	d.part, d.best = nil, nil
}

// weigh computes the loads.
func (d *division) weigh(l *level) {
	clear(d.loads)
	for v, p := range d.part {
		for c := range l.constraints {
			d.loads[int(p)*l.constraints+c] += l.weight(uint32(v), c)
		}
	}
}

// over is the sum of what the parts exceed their caps by, relative to the caps.
func (d *division) over(caps []int64) float64 {
	sum := 0.0
	for i, load := range d.loads {
		if most := caps[i%len(caps)]; load > most {
			sum += float64(load-most) / float64(max(most, 1))
		}
	}
	return sum
}

// keep makes the parts the best ones if they are.
func (d *division) keep(caps []int64) {
	over := d.over(caps)
	if d.bestCut < 0 || over < d.bestOver || over == d.bestOver && d.cut < d.bestCut {
		d.bestCut, d.bestOver = d.cut, over
		copy(d.best, d.part)
	}
}

// project drops the last level and gives each node of the level below the best part of its cluster.
func (r *run) project(ctx context.Context, d *division) (_ *division, err error) {
	if err := r.drop(); err != nil {
		return nil, err
	}
	l := r.levels[len(r.levels)-1]
	next, err := newDivision(l, r.Parts)
	if err != nil {
		return nil, err
	}
	next.prices = d.prices
	r.stats.Read += 4 * int64(l.g.Len())
	if err := l.coarse.each(ctx, func(v int, c uint32) { next.part[v] = d.best[c] }); err != nil {
		next.free()
		return nil, err
	}
	next.weigh(l)
	return next, nil
}

// refinement says, for each pass of a refinement, whether it has prices.
var refinement = []bool{true, true, false}

// refine refines the parts of a level.
func (r *run) refine(ctx context.Context, d *division, l *level) error {
	for i, priced := range refinement {
		if err := r.improve(ctx, d, l, fmt.Sprintf("refine, pass %d of %d", i+1, len(refinement)), priced); err != nil {
			return err
		}
	}
	return nil
}

// improve makes one pass and keeps its result if it is the best one. Before the first pass of a level the parts are the
// best ones, although their cut is found on the way.
func (r *run) improve(ctx context.Context, d *division, l *level, stage string, priced bool) error {
	first := d.bestCut < 0
	if first {
		copy(d.best, d.part)
		d.bestOver = d.over(r.caps)
	}
	m := newMover(r, d, l, priced)
	if err := r.pass(ctx, l, stage, func(b *undirected.Block) error {
		for i := range b.Len() {
			m.visit(b, i)
		}
		return nil
	}); err != nil {
		return err
	}
	if first {
		d.bestCut = m.before
	}
	d.cut = m.before - m.gain
	d.keep(r.caps)
	return nil
}
