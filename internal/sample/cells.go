package sample

import (
	"math"
	"math/bits"
)

// cell is an equal part of the draws of a node by weight: a node with d edges has d cells, and a draw falls into cell floor(d u), where u is the
// number drawn from [0, 1). Most cells say alone which edge their draws take, so that a draw by weight reads one line of memory more than a
// uniform one. They never change a draw: where a cell cannot tell, the sums are searched, from the edge on that it names.
//
// From bit 32 on, a cell holds the first edge that its draws take, as its number among the edges of the node. Draws whose fraction of the cell
// (31 bits) is below bits 1 to 31 take that edge. The others take the next one, if bit 0 is not set. Rounding might decide about draws next to
// these bounds and to the ends of the cell (cellSlack), so of them a cell does not tell.
type cell uint64

const (
	cellBits = 31              // of a fraction
	unbound  = 1<<cellBits - 1 // the bound of a cell whose draws all take its first edge
	crowded  = cell(1)         // the draws from the bound on take one of several edges
	drawMask = 1<<11 - 1       // the bits of a draw that its number drops (draw.Unit)
	allUnits = uint64(1) << 53 // numbers that draw.Unit can give
	doubt    = 8               // by how much a bound computed from the sums may be wrong, in units of 2^-53
	maxUnits = 1e300           // bounds what sums are multiplied by, so that products are finite
)

// cellAt is the cell of a node with a degree into which a draw falls, and the draw's fraction of it.
func cellAt(r uint64, degree uint32) (number, fraction uint32) {
	hi, lo := bits.Mul64(r&^drawMask, uint64(degree))
	return uint32(hi), uint32(lo >> (64 - cellBits))
}

// cellSlack is the distance of fractions within which rounding might decide, for a node with a degree: twice doubt, and the rounding of fractions.
func cellSlack(degree uint32) uint32 { return 2 + degree>>17 }

// take is the edge that a draw with a fraction of the cell takes. Where the cell cannot tell, it is a guess.
func (c cell) take(fraction, slack uint32) (edge uint32, sure bool) {
	edge, bound := uint32(c>>32), uint32(c)>>1
	sure = fraction-slack-1 < 1<<cellBits-2*slack-1
	if fraction >= bound {
		sure = sure && c&crowded == 0 && fraction-bound > slack
		edge++
	}
	return edge, sure
}

// fillCells sets the cells of a node from the sums of its weights, of which there are as many.
func fillCells(cells []cell, sums []float64) {
	d := uint32(len(sums))
	if d == 0 {
		return
	}
	units := float64(allUnits) / sums[d-1] // per unit of weight
	if !(units <= maxUnits) {
		for i := range cells {
			cells[i] = crowded // no draw is told
		}
		return
	}
	slack, begun := cellSlack(d), uint32(0)
	begin := func(end uint32, first int) {
		for ; begun < end; begun++ {
			cells[begun] = cell(first)<<32 | unbound<<1
		}
	}
	for p, sum := range sums {
		// The draws up to early take p or an edge before it, those after late an edge after it.
		at := min(uint64(sum*units), allUnits-1)
		early, fraction := cellAt((at-min(at, doubt))<<11, d)
		late, lateFraction := cellAt(min(at+doubt, allUnits-1)<<11, d)
		begin(early+1, p)
		switch {
		case late > early || lateFraction <= slack: // between two cells
			begin(late+1, p)
			cells[late] = cells[late]&math.MaxUint32 | cell(p+1)<<32
		case fraction >= 1<<cellBits-slack: // the next cell begins with the next edge
		case uint32(cells[early])>>1 == unbound:
			cells[early] += cell(fraction)<<1 - unbound<<1
		default:
			cells[early] |= crowded
		}
	}
}

// cellEdge is the edge of a node, whose cells begin at start, that a draw takes. Where the cell cannot tell, it is a guess.
func (w *weights) cellEdge(r uint64, start, degree uint32) (edge uint32, sure bool) {
	g, fraction := cellAt(r, degree)
	return w.cells[start+g].take(fraction, cellSlack(degree))
}
