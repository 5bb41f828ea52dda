package transform

import (
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// checkValues refuses values that are in two parts.
func (s *Split) checkValues() error {
	var seen []string
	for _, values := range s.Values {
		for _, v := range values {
			if slices.Contains(seen, v) {
				return optionf("split of %s: found the value %q of column %s in two parts, expected it in one", s.Type, v, s.By)
			}
			seen = append(seen, v)
		}
	}
	return nil
}

// limits returns the values of At, as the values from which on rows are in later parts.
func (s *Split) limits(c *graph.Column) (limits [3]key, err error) {
	limits[2] = last
	if s.Ratios != nil {
		return limits, nil
	}
	if len(s.At) != 2 {
		return limits, optionf("split of %s: found %d values of column %s, expected two: the first of valid and the first of test", s.Type, len(s.At), s.By)
	}
	for i, text := range s.At {
		if limits[i], err = parse(c, text); err != nil {
			return limits, optionf("split of %s: column %s: %w", s.Type, s.By, err)
		}
	}
	if limits[1] < limits[0] {
		return limits, optionf("split of %s: found %s after %s, expected ascending values of column %s", s.Type, s.At[0], s.At[1], s.By)
	}
	return limits, nil
}

// by divides rows by the values of a column.
func (s *Split) by(ctx context.Context, parts []int8, c *graph.Column) error {
	if s.Values != nil {
		return s.byValues(ctx, parts, c)
	}
	at, err := ordered(c)
	if err != nil {
		return err
	}
	limits, err := s.limits(c)
	if err != nil {
		return err
	}
	if s.Ratios != nil {
		limits = s.quantiles(parts, at)
	}
	for i := range parts {
		if i&0xfffff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		parts[i] = -1
		if k := at(i); k != missing {
			parts[i] = int8(sort.Search(len(limits), func(p int) bool { return k < limits[p] }))
			if int(parts[i]) == len(limits) {
				parts[i] = -1
			}
		}
	}
	return nil
}

// quantiles returns, for each part, the value from which on rows are in later parts.
func (s *Split) quantiles(parts []int8, at func(row int) key) (limits [3]key) {
	present := 0
	for i := range parts {
		if at(i) != missing {
			present++
		}
	}
	for p, end := range s.ends(present) {
		if limits[p] = last; end < present {
			limits[p] = smallest(len(parts), at, end)
			// Rows with the value of the first row after the part are in the part if the row before has the value too.
			if end > 0 && smallest(len(parts), at, end-1) == limits[p] {
				limits[p]++
			}
		}
	}
	return limits
}

// smallest returns the value at a rank, from 0, among those that are not missing. It counts values in several passes,
// from their highest bits to the lowest, and needs no copy of them.
func smallest(rows int, at func(row int) key, rank int) key {
	const bits = 16
	prefix := key(0)
	for shift := 64 - bits; shift >= 0; shift -= bits {
		var counts [1 << bits]int
		for i := range rows {
			if k := at(i); k != missing && (shift+bits == 64 || k>>(shift+bits) == prefix) {
				counts[k>>shift&(1<<bits-1)]++
			}
		}
		for d, n := range counts {
			if rank < n {
				prefix = prefix<<bits | key(d)
				break
			}
			rank -= n
		}
	}
	return prefix
}

// byValues divides rows by the sets of values.
func (s *Split) byValues(ctx context.Context, parts []int8, c *graph.Column) error {
	of := map[string]int8{}
	for p, values := range s.Values {
		for _, v := range values {
			of[v] = int8(p)
		}
	}
	text := texts(c)
	var buf []byte
	seen := map[int8]bool{}
	for i := range parts {
		if i&0xfffff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		buf = text(buf[:0], i)
		p, ok := of[string(buf)]
		if !ok {
			p = -1
		}
		parts[i], seen[p] = p, true
	}
	for p, values := range s.Values {
		if len(values) > 0 && !seen[int8(p)] {
			return optionf("split of %s: found no row whose column %s is %s, expected some in the part %s", s.Type, s.By, strings.Join(values, " or "), Parts[p])
		}
	}
	return nil
}

// ends returns the number of rows up to the end of each part.
func (s *Split) ends(rows int) [numParts]int {
	var ends [numParts]int
	sum := 0.0
	for i, x := range s.Ratios {
		sum += x
		end := float64(sum * float64(rows))
		ends[i] = min(int(math.Floor(end+0.5+1e-9+float64(end*1e-15))), rows) // of 0.58 * 25, too, which is 14.5 less a rounding
	}
	return ends
}

// sizes are the rows of each part, and of none.
func (s *Split) sizes(rows int) (out counts) {
	before := 0
	for p, end := range s.ends(rows) {
		out[p] = end - before
		before = end
	}
	out[numParts] = rows - before
	return out
}

// part is the part of the row at a place in the order.
func part(ends [numParts]int, at int) int8 {
	for p, end := range ends {
		if at < end {
			return int8(p)
		}
	}
	return -1
}
