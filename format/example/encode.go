package example

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/suggest"
)

// parts is a GraphTensor in the order of a Codec, for Encode. Missing parts are nil.
type parts struct {
	nodes   []*NodeSet // of sets[1:nodes]
	edges   []*EdgeSet // of sets[nodes:]
	tensors []*Tensor  // of feats
	totals  []int      // items of each set
	zeros   []int64    // sizes of a missing set
}

// Check says whether Encode would accept g. The sets and features must be as in the schema, with its dtypes and
// shapes. Every set has the same number of components. Features have one row per item, and row lengths and values
// that add up. Edges join nodes of their component. A missing set is empty, and a feature may be missing if its set
// is empty. Errors name the set and the feature.
func (c *Codec) Check(g *GraphTensor) error { return c.check(g, new(parts)) }

// Encode writes a GraphTensor as an Example with sorted keys. It checks g first (see Check). The bytes are valid
// until the Writer is used again.
func (c *Codec) Encode(w *Writer, g *GraphTensor) ([]byte, error) {
	p := &w.parts
	if err := c.check(g, p); err != nil {
		return nil, err
	}
	if len(g.Form) != 0 && len(g.Form) != c.FormSize() {
		return nil, fmt.Errorf("found a Form of %d bytes, expected %d for the %d keys of the schema: %w", len(g.Form), c.FormSize(), len(c.keys), ErrGraph)
	}
	w.Reset()
	for i := len(c.slots) - 1; i >= 0; i-- {
		s, info, code := &c.slots[i], &c.keys[i], -1
		if len(g.Form) > 0 {
			code = form(g.Form, i)
		}
		switch info.Role {
		case Size:
			w.sizes(s.key, p.sizes(c, s.set), code)
		case Source, Target:
			var ends []int64
			if e := p.edges[s.set-c.nodes]; e != nil {
				if ends = e.SourceIndex; info.Role == Target {
					ends = e.TargetIndex
				}
			}
			if len(ends) > 0 || !w.absent(s.key, Int64List, code) {
				Ints(w, s.key, ends)
			}
		case Values:
			w.values(s.key, info.List, p.tensors[s.feature], code)
		case Lengths:
			t := p.tensors[s.feature]
			if code > 0 && t != nil && len(t.Lengths[s.level]) > 0 && !c.rowless(p, s.set) {
				code = 0
			}
			w.lengths(s.key, t, s.level, code)
		}
	}
	if len(w.buf) == w.at && (len(g.Form) == 0 || form(g.Form, len(c.slots)) == 0) {
		return w.buf[w.at:], nil
	}
	return w.Close(), nil
}

// rowless says whether the row lengths of a set may be omitted, because its features have only empty rows.
func (c *Codec) rowless(p *parts, i int) bool {
	s := &c.sets[i]
	for j := s.first; j < s.last; j++ {
		t := p.tensors[j]
		if t != nil && (len(t.Lengths) == 0 || len(t.Lengths[0]) > maxOmitted || !zero(t.Lengths[0])) {
			return false
		}
	}
	return true
}

// absent writes a key without values as a code of Form says, and returns whether it wrote the key.
func (w *Writer) absent(key Key, list Kind, code int) bool {
	switch code {
	case 0, 3:
	case 2:
		w.noList(key)
	default:
		w.empty(key, list)
	}
	return true
}

func (w *Writer) sizes(key Key, sizes []int64, code int) {
	if len(sizes) == 1 && sizes[0] == 0 && (code == 0 || code == 2) {
		w.absent(key, Int64List, code)
		return
	}
	Ints(w, key, sizes)
}

func (w *Writer) values(key Key, list Kind, t *Tensor, code int) {
	switch {
	case t == nil || len(t.Ints)+len(t.Floats)+len(t.Texts) == 0:
		w.absent(key, list, code)
	case list == Int64List:
		Ints(w, key, t.Ints)
	case list == FloatList:
		Floats(w, key, t.Floats)
	default:
		Texts(w, key, t.Texts)
	}
}

func (w *Writer) lengths(key Key, t *Tensor, level, code int) {
	var lengths []int64
	if t != nil {
		lengths = t.Lengths[level]
	}
	if len(lengths) == 0 || code > 0 && zero(lengths) {
		w.absent(key, Int64List, code)
		return
	}
	Ints(w, key, lengths)
}

