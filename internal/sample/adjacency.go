package sample

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// adjacency is a graph.Adjacency in 32 bits, as the kernel reads it.
type adjacency struct {
	first  uint32   // the node that indptr begins with: 0, except in a Range
	indptr []uint32 // nodes of the near type + 1
	far    []uint32 // nil with Options.Fetch
	eid    []uint32 // nil where the edge id is the position, or is not read
	apart  bool     // edge ids are not the positions
}

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

// readAdjacency checks the sizes and the order of a's lists and the range of its ids, so that the kernel need not. With
// fetch it reads only the offsets.
func readAdjacency(e *graph.Edges, a *graph.Adjacency, near, far int, fetch bool) (*adjacency, error) {
	if a.Indptr.Len() != near+1 || a.Far.Len() != e.Count || a.EdgeID.Len() != 0 && a.EdgeID.Len() != e.Count {
		return nil, fmt.Errorf("%s: found %d offsets, %d neighbours and %d edge ids, expected %d, %d, and %d or none",
			e.Type, a.Indptr.Len(), a.Far.Len(), a.EdgeID.Len(), near+1, e.Count, e.Count)
	}
	if err := a.Indptr.CheckOffsets(e.Count); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Type, err)
	}
	out := &adjacency{indptr: narrow(a.Indptr), apart: a.EdgeID.Len() > 0}
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

// readEdgeIDs is the edge ids by position. It checks their range.
func readEdgeIDs(e *graph.Edges, a *graph.Adjacency) ([]uint32, error) {
	if err := checkBelow(e, a.EdgeID, "edge id", e.Count); err != nil {
		return nil, err
	}
	return narrow(a.EdgeID), nil
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
	indptr := make([]uint32, n+1)
	for _, v := range a.far {
		indptr[v+1]++
	}
	for i := range n {
		indptr[i+1] += indptr[i]
	}
	r := &adjacency{indptr: indptr, far: make([]uint32, len(a.far)), eid: make([]uint32, len(a.far)), apart: true}
	at := make([]uint32, n)
	copy(at, indptr)
	for u := range len(a.indptr) - 1 {
		for p := a.indptr[u]; p < a.indptr[u+1]; p++ {
			v := a.far[p]
			r.far[at[v]], r.eid[at[v]] = uint32(u), a.edge(p)
			at[v]++
		}
	}
	return r
}

// count is the number of edges.
func (a *adjacency) count() int { return int(a.indptr[len(a.indptr)-1]) }

// edge is the edge id at a position.
func (a *adjacency) edge(p uint32) uint32 {
	if a.eid != nil {
		return a.eid[p]
	}
	return p
}

// adjacencyOf is the adjacency of an edge type in a direction: that of the graph, or one that is built from the other
// direction.
func (s *Sampler) adjacencyOf(e int, dir graph.Direction) (*adjacency, error) {
	if a := s.adj[e][dir]; a != nil {
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
		if err := s.touched(4 * len(a.indptr)); err != nil {
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
		if other.eid != nil {
			return nil, fmt.Errorf("%s: found direction %s alone, expected the primary one", edges.Type, 1-dir)
		}
		s.warn("%s: found no %s-edges in the store, so they are built in memory; import with `Both` to store them", edges.Type, dir)
		a = other.reverse(nodes(dir))
	}
	s.adj[e][dir] = a
	return a, nil
}

// tooLarge refuses types whose ids do not fit 32 bits.
func tooLarge(g *graph.Graph) error {
	for _, n := range g.Nodes {
		if n.Count > math.MaxUint32 {
			return tagged.Errorf(ErrTooLarge, "found %d nodes of type %s, expected fewer than 2^32", n.Count, n.Type)
		}
	}
	for _, e := range g.Edges {
		if e.Count > math.MaxUint32 {
			return tagged.Errorf(ErrTooLarge, "found %d edges of type %s, expected fewer than 2^32", e.Count, e.Type)
		}
	}
	return nil
}
