package transform

import (
	"context"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
)

// masked divides rows by columns of bools.
func (s *Split) masked(ctx context.Context, r *rows) error {
	width := 1
	var columns [numParts]*graph.Column
	for p, name := range s.Masks {
		if name != "" {
			columns[p] = graph.FindColumn(r.columns, name)
			width = columns[p].RowValues()
		}
	}
	vector := len(s.maskShape(r)) == 1
	seen := make([]counts, width)
	for k := range width {
		a := added{name: SplitColumn, parts: make([]int8, r.count)}
		if vector {
			a.name = splitColumn(k)
		}
		for row := range a.parts {
			if row&0xfffff == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			a.parts[row] = -1
			for p, c := range columns {
				if c == nil || c.Values[row*width+k] == 0 {
					continue
				}
				if before := a.parts[row]; before >= 0 {
					return optionf("%s: found true in the masks %s and %s, expected a row in one part; correct the masks", rowPlace(s.Type, uint64(row)), s.Masks[before], s.Masks[p])
				}
				a.parts[row] = int8(p)
				seen[k][p]++
			}
		}
		r.splits = append(r.splits, a)
	}
	for k := range width {
		for p, c := range columns {
			if c != nil && seen[k][p] == 0 && r.count > 0 {
				return optionf("split of %s: found no row in the mask %s of the part %s, expected at least one; correct the mask, or leave it out", s.Type, s.Masks[p], Parts[p])
			}
		}
	}
	return nil
}

// maskShape is the shape of a row of the masks.
func (s *Split) maskShape(r *rows) []int {
	for _, name := range s.Masks {
		if c := graph.FindColumn(r.columns, name); name != "" && c != nil {
			return c.Shape
		}
	}
	return nil
}

// checkMasks refuses columns that are no masks.
func (s *Split) checkMasks(t *Transform, r *rows) error {
	if len(s.Masks) != numParts || s.Masks[0] == "" || s.Masks[1]+s.Masks[2] == "" {
		return optionf("split of %s: found the masks %q, expected columns for train and for valid or test", s.Type, s.Masks)
	}
	shape := s.maskShape(r)
	for _, name := range s.Masks {
		if name == "" {
			continue
		}
		c := graph.FindColumn(r.columns, name)
		switch {
		case c == nil:
			return t.noColumn(s, name)
		case c.DType != graph.Bool || c.Ragged() || len(c.Shape) > 1:
			return optionf("split of %s: found column %s of %s %v, expected a mask: a bool per row, or a vector of them; give masks, or the values of a column", s.Type, name, kind(c), c.Shape)
		case !slices.Equal(c.Shape, shape):
			return optionf("split of %s: found masks of the shapes %v and %v, expected equal ones", s.Type, shape, c.Shape)
		}
	}
	return nil
}

// deciding are the node types whose parts edges follow: source and destination, of which one can be nil.
func (s *Split) deciding(t *Transform, x *edgeTable) (src, dst *nodeTable, err error) {
	src, dst = t.nodes[x.src], t.nodes[x.dst]
	if s.Like != src.n.Type && s.Like != dst.n.Type {
		if s.Like != LikeNodes {
			return nil, nil, optionf("split of %s: found like %s, expected %s for both ends, or one of the node types %s and %s", s.Type, s.Like, LikeNodes, src.n.Type, dst.n.Type)
		}
		return src, dst, nil
	}
	if s.Like != src.n.Type {
		src = nil
	}
	if s.Like != dst.n.Type {
		dst = nil
	}
	return src, dst, nil
}

// checkLike refuses to follow nodes without a split.
func (s *Split) checkLike(t *Transform, r *rows) error {
	x := t.edgesOf(r)
	if x == nil {
		return optionf("split of %s: found like for a node type, expected it for an edge type, whose edges follow their nodes", s.Type)
	}
	src, dst, err := s.deciding(t, x)
	if err != nil {
		return err
	}
	for _, n := range []*nodeTable{src, dst} {
		if n == nil {
			continue
		}
		split := slices.ContainsFunc(t.o.Splits, func(o Split) bool { return o.Type == n.n.Type || o.Type == "" && o.Of == "" && len(t.nodes) == 1 })
		if !split {
			for _, o := range t.o.Splits {
				typ, _ := t.apart(o.Of)
				split = split || o.Of != "" && (typ == n.n.Type || typ == "" && len(t.nodes) == 1)
			}
		}
		if !split && graph.FindColumn(n.columns, SplitColumn) == nil {
			return optionf("split of %s: found no split of %s, expected one that its edges follow; add one, or name the node type that has one with like", s.Type, n.n.Type)
		}
	}
	return nil
}

// partsIn returns the splits of a node type: those that are added, or the column split that it has.
func (t *Transform) partsIn(n *nodeTable) (names []string, at map[string]func(row uint64) int8, err error) {
	at = map[string]func(row uint64) int8{}
	for i := range n.splits {
		a := &n.splits[i]
		names = append(names, a.name)
		at[a.name] = func(row uint64) int8 { return a.at(int(row)) }
	}
	if names != nil {
		return names, at, nil
	}
	c := graph.FindColumn(n.columns, SplitColumn)
	if c == nil || c.Categories == nil && c.DType != graph.String || len(c.Shape) > 0 {
		return nil, nil, optionf("%s: found a column %s that is no category of one value per row, expected the texts %s; give its values under transforms, with by: %s", n.n.Type, SplitColumn, strings.Join(Parts, ", "), SplitColumn)
	}
	text := texts(c)
	var buf []byte
	at[SplitColumn] = func(row uint64) int8 {
		buf = text(buf[:0], int(row))
		return int8(slices.Index(Parts, string(buf)))
	}
	return []string{SplitColumn}, at, nil
}

// like divides edges as their ends are divided.
func (t *Transform) like(ctx context.Context, s *Split, r *rows) error {
	x := t.edgesOf(r)
	src, dst, err := s.deciding(t, x)
	if err != nil {
		return err
	}
	var names []string
	var of [2]map[string]func(row uint64) int8
	for i, n := range []*nodeTable{src, dst} {
		if n == nil {
			continue
		}
		own, at, err := t.partsIn(n)
		if err != nil {
			return err
		}
		if names != nil && !slices.Equal(names, own) {
			return optionf("split of %s: found the columns %s of %s and %s of %s, expected the same splits at both ends", s.Type, strings.Join(names, ", "), src.n.Type, strings.Join(own, ", "), dst.n.Type)
		}
		names, of[i] = own, at
	}
	for _, name := range names {
		a := added{name: name, parts: make([]int8, r.count)}
		first, second := of[0][name], of[1][name]
		err := x.eachEnd(ctx, func(row int, from, to uint64) error {
			switch {
			case first == nil:
				a.parts[row] = second(to)
			case second == nil:
				a.parts[row] = first(from)
			default:
				a.parts[row] = later(first(from), second(to))
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.splits = append(r.splits, a)
	}
	return nil
}

// later is the later one of two parts; none if one is.
func later(p, q int8) int8 {
	if p < 0 || q < 0 {
		return -1
	}
	return max(p, q)
}
