package metis

import (
	"errors"

	"github.com/graphmill/graphmill/internal/tagged"
)

// Graph is what a file holds, nodes numbered from 0. The neighbours of v are
// Neighbours[Offsets[v]:Offsets[v+1]], ascending.
type Graph struct {
	Offsets    []uint32
	Neighbours []uint32
	// EdgeWeights are beside the neighbours, at least 1; nil: the file has none.
	EdgeWeights []uint32
	// Constraints is the number of weights of a node, at least 1; Weights has those of
	// v at v*Constraints, and is nil where the file has none.
	Constraints int
	Weights     []uint32
	// Sizes are what moving a node costs; nil: the file has none.
	Sizes []uint32
}

// Len is the number of nodes.
func (g *Graph) Len() int { return len(g.Offsets) - 1 }

// ErrFormat is wrapped by errors about files that hold no METIS graph.
var ErrFormat = errors.New("no METIS graph")

func badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }
