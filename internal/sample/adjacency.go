package sample

import (
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/tagged"
)

// adjacency is a graph.Adjacency as the kernel reads it. Positions and edge ids have 32 bits, or 64 for a wide edge type
// (Sampler.wide).
type adjacency struct {
	first uint32 // the node that indptr begins with: 0, except in a Range
	// stops has, of lists that are not one after the other (graph.Adjacency.Ends), the position after the last edge of each node. nil elsewhere, where it is the next
	// offset.
	stops  []uint32
	indptr graph.Index // nodes of the near type + 1; U64 where the edge type is wide
	far    []uint32    // nil with Options.Fetch
	eid    graph.Index // empty where the edge id is the position, or is not read; U64 where the edge type is wide
	apart  bool        // edge ids are not the positions
	// ends has, of a large adjacency in memory whose edge ids are apart, the far end of each position and, from bit 32 on, the edge id: one
	// line of the cache has both. nil elsewhere.
	ends []uint64
}

// isWide says whether the positions and the ids of an edge type take 64 bits.
func isWide(e *graph.Edges) bool { return int64(e.Count) > limits.Positions }

// narrow is an index in 32 bits: the slice of the graph, or a copy.
func narrow(x graph.Index) []uint32 {
	if x.U64 == nil {
		return x.U32
	}
	out := make([]uint32, len(x.U64))
	for i, v := range x.U64 {
		out[i] = uint32(v)
	}
	return out
}

// sized is an index in 64 bits for a wide edge type, else in 32 bits: the slice of the graph, or a copy.
func sized(x graph.Index, wide bool) graph.Index {
	if !wide {
		return graph.Index{U32: narrow(x)}
	}
	if x.U32 == nil {
		return x
	}
	out := make([]uint64, len(x.U32))
	for i, v := range x.U32 {
		out[i] = uint64(v)
	}
	return graph.Index{U64: out}
}

