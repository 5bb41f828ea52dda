package example

import (
	"fmt"
	"math"
	"slices"
)

// repairer repairs a graph that the strict reading refused.
type repairer struct {
	*binding
	g *GraphTensor
}

func (r *repairer) say(slot int, format string, args ...any) {
	r.g.Repairs = append(r.g.Repairs, r.codec.keys[slot].Key+": "+fmt.Sprintf(format, args...))
}

// repair reads the record by the rules that Decode states. refused is the error of the strict reading, which is
// returned, wrapped, if a repair would take too much memory.
func (b *binding) repair(g *GraphTensor, refused error) error {
	r := &repairer{b, g}
	for i := range b.codec.sets {
		r.load(i)
	}
	r.count()
	for i, s := range b.codec.sets {
		for j := s.first; j < s.last; j++ {
			if !r.fit(&b.codec.feats[j], b.tensors[j], b.totals[i]) {
				return fmt.Errorf("found more to repair than %d values: %w", maxOmitted, refused)
			}
		}
	}
	for i := b.codec.nodes; i < len(b.codec.sets); i++ {
		r.dropStrays(i)
	}
	g.Form = g.Form[:0]
	return nil
}

// ints reads a list of integers of one of the schema's own keys. It reads nothing from another kind of list.
func (r *repairer) ints(dst []int64, slot int) []int64 {
	f := r.found[slot]
	if f == nil {
		return dst[:0]
	}
	if f.Kind != Int64List && f.Kind != None {
		r.say(slot, "found %s, expected int64_list; ignored it", f.Kind)
	}
	return f.AppendInts(dst[:0])
}

// load reads everything that the record has of a set, in any number.
func (r *repairer) load(i int) {
	s := &r.codec.sets[i]
	if sizes := r.sizes(i); sizes != nil {
		*sizes = r.ints(*sizes, s.size)
		total := int64(0)
		for _, n := range *sizes {
			if n < 0 || n > maxItems-total {
				r.say(s.size, "found %d items; ignored all sizes of the set", n)
				*sizes, total = (*sizes)[:0], 0
				break
			}
			total += n
		}
		r.totals[i] = int(total)
	}
	if s.piece == Edges {
		e := r.edges[i-r.codec.nodes]
		e.SourceIndex, e.TargetIndex = r.ints(e.SourceIndex, s.source), r.ints(e.TargetIndex, s.target)
	}
	for j := s.first; j < s.last; j++ {
		f, t := &r.codec.feats[j], r.tensors[j]
		for k, slot := range f.lengths {
			t.Lengths[k] = r.ints(t.Lengths[k], slot)
		}
		r.loadValues(f, t)
	}
}

func (r *repairer) loadValues(f *feature, t *Tensor) {
	t.Ints, t.Floats, t.Texts = t.Ints[:0], t.Floats[:0], t.Texts[:0]
	found := r.found[f.values]
	switch {
	case found == nil || found.Kind == None:
	case found.Kind == f.list:
		t.Ints, t.Floats, t.Texts = found.AppendInts(t.Ints), found.AppendFloats(t.Floats), found.AppendTexts(t.Texts)
		changed := 0
		for i, v := range t.Ints {
			if w := f.cast(v); w != v {
				t.Ints[i] = w
				changed++
			}
		}
		if changed > 0 {
			r.say(f.values, "found %d values outside %s; kept their low bits", changed, f.dtype)
		}
	case found.Kind == Int64List && f.list == FloatList:
		for _, v := range found.AppendInts(nil) {
			t.Floats = append(t.Floats, float32(v))
		}
		r.say(f.values, "found int64_list, expected float_list; converted the values")
	default:
		r.say(f.values, "found %s, expected %s; ignored it", found.Kind, f.list)
	}
}

// cast converts v to the integer dtype of f, as TensorFlow does.
func (f *feature) cast(v int64) int64 {
	switch {
	case f.lo == math.MinInt64:
		return v
	case f.hi == 1 && v != 0:
		return 1
	case f.lo == 0:
		return v & f.hi
	}
	v &= f.hi<<1 | 1
	if v > f.hi {
		v += 2 * f.lo
	}
	return v
}

