package metis

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Graph is the content of a file, with nodes numbered from 0. The neighbours of v are
// Neighbours[Offsets[v]:Offsets[v+1]], ascending.
type Graph struct {
	Offsets    []uint32
	Neighbours []uint32
	// EdgeWeights are parallel to Neighbours and at least 1. They are nil if the file has none.
	EdgeWeights []uint32
	// Constraints is the number of weights per node, at least 1. The weights of v begin at Weights[v*Constraints].
	// Weights is nil if the file has none.
	Constraints int
	Weights     []uint32
	// Sizes are the costs of moving each node. They are nil if the file has none.
	Sizes []uint32
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.Offsets) - 1 }

// ErrFormat is the kind of errors about files that do not hold a METIS graph.
var ErrFormat = errors.New("no METIS graph")

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }
