package features

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/exact"
)

// fitNumbers fits how each number is filled, and scaled or put into buckets.
func (f *fitter) fitNumbers(state *State) error {
	state.Width = f.s.width
	for k := range f.s.width {
		n, err := f.fitNumber(k)
		if err != nil {
			if f.s.width > 1 && f.p.Encode == EncodeNone {
				return fmt.Errorf("value %d: %w", k, err)
			}
			return err
		}
		state.Numbers = append(state.Numbers, n)
	}
	if f.p.Encode == EncodeBuckets {
		most := 0
		for _, n := range state.Numbers {
			most = max(most, len(n.Edges)+1)
		}
		state.Width = most + 1
	}
	if f.p.Flag {
		state.Width++
	}
	return nil
}

// moments is what one pass over a number finds.
type moments struct {
	rows, missing, known int
	least, greatest      float64
	sums                 exact.Sums
}

// bound widens the range by numbers. The built-in functions, which order -0 before 0, are slower than comparisons, and see zeros alone.
func (m *moments) bound(values []float64) {
	if len(values) == 0 {
		return
	}
	least, greatest := values[0], values[0]
	for _, x := range values {
		if x < least {
			least = x
		}
		if x > greatest {
			greatest = x
		}
	}
	if least == 0 || greatest == 0 {
		for _, x := range values {
			least, greatest = min(least, x), max(greatest, x)
		}
	}
	m.least, m.greatest = min(m.least, least), max(m.greatest, greatest)
}

