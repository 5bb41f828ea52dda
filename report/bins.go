package report

import (
	"math"

	"github.com/graphmill/graphmill/internal/human"
)

// bins divides numbers: bin i holds those from edges[i] to below edges[i+1].
type bins struct {
	edges []float64
	log   bool
	zero  bool // the bins are logarithmic, and the first one, drawn below 1, holds the zeros
}

const (
	// mostBins is about how many linear bins a plot has.
	mostBins = 64
	// fewestBins is about how many it has where there are few numbers.
	fewestBins = 20
)

// chooseBins covers the numbers of all series that are drawn. The bins are linear where these show more than a spike
// and a tail, else two for each octave, or one where there are many octaves. It returns false where there is no
// number.
func chooseBins(series []Series, roles []role) (bins, bool) {
	var all Histogram
	spread := math.Inf(1) // from the 10th to the 90th percentile, of the narrowest series
	for i, s := range series {
		if h := s.Histogram; roles[i] != roleNone && h.Count() > 0 {
			all.Merge(h)
			spread = min(spread, max(float64(h.Quantile(0.9)-h.Quantile(0.1)), 1))
		}
	}
	if all.Count() == 0 {
		return bins{}, false
	}
	lo, hi := float64(all.Min()), float64(all.Max())+1
	if hi-lo <= mostBins {
		return linearBins(lo, hi, mostBins), true
	}
	if hi-lo <= 16*spread || hi < 8*lo {
		// More numbers bear more bins.
		n := 4 * math.Cbrt(float64(all.Count()))
		return linearBins(lo, hi, min(max(n, fewestBins), mostBins)), true
	}
	return logBins(lo, hi), true
}

func linearBins(lo, hi, n float64) bins {
	// float64 holds steps of 2^-40 of the number; beyond 2^53 it would lose steps of 1.
	w := newStep(max((hi-lo)/n, 1, hi*0x1p-40)).times(1)
	first := math.Floor(lo/w) * w
	b := bins{}
	for i := 0.0; ; i++ {
		e := first + i*w
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
		_, exponent := math.Frexp(lo) // exact, whereas math.Log2 rounds 2^49 - 1 up to 49
		first = math.Ldexp(1, exponent-1)
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

// wholeBucket is the count below which all numbers of a bucket go to one bin. Parts of them would be shares that no
// few numbers can have.
const wholeBucket = 32

// shares returns the share of the numbers of h in each bin. Where a bucket of many numbers lies across an edge, its
// numbers are taken as evenly spread in it.
func (b *bins) shares(h *Histogram) []float64 {
	n := len(b.edges) - 1
	count := make([]float64, n)
	i := 0
	for bk := range h.buckets {
		c := float64(bk.Count)
		if b.zero && bk.Low == 0 {
			count[0] += c
			continue
		}
		from, to := max(float64(bk.Low), float64(h.Min())), min(float64(bk.High), float64(h.Max()))+1
		if bk.Count < wholeBucket {
			from += (to - from) / 2
			to = from
		}
		for i+1 < n && b.edges[i+1] <= from {
			i++
		}
		if to <= from {
			count[i] += c
			continue
		}
		for j := i; j < n && (j == i || b.edges[j] < to); j++ {
			part := min(to, b.edges[j+1]) - max(from, b.edges[j])
			count[j] += c * max(part, 0) / (to - from)
		}
	}
	for j := range count {
		count[j] /= float64(h.Count())
	}
	return count
}

// ends returns the first and the last edge.
func (b *bins) ends() (lo, hi float64) { return b.edges[0], b.edges[len(b.edges)-1] }

// single says that each bin holds one number.
func (b *bins) single() bool { return !b.log && b.edges[1]-b.edges[0] == 1 }

func (b *bins) ticks() []tick {
	lo, hi := b.ends()
	switch {
	case b.zero:
		return append([]tick{{math.Sqrt(0.5), "0"}}, octaveTicks(1, hi, human.Tick)...)
	case b.log:
		return octaveTicks(lo, hi, human.Tick)
	case len(b.edges) <= mostMiddles && b.single():
		// A bin that holds one number is named under its middle.
		var ticks []tick
		for _, e := range b.edges[:len(b.edges)-1] {
			ticks = append(ticks, tick{e + 0.5, human.Tick(e)})
		}
		return distinct(ticks)
	}
	return evenTicks(lo, hi, 6, human.Tick)
}

// mostMiddles is the most edges of bins that are named one by one.
const mostMiddles = 17

// name returns the whole numbers of bin i: "12" or "12 to 15".
func (b *bins) name(i int) string {
	if b.zero && i == 0 {
		return "0"
	}
	whole := func(f float64) uint64 {
		if f >= 0x1p64 {
			return math.MaxUint64
		}
		return uint64(max(f, 0))
	}
	from, to := whole(math.Ceil(b.edges[i])), whole(math.Ceil(b.edges[i+1])-1)
	if to <= from {
		return human.ExactU(from)
	}
	return human.ExactU(from) + " to " + human.ExactU(to)
}
