package undirected

import (
	"math"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// sampled is the number of edges that Pairs checks, searched the most entries of a row that it searches.
const (
	sampled  = 4096
	searched = 4096
)

// Pairs estimates how many pairs of neighbours the edges of a store make: an edge whose reverse exists too is
// half a pair. It checks a sample of the edges of each type between nodes of one type.
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

// faulted is about the number of bytes of the store that the check of an edge maps: an offset, a neighbour and
// that neighbour's row, each with the pages around it.
const faulted = 3 * 64 << 10

// reciprocal estimates the share of edges whose reverse exists.
func reciprocal(s *store.Store, e *graph.Edges) (float64, error) {
	adj := e.Adj[e.Primary]
	rows := adj.Indptr.Len() - 1
	var seen, both int
	for i := range uint64(sampled) {
		if err := s.Touched(faulted); err != nil {
			return 0, err
		}
		at := draw.Below(draw.At(0, i), uint64(e.Count))
		// Find the row of the edge.
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
			continue // damaged: Build reports it
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
