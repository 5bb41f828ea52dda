package structure

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// square is the square graph of a Spec: its node types one after the other, and edges between them.
type square struct {
	graph   *graph.Graph
	options Options
	name    string // of the structure, for errors
	nodes   int
	node    int   // the number of the asked node type
	start   []int // by node type: the number of its first node; -1 for a type that is not in the square
	types   []*edgeSet
	edges   int64 // that are kept
}

// edgeSet is an edge type of a square.
type edgeSet struct {
	*graph.Edges
	number     int // in the graph
	near, far  int // the numbers of the first nodes of the primary end's type and of the other's
	rows, fars int // the numbers of nodes of these types
	keep       []uint64
}

func newSquare(g *graph.Graph, node int, types []int, s Spec, o Options) (*square, error) {
	q := &square{graph: g, options: o, name: s.Structure, node: node, start: make([]int, len(g.Nodes))}
	in := make([]bool, len(g.Nodes))
	in[node] = true
	for _, t := range types {
		e := g.Edges[t]
		in[g.NodeType(e.Type.Src)], in[g.NodeType(e.Type.Dst)] = true, true
	}
	for i, n := range g.Nodes {
		q.start[i] = -1
		if in[i] {
			q.start[i] = q.nodes
			q.nodes += n.Count
		}
	}
	if q.nodes >= math.MaxUint32 {
		return nil, fmt.Errorf("structure %s: found %d nodes, expected fewer than 2^32 - 1; name fewer edge types", s.Structure, q.nodes)
	}
	for _, t := range types {
		e := g.Edges[t]
		near, far := g.NodeType(e.Type.Near(e.Primary)), g.NodeType(e.Type.Far(e.Primary))
		set := &edgeSet{Edges: e, number: t, near: q.start[near], far: q.start[far], rows: g.Nodes[near].Count, fars: g.Nodes[far].Count, keep: o.Keep[e.Type]}
		if a := e.Adj[e.Primary]; a.Far.Len() != e.Count || a.Indptr.Len() != set.rows+1 || int(a.Indptr.At(set.rows)) != e.Count {
			return nil, fmt.Errorf("%s: %w: found %d far ends and %d offsets, expected %d and %d", e.Type, store.ErrDamaged, a.Far.Len(), a.Indptr.Len(), e.Count, set.rows+1)
		}
		if set.keep != nil && len(set.keep) < (e.Count+63)/64 {
			return nil, fmt.Errorf("%s: found %d words of kept edges, expected %d", e.Type, len(set.keep), (e.Count+63)/64)
		}
		q.types = append(q.types, set)
		q.edges += set.kept()
	}
	return q, nil
}

// kept is the number of edges that are not left out.
func (e *edgeSet) kept() int64 {
	if e.keep == nil {
		return int64(e.Count)
	}
	n := int64(0)
	for i := range e.Count {
		if e.keeps(i) {
			n++
		}
	}
	return n
}

func (e *edgeSet) keeps(id int) bool { return e.keep[id/64]>>(id%64)&1 == 1 }

// rows is the number of nodes of the asked type, first the number of the first of them.
func (q *square) rows() int  { return q.graph.Nodes[q.node].Count }
func (q *square) first() int { return q.start[q.node] }

// chunk is the number of edges that scan hands out at a time.
const chunk = 1 << 15

// scan calls fn with the ends of all kept edges of a type, as numbers of the square, in the order of edge ids. The slices are valid during
// the call.
func (q *square) scan(ctx context.Context, e *edgeSet, fn func(src, dst []uint32) error) error {
	a := e.Adj[e.Primary]
	near, far := make([]uint32, 0, chunk), make([]uint32, 0, chunk)
	row := 0
	end := int(a.Indptr.At(0))
	for from := 0; from < e.Count; from += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+chunk, e.Count)
		near, far = near[:to-from], far[:to-from]
		if err := e.farEnds(far, from); err != nil {
			return err
		}
		for id := from; id < to; {
			for end <= id {
				if row == e.rows {
					return e.damaged()
				}
				row++
				next := int(min(a.Indptr.At(row), math.MaxInt64))
				if next < end {
					return e.damaged()
				}
				end = next
			}
			v := uint32(e.near + row - 1)
			for stop := min(end, to); id < stop; id++ {
				near[id-from] = v
			}
		}
		if e.keep != nil {
			near, far = e.compact(near, far, from)
		}
		src, dst := near, far
		if e.Primary == graph.In {
			src, dst = far, near
		}
		if err := fn(src, dst); err != nil {
			return err
		}
		if q.options.Touched != nil {
			if err := q.options.Touched(a.Far.Bytes() / int64(max(1, e.Count)) * int64(to-from)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *edgeSet) damaged() error {
	return fmt.Errorf("%s: %w: found offsets that do not ascend to the number of edges", e.Type, store.ErrDamaged)
}

// farEnds sets far to the numbers of the far ends of the edges from the given one on.
func (e *edgeSet) farEnds(far []uint32, from int) error {
	list := e.Adj[e.Primary].Far
	for i := range far {
		v := list.At(from + i)
		if v >= uint64(e.fars) {
			return fmt.Errorf("%s: %w: found node %d at the far end of edge %d, expected less than %d", e.Type, store.ErrDamaged, v, from+i, e.fars)
		}
		far[i] = uint32(e.far + int(v))
	}
	return nil
}

// compact removes the edges that are left out from the ends of the edges from the given one on.
func (e *edgeSet) compact(near, far []uint32, from int) (_, _ []uint32) {
	n := 0
	for i := range near {
		if e.keeps(from + i) {
			near[n], far[n] = near[i], far[i]
			n++
		}
	}
	return near[:n], far[:n]
}

// scanAll is scan of all edge types.
func (q *square) scanAll(ctx context.Context, fn func(src, dst []uint32) error) error {
	for _, e := range q.types {
		if err := q.scan(ctx, e, fn); err != nil {
			return err
		}
	}
	return nil
}
