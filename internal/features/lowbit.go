package features

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// mostLowBit is the most numbers of a piece of few bits. Batches look numbers up in a table of all codes, which has up to 1 KiB per number of a row.
const mostLowBit = 1 << 14

// Number is the number that a code of a piece of few bits stands for, at position k of the piece and in the precision of a dtype. The last code is the greatest number
// itself; others are steps from the least one, each operation rounded to float64.
func (p *Piece) Number(k, code int, d graph.DType) float64 {
	low, high, top := p.Least[k], p.Greatest[k], 1<<p.Bits-1
	if code == top {
		return rounded(high, d)
	}
	return rounded(low+float64(float64(code)*((high-low)/float64(top))), d)
}

// encode writes the codes of rows, which are zeros in out: a byte each, or two in a byte, the first in the low half. cut is told of each number outside its range.
func (p *Piece) encode(rows []float64, out []byte, cut func(i int)) {
	top, size := float64(int(1)<<p.Bits-1), (p.Width*p.Bits+7)/8
	shift := uint(p.Bits % 8)
	for i := 0; i < len(rows); i += p.Width {
		to := out[i/p.Width*size:][:size]
		for k, x := range rows[i : i+p.Width] {
			low, high := p.Least[k], p.Greatest[k]
			y := min(max(x, low), high)
			if y != x {
				cut(i + k)
			}
			if low < high {
				code := math.RoundToEven((y - low) / (high - low) * top)
				to[k*p.Bits/8] |= byte(code) << (uint(k) * shift % 8)
			}
		}
	}
}

// checkRange refuses numbers that the codes of a piece cannot stand for.
func (p *Piece) checkRange(d graph.DType) error {
	if p.Kind != PieceLowBit {
		if p.Least != nil || p.Greatest != nil {
			return fmt.Errorf("piece %s: found a range of %s, expected it of low-bit alone", p.Column, p.Kind)
		}
		return nil
	}
	if len(p.Least) != p.Width || len(p.Greatest) != p.Width || p.Width > mostLowBit {
		return fmt.Errorf("piece %s: found %d least and %d greatest numbers of %d, expected one per number, of at most %d", p.Column, len(p.Least), len(p.Greatest), p.Width, mostLowBit)
	}
	for k, low := range p.Least {
		high := p.Greatest[k]
		if !(low <= high) || math.IsInf(rounded(low, d), 0) || math.IsInf(rounded(high, d), 0) {
			return fmt.Errorf("piece %s: found the range %g to %g, expected the least number first, and both of the dtype %s", p.Column, low, high, d)
		}
	}
	return nil
}

// indicator says whether number k of a part is 0 or 1 by definition.
func (s *State) indicator(k int) bool {
	switch s.Encode {
	case EncodeOneHot, EncodeMultiHot, EncodeBuckets:
		return true
	}
	return s.Flag && k == s.Width-1
}

// rangeOf is the range of the numbers of a piece in the rows that a goroutine has seen.
type rangeOf struct{ least, greatest []float64 }

// fitRanges finds the range of each number of a feature of few bits: the least and the greatest result in the rows of the fit. Indicators have 0 and 1 in any case, so
// that an unknown text or a missing value is not lost that the rows of the fit do not have.
func fitRanges(ctx context.Context, t *Table, name string, f *Feature, opt *Options) error {
	if !slices.ContainsFunc(f.Pieces, isLowBit) {
		return nil
	}
	a, err := newApplier(t, name, f)
	if err != nil {
		return err
	}
	for _, p := range f.Pieces {
		if isLowBit(p) && p.Width > mostLowBit {
			return partError(t.Type, name, f.Parts[0].Source(), specErrorf("found %d numbers side by side, expected at most %d with bits; make several features of them", p.Width, mostLowBit))
		}
	}
	of, err := blocksOf(t, []*applier{a}, opt)
	if err != nil {
		return err
	}
	workers := make([]*ranger, of.workers)
	err = of.each(ctx, opt, func(worker, first, n int) error {
		if workers[worker] == nil {
			workers[worker] = newRanger(a, of.rows)
		}
		workers[worker].add(t, first, n)
		return nil
	})
	if err != nil {
		return err
	}
	if workers[0] == nil { // other goroutines took all blocks, or there is none
		workers[0] = newRanger(a, of.rows)
	}
	all := workers[0]
	for _, w := range workers[1:] {
		if w != nil {
			all.merge(w)
		}
	}
	all.b.report()
	for i, state := range f.Parts {
		if err := a.refused(i); err != nil {
			return partError(t.Type, name, state.Source(), err)
		}
	}
	part := 0
	for i := range f.Pieces {
		p := &f.Pieces[i]
		if p.Kind != PieceLowBit {
			part++
			continue
		}
		last := part
		for width := 0; width < p.Width; last++ {
			width += f.Parts[last].Width
		}
		if at, err := all.rangePiece(i, part, last, t); err != nil {
			return partError(t.Type, name, f.Parts[a.partAt(last, p.Width, at)].Source(), err)
		}
		part = last
	}
	return nil
}