// readAdjacency checks the sizes and the order of a's lists and the range of its ids, so that the kernel need not. With
// fetch it reads only the offsets.
func readAdjacency(e *graph.Edges, a *graph.Adjacency, near, far int, fetch bool) (*adjacency, error) {
	if a.Ends.Len() > 0 { // checked by those who made it
		if a.Ends.Len() != near || a.Indptr.Len() != near+1 || a.Indptr.U64 != nil || a.Ends.U64 != nil || a.Far.U64 != nil || a.EdgeID.Len() > 0 || fetch {
			return nil, fmt.Errorf("%s: found %d ends of %d lists, expected as many, of 32 bits", e.Type, a.Ends.Len(), near)
		}
		return &adjacency{indptr: a.Indptr, stops: a.Ends.U32, far: a.Far.U32}, nil
	}
	all := a.Far.Len() == e.Count && (a.EdgeID.Len() == 0 || a.EdgeID.Len() == e.Count)
	part := a.Far.Len() < e.Count && a.EdgeID.Len() == a.Far.Len() // Restrict
	if a.Indptr.Len() != near+1 || !all && !part {
		return nil, fmt.Errorf("%s: found %d offsets, %d neighbours and %d edge ids, expected %d, %d, and %d or none",
			e.Type, a.Indptr.Len(), a.Far.Len(), a.EdgeID.Len(), near+1, e.Count, e.Count)
	}
	if err := a.Indptr.CheckOffsets(a.Far.Len()); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Type, err)
	}
	out := &adjacency{indptr: sized(a.Indptr, isWide(e)), apart: a.EdgeID.Len() > 0}
	if err := out.checkDegrees(e); err != nil {
		return nil, err
	}
	if fetch {
		return out, nil
	}
	if err := checkBelow(e, a.Far, "neighbour", far); err != nil {
		return nil, err
	}
	out.far = narrow(a.Far)
	if out.apart {
		var err error
		if out.eid, err = readEdgeIDs(e, a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// checkDegrees refuses a node of a wide edge type whose edges 32 bits cannot number.
func (a *adjacency) checkDegrees(e *graph.Edges) error {
	for v, at := range a.indptr.U64 {
		if v > 0 && at-a.indptr.U64[v-1] >= math.MaxUint32 {
			return tagged.Errorf(ErrTooLarge, "%s: found %d edges of node %d, expected fewer than 2^32 - 1 of one node; leave some of its edges out of the import", e.Type, at-a.indptr.U64[v-1], v-1)
		}
	}
	return nil
}

// readEdgeIDs is the edge ids by position. It checks their range.
func readEdgeIDs(e *graph.Edges, a *graph.Adjacency) (graph.Index, error) {
	if err := checkBelow(e, a.EdgeID, "edge id", e.Count); err != nil {
		return graph.Index{}, err
	}
	return sized(a.EdgeID, isWide(e)), nil
}

func checkBelow(e *graph.Edges, x graph.Index, what string, n int) error {
	for i := range x.U32 {
		if int(x.U32[i]) >= n {
			return fmt.Errorf("%s: found %s %d at position %d, expected less than %d", e.Type, what, x.U32[i], i, n)
		}
	}
	for i := range x.U64 {
		if x.U64[i] >= uint64(n) {
			return fmt.Errorf("%s: found %s %d at position %d, expected less than %d", e.Type, what, x.U64[i], i, n)
		}
	}
	return nil
}

// reverse is the adjacency of the other direction, where the near type has n nodes. It is a counting sort, so the edges
// of a node ascend by their position in a.
func (a *adjacency) reverse(n int) *adjacency {
	r := &adjacency{far: make([]uint32, len(a.far)), apart: true}
	if a.wide() {
		r.indptr.U64, r.eid.U64 = make([]uint64, n+1), make([]uint64, len(a.far))
		reverse(a, r.indptr.U64, r.far, r.eid.U64)
	} else {
		r.indptr.U32, r.eid.U32 = make([]uint32, n+1), make([]uint32, len(a.far))
		reverse(a, r.indptr.U32, r.far, r.eid.U32)
	}
	return r
}

// reverse fills the lists of the other direction, whose offsets are 0.
func reverse[T uint32 | uint64](a *adjacency, indptr []T, far []uint32, eid []T) {
	for _, v := range a.far {
		indptr[v+1]++
	}
	for i := range len(indptr) - 1 {
		indptr[i+1] += indptr[i]
	}
	at := slices.Clone(indptr)
	for u := range a.nodes() {
		from, to := a.span(uint32(u))
		for p := from; p < to; p++ {
			v := a.far[p]
			far[at[v]], eid[at[v]] = uint32(u), T(a.edge(p))
			at[v]++
		}
	}
}

// wide says whether positions and edge ids have 64 bits.
func (a *adjacency) wide() bool { return a.indptr.U64 != nil }

// nodes is the number of near nodes.
func (a *adjacency) nodes() int { return a.indptr.Len() - 1 }

// count is the number of positions.
func (a *adjacency) count() int { return int(a.indptr.At(a.nodes())) }

// span is the positions of the edges of a near node.
func (a *adjacency) span(v uint32) (from, to uint64) {
	if a.indptr.U64 != nil {
		return a.indptr.U64[v], a.indptr.U64[v+1]
	}
	return uint64(a.indptr.U32[v]), uint64(a.narrowStops()[v])
}

// narrowStops is, by near node, the position after its last edge, of an edge type that is not wide.
func (a *adjacency) narrowStops() []uint32 {
	if a.stops != nil {
		return a.stops
	}
	return a.indptr.U32[1:]
}

// edge is the edge id at a position.
func (a *adjacency) edge(p uint64) uint64 {
	if a.eid.U32 != nil {
		return uint64(a.eid.U32[p])
	}
	if a.eid.U64 != nil {
		return a.eid.U64[p]
	}
	return p
}

// adjacencyOf is the adjacency of an edge type in a direction: the graph's, or one that is built from the other
// direction.
func (s *Sampler) adjacencyOf(e int, dir graph.Direction) (*adjacency, error) {
	if a := s.adj[e][dir]; a != nil {
		return a, nil
	}
	if a := s.sharedLists(e, dir); a != nil {
		s.adj[e][dir] = a
		return a, nil
	}
	edges := s.g.Edges[e]
	nodes := func(d graph.Direction) int { return s.g.Nodes[s.g.NodeType(edges.Type.Near(d))].Count }
	var a *adjacency
	if own := edges.Adj[dir]; own != nil {
		var err error
		if a, err = readAdjacency(edges, own, nodes(dir), nodes(1-dir), s.opt.Fetch); err != nil {
			return nil, err
		}
		if err := s.touched(int(a.indptr.Bytes())); err != nil {
			return nil, err
		}
	} else if s.opt.Fetch {
		return nil, tagged.Errorf(ErrFetch, "%s: found no %s-edges in the store, expected them: building them takes memory; import with `Both` to store them", edges.Type, dir)
	} else {
		if edges.Adj[1-dir] == nil {
			return nil, fmt.Errorf("%s: found neither direction, expected the primary one", edges.Type)
		}
		other, err := s.adjacencyOf(e, 1-dir)
		if err != nil {
			return nil, err
		}
		if 1-dir != edges.Primary {
			return nil, fmt.Errorf("%s: found direction %s alone, expected the primary one", edges.Type, 1-dir)
		}
		s.warn("%s: found no %s-edges in the store, so they are built in memory; import with `Both` to store them", edges.Type, dir)
		if other.stops != nil {
			return nil, errPlaces(edges, "the other direction")
		}
		a = other.reverse(nodes(dir))
	}
	s.keepLists(e, dir, a)
	return a, nil
}

// TakesPlaces refuses lists with Ends for a plan that reads others than those of the nodes that it expands.
func (p *Plan) TakesPlaces(g *graph.Graph) error {
	for _, e := range g.Edges {
		if a := e.Adj[e.Primary]; a == nil || a.Ends.Len() == 0 {
			continue
		}
		if len(p.SeedType) > 1 || p.Negatives != nil || p.Exclude != nil || len(p.Messages) > 0 || p.Kind != Directional {
			return errPlaces(e, "all edges")
		}
		for _, op := range p.Ops {
			if op.Edges == e.Type.String() && (op.Column != "" || op.How.Layered()) {
				return errPlaces(e, "all edges")
			}
		}
	}
	return nil
}

func errPlaces(e *graph.Edges, what string) error {
	return tagged.Errorf(ErrPlaces, "%s: found lists of edges in any order, expected lists one after the other for a plan that reads %s; merge them", e.Type, what)
}

// tooLarge refuses node types whose ids do not fit 32 bits.
func tooLarge(g *graph.Graph) error {
	for _, n := range g.Nodes {
		if n.Count > math.MaxUint32 {
			return tagged.Errorf(ErrTooLarge, "found %d nodes of type %s, expected fewer than 2^32", n.Count, n.Type)
		}
	}
	return nil
}
