package undirected

import (
	"math"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// sampled is how many edges Pairs looks at, and searched how many of a row.
const (
	sampled  = 4096
	searched = 4096
)

// Pairs estimates how many pairs of neighbours the edges of a graph make, before
// they are counted: an edge whose reverse is there as well is half of one. It
// looks at some edges of each type between nodes of one type.
func Pairs(s *store.Store) (int64, error) {
	pairs := 0.0
	for _, e := range s.Graph.Edges {
		count := float64(e.Count)
		if e.Type.Src == e.Type.Dst && e.Count > 0 {
			share, err := reciprocal(s, e)
			if err != nil {
				return 0, err
			}
			count *= 1 - share/2
		}
		pairs += count
	}
	return int64(math.Ceil(pairs)), nil
}

// faulted is about what an edge that is looked at maps of the store: an offset, a
// neighbour and the row of that, each with the pages around it.
const faulted = 3 * 64 << 10

// reciprocal is the share of edges whose reverse is there.
func reciprocal(s *store.Store, e *graph.Edges) (float64, error) {
	adj := e.Adj[e.Primary]
	rows := adj.Indptr.Len() - 1
	var seen, both int
	for i := range uint64(sampled) {
		if err := s.Touched(faulted); err != nil {
			return 0, err
		}
		at := draw.Below(draw.At(0, i), uint64(e.Count))
		// The row that the edge lies in.
		low, high := 0, rows
		for low < high {
			if mid := (low + high) / 2; adj.Indptr.At(mid+1) > at {
				high = mid
			} else {
				low = mid + 1
			}
		}
		far := adj.Far.At(int(at))
		if low == rows || far >= uint64(rows) {
			continue // damaged: Build says so
		}
		seen++
		from, to := adj.Indptr.At(int(far)), adj.Indptr.At(int(far)+1)
		for j := from; j < min(to, from+searched, uint64(e.Count)); j++ {
			if adj.Far.At(int(j)) == uint64(low) {
				both++
				break
			}
		}
	}
	if seen == 0 {
		return 0, nil
	}
	return float64(both) / float64(seen), nil
}