func zero(values []int64) bool {
	for _, v := range values {
		if v != 0 {
			return false
		}
	}
	return true
}

// sizes returns the sizes of a set.
func (p *parts) sizes(c *Codec, i int) []int64 {
	switch {
	case i == 0: // the context has one item per component
		return nil
	case i < c.nodes:
		if n := p.nodes[i-1]; n != nil {
			return n.Sizes
		}
	default:
		if e := p.edges[i-c.nodes]; e != nil {
			return e.Sizes
		}
	}
	return p.zeros
}

// bind fills in the parts of g.
func (p *parts) bind(c *Codec, g *GraphTensor) error {
	p.nodes, p.edges, p.tensors = p.nodes[:0], p.edges[:0], p.tensors[:0]
	nodes, edges := 0, 0
	for i := range c.sets {
		s := &c.sets[i]
		var features map[string]*Tensor
		switch s.piece {
		case Context:
			features = g.Context
		case Nodes:
			n := g.NodeSets[s.name]
			if p.nodes = append(p.nodes, n); n != nil {
				features = n.Features
			}
			if _, there := g.NodeSets[s.name]; there {
				nodes++
			}
		case Edges:
			e := g.EdgeSets[s.name]
			if p.edges = append(p.edges, e); e != nil {
				features = e.Features
			}
			if _, there := g.EdgeSets[s.name]; there {
				edges++
			}
		}
		found := 0
		for j := s.first; j < s.last; j++ {
			t, there := features[c.feats[j].name]
			if there {
				found++
			}
			p.tensors = append(p.tensors, t)
		}
		if found != len(features) {
			known := make([]string, 0, s.last-s.first)
			for j := s.first; j < s.last; j++ {
				known = append(known, c.feats[j].name)
			}
			return stranger(s.where()+": found feature", features, known)
		}
	}
	if nodes != len(g.NodeSets) {
		return stranger("found node set", g.NodeSets, c.names(1, c.nodes))
	}
	if edges != len(g.EdgeSets) {
		return stranger("found edge set", g.EdgeSets, c.names(c.nodes, len(c.sets)))
	}
	return nil
}

func (c *Codec) names(from, to int) []string {
	var all []string
	for i := from; i < to; i++ {
		all = append(all, c.sets[i].name)
	}
	return all
}

// stranger is the error about a name that the schema does not have.
func stranger[V any](what string, have map[string]V, known []string) error {
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s %q, expected those of the schema (%s)%s: %w", what, name, strings.Join(known, ", "), suggest.Hint(name, known), ErrGraph)
		}
	}
	return nil
}

// check checks g and fills in p.
func (c *Codec) check(g *GraphTensor, p *parts) error {
	if err := p.bind(c, g); err != nil {
		return err
	}
	components, first := 0, 0
	for i := 1; i < len(c.sets); i++ {
		var sizes []int64
		if i < c.nodes && p.nodes[i-1] != nil {
			sizes = p.nodes[i-1].Sizes
		} else if i >= c.nodes && p.edges[i-c.nodes] != nil {
			sizes = p.edges[i-c.nodes].Sizes
		} else {
			continue
		}
		if len(sizes) == 0 {
			return fmt.Errorf("%s: found no sizes, expected one for each component: %w", c.sets[i].where(), ErrGraph)
		}
		if components == 0 {
			components, first = len(sizes), i
		}
		if len(sizes) != components {
			return fmt.Errorf("%s: found sizes of %d components, but %s has %d: %w", c.sets[i].where(), len(sizes), c.sets[first].where(), components, ErrGraph)
		}
	}
	components = max(components, 1)
	p.zeros = slices.Grow(p.zeros[:0], components)[:components]
	clear(p.zeros)
	p.totals = append(p.totals[:0], components)
	for i := 1; i < len(c.sets); i++ {
		total := int64(0)
		for _, n := range p.sizes(c, i) {
			if n < 0 || n > maxItems-total {
				return fmt.Errorf("%s: found size %d, expected 0 to %d in all components: %w", c.sets[i].where(), n, maxItems, ErrGraph)
			}
			total += n
		}
		p.totals = append(p.totals, int(total))
	}
	for i := range c.sets {
		s := &c.sets[i]
		for j := s.first; j < s.last; j++ {
			f, t := &c.feats[j], p.tensors[j]
			if t == nil && p.totals[i] == 0 {
				continue
			}
			if err := f.check(t, p.totals[i]); err != nil {
				return fmt.Errorf("%s: feature %q: %w", s.where(), f.name, err)
			}
		}
		if s.piece == Edges && p.edges[i-c.nodes] != nil {
			if err := c.checkEnds(s, p.edges[i-c.nodes], p, p.totals[i]); err != nil {
				return fmt.Errorf("%s: %w", s.where(), err)
			}
		}
	}
	return nil
}

