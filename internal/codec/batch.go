package codec

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/graphmill/graphmill/format/example"
)

// batchCodec turns batches of GraphTensors into arrays and back. A batch is a list of arrays, each of which has the
// values of all GraphTensors one after another:
//
//   - the number of components of each GraphTensor, int64;
//   - for each node set and then each edge set, by name: the sizes of the components, int64; for edge sets the sources and
//     the targets, int64; then its features by name;
//   - before these, the features of the context by name, with an item per component.
//
// A feature is one int64 array of row lengths per variable dimension, the outermost first, and then its values: int64
// for integers and bools, float32 for floats, or int64 lengths and bytes for strings.
type batchCodec struct {
	codec *example.Codec
	g     *example.GraphTensor // has all sets and features; each fills it
	parts []batchPart          // the context, node sets and edge sets
	// Buffers for the arrays of a batch, by the number of the array.
	ints   [][]int64
	floats [][]float32
}

// batchPart is a set of the GraphTensor g, or the context.
type batchPart struct {
	nodes   *example.NodeSet
	edges   *example.EdgeSet
	tensors []*example.Tensor // by name
	kinds   []example.Kind    // of their lists
}

func newBatchCodec(codec *example.Codec) *batchCodec {
	g := codec.New()
	return &batchCodec{codec: codec, g: g, parts: partsOf(codec, g)}
}

func partsOf(codec *example.Codec, g *example.GraphTensor) []batchPart {
	kinds := map[example.KeyInfo]example.Kind{}
	for _, k := range codec.Keys() {
		if k.Role == example.Values {
			kinds[example.KeyInfo{Piece: k.Piece, Set: k.Set, Feature: k.Feature}] = k.List
		}
	}
	fill := func(p batchPart, piece example.Piece, set string, features map[string]*example.Tensor) batchPart {
		for _, name := range slices.Sorted(maps.Keys(features)) {
			p.tensors = append(p.tensors, features[name])
			p.kinds = append(p.kinds, kinds[example.KeyInfo{Piece: piece, Set: set, Feature: name}])
		}
		return p
	}
	out := []batchPart{fill(batchPart{}, example.Context, "", g.Context)}
	for _, name := range slices.Sorted(maps.Keys(g.NodeSets)) {
		n := g.NodeSets[name]
		out = append(out, fill(batchPart{nodes: n}, example.Nodes, name, n.Features))
	}
	for _, name := range slices.Sorted(maps.Keys(g.EdgeSets)) {
		e := g.EdgeSets[name]
		out = append(out, fill(batchPart{edges: e}, example.Edges, name, e.Features))
	}
	return out
}

// batch collects GraphTensors.
type batch struct {
	c          *batchCodec
	components []byte
	lists      [][]byte // the arrays after the first
}

func (c *batchCodec) newBatch() *batch {
	n := 0
	for i := range c.parts {
		n += c.parts[i].lists()
	}
	return &batch{c: c, lists: make([][]byte, n)}
}

// lists is the number of arrays of a part.
func (p *batchPart) lists() int {
	n := 0
	if p.nodes != nil {
		n = 1
	}
	if p.edges != nil {
		n = 3
	}
	for i, t := range p.tensors {
		n += len(t.Lengths) + 1
		if p.kinds[i] == example.BytesList {
			n++
		}
	}
	return n
}

func (b *batch) reset() {
	b.components = b.components[:0]
	for i := range b.lists {
		b.lists[i] = b.lists[i][:0]
	}
}

func (b *batch) graphs() int { return len(b.components) / 8 }

func (b *batch) arrays() [][]byte { return append([][]byte{b.components}, b.lists...) }

// decode adds the GraphTensor of an Example.
func (b *batch) decode(record []byte, lenient bool) error {
	if err := b.c.codec.Decode(record, b.c.g, lenient); err != nil {
		return err
	}
	b.addParts(b.c.parts)
	return nil
}

