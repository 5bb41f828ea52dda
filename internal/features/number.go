package features

import (
	"math"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/internal/exact"
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

// normalLeast bounds the ranks of normal quantiles: ranks nearer to 0 have the quantile of normalLeast, and ranks nearer to 1 the quantile of
// 1 - normalLeast.
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

	guide *guide // of Quantiles; nil: they are searched whole
}

// guide divides the keys of sorted numbers into ranges of equal width, and says where each range begins, so that a search has few numbers left.
type guide struct {
	least  uint64
	shift  uint
	starts []int32 // of the numbers that are not below the range, the first; one more than there are ranges
}

// guideRanges is about how many ranges a guide has.
const guideRanges = 1 << 12

// newGuide makes the guide of sorted numbers, which are not none.
func newGuide(sorted []float64) *guide {
	g := &guide{least: exact.Key(sorted[0])}
	width := exact.Key(sorted[len(sorted)-1]) - g.least
	for width>>g.shift >= guideRanges {
		g.shift++
	}
	at := 0
	for r := range width>>g.shift + 1 {
		for at < len(sorted) && (exact.Key(sorted[at])-g.least)>>g.shift < r {
			at++
		}
		g.starts = append(g.starts, int32(at))
	}
	g.starts = append(g.starts, int32(len(sorted)))
	return g
}

