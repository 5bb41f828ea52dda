package partition

import (
	"context"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/store"
)

// coverEdges lets every part own an edge of each edge type that leads to enough nodes; a part owns the edges
// into its nodes. The nodes with the fewest such edges move. The part that a node leaves keeps nodes of the
// type, and edges of every type of which it had some. Where a move makes a piece too heavy, another node of the
// type goes the other way. coverEdges also counts the edges of a.
func (j *job) coverEdges(ctx context.Context, g undirected.Rows, s *store.Store, a *assign.Assignment, piece []uint16) (err error) {
	r := j.r
	b := &barter{j: j, rows: g, store: s, piece: piece, a: a, byDegree: map[int][]uint32{}}
	if err := j.countRelations(ctx, s, a); err != nil {
		return err
	}
	moved := false
	for e := range r.Relations {
		if x := &r.Relations[e]; x.Edges > 0 && slices.Contains(x.Owned, 0) {
			m, err := j.coverRelation(s, a, e)
			if err != nil {
				return err
			}
			for _, x := range m {
				from, to := piece[x.node], uint16(x.part*j.Trainers+e%j.Trainers)
				b.place(x.node, to)
				if err := b.giveBack(ctx, from, to, s.Graph.NodeType(s.Graph.Edges[e].Type.Dst)); err != nil {
					return err
				}
				moved = true
			}
		}
	}
	if moved {
		return j.countRelations(ctx, s, a)
	}
	return nil
}

// countRelations counts the edges of an assignment. The workers of a cluster measure all of it at once.
func (j *job) countRelations(ctx context.Context, s *store.Store, a *assign.Assignment) (err error) {
	if j.Elsewhere == nil {
		j.r.Relations, err = relations(ctx, s, a, j.Threads)
		return err
	}
	if err := j.measureElsewhere(ctx, a); err != nil {
		return err
	}
	j.r.Relations = j.measured.Relations
	return nil
}

// move is a node and the part that it moves to.
type move struct {
	node uint64
	part int
}

// coverRelation chooses a node for each part that owns no edge of an edge type, and updates the counts of the
// nodes and edges that the parts own.
func (j *job) coverRelation(s *store.Store, a *assign.Assignment, e int) (moves []move, err error) {
	g := s.Graph
	t := g.NodeType(g.Edges[e].Type.Dst)
	into := map[int][]uint32{} // in-edges of the candidates, by edge type
	nodes, err := destinations(s, g.Edges[e], j.Parts*candidatesOfPart)
	if err != nil || len(nodes) < j.Parts {
		return nil, err
	}
	for k, other := range g.Edges {
		if g.NodeType(other.Type.Dst) == t {
			if into[k], err = inDegreesOf(s, other, nodes); err != nil {
				return nil, err
			}
		}
	}
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(into[e][a]) - int(into[e][b]) })
	part, count := a.Of(t), make([]int, a.Parts)
	for _, p := range part {
		count[p]++
	}
	// spare reports whether candidate i can leave its part: the part must keep a node of type t, and an edge of each edge type
	// that it has now.
	spare := func(i int) bool {
		p := part[nodes[i]]
		for k, degrees := range into {
			if d := int64(degrees[i]); d > 0 && j.r.Relations[k].Owned[p] == d {
				return false
			}
		}
		return count[p] > 1
	}
	for p := range a.Parts {
		if j.r.Relations[e].Owned[p] > 0 {
			continue
		}
		at := slices.IndexFunc(order, spare)
		if at < 0 {
			break
		}
		i := order[at]
		order = slices.Delete(order, at, at+1)
		from := part[nodes[i]]
		count[from]--
		count[p]++
		for k, degrees := range into {
			j.r.Relations[k].Owned[from] -= int64(degrees[i])
			j.r.Relations[k].Owned[p] += int64(degrees[i])
		}
		moves = append(moves, move{a.Start[t] + uint64(nodes[i]), p})
	}
	return moves, nil
}

// candidatesOfPart is the number of destinations to consider for each part.
const candidatesOfPart = 64

// eachEnd calls fn for the destination of each edge of a type, in the order of the store, until fn returns
// false.
func eachEnd(s *store.Store, e *graph.Edges, fn func(dst uint32, edges uint64) bool) error {
	const lot = 1 << 16 // elements to read between two reports to the store
	adj := e.Adj[e.Primary]
	n := adj.Far.Len()
	if e.Primary == graph.In {
		n = adj.Indptr.Len() - 1
	}
	for i := range n {
		if e.Primary == graph.In {
			if d := adj.Indptr.At(i+1) - adj.Indptr.At(i); d > 0 && !fn(uint32(i), d) {
				return nil
			}
		} else if !fn(uint32(adj.Far.At(i)), 1) {
			return nil
		}
		if i%lot == 0 {
			if err := s.Touched(8 * lot); err != nil {
				return err
			}
		}
	}
	return nil
}

// destinations returns up to most nodes that edges of a type lead to: the nodes of the lowest ids, ascending.
func destinations(s *store.Store, e *graph.Edges, most int) ([]uint32, error) {
	seen := map[uint32]bool{}
	err := eachEnd(s, e, func(dst uint32, _ uint64) bool {
		seen[dst] = true
		return len(seen) < most
	})
	nodes := make([]uint32, 0, len(seen))
	for v := range seen {
		nodes = append(nodes, v)
	}
	slices.Sort(nodes)
	return nodes, err
}

// inDegreesOf returns the number of in-edges of a type of each of the nodes, which ascend. It reads all edges of the type where the store has their out-edges alone.
func inDegreesOf(s *store.Store, e *graph.Edges, nodes []uint32) ([]uint32, error) {
	degrees := make([]uint32, len(nodes))
	if adj := e.Adj[graph.In]; adj != nil {
		for i, v := range nodes {
			degrees[i] = uint32(adj.Indptr.At(int(v)+1) - adj.Indptr.At(int(v)))
		}
		return degrees, nil
	}
	return degrees, eachEnd(s, e, func(dst uint32, edges uint64) bool {
		if i, found := slices.BinarySearch(nodes, dst); found {
			degrees[i] += uint32(edges)
		}
		return true
	})
}
