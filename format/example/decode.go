package example

import (
	"bytes"
	"fmt"
	"math"
)

// maxItems is the most items of a set: TF-GNN counts in int32.
const maxItems = math.MaxInt32

// maxOmitted is the most row lengths that may be omitted: a record of a few bytes
// must not demand memory without bound.
const maxOmitted = 1 << 16

// Decode reads an Example into a GraphTensor that New made. Texts, and Unknown,
// are views of the record. After an error the contents of g mean nothing.
//
// It refuses, with the key and what is wrong, what is no GraphTensor of the
// schema, also where TF-GNN's parser lets it pass: #size against the rows, #source
// and #target; endpoints that are no nodes, or nodes of another component; integers
// outside their dtype. It accepts all else that TF-GNN accepts: keys omitted, with
// an empty list or without a list where there are no values; a #size that is
// omitted is 0; a ragged feature may leave out its row lengths where all its rows
// are empty and no other feature of the set has rows.
//
// With lenient, a graph that would be refused is made sound, and each change is
// told in g.Repairs; Form is then empty.
//   - A list of another kind counts as missing; integers for floats are converted.
//   - Integers outside their dtype keep their low bits, a bool is true if not 0, as
//     TF-GNN casts them.
//   - Negative row lengths become 0, lengths beyond the values end with them, values
//     beyond the lengths are dropped; an item that is cut short is dropped.
//   - A node set has as many nodes as its features have rows, if these agree and it
//     has one component; else as its #size says; without both, as its edges need. An
//     edge set has as many edges as both ends are given. Missing rows become zeros,
//     empty texts and empty lists (up to 65536 values a key), others are dropped.
//   - Edges with an end that is no node of their component are dropped, with their
//     features.
//   - Sets that disagree on the number of components become one component.
//
// What is not an Example at all (ErrCorrupt) is refused all the same.
func (c *Codec) Decode(record []byte, g *GraphTensor, lenient bool) error {
	b := g.bound
	if b == nil || b.codec != c {
		return fmt.Errorf("found a GraphTensor of another origin, expected one of this Codec's New: %w", ErrGraph)
	}
	g.Repairs = g.Repairs[:0]
	if err := b.find(record, g); err != nil {
		return err
	}
	if err := b.read(g); err != nil {
		if !lenient {
			return err
		}
		return b.repair(g, err)
	}
	return nil
}

// find finds the keys of the schema in the record.
func (b *binding) find(record []byte, g *GraphTensor) error {
	if err := b.decoder.Decode(record); err != nil {
		return err
	}
	g.Unknown = g.Unknown[:0]
	features, slots := b.decoder.features, b.codec.slots
	k := 0
	for i := range features {
		f := &features[i]
		for k < len(slots) {
			order := bytes.Compare(slots[k].key.name(), f.Key)
			if order >= 0 {
				if order > 0 {
					break
				}
				b.found[k] = f
				k++
				goto next
			}
			b.found[k] = nil
			k++
		}
		g.Unknown = append(g.Unknown, f.Key)
	next:
	}
	clear(b.found[k:])
	size := b.codec.FormSize()
	if cap(g.Form) < size {
		g.Form = make([]byte, size)
	}
	g.Form = g.Form[:size]
	clear(g.Form)
	if len(features) == 0 && len(record) > 0 {
		b.setForm(g, len(slots), 1)
	}
	return nil
}

func (b *binding) setForm(g *GraphTensor, i, code int) { g.Form[i>>2] |= byte(code << (i & 3 * 2)) }

// absent is the code of a key without values.
func absent(f *Feature) int {
	switch {
	case f == nil:
		return 0
	case f.Kind == None:
		return 2
	}
	return 1
}

// wrong is an error of a key.
func (b *binding) wrong(slot int, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", b.codec.keys[slot].Key, fmt.Sprintf(format, args...), ErrGraph)
}

// list is the number of values of a key, whose list must be of its kind.
func (b *binding) list(slot int) (*Feature, int, error) {
	f := b.found[slot]
	if f == nil {
		return nil, 0, nil
	}
	if want := b.codec.keys[slot].List; f.Kind != want && f.Kind != None {
		return nil, 0, b.wrong(slot, "found %s of %d values, expected %s", f.Kind, f.Count, want)
	}
	return f, f.Count, nil
}

