package event

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
)

// Source is an edge type whose edges are events.
type Source struct {
	Edges int // number of the edge type
	Time  *graph.Column
	// Chosen says of an edge, by id, whether its event is in batches; nil is all edges.
	Chosen func(id int) bool
}

// Stream is the events of a graph in order, and the entries of each node. It is immutable, and safe for concurrent use. It reads the graph
// no more once it is open. Close frees it.
type Stream struct {
	// Unit is the unit of the times; "" where they are plain numbers.
	Unit graph.Unit
	// Float says that Times are the bits of float64.
	Float bool

	sources []Source
	first   []uint32 // by node type: the number of its first node; then the number of all nodes
	// Of each event:
	src, dst []uint32 // numbers of its ends
	at       []uint32 // place of the entry of its source among all entries, then of its destination
	tied     []uint32 // the first event that has its time
	times    []int64
	source   []uint16 // its source, where there are several
	ids      []uint32
	// The entries of node v are entries[indptr[v]:indptr[v+1]], by event.
	indptr  []uint32
	entries []entry
	free    func()   // frees the entries
	chosen  []uint32 // numbers of the events of batches; nil: all
	// By source: the least and the greatest destination. The least is above the greatest where there is none.
	least, greatest []uint32
}

// entry is a neighbour of a node, by an event.
type entry struct{ far, event uint32 }

// MostEvents is the most events of a stream: an event has two entries, which are counted in 32 bits.
const MostEvents = math.MaxInt32

// Need is the bytes of memory that a stream of some events takes, and while it is opened.
func Need(events, nodes int) int64 {
	const perEvent = 4 + 4 + 8 + 4 + 8 + 2 + 4 + 16 // the fields of Stream
	const opening = 8 + 4 + 8 + 8                   // the times and ids by input, the order and its copy, the ends by id
	return int64(events)*(perEvent+opening) + 4*int64(nodes)
}