// check says whether a tensor has the feature's values for the given number of items.
func (f *feature) check(t *Tensor, items int) error {
	switch {
	case t == nil:
		return fmt.Errorf("found no values, expected %d items: %w", items, ErrGraph)
	case t.DType != f.dtype:
		return fmt.Errorf("found dtype %s, expected %s by the schema: %w", t.DType, f.dtype, ErrGraph)
	case !slices.Equal(t.Shape, f.shape):
		return fmt.Errorf("found items of shape %v, expected %v by the schema: %w", t.Shape, f.shape, ErrGraph)
	case t.Items != items:
		return fmt.Errorf("found %d items, but the sizes say %d: %w", t.Items, items, ErrGraph)
	}
	return t.check()
}

// check says whether the values of a tensor fit its dtype, its shape and its number of items.
func (t *Tensor) check() error {
	rows, level := t.Items, 0
	for i, d := range t.Shape {
		if d != -1 {
			rows *= d
			continue
		}
		if level == len(t.Lengths) {
			return fmt.Errorf("found %d lists of row lengths, expected one for each -1 in the shape %v: %w", level, t.Shape, ErrGraph)
		}
		lengths := t.Lengths[level]
		if len(lengths) != rows {
			return fmt.Errorf("found %d row lengths of dimension %d, expected %d (%s): %w", len(lengths), i+1, rows, t.counts(), ErrGraph)
		}
		sum := int64(0)
		for _, n := range lengths {
			if n < 0 || n > maxItems-sum {
				return fmt.Errorf("found row length %d of dimension %d, expected 0 to %d in all rows: %w", n, i+1, maxItems, ErrGraph)
			}
			sum += n
		}
		rows = int(sum)
		level++
	}
	if level != len(t.Lengths) {
		return fmt.Errorf("found %d lists of row lengths, expected one for each -1 in the shape %v: %w", len(t.Lengths), t.Shape, ErrGraph)
	}
	counts := [...]int{BytesList: len(t.Texts), FloatList: len(t.Floats), Int64List: len(t.Ints)}
	list := listOf(t.DType)
	for kind, n := range counts {
		if n > 0 && Kind(kind) != list {
			return fmt.Errorf("found %d values of a %s, expected values of a %s for %s: %w", n, Kind(kind), list, t.DType, ErrGraph)
		}
	}
	if counts[list] != rows {
		return fmt.Errorf("found %d values, expected %d (%s): %w", counts[list], rows, t.counts(), ErrGraph)
	}
	if list == Int64List {
		lo, hi, _ := intRange(t.DType)
		if at := outside(t.Ints, lo, hi); at >= 0 {
			return fmt.Errorf("found value %d, expected %d to %d for %s: %w", t.Ints[at], lo, hi, t.DType, ErrGraph)
		}
	}
	return nil
}

// checkEnds checks the endpoints of an edge set.
func (c *Codec) checkEnds(s *set, e *EdgeSet, p *parts, total int) error {
	for _, end := range [...]struct {
		what, name string
		set        int
		index      []int64
	}{{"source", e.Source, s.from, e.SourceIndex}, {"target", e.Target, s.to, e.TargetIndex}} {
		joined := &c.sets[end.set]
		if end.name != "" && end.name != joined.name {
			return fmt.Errorf("found %s %q, expected node set %q by the schema: %w", end.what, end.name, joined.name, ErrGraph)
		}
		if len(end.index) != total {
			return fmt.Errorf("found %d %ss, but the sizes say %d edges: %w", len(end.index), end.what, total, ErrGraph)
		}
		if edge, lo, hi := stray(end.index, e.Sizes, p.sizes(c, end.set)); edge >= 0 {
			return fmt.Errorf("found %s %d of edge %d, expected %s: %w", end.what, end.index[edge], edge, rangeOf(joined, lo, hi), ErrGraph)
		}
	}
	return nil
}