// add adds a GraphTensor with all sets and features of the schema.
func (b *batch) add(g *example.GraphTensor) { b.addParts(partsOf(b.c.codec, g)) }

func (b *batch) addParts(parts []batchPart) {
	at := 0
	ints := func(x []int64) {
		b.lists[at] = appendInts(b.lists[at], x)
		at++
	}
	components := 1
	for i := range parts {
		p := &parts[i]
		switch {
		case p.nodes != nil:
			components = len(p.nodes.Sizes)
			ints(p.nodes.Sizes)
		case p.edges != nil:
			components = len(p.edges.Sizes)
			ints(p.edges.Sizes)
			ints(p.edges.SourceIndex)
			ints(p.edges.TargetIndex)
		}
		for k, t := range p.tensors {
			for _, l := range t.Lengths {
				ints(l)
			}
			switch p.kinds[k] {
			case example.Int64List:
				ints(t.Ints)
			case example.FloatList:
				b.lists[at] = appendFloats(b.lists[at], t.Floats)
				at++
			default:
				for _, s := range t.Texts {
					b.lists[at] = binary.LittleEndian.AppendUint64(b.lists[at], uint64(len(s)))
					b.lists[at+1] = append(b.lists[at+1], s...)
				}
				at += 2
			}
		}
	}
	b.components = binary.LittleEndian.AppendUint64(b.components, uint64(components))
}

// each calls do for the GraphTensors of a batch, one after the other in the same memory.
func (c *batchCodec) each(arrays [][]byte, do func(i int, g *example.GraphTensor) error) error {
	if want := len(c.newBatch().lists) + 1; len(arrays) != want {
		return fmt.Errorf("found %d arrays, expected %d for the schema", len(arrays), want)
	}
	r := c.readBatch(arrays)
	for i, components := range c.ints[0] {
		r.graph, r.at = i, 1
		for k := range c.parts {
			if err := r.readPart(&c.parts[k], components); err != nil {
				return err
			}
		}
		c.g.Form = c.g.Form[:0]
		if err := do(i, c.g); err != nil {
			return err
		}
	}
	return nil
}

// batchReader takes the GraphTensors of a batch from the front of its arrays.
type batchReader struct {
	graph  int // the number of the GraphTensor that is read
	at     int // the number of the array that is read next
	ints   [][]int64
	floats [][]float32
	bytes  [][]byte // the arrays themselves
}

// readBatch decodes the numbers of all arrays into the memory of c.
func (c *batchCodec) readBatch(arrays [][]byte) *batchReader {
	if c.ints == nil {
		c.ints, c.floats = make([][]int64, len(arrays)), make([][]float32, len(arrays))
	}
	r := &batchReader{ints: make([][]int64, len(arrays)), floats: make([][]float32, len(arrays)), bytes: arrays}
	decodeInts := func(n int) {
		for range n {
			c.ints[r.at] = asInts(c.ints[r.at], arrays[r.at])
			r.ints[r.at] = c.ints[r.at]
			r.at++
		}
	}
	decodeInts(1)
	for i := range c.parts {
		p := &c.parts[i]
		decodeInts(p.lists() - p.features())
		for k, t := range p.tensors {
			decodeInts(len(t.Lengths))
			switch p.kinds[k] {
			case example.FloatList:
				c.floats[r.at] = asFloats(c.floats[r.at], arrays[r.at])
				r.floats[r.at] = c.floats[r.at]
				r.at++
			case example.BytesList:
				decodeInts(1)
				r.at++
			default:
				decodeInts(1)
			}
		}
	}
	return r
}