// read fills g from the keys that were found.
func (b *binding) read(g *GraphTensor) error {
	if err := b.readSizes(g); err != nil {
		return err
	}
	for i := range b.codec.sets {
		if err := b.readFeatures(g, i); err != nil {
			return err
		}
		if b.codec.sets[i].piece == Edges {
			if err := b.readEnds(g, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// readSizes reads the sizes of all sets and counts the components.
func (b *binding) readSizes(g *GraphTensor) error {
	components, first := 0, 0
	for i := range b.codec.sets[1:] {
		slot := b.codec.sets[i+1].size
		f, n, err := b.list(slot)
		if err != nil {
			return err
		}
		sizes := b.sizes(i + 1)
		if *sizes = (*sizes)[:0]; n == 0 {
			if f != nil && f.Kind != None {
				return b.wrong(slot, "found an empty list, expected the number of items of each component")
			}
			continue
		}
		if components == 0 {
			components, first = n, slot
		}
		if n != components {
			return b.wrong(slot, "found %d components, but %s has %d", n, b.codec.keys[first].Key, components)
		}
		*sizes = f.AppendInts(*sizes)
	}
	components = max(components, 1)
	b.totals[0] = components
	for i := range b.codec.sets[1:] {
		slot, sizes := b.codec.sets[i+1].size, b.sizes(i+1)
		total := int64(0)
		for _, n := range *sizes {
			if n < 0 || n > maxItems-total {
				return b.wrong(slot, "found %d items, expected 0 to %d in all components", n, maxItems)
			}
			total += n
		}
		b.totals[i+1] = int(total)
		switch {
		case len(*sizes) == 0 && components > 1:
			return b.wrong(slot, "found no sizes, expected one for each of %d components", components)
		case len(*sizes) == 0:
			*sizes = append(*sizes, 0)
			b.setForm(g, slot, absent(b.found[slot]))
		case components == 1 && total == 0:
			b.setForm(g, slot, 1)
		}
	}
	return nil
}

// readFeatures reads the features of a set or of the context.
func (b *binding) readFeatures(g *GraphTensor, i int) error {
	s := &b.codec.sets[i]
	omitted := b.totals[i] > 0
	for j := s.first; j < s.last && omitted; j++ {
		omitted = b.noRows(&b.codec.feats[j])
	}
	for j := s.first; j < s.last; j++ {
		f, t := &b.codec.feats[j], b.tensors[j]
		t.Items = b.totals[i]
		rows := t.Items
		k := 0
		for _, d := range f.shape {
			if d != -1 {
				rows *= d
				continue
			}
			var err error
			if rows, err = b.readLengths(g, t, f.lengths[k], k, rows, omitted && k == 0); err != nil {
				return err
			}
			k++
		}
		if err := b.readValues(g, f, t, rows); err != nil {
			return err
		}
	}
	return nil
}

// noRows says that a ragged feature has no values and no row lengths.
func (b *binding) noRows(f *feature) bool {
	none := func(slot int) bool { return b.found[slot] == nil || b.found[slot].Count == 0 }
	for _, slot := range f.lengths {
		if !none(slot) {
			return false
		}
	}
	return len(f.lengths) > 0 && none(f.values)
}

// readLengths reads the row lengths of the k-th variable dimension, of which there
// must be rows, and returns their sum.
func (b *binding) readLengths(g *GraphTensor, t *Tensor, slot, k, rows int, omitted bool) (int, error) {
	f, n, err := b.list(slot)
	if err != nil {
		return 0, err
	}
	lengths := t.Lengths[k][:0]
	if omitted && rows <= maxOmitted {
		for range rows {
			lengths = append(lengths, 0)
		}
		t.Lengths[k] = lengths
		code := absent(f)
		if code == 0 {
			code = 3
		}
		b.setForm(g, slot, code)
		return 0, nil
	}
	if n != rows {
		return 0, b.wrong(slot, "found %d row lengths, expected %d (%s)", n, rows, t.counts())
	}
	if n == 0 {
		t.Lengths[k] = lengths
		b.setForm(g, slot, absent(f))
		return 0, nil
	}
	lengths = f.AppendInts(lengths)
	t.Lengths[k] = lengths
	sum := int64(0)
	for _, l := range lengths {
		if l < 0 || l > maxItems-sum {
			return 0, b.wrong(slot, "found row length %d, expected 0 to %d in all rows", l, maxItems)
		}
		sum += l
	}
	return int(sum), nil
}

// counts explains an expected number of values.
func (t *Tensor) counts() string { return fmt.Sprintf("%d items of shape %v", t.Items, t.Shape) }

// readValues reads the values of a feature, of which there must be n.
func (b *binding) readValues(g *GraphTensor, f *feature, t *Tensor, n int) error {
	t.Ints, t.Floats, t.Texts = t.Ints[:0], t.Floats[:0], t.Texts[:0]
	found, count, err := b.list(f.values)
	if err != nil {
		return err
	}
	if count != n {
		what := "values"
		if found == nil {
			what = "values (the key is missing)"
		}
		return b.wrong(f.values, "found %d %s, expected %d (%s)", count, what, n, t.counts())
	}
	if n == 0 {
		b.setForm(g, f.values, absent(found))
		return nil
	}
	switch f.list {
	case FloatList:
		t.Floats = found.AppendFloats(t.Floats)
	case BytesList:
		t.Texts = found.AppendTexts(t.Texts)
	case Int64List:
		t.Ints = found.AppendInts(t.Ints)
		if at := outside(t.Ints, f.lo, f.hi); at >= 0 {
			return b.wrong(f.values, "found value %d, expected %d to %d for %s", t.Ints[at], f.lo, f.hi, f.dtype)
		}
	}
	return nil
}

// outside is the place of the first value that is not in [lo, hi], -1 if there is
// none.
func outside(values []int64, lo, hi int64) int {
	if lo == math.MinInt64 {
		return -1
	}
	for i, v := range values {
		if v < lo || v > hi {
			return i
		}
	}
	return -1
}

// readEnds reads the endpoints of an edge set.
func (b *binding) readEnds(g *GraphTensor, i int) error {
	s, e := &b.codec.sets[i], b.edges[i-b.codec.nodes]
	for _, end := range []struct {
		slot, set int
		index     *[]int64
	}{{s.source, s.from, &e.SourceIndex}, {s.target, s.to, &e.TargetIndex}} {
		*end.index = (*end.index)[:0]
		f, n, err := b.list(end.slot)
		if err != nil {
			return err
		}
		if n != b.totals[i] {
			return b.wrong(end.slot, "found %d endpoints, but the set has %d edges by its #size", n, b.totals[i])
		}
		if n == 0 {
			b.setForm(g, end.slot, absent(f))
			continue
		}
		*end.index = f.AppendInts(*end.index)
		if edge, lo, hi := stray(*end.index, e.Sizes, b.nodes[end.set-1].Sizes); edge >= 0 {
			return b.wrong(end.slot, "found endpoint %d of edge %d, expected %s", (*end.index)[edge], edge, rangeOf(&b.codec.sets[end.set], lo, hi))
		}
	}
	return nil
}

// rangeOf says which endpoints are right.
func rangeOf(s *set, lo, hi int64) string {
	if lo == hi {
		return fmt.Sprintf("none: node set %q has no nodes there", s.name)
	}
	return fmt.Sprintf("%d to %d (node set %q)", lo, hi-1, s.name)
}

// stray is the first edge whose endpoint is not a node of its component, and the
// nodes [lo, hi) that it could have; -1 if there is none. The sizes are those of
// the edge set, which add up to the endpoints, and of the node set.
func stray(ends, edges, nodes []int64) (edge int, lo, hi int64) {
	at := 0
	for c, n := range edges {
		lo, hi = hi, hi+nodes[c]
		width := uint64(hi - lo)
		for i, v := range ends[at : at+int(n)] {
			if uint64(v-lo) >= width {
				return at + i, lo, hi
			}
		}
		at += int(n)
	}
	return -1, 0, 0
}