// ranger is a goroutine's share of fitRanges.
type ranger struct {
	b      *block
	ranges []rangeOf // by piece
	keep   []bool
	rows   int // of the fit
}

func newRanger(a *applier, rows int) *ranger {
	r := &ranger{b: a.block(rows), ranges: make([]rangeOf, len(a.f.Pieces)), keep: make([]bool, rows)}
	for i, p := range a.f.Pieces {
		if p.Kind == PieceLowBit {
			r.ranges[i] = rangeOf{slices.Repeat([]float64{math.Inf(1)}, p.Width), slices.Repeat([]float64{math.Inf(-1)}, p.Width)}
		}
	}
	return r
}

// add takes the rows of the fit of a block of rows.
func (r *ranger) add(t *Table, first, n int) {
	keep := r.keep[:n]
	t.Fit.Set(first, keep)
	for _, is := range keep {
		if is {
			r.rows++
		}
	}
	part := 0
	for i := range r.b.a.f.Pieces {
		p, of := &r.b.a.f.Pieces[i], &r.ranges[i]
		if p.Kind != PieceLowBit {
			part++
			continue
		}
		var rows []float64
		rows, part = r.b.results(i, part, first, n)
		for row, is := range keep {
			if !is {
				continue
			}
			for k, x := range rows[row*p.Width:][:p.Width] {
				of.least[k], of.greatest[k] = min(of.least[k], x), max(of.greatest[k], x)
			}
		}
	}
}

// merge adds what another goroutine has seen.
func (r *ranger) merge(of *ranger) {
	r.rows += of.rows
	for i := range r.ranges {
		for k := range r.ranges[i].least {
			r.ranges[i].least[k] = min(r.ranges[i].least[k], of.ranges[i].least[k])
			r.ranges[i].greatest[k] = max(r.ranges[i].greatest[k], of.ranges[i].greatest[k])
		}
	}
	of.b.report()
}

func isLowBit(p Piece) bool { return p.Kind == PieceLowBit }

// rangePiece sets the range of piece i, whose numbers the parts from first up to last give. With an error it says of which number.
func (r *ranger) rangePiece(i, first, last int, t *Table) (at int, err error) {
	a, of := r.b.a, &r.ranges[i]
	p := &a.f.Pieces[i]
	for part := first; part < last; part++ {
		state := a.f.Parts[part]
		for k := range state.Width {
			low, high := &of.least[at], &of.greatest[at]
			switch {
			case state.indicator(k):
				*low, *high = 0, 1
			case r.rows == 0:
				return at, specErrorf("found no row in %s, expected at least one with bits; give other rows as fit, or leave bits out", t.fitOf())
			}
			*low, *high = *low+0, *high+0 // a zero has no sign
			for _, x := range []float64{*low, *high} {
				if math.IsInf(rounded(x, a.dtype), 0) {
					return at, specErrorf("found a result %g in %s, expected one that %s has; give scale or clip", x, t.fitOf(), a.f.DType)
				}
			}
			at++
		}
	}
	p.Least, p.Greatest = of.least, of.greatest
	return 0, nil
}

// checkBits refuses bits that codes do not have, and any of a feature that is a code itself.
func checkBits(bits int, code bool) error {
	switch {
	case bits != 0 && bits != 4 && bits != 8:
		return specErrorf("found bits %d, expected 4 or 8; correct it", bits)
	case bits != 0 && code:
		return specErrorf("found bits %d of a code, expected them of numbers, as a code is kept whole; leave them out", bits)
	}
	return nil
}
