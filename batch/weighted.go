package batch

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/draw"
)

// weighted draws items with replacement.
type weighted struct {
	prefix []float64
	// guide[k] is the first item with a prefix above k/len(guide) of the total, where the search of a draw begins.
	guide  []uint32
	last   uint64 // the last item with a weight
	length uint64
}

// Weighted is an order of length positions. Each is drawn on its own, with replacement and in proportion to the
// weights, for example for rare classes. Weights that are not positive, NaN among them, are never drawn. A sum that is
// not positive and finite is an error.
func Weighted(weights []float64, length uint64) (Order, error) {
	if len(weights) > math.MaxUint32 {
		return nil, errOrder("found %d weights, expected fewer than 2^32", len(weights))
	}
	w := &weighted{prefix: make([]float64, len(weights)), length: length}
	sum := 0.0
	for i, x := range weights {
		if x > 0 {
			sum += x
			w.last = uint64(i)
		}
		w.prefix[i] = sum
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, errOrder("found weights with the sum %v, expected a positive and finite one", sum)
	}
	w.guide = make([]uint32, len(weights))
	i := 0
	for k := range w.guide {
		for i < len(weights)-1 && w.prefix[i] <= float64(k)/float64(len(w.guide))*sum {
			i++
		}
		w.guide[k] = uint32(i)
	}
	return w, nil
}

func (w *weighted) Len() uint64   { return w.length }
func (w *weighted) Items() uint64 { return uint64(len(w.prefix)) }

// String has the sum of the weights, because other weights rarely have the same.
func (w *weighted) String() string {
	return fmt.Sprintf("weighted(%d of %d, sum %v)", w.length, len(w.prefix), w.prefix[len(w.prefix)-1])
}

func (w *weighted) Epoch(seed, epoch uint64) Items {
	return &weightedItems{w, draw.Key(seed, epoch, weightedWord)}
}

type weightedItems struct {
	*weighted
	key uint64
}

func (w *weightedItems) Fill(dst []uint64, first uint64) {
	total := w.prefix[len(w.prefix)-1]
	for i := range dst {
		u := draw.Unit(draw.At(w.key, first+uint64(i)))
		x := u * total
		// By rounding, the guide may be after the item. The search then goes back.
		at := uint64(w.guide[min(int(u*float64(len(w.guide))), len(w.guide)-1)])
		for at > 0 && w.prefix[at-1] > x {
			at--
		}
		for at < w.last && w.prefix[at] <= x {
			at++
		}
		dst[i] = at
	}
}