// first is the first of sorted numbers that is not below x, which lies between the least and the greatest of them.
func (g *guide) first(sorted []float64, x float64) int {
	left, n := 0, len(sorted)
	if g != nil {
		r := (exact.Key(x) - g.least) >> g.shift
		left = int(g.starts[r])
		n = int(g.starts[r+1]) - left
	}
	for n > 4 {
		half := n / 2
		if sorted[left+half] < x {
			left += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	for end := left + n; left < end && sorted[left] < x; { // a processor foresees it more often than halves
		left++
	}
	return left
}

// quantile is the value at the position j/parts of sorted numbers, between two neighbours by their distance.
func quantile(o *ordered, j, parts int) float64 {
	at := j * (o.n - 1)
	i, rest := at/parts, at%parts
	low := o.at(i)
	if rest == 0 {
		return low
	}
	return low + float64((o.at(i+1)-low)*(float64(rest)/float64(parts)))
}

// median is the middle of sorted numbers; of two, their mean.
func median(o *ordered) float64 { return middle(o.at((o.n-1)/2), o.at(o.n/2)) }

// middle is the mean of two numbers.
func middle(a, b float64) float64 {
	if sum := a + b; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return a/2 + b/2
}

// fitQuantiles makes the quantiles of a scale; rows is how many rows the fit has, with those that have no number.
func (n *Numbers) fitQuantiles(o *ordered, rows int) {
	q := max(1, min(Quantiles, rows))
	n.Quantiles = make([]float64, q)
	for j := range q {
		n.Quantiles[j] = quantile(o, j, max(1, q-1))
	}
}

// fitRobust takes the median and the distance of the quartiles.
func (n *Numbers) fitRobust(o *ordered) {
	n.Center, n.By = quantile(o, 1, 2), quantile(o, 3, 4)-quantile(o, 1, 4)
}

// fitWidth makes count buckets of equal width.
func (n *Numbers) fitWidth(least, greatest float64, count int) {
	n.Buckets, n.Edges = true, nil
	if least == greatest {
		return
	}
	step := (greatest - least) / float64(count)
	for i := 1; i < count; i++ {
		n.Edges = append(n.Edges, least+float64(float64(i)*step))
	}
}

// fitShares makes at most count buckets of about as many rows each: edges that are equal are one.
func (n *Numbers) fitShares(o *ordered, count int) {
	edges := []float64{o.at(0)}
	for j := 1; j < count; j++ {
		at := j * o.n
		if i := at / count; at%count != 0 {
			edges = append(edges, o.at(i))
		} else {
			edges = append(edges, middle(o.at(i-1), o.at(i)))
		}
	}
	edges = append(edges, o.at(o.n-1))
	if o.asking {
		return
	}
	edges = slices.Compact(edges)
	n.Buckets, n.Edges = true, edges[1:max(1, len(edges)-1)]
}

// apply is the feature of a number; NaN is a missing one, and stays missing without Fill. Numbers up to -1 have no logarithm: NaN.
func (n *Numbers) apply(x float64) float64 {
	x = n.clipped(x)
	if math.IsNaN(x) {
		if n.Fill == nil {
			return x
		}
		x = *n.Fill
	}
	switch {
	case n.Buckets:
		return float64(sort.Search(len(n.Edges), func(i int) bool { return n.Edges[i] > x }))
	case n.Scale == ScaleLog:
		if x <= -1 {
			return math.NaN()
		}
		return math.Log1p(x)
	case n.Scale == ScaleSignedLog:
		return math.Copysign(math.Log1p(math.Abs(x)), x)
	case n.Scale == ScaleUniform || n.Scale == ScaleNormal:
		return n.rank(x)
	case n.Scale == "":
		return x
	}
	x -= n.Center
	if n.By != 0 {
		x /= n.By
	}
	if n.Scale == ScaleMinMaxCut {
		x = min(max(x, 0), 1)
	}
	return x
}

// clipped brings a number that is not missing between the bounds of Clip.
func (n *Numbers) clipped(x float64) float64 {
	if n.Clip == nil || x != x {
		return x
	}
	return min(max(x, n.Clip[0]), n.Clip[1])
}

// applyBlock writes apply of each number of a block.
func (n *Numbers) applyBlock(in, out []float64) {
	out = out[:len(in)]
	switch {
	case n.Clip != nil || n.Buckets:
	case n.Scale == ScaleStandard || n.Scale == ScaleMinMax || n.Scale == ScaleMaxAbs || n.Scale == ScaleRobust:
		fill, center, by := n.fill(), n.Center, n.By
		if by == 0 {
			by = 1
		}
		for i, x := range in {
			if x != x {
				x = fill
			}
			out[i] = (x - center) / by
		}
		return
	case n.Scale == ScaleNormal && !n.constant():
		fill := n.fill()
		for i, x := range in {
			if x != x {
				x = fill
			}
			out[i] = n.share(x)
		}
		for i, p := range out { // in a loop of its own, the processor computes several at once
			out[i] = normalOf(p)
		}
		return
	}
	for i, x := range in {
		out[i] = n.apply(x)
	}
}

// fill is the number in place of a missing one: NaN where there is none.
func (n *Numbers) fill() float64 {
	if n.Fill == nil {
		return math.NaN()
	}
	return *n.Fill
}

// constant says whether all quantiles are equal.
func (n *Numbers) constant() bool { return n.Quantiles[0] == n.Quantiles[len(n.Quantiles)-1] }

// rank is the share of numbers below x, or its normal quantile.
func (n *Numbers) rank(x float64) float64 {
	switch {
	case n.constant():
		return 0
	case n.Scale == ScaleNormal:
		return normalOf(n.share(x))
	}
	return n.share(x)
}

// normalOf is the normal quantile of a share. Those nearer to 0 or 1 than normalLeast are moved to this distance.
func normalOf(p float64) float64 { return normalQuantile(min(max(p, normalLeast), 1-normalLeast)) }

// share is the share of numbers below x, by the quantiles, which are not all equal; NaN of NaN.
func (n *Numbers) share(x float64) float64 {
	q, last := n.Quantiles, len(n.Quantiles)-1
	switch {
	case x <= q[0]:
		return 0
	case x >= q[last]:
		return 1
	case x != x:
		return x
	}
	left := n.guide.first(q, x)
	if q[left] == x { // the middle of the ranks of equal quantiles
		right := left + sort.Search(last+1-left, func(i int) bool { return q[left+i] > x })
		return (float64(left)/float64(last) + float64(right-1)/float64(last)) / 2
	}
	return (float64(left-1) + (x-q[left-1])/(q[left]-q[left-1])) / float64(last)
}