// given returns the number of items that a feature has, and whether the feature determines it.
func (f *feature) given(t *Tensor) (int, bool) {
	rows, n := len(t.Ints)+len(t.Floats)+len(t.Texts), 1
	for _, d := range f.shape {
		if d == -1 {
			rows = len(t.Lengths[0])
			break
		}
		n *= d
	}
	return rows / n, rows >= n
}

// count decides the components and the number of items of each set.
func (r *repairer) count() {
	components, merge := 0, false
	for i := 1; i < len(r.codec.sets); i++ {
		if n := len(*r.sizes(i)); n > 0 && components == 0 {
			components = n
		} else if n != components && n > 0 {
			merge = true
		}
	}
	for i := 1; i < len(r.codec.sets); i++ {
		n, sizes := r.items(i), *r.sizes(i)
		if components > 1 && n != r.totals[i] {
			merge = true
		}
		if slot := r.codec.sets[i].size; len(sizes) > 0 && n != r.totals[i] {
			r.say(slot, "found %d items; changed the number to %d", r.totals[i], n)
		} else if f := r.found[slot]; len(sizes) == 0 && (n > 0 || f != nil && f.Kind != None) {
			r.say(slot, "found no size; set it to %d", n)
		}
		r.totals[i] = n
	}
	components = max(components, 1)
	if merge {
		r.g.Repairs = append(r.g.Repairs, "found sets with different numbers of components; made them one component")
		components = 1
	}
	r.totals[0] = components
	for i := 1; i < len(r.codec.sets); i++ {
		sizes := r.sizes(i)
		if components == 1 {
			*sizes = append((*sizes)[:0], int64(r.totals[i]))
		} else if len(*sizes) == 0 {
			r.say(r.codec.sets[i].size, "found no sizes of %d components; set them to 0", components)
			*sizes = append(*sizes, make([]int64, components)...)
		}
	}
}

// items returns the number of items of a set, derived from all that the record has.
func (r *repairer) items(i int) int {
	s := &r.codec.sets[i]
	if s.piece == Edges {
		e := r.edges[i-r.codec.nodes]
		n := min(len(e.SourceIndex), len(e.TargetIndex))
		for _, end := range []struct {
			slot  int
			index *[]int64
		}{{s.source, &e.SourceIndex}, {s.target, &e.TargetIndex}} {
			if len(*end.index) > n {
				r.say(end.slot, "found %d endpoints, the other end has %d; dropped the rest", len(*end.index), n)
				*end.index = (*end.index)[:n]
			}
		}
		return n
	}
	rows, agree := 0, true
	for j := s.first; j < s.last; j++ {
		if n, ok := r.codec.feats[j].given(r.tensors[j]); ok {
			agree = agree && (rows == 0 || rows == n)
			rows = max(rows, n)
		}
	}
	sized := len(*r.sizes(i)) > 0
	switch {
	case rows > 0 && agree && len(*r.sizes(i)) <= 1:
		return rows
	case sized:
		return r.totals[i]
	}
	return max(rows, r.needed(i))
}

// needed returns the number of nodes that the edges of a set need.
func (r *repairer) needed(i int) int {
	n := int64(0)
	for k, e := range r.edges {
		s := &r.codec.sets[r.codec.nodes+k]
		for _, end := range []struct {
			set   int
			index []int64
		}{{s.from, e.SourceIndex}, {s.to, e.TargetIndex}} {
			for _, v := range end.index {
				if end.set == i && v < maxItems {
					n = max(n, v+1)
				}
			}
		}
	}
	return int(n)
}

// resize gives a list n elements, and returns whether the limit allows it.
func resize[T any](list []T, n int) ([]T, bool) {
	if n > len(list)+maxOmitted {
		return list, false
	}
	if n <= len(list) {
		return list[:n], true
	}
	var zero T
	for len(list) < n {
		list = append(list, zero)
	}
	return list, true
}

