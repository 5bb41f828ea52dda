package profile

import (
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/exact"
	"github.com/graphmill/graphmill/internal/features"
)

// blockValues is how many rows and values are read at a time.
const blockValues = 1 << 12

// tally counts the values of a column that are none of its numbers or texts.
type tally struct{ rows, values, missing, infinite int64 }

// spans calls fn with ranges of values that are not marked as missing, of rows that count, in their order.
func (p *profiler) spans(c *Column, t *tally, fn func(from, to int) error) error {
	keep := make([]bool, blockValues)
	low, high := 0, 0 // the range that is not told yet
	tell := func() error {
		from, to := low, high
		if low = high; from == to {
			return nil
		}
		return fn(from, to)
	}
	add := func(from, to int) (err error) {
		if from != high {
			err = tell()
			low = from
		}
		high = to
		return err
	}
	bytes := int64(0)
	if c.Column.Rows > 0 {
		bytes = c.Bytes()/int64(c.Column.Rows) + 1
	}
	for first := 0; first < c.Column.Rows; first += len(keep) {
		block := keep[:min(len(keep), c.Column.Rows-first)]
		c.Rows.Set(first, block)
		for i, is := range block {
			if !is {
				continue
			}
			from, to := c.Span(first+i, first+i+1)
			t.rows++
			t.values += int64(to - from)
			if err := c.unmarked(first+i, from, to, t, add); err != nil {
				return err
			}
		}
		if err := tell(); err != nil {
			return err
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if c.Touched != nil {
			if err := c.Touched(bytes * int64(len(block))); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmarked calls fn with ranges of the values [from, to) of a row that are not marked. t counts the others.
func (c *Column) unmarked(row, from, to int, t *tally, fn func(from, to int) error) error {
	switch {
	case c.Mark == nil:
	case len(c.Mark) == c.Column.Rows:
		if c.Mark[row] != 0 {
			t.missing += int64(to - from)
			return nil
		}
	default:
		for i, is := range c.Mark[from:to] {
			if is != 0 {
				t.missing++
			} else if err := fn(from+i, from+i+1); err != nil {
				return err
			}
		}
		return nil
	}
	return fn(from, to)
}

// finiteNumbers are the finite numbers of a column. t counts the others.
func (p *profiler) finiteNumbers(c *Column, t *tally) exact.Numbers {
	return func(fn func([]float64) error) error {
		*t = tally{}
		buffer := make([]float64, 0, blockValues)
		err := p.spans(c, t, func(from, to int) error {
			for from < to {
				if len(buffer) == cap(buffer) {
					if err := fn(buffer); err != nil {
						return err
					}
					buffer = buffer[:0]
				}
				n := min(cap(buffer)-len(buffer), to-from)
				buffer = buffer[:len(buffer)+countFinite(c, from, buffer[len(buffer):][:n], t)]
				from += n
			}
			return nil
		})
		if err != nil || len(buffer) == 0 {
			return err
		}
		return fn(buffer)
	}
}

// countFinite reads values from at on, moves those that are finite numbers to the front, and counts them.
func countFinite(c *Column, at int, block []float64, t *tally) (known int) {
	features.Float64s(c.Column, at, 1, block)
	for i, x := range block {
		switch {
		case x != x, c.Unit != "" && graph.View[int64](c.Values)[at+i] == graph.NoTime:
			t.missing++
		case math.IsInf(x, 0):
			t.infinite++
		default:
			block[known] = x
			known++
		}
	}
	return known
}

// keys are the finite numbers of a column as keys. Whole numbers of 64 bits have keys of their own, because float64 rounds those above 2^53.
func (p *profiler) keys(c *Column) exact.Keys {
	if !wide(c) {
		return exact.KeysOf(p.finiteNumbers(c, &tally{}))
	}
	return func(fn func([]uint64) error) error {
		buffer := make([]uint64, 0, blockValues)
		err := p.spans(c, &tally{}, func(from, to int) error {
			for _, x := range graph.View[uint64](c.Values)[from:to] {
				if c.DType == graph.Int64 {
					if c.Unit != "" && int64(x) == graph.NoTime {
						continue
					}
					x ^= 1 << 63
				}
				if buffer = append(buffer, x); len(buffer) == cap(buffer) {
					if err := fn(buffer); err != nil {
						return err
					}
					buffer = buffer[:0]
				}
			}
			return nil
		})
		if err != nil || len(buffer) == 0 {
			return err
		}
		return fn(buffer)
	}
}

// wide says whether a column has whole numbers of 64 bits.
func wide(c *Column) bool { return c.DType == graph.Int64 || c.DType == graph.Uint64 }

// number is the number of a key of the column.
func (p *profiler) number(key uint64) float64 {
	switch p.c.DType {
	case graph.Int64:
		return float64(int64(key ^ 1<<63))
	case graph.Uint64:
		return float64(key)
	}
	return exact.Number(key)
}
