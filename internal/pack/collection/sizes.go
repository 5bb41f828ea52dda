package collection

import (
	"errors"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/suggest"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrComponent is the kind of errors about components that a collection lacks.
var ErrComponent = errors.New("no such component")

// Sizes returns the sizes of graphs.
type Sizes struct {
	Components []string
	Graphs     int
	// Err is the error that ended All.
	Err error

	of []func(i int) uint64
}

// NewSizes finds components in a collection:
//
//   - num_nodes, num_edges: of all types;
//   - num_nodes:TYPE, num_edges:TYPE: of one type; the relation names an edge type if it is unique;
//   - the name of an integer column of the context, one value per graph.
//
// There may be up to pack.MaxComponents, all different.
func NewSizes(c *graph.Collection, components []string) (*Sizes, error) {
	if n := len(components); n < 1 || n > pack.MaxComponents {
		return nil, tagged.Errorf(ErrComponent, "found %d components, expected 1 to %d", n, pack.MaxComponents)
	}
	s := &Sizes{Components: components, Graphs: c.Graphs}
	for i, name := range components {
		if slices.Contains(components[:i], name) {
			return nil, tagged.Errorf(ErrComponent, "found component %q twice, expected each once; leave one of them out", name)
		}
		of, err := component(c, name)
		if err != nil {
			return nil, err
		}
		s.of = append(s.of, of)
	}
	return s, nil
}

func component(c *graph.Collection, name string) (func(i int) uint64, error) {
	kind, typ, typed := strings.Cut(name, ":")
	var all []graph.Index
	var have []string
	switch kind {
	case "num_nodes":
		for _, n := range c.Nodes {
			have = append(have, n.Type)
			if !typed || n.Type == typ {
				all = append(all, n.GraphPtr)
			}
		}
	case "num_edges":
		var named []graph.Index
		for _, e := range c.Edges {
			have = append(have, e.Type.String())
			if !typed || e.Type.String() == typ {
				all = append(all, e.GraphPtr)
			}
			if e.Type.Rel == typ {
				named = append(named, e.GraphPtr)
			}
		}
		if len(all) == 0 && len(named) == 1 {
			all = named
		}
	default:
		return column(c, name)
	}
	if typed && len(all) != 1 {
		return nil, tagged.Errorf(ErrComponent, "found component %q, expected one type among %s%s", name, strings.Join(have, ", "), suggest.Hint(typ, have))
	}
	return func(i int) uint64 {
		n := uint64(0)
		for _, p := range all {
			n += p.At(i+1) - p.At(i)
		}
		return n
	}, nil
}

func column(c *graph.Collection, name string) (func(i int) uint64, error) {
	have := []string{"num_nodes", "num_edges"}
	for _, x := range c.Context {
		have = append(have, x.Name)
	}
	x := graph.FindColumn(c.Context, name)
	if x == nil {
		return nil, tagged.Errorf(ErrComponent, "found component %q, expected num_nodes, num_edges, num_nodes:TYPE, num_edges:TYPE or an integer column of the context: %s%s", name, strings.Join(have, ", "), suggest.Hint(name, have))
	}
	if !x.DType.IsInt() || x.Ragged() || x.RowValues() != 1 || x.Rows != c.Graphs {
		return nil, tagged.Errorf(ErrComponent, "found column %q of the context with dtype %s, shape %v and %d rows, expected one integer per graph; name another component, or import the column as an integer", name, x.DType, x.Shape, x.Rows)
	}
	size := x.DType.Size()
	signed := x.DType < graph.Uint8
	return func(i int) uint64 {
		b := x.Values[i*size : (i+1)*size]
		v := uint64(0)
		for k := range b {
			v |= uint64(b[k]) << (8 * k)
		}
		if signed && b[size-1] >= 0x80 {
			return math.MaxUint64 // negative: an invalid size
		}
		return v
	}, nil
}

// Of sets sizes to the sizes of graph i. It returns false if one is negative or above 2^31 - 1.
func (s *Sizes) Of(i int, sizes []int) bool {
	for j, of := range s.of {
		v := of(i)
		if v > math.MaxInt32 {
			return false
		}
		sizes[j] = int(v)
	}
	return true
}

// All yields the sizes of each graph, in order, valid until the next ones. It ends at the first graph with
// invalid sizes, and sets Err.
func (s *Sizes) All() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		sizes := make([]int, len(s.of))
		for i := range s.Graphs {
			if !s.Of(i, sizes) {
				s.Err = s.none(i)
				return
			}
			if !yield(sizes) {
				return
			}
		}
	}
}

// none is the error about a graph with invalid sizes.
func (s *Sizes) none(i int) error {
	return tagged.Errorf(pack.ErrHistogram, "graph %d: found a size in %s that is negative or beyond 2^31 - 1, expected sizes that a pack can have; leave the graph out, or choose another component", i, strings.Join(s.Components, ", "))
}

// Histogram counts the shapes.
func (s *Sizes) Histogram(memory int64) (*pack.Histogram, error) {
	h := &pack.Histogram{Components: s.Components}
	counts := map[[pack.MaxComponents]int]int64{}
	var key [pack.MaxComponents]int
	for i := range s.Graphs {
		if !s.Of(i, key[:len(s.of)]) {
			return nil, s.none(i)
		}
		if counts[key]++; len(counts)%4096 == 0 {
			const entry = 150 // bytes of the map per shape, with room to grow
			if err := pack.Fits(memory, len(counts), len(s.of), entry*int64(len(counts))); err != nil {
				return nil, err
			}
		}
	}
	for k, n := range counts {
		h.Add(n, k[:len(s.of)]...)
	}
	if err := h.Normalise(); err != nil {
		return nil, err
	}
	return h, nil
}