// fit gives a feature rows for the given number of items, and returns whether the limit allows it.
func (r *repairer) fit(f *feature, t *Tensor, items int) bool {
	t.Items = items
	rows, level := items, 0
	for i, d := range f.shape {
		if d != -1 {
			rows *= d
			continue
		}
		if n := len(t.Lengths[level]); n != rows {
			r.say(f.lengths[level], "found %d row lengths; changed the number to %d", n, rows)
		}
		lengths, ok := resize(t.Lengths[level], rows)
		if !ok {
			return false
		}
		sum, rest, changed := 0, f.behind(t, i, level), 0
		for k, n := range lengths {
			if fits := min(max(n, 0), int64(rest-sum)); fits != n {
				lengths[k] = fits
				changed++
			}
			sum += int(lengths[k])
		}
		if changed > 0 {
			r.say(f.lengths[level], "found %d row lengths below 0 or beyond the values; changed them", changed)
		}
		t.Lengths[level] = lengths
		rows = sum
		level++
	}
	if count := len(t.Ints) + len(t.Floats) + len(t.Texts); count != rows {
		r.say(f.values, "found %d values; changed the number to %d", count, rows)
	}
	var ok bool
	switch f.list {
	case Int64List:
		t.Ints, ok = resize(t.Ints, rows)
	case FloatList:
		t.Floats, ok = resize(t.Floats, rows)
	default:
		t.Texts, ok = resize(t.Texts, rows)
	}
	return ok
}

// behind returns the number of rows that are given for the dimensions after variable dimension level, which is
// dimension i of the shape.
func (f *feature) behind(t *Tensor, i, level int) int {
	n := 1
	for _, d := range f.shape[i+1:] {
		if d == -1 {
			return len(t.Lengths[level+1]) / n
		}
		n *= d
	}
	return (len(t.Ints) + len(t.Floats) + len(t.Texts)) / n
}

// dropStrays drops the edges of a set with an end that is not a node of their component.
func (r *repairer) dropStrays(i int) {
	s, e := &r.codec.sets[i], r.edges[i-r.codec.nodes]
	from, to := *r.sizes(s.from), *r.sizes(s.to)
	if a, _, _ := stray(e.SourceIndex, e.Sizes, from); a < 0 {
		if b, _, _ := stray(e.TargetIndex, e.Sizes, to); b < 0 {
			return
		}
	}
	keep := make([]bool, len(e.SourceIndex))
	var at int
	var first, second int64 // nodes of the components before
	for c, n := range e.Sizes {
		kept := int64(0)
		for k := at; k < at+int(n); k++ {
			u, v := e.SourceIndex[k]-first, e.TargetIndex[k]-second
			if keep[k] = u >= 0 && u < from[c] && v >= 0 && v < to[c]; keep[k] {
				kept++
			}
		}
		at += int(n)
		first, second = first+from[c], second+to[c]
		e.Sizes[c] = kept
	}
	e.SourceIndex, e.TargetIndex = pick(e.SourceIndex, keep), pick(e.TargetIndex, keep)
	r.totals[i] = len(e.SourceIndex)
	r.say(s.size, "found %d edges with an end that is not a node of their component; dropped them", len(keep)-r.totals[i])
	for j := s.first; j < s.last; j++ {
		r.tensors[j].pick(keep, r.totals[i])
	}
}

// pick keeps the marked values, in place.
func pick[T any](values []T, keep []bool) []T {
	n := 0
	for i, v := range values {
		if keep[i] {
			values[n] = v
			n++
		}
	}
	return values[:n]
}

// pick keeps the marked items of a tensor; n is their number.
func (t *Tensor) pick(keep []bool, n int) {
	level := 0
	for _, d := range t.Shape {
		var rows []bool // in this dimension: rows of the marked items
		for i, k := range keep {
			width := int64(d)
			if d == -1 {
				width = t.Lengths[level][i]
			}
			rows = append(rows, slices.Repeat([]bool{k}, int(width))...)
		}
		if d == -1 {
			t.Lengths[level] = pick(t.Lengths[level], keep)
			level++
		}
		keep = rows
	}
	t.Items = n
	t.Ints, t.Floats, t.Texts = pick(t.Ints, keep), pick(t.Floats, keep), pick(t.Texts, keep)
}
