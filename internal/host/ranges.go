package host

import (
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
)

// MostHosts bounds the number of hosts of a store.
const MostHosts = 4096

// Bounds are where the ranges of n hosts begin among count nodes, and the end of the last.
func Bounds(count, n int) []uint64 {
	bounds := make([]uint64, n+1)
	for i := range bounds {
		bounds[i] = uint64(count) * uint64(i) / uint64(n) // below 2^32 * 2^12
	}
	return bounds
}

// share is the part of a graph that a host has.
type share struct {
	nodes, edges []Range // by type
}

// newShare is the share of host part of n.
func newShare(g *graph.Graph, part, n int) *share {
	x := &share{}
	for _, t := range g.Nodes {
		b := Bounds(t.Count, n)
		x.nodes = append(x.nodes, Range{b[part], b[part+1]})
	}
	for _, e := range g.Edges {
		of, a := x.nodes[g.NodeType(e.Type.Near(e.Primary))], e.Adj[e.Primary]
		if a == nil || a.Indptr.Len() == 0 {
			x.edges = append(x.edges, Range{})
			continue
		}
		x.edges = append(x.edges, Range{a.Indptr.At(int(of[0])), a.Indptr.At(int(of[1]))})
	}
	return x
}

// Range is the members of a type that a host has: the first, and the one after the last.
type Range = [2]uint64

// Ranges are the nodes and the edges of host part of n, by type.
func Ranges(g *graph.Graph, part, n int) (nodes, edges []Range) {
	x := newShare(g, part, n)
	return x.nodes, x.edges
}

// owners finds the hosts of nodes or edges of a type: bounds has where the range of each host begins, and the end of the last.
type owners struct{ bounds []uint64 }

// of is the host of a node or an edge, which is below the end.
func (o *owners) of(v uint64) int {
	i, found := slices.BinarySearch(o.bounds, v)
	if !found {
		return i - 1
	}
	for o.bounds[i+1] == v { // ranges without members
		i++
	}
	return i
}

// checkBounds refuses ranges that do not follow each other from 0 to count.
func checkBounds(what string, bounds []uint64, count int) error {
	if bounds[0] != 0 || bounds[len(bounds)-1] != uint64(count) || !slices.IsSorted(bounds) {
		return fmt.Errorf("%s: found ranges of hosts that begin at %d, expected ranges that follow each other from 0 to %d; start all hosts with the same store", what, bounds, count)
	}
	return nil
}
