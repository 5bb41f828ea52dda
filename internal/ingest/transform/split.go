package transform

import (
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Parts are the categories of SplitColumn, in the order of their codes.
var Parts = []string{"train", "valid", "test"}

var partsOf = func() *table.Categories {
	c := &table.Categories{}
	c.Set(Parts)
	return c
}()

// Split divides the rows of a type into Parts. One of Ratios, At and Values is set.
type Split struct {
	// Of is TYPE, COLUMN or TYPE.COLUMN. It is taken apart into Type and By.
	Of string
	// Type is a node type, or an edge type as "src:rel:dst". Empty: the only node type.
	Type string
	// By is the column that decides. Empty: the random seed does.
	By string
	// Ratios are the shares of the parts in the rows. Their sum is at most 1; the rest of the rows is in no part. With
	// By, rows are taken in ascending order of the column, and rows with equal values are in the same part: the one that
	// has the first of them. A row whose value is missing is in no part.
	Ratios []float64
	// At are two values of the column, as text: rows below the first are in train, the others below the second in valid,
	// the rest in test. A row whose value is missing is in no part.
	At []string
	// Values are the values of the column that each part has, as text.
	Values [][]string
}

// split divides the rows of all splits.
func (t *Transform) split(ctx context.Context) (err error) {
	for i := range t.o.Splits {
		s := &t.o.Splits[i]
		r := t.rows(s.Type)
		parts := make([]int8, r.count)
		if s.By == "" {
			err = t.random(ctx, s, r, parts)
		} else {
			err = s.by(ctx, parts, graph.FindColumn(r.columns, s.By))
		}
		if err != nil {
			return err
		}
		r.split = parts
	}
	return nil
}

// rows returns the rows of a type, or nil.
func (t *Transform) rows(typ string) (r *rows) {
	t.each(func(name string, x *rows) {
		if name == typ {
			r = x
		}
	})
	return r
}

// splitWord is the first word of the keys of random splits, so that they differ from all other draws.
const splitWord = 0x73706c6974 // "split"

// word is a name as one word.
func word(name string) uint64 {
	h := uint64(len(name))
	for _, b := range []byte(name) {
		h = draw.Absorb(h, uint64(b))
	}
	return h
}

// checkSplit completes a split and checks it.
func (t *Transform) checkSplit(s *Split) error {
	if s.Of != "" {
		s.Type, s.By = t.apart(s.Of)
		s.Of = ""
	}
	if s.Type == "" && len(t.nodes) == 1 {
		s.Type = t.nodes[0].n.Type
	}
	var types []string
	t.each(func(name string, _ *rows) { types = append(types, name) })
	r := t.rows(s.Type)
	twice := 0
	for i := range t.o.Splits {
		if t.o.Splits[i].Type == s.Type {
			twice++
		}
	}
	switch {
	case r == nil && s.Type == "":
		return optionf("split: found no type, expected one of %s", strings.Join(types, ", "))
	case r == nil:
		return optionf("split of %s: found no such type, expected one of %s", s.Type, strings.Join(types, ", "))
	case twice > 1:
		return optionf("split of %s: found two splits of this type, expected one", s.Type)
	case graph.FindColumn(r.columns, SplitColumn) != nil:
		return optionf("split of %s: found a column %s already, expected none; leave one of the two out", s.Type, SplitColumn)
	case s.By == "" && s.Ratios == nil:
		return optionf("split of %s: found no column, expected the one that decides", s.Type)
	}
	if s.Ratios != nil {
		sum, negative := 0.0, false
		for _, x := range s.Ratios {
			sum += x
			negative = negative || x < 0
		}
		if len(s.Ratios) != len(Parts) || negative || !(sum > 0 && sum <= 1+1e-9) {
			return optionf("split of %s: found the ratios %v, expected three from 0 to 1 (train, valid, test) with a sum of at most 1", s.Type, s.Ratios)
		}
	}
	if s.By == "" {
		return nil
	}
	c := graph.FindColumn(r.columns, s.By)
	if c == nil {
		return optionf("split of %s: found no column %s, expected one of %s", s.Type, s.By, strings.Join(t.columnNames(s.Type), ", "))
	}
	if c.Ragged() || c.RowValues() != 1 {
		return optionf("split of %s: found column %s of shape %v, expected one value per row", s.Type, s.By, c.Shape)
	}
	if s.Values != nil {
		return s.checkValues()
	}
	if _, err := ordered(c); err != nil {
		return optionf("split of %s: column %s: %w", s.Type, s.By, err)
	}
	_, err := s.limits(c)
	return err
}

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

// ends returns the number of rows up to the end of each part.
func (s *Split) ends(rows int) [3]int {
	var ends [3]int
	sum := 0.0
	for i, x := range s.Ratios {
		sum += x
		ends[i] = min(int(math.Round(sum*float64(rows))), rows)
	}
	return ends
}

// random divides the rows of a type by the order that the random seed gives, so that each part has its share exactly.
//
// An edge and its reverse are in the same part, since otherwise the one would tell of the other: edges are divided by the
// rows of the input that they come from, and all edge types between two node types share their draws.
func (t *Transform) random(ctx context.Context, s *Split, r *rows, parts []int8) error {
	key := draw.Key(t.o.Seed, splitWord, word(s.Type))
	for _, x := range t.edges {
		if &x.rows == r {
			a, b := x.e.Type.Src, x.e.Type.Dst
			key = draw.Key(t.o.Seed, splitWord, word(min(a, b)), word(max(a, b)))
		}
	}
	position := graph.FindColumn(r.columns, graph.PositionColumn)
	if position == nil {
		return s.deal(ctx, parts, key)
	}
	ranks := newRanks(position)
	dealt := make([]int8, ranks.count)
	if err := s.deal(ctx, dealt, key); err != nil {
		return err
	}
	for i := range parts {
		parts[i] = -1
		if k, ok := ranks.of(i); ok {
			parts[i] = dealt[k]
		}
	}
	return nil
}

// deal divides items by the order of a key.
func (s *Split) deal(ctx context.Context, parts []int8, key uint64) error {
	order, ends := draw.NewOrder(uint64(len(parts)), key), s.ends(len(parts))
	var items [4096]uint64
	for at := 0; at < len(parts); at += len(items) {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		run := items[:min(len(items), len(parts)-at)]
		order.Fill(run, uint64(at))
		for i, x := range run {
			parts[x] = part(ends, at+i)
		}
	}
	return nil
}

// part is the part of the row at a place in the order.
func part(ends [3]int, at int) int8 {
	for p, end := range ends {
		if at < end {
			return int8(p)
		}
	}
	return -1
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