// readPart fills p, which has the given number of components.
func (r *batchReader) readPart(p *batchPart, components int64) (err error) {
	items := components
	if p.nodes != nil {
		if p.nodes.Sizes, err = r.readInts(components); err != nil {
			return err
		}
		items = sum(p.nodes.Sizes)
	}
	if p.edges != nil {
		if p.edges.Sizes, err = r.readInts(components); err != nil {
			return err
		}
		items = sum(p.edges.Sizes)
		if p.edges.SourceIndex, err = r.readInts(items); err != nil {
			return err
		}
		if p.edges.TargetIndex, err = r.readInts(items); err != nil {
			return err
		}
	}
	for i, t := range p.tensors {
		t.Items = int(items)
		values, err := r.readLengths(t)
		if err != nil {
			return err
		}
		if err := r.readValues(t, p.kinds[i], values); err != nil {
			return err
		}
	}
	return nil
}

// readLengths fills the row lengths of t, and returns the number of its values.
func (r *batchReader) readLengths(t *example.Tensor) (values int64, err error) {
	values = int64(t.Items)
	level := 0
	for _, d := range t.Shape {
		if d == -1 {
			if t.Lengths[level], err = r.readInts(values); err != nil {
				return 0, err
			}
			values = sum(t.Lengths[level])
			level++
			continue
		}
		if d > 0 && values > math.MaxInt32/int64(d) {
			return 0, fmt.Errorf("GraphTensor %d: found %d rows of shape %v, expected fewer than 2^31 values", r.graph, t.Items, t.Shape)
		}
		values *= int64(d)
	}
	return values, nil
}

// readValues fills the n values of t.
func (r *batchReader) readValues(t *example.Tensor, kind example.Kind, n int64) (err error) {
	switch kind {
	case example.FloatList:
		t.Floats, err = takeValues(r, r.floats, n)
	case example.BytesList:
		err = r.readTexts(t, n)
	default:
		t.Ints, err = r.readInts(n)
	}
	return err
}

// readTexts fills the n strings of t from an array of lengths and the array of bytes after it.
func (r *batchReader) readTexts(t *example.Tensor, n int64) error {
	lengths, err := r.readInts(n)
	if err != nil {
		return err
	}
	t.Texts = t.Texts[:0]
	for _, n := range lengths {
		left := r.bytes[r.at]
		if n < 0 || n > int64(len(left)) {
			return fmt.Errorf("GraphTensor %d: found a string of %d bytes in array %d, expected at most %d", r.graph, n, r.at, len(left))
		}
		t.Texts = append(t.Texts, left[:n:n])
		r.bytes[r.at] = left[n:]
	}
	r.at++
	return nil
}

func (r *batchReader) readInts(n int64) ([]int64, error) { return takeValues(r, r.ints, n) }

// takeValues takes n values from the front of the array that is read next.
func takeValues[T int64 | float32](r *batchReader, arrays [][]T, n int64) ([]T, error) {
	left := arrays[r.at]
	if n < 0 || n > int64(len(left)) {
		return nil, fmt.Errorf("GraphTensor %d: found %d values in array %d, expected %d", r.graph, len(left), r.at, n)
	}
	arrays[r.at] = left[n:]
	r.at++
	return left[:n:n], nil
}

// features is the number of arrays of the part's features.
func (p *batchPart) features() int {
	q := batchPart{tensors: p.tensors, kinds: p.kinds}
	return q.lists()
}

// sum adds sizes; it is -1 if one is negative or the sum is beyond what a GraphTensor can have.
func sum(sizes []int64) int64 {
	n := int64(0)
	for _, v := range sizes {
		if v < 0 || v > math.MaxInt32 || n > math.MaxInt32 {
			return -1
		}
		n += v
	}
	return n
}

// asInts returns the integers of an array, in the memory of out if they fit.
func asInts(out []int64, b []byte) []int64 {
	out = slices.Grow(out[:0], len(b)/8)[:len(b)/8]
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

func asFloats(out []float32, b []byte) []float32 {
	out = slices.Grow(out[:0], len(b)/4)[:len(b)/4]
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func appendInts(b []byte, x []int64) []byte {
	b = slices.Grow(b, 8*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func appendFloats(b []byte, x []float32) []byte {
	b = slices.Grow(b, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