// Open orders the events of a graph. The caller guards it against faults of maps (guard).
func Open(ctx context.Context, g *graph.Graph, sources []Source) (*Stream, error) {
	s := &Stream{sources: sources}
	nodes, events := 0, 0
	for _, n := range g.Nodes {
		s.first = append(s.first, uint32(nodes))
		if nodes += n.Count; nodes > math.MaxInt32 {
			return nil, fmt.Errorf("found %d nodes or more, expected at most %d for events", nodes, math.MaxInt32)
		}
	}
	s.first = append(s.first, uint32(nodes))
	for _, x := range sources {
		if events += g.Edges[x.Edges].Count; events > MostEvents {
			return nil, fmt.Errorf("found %d events or more, expected at most %d; take fewer edge types", events, MostEvents)
		}
	}
	if len(sources) > math.MaxUint16 {
		return nil, fmt.Errorf("found %d edge types of events, expected at most %d", len(sources), math.MaxUint16)
	}
	in, err := s.readInput(ctx, g, events)
	if err != nil {
		return nil, err
	}
	order, err := in.order(ctx, s.Float)
	if err != nil {
		return nil, err
	}
	if err := s.fill(ctx, g, in, order); err != nil {
		return nil, err
	}
	if err := s.index(ctx, nodes); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close frees the memory of the stream. None of its makers may be in use.
func (s *Stream) Close() {
	if s.free != nil {
		s.free()
		s.entries, s.free = nil, nil
	}
}

// input is the edges of all sources by their place in the input: those of the first source first.
type input struct {
	times []int64
	ids   []uint32 // nil: the place in the source
	start []int    // of each source, and the end
}

// id is the edge id at place i, which is in a source.
func (in *input) id(i, source int) uint64 {
	if in.ids != nil {
		return uint64(in.ids[i])
	}
	return uint64(i - in.start[source])
}

// readInput reads the times of all sources.
func (s *Stream) readInput(ctx context.Context, g *graph.Graph, events int) (*input, error) {
	in := &input{times: make([]int64, events), start: []int{0}}
	for k, x := range s.sources {
		e := g.Edges[x.Edges]
		start := in.start[k]
		in.start = append(in.start, start+e.Count)
		float := x.Time.DType.IsFloat()
		if k > 0 && (x.Time.Unit != s.Unit || float != s.Float) {
			return nil, fmt.Errorf("found times of %s in %s and of %s in %s, expected one unit for all events; import them in one unit, or take one of the types",
				g.Edges[s.sources[0].Edges].Type, unitOf(s.Unit, s.Float), e.Type, unitOf(x.Time.Unit, float))
		}
		s.Unit, s.Float = x.Time.Unit, float
		to := in.times[start : start+e.Count]
		if err := readTimes(to, x.Time); err != nil {
			return nil, fmt.Errorf("column %q of %s: %w", x.Time.Name, e.Type, err)
		}
		if p := graph.FindColumn(e.Columns, graph.PositionColumn); p != nil && e.Count > 0 {
			if in.ids == nil {
				in.ids = make([]uint32, events)
				for j := range in.start[:k] {
					for i := in.start[j]; i < in.start[j+1]; i++ {
						in.ids[i] = uint32(i - in.start[j])
					}
				}
			}
			if err := byPosition(ctx, in.ids[start:start+e.Count], p); err != nil {
				return nil, err
			}
			moved := make([]int64, e.Count)
			for i, id := range in.ids[start : start+e.Count] {
				moved[i] = to[id]
			}
			copy(to, moved)
		} else if in.ids != nil {
			for i := range e.Count {
				in.ids[start+i] = uint32(i)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func unitOf(u graph.Unit, float bool) string {
	switch {
	case u != "":
		return string(u)
	case float:
		return "numbers with a fraction"
	}
	return "whole numbers"
}

// IsTime says whether the rows of a column can be the times of events.
func IsTime(c *graph.Column) bool {
	return !c.Ragged() && c.RowValues() == 1 && c.Categories == nil && !strings.HasPrefix(c.Name, "#") &&
		(c.DType.IsInt() || c.DType == graph.Float32 || c.DType == graph.Float64)
}

// readTimes reads times: integers as they are, floats as the bits of float64.
func readTimes(to []int64, c *graph.Column) error {
	if !IsTime(c) {
		return fmt.Errorf("found %s rows of shape %v, expected a time or a number per edge", c.DType, c.Shape)
	}
	switch c.DType {
	case graph.Int8:
		widen[int8](to, c)
	case graph.Int16:
		widen[int16](to, c)
	case graph.Int32:
		widen[int32](to, c)
	case graph.Uint8:
		widen[uint8](to, c)
	case graph.Uint16:
		widen[uint16](to, c)
	case graph.Uint32:
		widen[uint32](to, c)
	case graph.Float32:
		floats[float32](to, c)
	case graph.Float64:
		floats[float64](to, c)
	default:
		copy(to, graph.View[int64](c.Values))
	}
	for i, t := range to {
		switch {
		case c.Unit != "" && t == graph.NoTime, c.DType.IsFloat() && math.IsNaN(math.Float64frombits(uint64(t))):
			return fmt.Errorf("edge %d: found no time, expected one per event; leave the edge out of the input, or take the edge types whose edges have times", i)
		case c.DType == graph.Uint64 && t < 0:
			return fmt.Errorf("edge %d: found %d, expected at most 2^63 - 1; import the column as int64 or float64", i, uint64(t))
		}
	}
	return nil
}

func widen[T int8 | int16 | int32 | uint8 | uint16 | uint32](to []int64, c *graph.Column) {
	for i, x := range graph.View[T](c.Values) {
		to[i] = int64(x)
	}
}

func floats[T float32 | float64](to []int64, c *graph.Column) {
	for i, x := range graph.View[T](c.Values) {
		to[i] = int64(math.Float64bits(float64(x) + 0)) // -0 becomes 0, which is the same time
	}
}

// fill sets what each event has.
func (s *Stream) fill(ctx context.Context, g *graph.Graph, in *input, order []uint32) error {
	n := len(order)
	s.src, s.dst, s.tied = make([]uint32, n), make([]uint32, n), make([]uint32, n)
	if len(s.sources) > 1 {
		s.source = make([]uint16, n)
	}
	s.ids = make([]uint32, n)
	s.times = make([]int64, n)
	var chosen []uint32
	// The ends by place: an edge has its near node by the offsets of the primary direction.
	near, far := make([]uint32, n), make([]uint32, n)
	all := true
	for k, x := range s.sources {
		e := g.Edges[x.Edges]
		a := e.Adj[e.Primary]
		start := in.start[k]
		nearFirst := s.first[g.NodeType(e.Type.Near(e.Primary))]
		farFirst := s.first[g.NodeType(e.Type.Far(e.Primary))]
		for v := range a.Indptr.Len() - 1 {
			for i := int(a.Indptr.At(v)); i < int(a.Indptr.At(v+1)); i++ {
				near[start+i] = nearFirst + uint32(v)
			}
		}
		for i := range e.Count {
			far[start+i] = farFirst + uint32(a.Far.At(i))
		}
		s.least, s.greatest = append(s.least, math.MaxUint32), append(s.greatest, 0)
		all = all && x.Chosen == nil
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for i, place := range order {
		if i%(1<<20) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		k := 0
		for int(place) >= in.start[k+1] {
			k++
		}
		x := s.sources[k]
		e := g.Edges[x.Edges]
		id := in.id(int(place), k)
		src, dst := near[in.start[k]+int(id)], far[in.start[k]+int(id)]
		if e.Primary == graph.In {
			src, dst = dst, src
		}
		s.src[i], s.dst[i], s.ids[i], s.times[i] = src, dst, uint32(id), in.times[place]
		if s.source != nil {
			s.source[i] = uint16(k)
		}
		s.tied[i] = uint32(i)
		if i > 0 && s.times[i] == s.times[i-1] {
			s.tied[i] = s.tied[i-1]
		}
		s.least[k], s.greatest[k] = min(s.least[k], dst), max(s.greatest[k], dst)
		if !all && (x.Chosen == nil || x.Chosen(int(id))) {
			chosen = append(chosen, uint32(i))
		}
	}
	if !all {
		s.chosen = chosen
		if chosen == nil {
			s.chosen = []uint32{}
		}
	}
	return nil
}

// index makes the entries of each node.
func (s *Stream) index(ctx context.Context, nodes int) error {
	s.indptr = make([]uint32, nodes+1)
	for i := range s.src {
		s.indptr[s.src[i]]++
		s.indptr[s.dst[i]]++
	}
	sum := uint32(0)
	for v, n := range s.indptr {
		s.indptr[v] = sum
		sum += n
	}
	// The entries are read anywhere, so they lie on huge pages.
	words, free, err := direct.Array[uint64](2 * len(s.src))
	if err != nil {
		return err
	}
	s.free, s.at = free, make([]uint32, 2*len(s.src))
	s.entries = unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
	for i := range s.src {
		if i%(1<<20) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		src, dst := s.src[i], s.dst[i]
		s.at[2*i] = s.indptr[src]
		s.entries[s.indptr[src]] = entry{dst, uint32(i)}
		s.indptr[src]++
		s.at[2*i+1] = s.indptr[dst]
		s.entries[s.indptr[dst]] = entry{src, uint32(i)}
		s.indptr[dst]++
	}
	copy(s.indptr[1:], s.indptr)
	s.indptr[0] = 0
	return nil
}

// Events is the number of events.
func (s *Stream) Events() int { return len(s.src) }

// Chosen is the number of events that batches have.
func (s *Stream) Chosen() int {
	if s.chosen != nil {
		return len(s.chosen)
	}
	return len(s.src)
}

// event is the number of chosen event i.
func (s *Stream) event(i int) uint32 {
	if s.chosen != nil {
		return s.chosen[i]
	}
	return uint32(i)
}

// Nodes is the number of all nodes.
func (s *Stream) Nodes() int { return len(s.indptr) - 1 }

// First is the number of the first node of a node type. For the type after the last it is the number of all nodes.
func (s *Stream) First(nodeType int) uint32 { return s.first[nodeType] }

// Of is the place among the sources of an event's edge type.
func (s *Stream) Of(event uint32) int {
	if s.source == nil {
		return 0
	}
	return int(s.source[event])
}

// ID is the edge id of an event, within its type.
func (s *Stream) ID(event uint32) uint32 { return s.ids[event] }

// Time is the time of an event.
func (s *Stream) Time(event uint32) int64 { return s.times[event] }
