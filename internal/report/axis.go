package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/graphmill/graphmill/internal/human"
)

// decades are the powers of ten in [lo, hi], so many labelled that they do not
// touch.
func decades(lo, hi float64, name func(float64) string) []plot.Tick {
	from, to := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	every := 1 + (to-from)/9
	var ticks []plot.Tick
	for e := from; e <= to; e++ {
		if e%every == 0 { // so 1, or 100%, has a label
			v := math.Pow10(e)
			ticks = append(ticks, plot.Tick{Value: v, Label: name(v)})
		}
	}
	return ticks
}

// evenTicks are about n round numbers in [lo, hi].
func evenTicks(lo, hi float64, n int, name func(float64) string) []plot.Tick {
	step := roundStep((hi - lo) / float64(n))
	if step <= 0 {
		return []plot.Tick{{Value: lo, Label: name(lo)}}
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi*(1+1e-9) && len(ticks) < 4*n; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: name(i * step)})
	}
	return ticks
}

// roundStep is the 1, 2 or 5 times a power of ten next to s.
func roundStep(s float64) float64 {
	if s <= 0 || math.IsInf(s, 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(s)))
	for _, m := range []float64{1, 2, 5} {
		if s <= m*unit*1.0001 {
			return m * unit
		}
	}
	return 10 * unit
}

// bins are the bins of a Bins view: bin i holds the numbers from edges[i] to
// below edges[i+1].
type bins struct {
	edges []float64
	log   bool
	zero  bool // logarithmic, and the first bin, drawn below 1, holds the zeros
}

// binsDrawn is about how many linear bins a plot has.
const binsDrawn = 64

// chooseBins covers the numbers of all series that are drawn: linear bins where
// these show more than a spike and a tail, else two an octave, or one an octave
// where there are many.
func chooseBins(series []Series, roles []role) (bins, bool) {
	var all Histogram
	for i, s := range series {
		if roles[i] != roleNone {
			all.Merge(s.Histogram)
		}
	}
	if all.Count() == 0 {
		return bins{}, false
	}
	lo, hi := float64(all.Min()), float64(all.Max())+1
	spread := math.Inf(1) // the narrowest of the series that have a spread
	for i, s := range series {
		if h := s.Histogram; roles[i] != roleNone && h.Count() > 0 {
			spread = min(spread, max(float64(h.Quantile(0.9)-h.Quantile(0.1)), 1))
		}
	}
	if hi-lo <= binsDrawn || hi-lo <= 16*spread {
		return linearBins(lo, hi), true
	}
	return logBins(lo, hi), true
}

func linearBins(lo, hi float64) bins {
	// Beyond 2^53 a step of 1 would be lost.
	width := max(roundStep((hi-lo)/binsDrawn), 1, hi*0x1p-40)
	first := math.Floor(lo/width) * width
	b := bins{}
	for i := 0.0; ; i++ {
		e := first + i*width
		b.edges = append(b.edges, e)
		if e >= hi && len(b.edges) > 1 {
			return b
		}
	}
}

func logBins(lo, hi float64) bins {
	b := bins{log: true}
	first := 1.0
	if lo < 1 {
		b.zero = true
		b.edges = append(b.edges, 0.5)
	} else {
		first = math.Pow(2, math.Floor(math.Log2(lo)))
	}
	halves := first >= 4 && math.Log2(hi/first) <= 24
	for e := first; ; e *= 2 {
		b.edges = append(b.edges, e)
		if e >= hi && len(b.edges) > 1 {
			return b
		}
		if halves {
			b.edges = append(b.edges, e*1.5)
		}
	}
}

// points are the steps of h over the bins, and the end of the last. Where a
// bucket lies across an edge, its numbers are taken as evenly spread in it.
func (b bins) points(h *Histogram) plotter.XYs {
	weight := make([]float64, len(b.edges))
	i := 0
	for bk := range h.Buckets {
		c := float64(bk.Count)
		from, to := float64(bk.Low), float64(bk.High)+1
		if to <= from { // a bucket of one number beyond 2^53
			to = math.Nextafter(from, math.Inf(1))
		}
		if b.zero && bk.Low == 0 {
			weight[0] += c
			continue
		}
		from, to = max(from, float64(h.Min())), max(min(to, float64(h.Max())+1), from)
		for i+2 < len(b.edges) && b.edges[i+1] <= from {
			i++
		}
		if to <= from {
			weight[i] += c
			continue
		}
		for j := i; j+1 < len(b.edges) && (j == i || b.edges[j] < to); j++ {
			part := min(to, b.edges[j+1]) - max(from, b.edges[j])
			weight[j] += c * max(part, 0) / (to - from)
		}
	}
	pts := make(plotter.XYs, len(b.edges))
	for k, e := range b.edges {
		pts[k] = plotter.XY{X: e, Y: weight[k] / float64(h.Count())}
	}
	return pts
}

func (b bins) ticks() []plot.Tick {
	first, last := b.edges[0], b.edges[len(b.edges)-1]
	if !b.log {
		if len(b.edges) <= 13 {
			return middleTicks(b.edges)
		}
		return evenTicks(first, last, 6, human.Tick)
	}
	if b.zero {
		ticks := octaves(1, last)
		if last > 1<<24 && ticks[0].Value == 1 { // its label would touch that of 0
			ticks = ticks[1:]
		}
		return append(ticks, plot.Tick{Value: math.Sqrt(0.5), Label: "0"})
	}
	return octaves(first, last)
}

// middleTicks names each of few bins that hold one number each under its middle;
// wider bins are named at their edges.
func middleTicks(edges []float64) []plot.Tick {
	var ticks []plot.Tick
	for i := 0; i+1 < len(edges); i++ {
		at := edges[i]
		if edges[i+1]-edges[i] == 1 {
			at += 0.5
		}
		ticks = append(ticks, plot.Tick{Value: at, Label: human.Tick(edges[i])})
	}
	return ticks
}

// octaves are powers of ten where the axis has three of them, else powers of
// two.
func octaves(lo, hi float64) []plot.Tick {
	if ticks := decades(lo, hi, human.Tick); len(ticks) >= 3 {
		return ticks
	}
	every := math.Pow(2, math.Ceil(math.Log2(hi/lo)/8))
	var ticks []plot.Tick
	for v := math.Pow(2, math.Ceil(math.Log2(lo))); v <= hi; v *= every {
		ticks = append(ticks, plot.Tick{Value: v, Label: human.Tick(v)})
	}
	return ticks
}
