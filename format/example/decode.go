package example

import (
	"bytes"
	"fmt"
	"math"
)

// maxItems bounds the items of a set, since TF-GNN counts them in int32.
const maxItems = math.MaxInt32

// maxOmitted bounds the row lengths that may be omitted, so that a record of a few bytes cannot demand unbounded
// memory.
const maxOmitted = 1 << 16

// Decode reads an Example into a GraphTensor that New made. Texts and Unknown are views of the record. After an error
// the contents of g are undefined.
//
// It refuses a record that is not a GraphTensor of the schema, and the error names the key and what is wrong. It also
// refuses records that TF-GNN's parser accepts although they are broken: a #size that contradicts the rows, #source
// and #target; endpoints that are not nodes, or are nodes of another component; integers outside their dtype. It
// accepts everything else that TF-GNN accepts: a key without values may be omitted, or have an empty list or no list;
// an omitted #size is 0; a ragged feature may omit its row lengths if all its rows are empty and no other feature of
// the set has rows.
//
// With lenient, Decode repairs a graph that it would refuse, and describes each change in g.Repairs; Form is then
// empty.
//   - A list of another kind counts as missing; integers are converted to floats where floats are expected.
//   - Integers outside their dtype keep their low bits, and a bool is true if it is not 0, as TF-GNN casts them.
//   - Negative row lengths become 0. Row lengths that exceed the values are cut. Values beyond the row lengths are
//     dropped, and so is an item that is cut short.
//   - A node set has as many nodes as its features have rows, if these agree and the set has one component; otherwise as
//     many as its #size says; without a #size, as many as its edges need. An edge set has as many edges as both ends have
//     endpoints. Missing rows become zeros, empty texts and empty lists (up to 65536 values per key); excess rows are
//     dropped.
//   - Edges with an end that is not a node of their component are dropped with their features.
//   - Sets that disagree on the number of components become one component.
//
// Bytes that are not an Example (ErrCorrupt) are refused in either case.
func (c *Codec) Decode(record []byte, g *GraphTensor, lenient bool) error {
	b := g.bound
	if b == nil || b.codec != c {
		return fmt.Errorf("found a GraphTensor from elsewhere, expected one that this Codec's New made: %w", ErrGraph)
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

// find looks up the keys of the schema in the record.
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

// absent returns the code of a key without values.
func absent(f *Feature) int {
	switch {
	case f == nil:
		return 0
	case f.Kind == None:
		return 2
	}
	return 1
}

// wrong returns an error about a key.
func (b *binding) wrong(slot int, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", b.codec.keys[slot].Key, fmt.Sprintf(format, args...), ErrGraph)
}

// list returns the feature of a key, whose list must be of the key's kind, and the number of its values.
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

// noRows says whether a ragged feature has neither values nor row lengths.
func (b *binding) noRows(f *feature) bool {
	none := func(slot int) bool { return b.found[slot] == nil || b.found[slot].Count == 0 }
	for _, slot := range f.lengths {
		if !none(slot) {
			return false
		}
	}
	return len(f.lengths) > 0 && none(f.values)
}

// readLengths reads the row lengths of the k-th variable dimension, of which there must be one per row, and returns
// their sum.
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

// counts explains the expected number of values in an error.
func (t *Tensor) counts() string { return fmt.Sprintf("%d items of shape %v", t.Items, t.Shape) }

// readValues reads the values of a feature, which must be n.
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

// outside returns the index of the first value that is not in [lo, hi], or -1.
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

// rangeOf describes the valid endpoints in an error.
func rangeOf(s *set, lo, hi int64) string {
	if lo == hi {
		return fmt.Sprintf("none: node set %q has no nodes there", s.name)
	}
	return fmt.Sprintf("%d to %d (node set %q)", lo, hi-1, s.name)
}

// stray returns the first edge whose endpoint is not a node of its component, and the nodes [lo, hi) of that
// component; without such an edge it returns -1. edges are the sizes of the edge set, whose sum is the number of
// endpoints, and nodes the sizes of the node set.
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
