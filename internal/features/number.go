package features

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Scale says how numbers are scaled.
type Scale string

// The scales. Formulas are in docs/features.md.
const (
	ScaleStandard  Scale = "standard"
	ScaleMinMax    Scale = "min-max"
	ScaleMinMaxCut Scale = "min-max-clip"
	ScaleMaxAbs    Scale = "max-abs"
	ScaleRobust    Scale = "robust"
	ScaleLog       Scale = "log"
	ScaleSignedLog Scale = "signed-log"
	ScaleUniform   Scale = "uniform-quantiles"
	ScaleNormal    Scale = "normal-quantiles"
)

// Quantiles is how many quantiles a scale of quantiles has, if the fit has as many rows.
const Quantiles = 1000

// normalLeast is the rank whose normal quantile ranks nearer to 0 have, and 1 minus it that of ranks nearer to 1.
const normalLeast = 1e-7

// Numbers is the state of a fitted part of numbers. A number is clipped, then filled, then scaled or put into a bucket; what a state does not have is left out.
type Numbers struct {
	Clip  *[2]float64 `json:"clip,omitempty"`
	Fill  *float64    `json:"fill,omitempty"` // in place of a missing number
	Scale Scale       `json:"scale,omitempty"`

	Center    float64   `json:"center,omitempty"` // what is subtracted
	By        float64   `json:"by,omitempty"`     // what is divided by, unless it is 0
	Quantiles []float64 `json:"quantiles,omitempty"`
	Edges     []float64 `json:"edges,omitempty"` // inner edges of buckets, ascending
	Buckets   bool      `json:"buckets,omitempty"`
}

// Quantile is the value at the position j/parts of sorted numbers, between two neighbours by their distance.
func Quantile(sorted []float64, j, parts int) float64 {
	at := j * (len(sorted) - 1)
	i, rest := at/parts, at%parts
	if rest == 0 {
		return sorted[i]
	}
	return sorted[i] + float64((sorted[i+1]-sorted[i])*(float64(rest)/float64(parts)))
}

// Median is the middle of sorted numbers; of two, their mean.
func Median(sorted []float64) float64 {
	a, b := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	if sum := a + b; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return a/2 + b/2
}

// Mode is the most frequent of sorted numbers; of several the least.
func Mode(sorted []float64) float64 {
	best, most := sorted[0], 0
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i > most {
			best, most = sorted[i], j-i
		}
		i = j
	}
	return best
}

// FitScale fits a scale to the sorted finite numbers of the rows of the fit, of which some have no number.
func (n *Numbers) FitScale(how Scale, sorted []float64, rows int) error {
	n.Scale = how
	if how == ScaleLog || how == ScaleSignedLog {
		return nil
	}
	if len(sorted) == 0 {
		return fmt.Errorf("found no value in the %d rows of the fit, expected at least one", rows)
	}
	least, greatest := sorted[0], sorted[len(sorted)-1]
	switch how {
	case ScaleStandard:
		if n.Center = least; least < greatest {
			var s Sums
			s.Add(sorted)
			n.Center, n.By = s.Moments()
		}
	case ScaleMinMax, ScaleMinMaxCut:
		n.Center, n.By = least, greatest-least
	case ScaleMaxAbs:
		n.By = max(math.Abs(least), math.Abs(greatest))
	case ScaleRobust:
		n.Center, n.By = Quantile(sorted, 1, 2), Quantile(sorted, 3, 4)-Quantile(sorted, 1, 4)
	case ScaleUniform, ScaleNormal:
		q := max(1, min(Quantiles, rows))
		n.Quantiles = make([]float64, q)
		for j := range q {
			n.Quantiles[j] = Quantile(sorted, j, max(1, q-1))
		}
	default:
		return fmt.Errorf("found scale %q, expected one of %s, %s, %s, %s, %s, %s, %s, %s or %s", how, ScaleStandard, ScaleMinMax, ScaleMinMaxCut,
			ScaleMaxAbs, ScaleRobust, ScaleLog, ScaleSignedLog, ScaleUniform, ScaleNormal)
	}
	return nil
}

// FitWidth makes count buckets of equal width.
func (n *Numbers) FitWidth(sorted []float64, count int) {
	least, greatest := sorted[0], sorted[len(sorted)-1]
	n.Buckets, n.Edges = true, nil
	if least == greatest {
		return
	}
	step := (greatest - least) / float64(count)
	for i := 1; i < count; i++ {
		n.Edges = append(n.Edges, least+float64(float64(i)*step))
	}
}

// FitShares makes at most count buckets of about as many rows each: edges that are equal are one.
func (n *Numbers) FitShares(sorted []float64, count int) {
	edges := []float64{sorted[0]}
	for j := 1; j < count; j++ {
		at := j * len(sorted)
		if i := at / count; at%count != 0 {
			edges = append(edges, sorted[i])
		} else {
			edges = append(edges, Median(sorted[i-1:i+1]))
		}
	}
	edges = slices.Compact(append(edges, sorted[len(sorted)-1]))
	n.Buckets, n.Edges = true, edges[1:max(1, len(edges)-1)]
}

// Apply is the feature of a number; NaN is a missing one, and stays missing without Fill.
func (n *Numbers) Apply(x float64) (float64, error) {
	if n.Clip != nil && !math.IsNaN(x) {
		x = min(max(x, n.Clip[0]), n.Clip[1])
	}
	if math.IsNaN(x) {
		if n.Fill == nil {
			return x, nil
		}
		x = *n.Fill
	}
	switch {
	case n.Buckets:
		return float64(sort.Search(len(n.Edges), func(i int) bool { return n.Edges[i] > x })), nil
	case n.Scale == ScaleLog:
		if x <= -1 {
			return 0, fmt.Errorf("found %g, expected more than -1; use the scale %s", x, ScaleSignedLog)
		}
		return math.Log1p(x), nil
	case n.Scale == ScaleSignedLog:
		return math.Copysign(math.Log1p(math.Abs(x)), x), nil
	case n.Scale == ScaleUniform || n.Scale == ScaleNormal:
		return n.rank(x), nil
	case n.Scale == "":
		return x, nil
	}
	x -= n.Center
	if n.By != 0 {
		x /= n.By
	}
	if n.Scale == ScaleMinMaxCut {
		x = min(max(x, 0), 1)
	}
	return x, nil
}

// rank is the share of numbers below x, or its normal quantile.
func (n *Numbers) rank(x float64) float64 {
	q, last := n.Quantiles, len(n.Quantiles)-1
	normal := n.Scale == ScaleNormal
	switch {
	case q[0] == q[last]: // a constant
		return 0
	case x <= q[0]:
		if normal {
			return normalQuantile(normalLeast)
		}
		return 0
	case x >= q[last]:
		if normal {
			return normalQuantile(1 - normalLeast)
		}
		return 1
	}
	left := sort.SearchFloat64s(q, x)
	var y float64
	if q[left] == x { // the middle of the ranks of equal quantiles
		right := left + sort.Search(last+1-left, func(i int) bool { return q[left+i] > x })
		y = (float64(left)/float64(last) + float64(right-1)/float64(last)) / 2
	} else {
		y = (float64(left-1) + (x-q[left-1])/(q[left]-q[left-1])) / float64(last)
	}
	if normal {
		return normalQuantile(min(max(y, normalLeast), 1-normalLeast))
	}
	return y
}
