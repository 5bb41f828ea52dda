package batch

import (
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// chunk is some successive batches of a rank, and their arrays.
type chunk struct {
	numbers []int
	batches []Batch
}

func newChunk() *chunk { return &chunk{} }

// worker is the buffers of a goroutine that fills batches.
type worker struct{ rows []uint64 }

// filler makes the batches of one epoch.
type filler struct {
	*Iter
	pass  pass
	epoch uint64
	real  int // batches of the order; later ones repeat these, or are padding
}

func (f *filler) worker() *worker { return &worker{} }

// fill makes the batches of a chunk in its arrays.
func (f *filler) fill(w *worker, c *chunk) error {
	for len(c.batches) < len(c.numbers) {
		b := Batch{Columns: make([]graph.Column, len(f.columns))}
		for i, src := range f.columns {
			b.Columns[i] = graph.Column{Name: src.Name, DType: src.DType, Shape: src.Shape, Unit: src.Unit, Categories: src.Categories}
		}
		c.batches = append(c.batches, b)
	}
	for i, number := range c.numbers {
		b := &c.batches[i]
		b.Epoch, b.Number, b.Items = f.epoch, number, b.Items[:0]
		if from := f.source(number); from >= 0 {
			b.Items = f.pass.items(b.Items, from)
		}
		if f.ptr == nil {
			f.fillRows(b)
		} else {
			f.fillGroups(w, b)
		}
	}
	return nil
}

// source is the batch of the order with the items of a batch; -1 for padding alone.
func (f *filler) source(number int) int {
	switch {
	case number < f.real:
		return number
	case f.o.Tail == Pad:
		return -1
	}
	return number % f.real
}

// fillRows gathers the rows of the items.
func (f *filler) fillRows(b *Batch) {
	b.Rows = len(b.Items)
	if f.o.Tail == Pad {
		b.Rows = f.o.Size
	}
	for i, src := range f.columns {
		dst := &b.Columns[i]
		size(dst, b.Rows, src.RowBytes())
		Gather(dst.Values, src.Values, src.RowBytes(), b.Items)
		clear(dst.Values[len(b.Items)*src.RowBytes():])
	}
	b.Mask = mask(b.Mask, b.Rows, len(b.Items))
}

// size gives a column of a batch the given number of rows. It does not clear them.
func size(c *graph.Column, rows, width int) {
	n := rows * width
	// Allocations of a few bytes are not aligned for every dtype.
	c.Rows, c.Values = rows, slices.Grow(c.Values[:0], max(n, 64))[:n]
}

// mask is true for the first n of rows. It is nil where these are all.
func mask(m []bool, rows, n int) []bool {
	if rows == n {
		return nil
	}
	m = slices.Grow(m[:0], rows)[:rows]
	for i := range m {
		m[i] = i < n
	}
	return m
}
