package dispatch

import (
	"context"
	"errors"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/tagged"
)

// numbering gives new ids to the nodes, ordered by part, type and id. New ids are global, so that the ids of a
// part are one range.
type numbering struct {
	parts, types int
	base         []int    // where the nodes of a type begin in part and id; the last entry is the number of nodes
	part         []uint16 // the assignment's
	id           []uint32 // new ids
	start        []uint32 // first new id of (part, type), at part*types + type; the last entry is the number of nodes
	slab         []byte
}

// newNumbering numbers the nodes of g; close frees its memory.
func newNumbering(g *graph.Graph, a *assign.Assignment) (*numbering, error) {
	n := &numbering{parts: a.Parts, types: len(g.Nodes), base: make([]int, len(g.Nodes)+1), part: a.Part}
	if err := matches(g, a); err != nil {
		return nil, err
	}
	for t, x := range g.Nodes {
		n.base[t+1] = n.base[t] + x.Count
	}
	total := n.base[n.types]
	if total >= math.MaxUint32 {
		return nil, tagged.Errorf(errTooLarge, "found %d nodes, expected fewer than 2^32 - 1", total)
	}
	n.start = make([]uint32, n.parts*n.types+1)
	for t := range n.types {
		for v, p := range n.part[n.base[t]:n.base[t+1]] {
			if int(p) >= n.parts {
				return nil, tagged.Errorf(errAssignment, "node %d of type %s: found part %d, expected one below %d; the assignment is of another division; make it again with 'graphmill partition'", v, g.Nodes[t].Type, p, n.parts)
			}
			n.start[int(p)*n.types+t+1]++
		}
	}
	for i := range n.parts * n.types {
		n.start[i+1] += n.start[i]
	}
	var err error
	if n.slab, err = extsort.Slab(4 * total); err != nil {
		return nil, err
	}
	n.id = graph.View[uint32](n.slab)
	next := make([]uint32, n.parts)
	for t := range n.types {
		for p := range next {
			next[p] = n.start[p*n.types+t]
		}
		from, to := n.base[t], n.base[t+1]
		id := n.id[from:to]
		for v, p := range n.part[from:to] {
			id[v] = next[p]
			next[p]++
		}
	}
	return n, nil
}

// matches checks that the assignment is for the graph's nodes.
func matches(g *graph.Graph, a *assign.Assignment) error {
	if a.Parts < 1 || a.Parts > assign.MaxParts {
		return tagged.Errorf(errAssignment, "found %d parts, expected 1 to %d", a.Parts, assign.MaxParts)
	}
	if len(a.Types) != len(g.Nodes) || len(a.Start) != len(a.Types)+1 {
		return tagged.Errorf(errAssignment, "found an assignment of the node types %q, expected the %d node types of the graph; the assignment belongs to another graph, so make one of this graph with 'graphmill partition'", a.Types, len(g.Nodes))
	}
	for t, n := range g.Nodes {
		if a.Types[t] != n.Type {
			return tagged.Errorf(errAssignment, "found an assignment of node type %q, expected %q; the assignment is of another graph; make one of this graph with 'graphmill partition'", a.Types[t], n.Type)
		}
		if got := a.Start[t+1] - a.Start[t]; got != uint64(n.Count) {
			return tagged.Errorf(errAssignment, "node type %s: found parts of %d nodes, expected %d; the assignment is of another graph; make one of this graph with 'graphmill partition'", n.Type, got, n.Count)
		}
	}
	if total := a.Start[len(a.Types)]; uint64(len(a.Part)) != total {
		return tagged.Errorf(errAssignment, "found parts of %d nodes, expected %d; the assignment is of another graph; make one of this graph with 'graphmill partition'", len(a.Part), total)
	}
	if a.Trainers > 0 && len(a.Trainer) != len(a.Part) {
		return tagged.Errorf(errAssignment, "found trainers of %d nodes, expected %d; the assignment is of another graph; make one of this graph with 'graphmill partition'", len(a.Trainer), len(a.Part))
	}
	return nil
}

func (n *numbering) close() {
	extsort.Free(n.slab)
	n.slab, n.id = nil, nil
}

// owned returns the range of new ids of the nodes of part p.
func (n *numbering) owned(p int) (from, to uint32) {
	return n.start[p*n.types], n.start[(p+1)*n.types]
}

// segment is a run of nodes of one type, the unit of work.
type segment struct {
	t        int
	from, to int
	nodes    []uint32 // of each part before from, of type t
}

// segments cuts all nodes into runs of about the weight each. A node and each of its in-edges weigh 1.
func (d *dispatcher) segments(ctx context.Context, each int) error {
	for t := range d.num.types {
		count := d.g.Nodes[t].Count
		at := func(v int) int { // weight before node v
			w := v
			for _, e := range d.into[t] {
				w += int(d.edges[e].indptr.At(v))
			}
			return w
		}
		for from := 0; from < count; {
			lo, hi := from+1, count // searches the first end that is heavy enough
			for lo < hi {
				if mid := (lo + hi) / 2; at(mid)-at(from) >= each {
					hi = mid
				} else {
					lo = mid + 1
				}
			}
			d.segs = append(d.segs, segment{t: t, from: from, to: lo})
			from = lo
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	next := make([]uint32, d.num.parts)
	for i := range d.segs {
		s := &d.segs[i]
		if s.from == 0 {
			clear(next)
		}
		s.nodes = append([]uint32(nil), next...)
		for _, p := range d.num.part[d.num.base[s.t]+s.from : d.num.base[s.t]+s.to] {
			next[p]++
		}
	}
	return nil
}

// errTooLarge is the kind of errors about graphs with more nodes than 32-bit ids can number. errAssignment is
// the kind of errors about assignments that do not fit the graph.
var (
	errTooLarge   = errors.New("graph too large")
	errAssignment = errors.New("assignment does not fit")
)