// fitNumber fits number k. A number of a cycle has its scale already.
func (f *fitter) fitNumber(k int) (Numbers, error) {
	p := f.p
	n := Numbers{Clip: p.Clip, Scale: p.Scale}
	if f.s.cycle(k) {
		n.Scale = ""
	}
	buckets := p.Encode == EncodeBuckets
	m := moments{least: math.Inf(1), greatest: math.Inf(-1)}
	scaled := n.Scale != "" && n.Scale != ScaleLog && n.Scale != ScaleSignedLog
	if p.Impute == ImputeConstant || p.Impute == ImputeNone {
		if p.Impute == ImputeConstant {
			n.Fill = &p.Value
		}
		if buckets {
			n.Buckets = true
		}
		if !scaled && !(buckets && p.Edges == nil) {
			if buckets {
				n.Edges = p.Edges[1 : len(p.Edges)-1]
			}
			return n, nil
		}
	}
	sums := p.Impute == ImputeMean || n.Scale == ScaleStandard
	var err error
	m.rows, m.missing, err = f.pass(k, func(values []float64) error {
		m.known += len(values)
		m.bound(values)
		if sums {
			m.sums.Add(values)
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	if err := f.refused(); err != nil {
		return n, err
	}
	if m.known == 0 && (n.Fill == nil || m.rows == 0) {
		if m.rows == 0 {
			return n, specErrorf("found no row in %s, expected at least one; give fit: all, or a split that has rows", f.t.fitOf())
		}
		return n, specErrorf("found no value in the %d rows of %s, expected at least one; give impute: constant, or leave the column out", m.rows, f.t.fitOf())
	}
	return n, f.finish(&n, k, &m)
}

// refused is an error where the values that were read do not allow what is fitted.
func (f *fitter) refused() error {
	switch {
	case f.infin.n > 0:
		return specErrorf("found %d infinite values, the first in row %d, expected finite ones; give clip: [LEAST, GREATEST], or correct them", f.infin.n, f.infin.first)
	case f.wide.n > 0:
		return specErrorf("found %d whole numbers above 2^53, the first, %.0f, in row %d, expected smaller ones, because float64 rounds them; if they are ids, take encode hash of texts, or leave them out", f.wide.n, f.wide.value, f.wide.first)
	}
	return nil
}

// finish fits number k after the pass that found m.
func (f *fitter) finish(n *Numbers, k int, m *moments) error {
	p := f.p
	var sorted *ordered
	fill := 0.0
	if p.Impute == ImputeMedian || p.Impute == ImputeMode {
		ask := &ordered{n: m.known, asking: true}
		median(ask)
		var err error
		if sorted, err = f.sort(k, m.known, ask.asked); err != nil {
			return err
		}
	}
	switch p.Impute {
	case ImputeMean:
		fill, _ = m.sums.Moments()
	case ImputeMedian:
		fill = median(sorted)
	case ImputeMode:
		fill = sorted.mode
	case ImputeConstant:
		fill = p.Value
	}
	if p.Impute != ImputeNone {
		n.Fill = &fill
		if m.missing > 0 {
			m.least, m.greatest = min(m.least, fill), max(m.greatest, fill)
		}
	} else {
		m.missing = 0
	}
	switch n.Scale {
	case ScaleStandard:
		if n.Center = m.least; m.least < m.greatest {
			m.sums.Repeat(fill, uint64(m.missing))
			n.Center, n.By = m.sums.Moments()
		}
	case ScaleMinMax, ScaleMinMaxCut:
		n.Center, n.By = m.least, m.greatest-m.least
	case ScaleMaxAbs:
		n.By = max(math.Abs(m.least), math.Abs(m.greatest))
	case ScaleRobust:
		if err := f.fitOrdered(k, m, sorted, fill, n.fitRobust); err != nil {
			return err
		}
	case ScaleUniform, ScaleNormal:
		if err := f.fitOrdered(k, m, sorted, fill, func(o *ordered) { n.fitQuantiles(o, m.rows) }); err != nil {
			return err
		}
	}
	switch {
	case p.Encode != EncodeBuckets:
	case p.Edges != nil:
		n.Buckets, n.Edges = true, p.Edges[1:len(p.Edges)-1]
	case p.By == ByRows:
		if err := f.fitOrdered(k, m, sorted, fill, func(o *ordered) { n.fitShares(o, p.Count) }); err != nil {
			return err
		}
	default:
		n.fitWidth(m.least, m.greatest, p.Count)
	}
	return n.checkDistances(m)
}

// checkDistances refuses distances that float64 does not have: a scale by one would make 0 of all numbers, and so would one between two quantiles; edges at one are no numbers.
func (n *Numbers) checkDistances(m *moments) error {
	what := "scale " + string(n.Scale)
	if n.Buckets {
		what = "buckets"
	}
	far := n.By-n.By != 0 // no finite number
	for i := 1; i < len(n.Quantiles); i++ {
		x := n.Quantiles[i] - n.Quantiles[i-1]
		far = far || x-x != 0
	}
	for _, x := range n.Edges {
		far = far || x-x != 0
	}
	if far {
		return specErrorf("found numbers from %g to %g, whose %s float64 does not have; give clip: [LEAST, GREATEST]", m.least, m.greatest, what)
	}
	return nil
}

// sort sorts number k of the rows of the fit.
func (f *fitter) sort(k, known int, places []int) (*ordered, error) {
	return order(f.ctx, func(fn func([]float64) error) error {
		_, _, err := f.pass(k, fn)
		return err
	}, known, places, f.memory, f.sorter)
}

// fitOrdered calls fit with the sorted numbers, of which those that were missing are fill. sorted is those that are not missing, nil if they are not sorted yet.
func (f *fitter) fitOrdered(k int, m *moments, sorted *ordered, fill float64, fit func(*ordered)) error {
	before := 0
	if m.missing > 0 && (sorted == nil || sorted.sorted == nil) {
		if _, _, err := f.pass(k, func(values []float64) error {
			for _, x := range values {
				if x < fill {
					before++
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if sorted == nil || sorted.sorted == nil {
		ask := (&ordered{n: m.known, asking: true}).filled(fill, m.missing, before)
		fit(ask)
		var err error
		if sorted, err = f.sort(k, m.known, ask.asked); err != nil {
			return err
		}
	} else if m.missing > 0 {
		before = below(sorted.sorted, fill)
	}
	fit(sorted.filled(fill, m.missing, before))
	return nil
}
