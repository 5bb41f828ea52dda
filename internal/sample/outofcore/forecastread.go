package outofcore

import (
	"math"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/sample"
)

// edgesOf is the sampled edges of a batch in a wave.
func (x *Executor) edgesOf(wave int) float64 {
	n := 0.0
	for op := x.waves[wave][0]; op < x.waves[wave][1]; op++ {
		n += x.found.perOp[op]
	}
	return n
}

// touched is the bytes that a sweep reads which serves the waves from first to last of
// so many batches each.
func (x *Executor) touched(first, last int, batches float64) float64 {
	bytes := 0.0
	for i, f := range x.files {
		seeds, asks := 0.0, 0.0
		for wave := first; wave <= last; wave++ {
			if wave == 0 {
				seeds = x.found.asks[0][i] * batches
			} else {
				asks += x.found.asks[wave][i] * batches
			}
		}
		if f.blocks == 0 || seeds+asks == 0 {
			continue
		}
		// What is reached lies anywhere; where the seeds lie is known.
		asks /= float64(f.blocks)
		size := float64(f.far.Size())
		pages := min(size/direct.Align, blockPages)
		share := 0.0
		if spread := x.found.spread; seeds > 0 && spread != nil {
			for _, part := range spread[f.first : f.first+f.blocks] {
				share += x.shareRead(f, asks+seeds*part, pages)
			}
			share /= float64(f.blocks)
		} else {
			share = x.shareRead(f, asks+seeds/float64(f.blocks), pages)
		}
		if f.ids != nil {
			size += float64(f.ids.Size())
		}
		bytes += size * share
	}
	return bytes
}

// shareRead is the share of a block of so many pages that is read for requests that
// lie anywhere in it, on average so many; f is nil of columns.
func (x *Executor) shareRead(f *file, asks, pages float64) float64 {
	if asks == 0 || pages == 0 {
		return 0
	}
	if f != nil && f.ids != nil {
		// One request is enough for a block and the ids of it.
		return -math.Expm1(-asks)
	}
	if asks >= dense {
		return 1
	}
	density := -math.Expm1(-asks / pages)
	wanted := pages * density
	// Blocks differ: of how many more pages are wanted than are read one by one?
	whole := math.Erfc((float64(x.brk)+0.5-wanted)/math.Sqrt(2*wanted)) / 2
	// Gaps of a page or two are read through.
	gaps := density * (1 - density) * (1 + 2*(1-density))
	return whole + (1-whole)*min(density*(1+gaps), 1)
}

// layers is the bytes of an epoch's condensed layers, by wave and in all.
func (x *Executor) layers(job *sample.Job) (sizes []int64, once int64) {
	x.rows.perOp = x.found.perOp
	sizes = x.layerSizes(job)
	for _, size := range sizes {
		once += size
	}
	return sizes, once
}

// size is the bytes that a sweep reads at most.
func (x *Executor) size() int64 {
	size := int64(0)
	for _, file := range x.files {
		size += file.far.Size()
		if file.ids != nil {
			size += file.ids.Size()
		}
	}
	return size
}
