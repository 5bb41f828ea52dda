package transform

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
)

// classes are sets of items with equal values.
type classes struct {
	of    []int32  // the class of each item; -1: none
	names []string // the value of each class, as text, in byte order; nil for the ends of edges
	sizes []int
}

// absent returns a function that says whether a row of a column has no value.
func (r *rows) absent(c *graph.Column) func(row int) bool {
	flag := graph.FindColumn(r.columns, c.Name+"_missing")
	if flag != nil && (flag.DType != graph.Bool || len(flag.Shape) > 0) {
		flag = nil
	}
	le := binary.LittleEndian
	return func(row int) bool {
		switch {
		case flag != nil && flag.Values[row] != 0:
			return true
		case c.DType == graph.String:
			return len(c.Text(row)) == 0
		case c.Categories != nil:
			return int32(le.Uint32(c.Values[4*row:])) < 0
		case c.Unit != "":
			return int64(le.Uint64(c.Values[8*row:])) == graph.NoTime
		case c.DType == graph.Float32:
			return math.IsNaN(float64(math.Float32frombits(le.Uint32(c.Values[4*row:]))))
		case c.DType == graph.Float64:
			return math.IsNaN(math.Float64frombits(le.Uint64(c.Values[8*row:])))
		}
		return false
	}
}

// textBytes is the memory that a text takes besides its bytes, in a map and a list.
const textBytes = 80

// classesOf returns the items with equal values of a column.
func (t *Transform) classesOf(ctx context.Context, s *Split, name string, r *rows, it *items) (*classes, error) {
	c := graph.FindColumn(r.columns, name)
	text, absent := texts(c), r.absent(c)
	out := &classes{of: make([]int32, it.count)}
	for i := range out.of {
		out.of[i] = -1
	}
	index, held := map[string]int32{}, int64(0)
	var buf []byte
	for row := range r.count {
		if row&0xfffff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		item, ok := it.of(row)
		if !ok || out.of[item] >= 0 || absent(row) {
			continue
		}
		buf = text(buf[:0], row)
		k, seen := index[string(buf)]
		if !seen {
			held += int64(len(buf)) + textBytes
			if len(index) == math.MaxInt32 || t.o.Memory > 0 && held > t.o.Memory/2 {
				return nil, optionf("split of %s: found more than %d values of column %s, expected fewer, which fit in the `Memory` of %d bytes; give more `Memory`, or a column with fewer values", s.Type, len(index), name, t.o.Memory)
			}
			k = int32(len(index))
			index[string(buf)] = k
			out.sizes = append(out.sizes, 0)
		}
		out.of[item] = k
		out.sizes[k]++
	}
	out.sort(index)
	if len(out.sizes) == 0 && it.count > 0 {
		return nil, optionf("split of %s: found no value in column %s, expected a class or group for the rows; give a column that has values", s.Type, name)
	}
	return out, nil
}

// sort numbers classes in the order of their texts.
func (c *classes) sort(index map[string]int32) {
	c.names = slices.Sorted(maps.Keys(index))
	to, sizes := make([]int32, len(c.names)), make([]int, len(c.names))
	for i, name := range c.names {
		to[index[name]] = int32(i)
		sizes[i] = c.sizes[index[name]]
	}
	c.sizes = sizes
	for i, k := range c.of {
		if k >= 0 {
			c.of[i] = to[k]
		}
	}
}

// least refuses classes with fewer rows than there must be. It names the smallest.
func (c *classes) least(s *Split, rows int, why string) error {
	if len(c.sizes) == 0 {
		return nil
	}
	k := 0
	for i, n := range c.sizes {
		if n < c.sizes[k] {
			k = i
		}
	}
	if n := c.sizes[k]; n < rows {
		return optionf("split of %s: found %s of the class %q of column %s, expected at least %d, %s; join small classes, or leave stratify out", s.Type, amount(n), c.names[k], s.Stratify, rows, why)
	}
	return nil
}

// amount is a number of rows.
func amount(rows int) string { return fmt.Sprintf("%d %s", rows, human.Things(int64(rows), "rows")) }

// stratified divides items by their classes. The items of a class are taken in the order of the key.
func (s *Split) stratified(ctx context.Context, it *items, c *classes, dealt []int8) error {
	for i := range dealt {
		dealt[i] = -1
	}
	switch {
	case s.PerClass > 0:
		return s.perClass(ctx, it, c, dealt)
	case s.Folds > 0:
		return s.classFolds(ctx, it, c, dealt)
	}
	some, all := 0, 0
	for _, x := range s.Ratios {
		if x > 0 {
			some++
		}
	}
	if err := c.least(s, some, "one for each part"); err != nil {
		return err
	}
	for _, n := range c.sizes {
		all += n
	}
	want := s.sizes(all)
	for p, x := range s.Ratios {
		if x > 0 && want[p] == 0 && all > 0 {
			return optionf("split of %s: found %s with a class, of which the part %s gets none, expected at least one; give it a larger ratio, or 0", s.Type, amount(all), Parts[p])
		}
	}
	ends := shares(c.sizes, s.Ratios, want, it.key)
	for i := range ends {
		ends[i][1] += ends[i][0]
		ends[i][2] += ends[i][1]
	}
	taken := make([]int, len(c.sizes))
	return it.each(ctx, func(_, item int) {
		if k := c.of[item]; k >= 0 {
			dealt[item] = part([numParts]int(ends[k][:numParts]), taken[k])
			taken[k]++
		}
	})
}

// perClass gives train the first rows of each class, and valid and test the next of all.
func (s *Split) perClass(ctx context.Context, it *items, c *classes, dealt []int8) error {
	if err := c.least(s, s.PerClass, "as many as per_class asks for"); err != nil {
		return err
	}
	left := 0
	for _, n := range c.sizes {
		left += n - s.PerClass
	}
	if least := s.ValidRows + cmp.Or(s.TestRows, min(1, left)); left < least && len(c.sizes) > 0 {
		return optionf("split of %s: found %s besides the %d of train, expected at least %d for valid and test; ask for fewer", s.Type, amount(left), s.PerClass*len(c.sizes), least)
	}
	test := cmp.Or(s.TestRows, left-s.ValidRows)
	ends := [numParts]int{0, s.ValidRows, s.ValidRows + test}
	taken, others := make([]int, len(c.sizes)), 0
	return it.each(ctx, func(_, item int) {
		k := c.of[item]
		switch {
		case k < 0:
		case taken[k] < s.PerClass:
			taken[k]++
			dealt[item] = 0
		default:
			dealt[item] = part(ends, others)
			others++
		}
	})
}

// classFolds deals the items of one class after another to the folds, so that the folds differ by at most one row, in all and in each class.
func (s *Split) classFolds(ctx context.Context, it *items, c *classes, dealt []int8) error {
	if err := c.least(s, s.Folds, "one for each fold"); err != nil {
		return err
	}
	next, before := make([]int, len(c.sizes)), 0
	for i, n := range c.sizes {
		next[i] = before
		before += n
	}
	return it.each(ctx, func(_, item int) {
		if k := c.of[item]; k >= 0 {
			dealt[item] = int8(next[k] % s.Folds)
			next[k]++
		}
	})
}
