package fennel

import (
	"context"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// Options define a division.
type Options struct {
	undirected.Options
	// Passes is the number of times that the nodes are streamed, at least 1.
	Passes int
	// Progress, if not nil, receives the number of neighbours that were read.
	Progress func(neighbours int64)
}

// none is the part of a node about which nothing is known. A node that was placed can have this number as its
// part as well; ids tell placed nodes apart.
const none = math.MaxUint16

// Partition returns the part of every node.
func Partition(ctx context.Context, g undirected.Rows, o Options) ([]uint16, error) {
	if o.Parts < 1 || o.Parts > undirected.MaxParts || o.Passes < 1 {
		return nil, fmt.Errorf("found %d parts and %d passes, expected 1 to %d parts and at least one pass", o.Parts, o.Passes, undirected.MaxParts)
	}
	s := newStream(g, o)
	for pass := range o.Passes {
		if pass == 1 {
			s.loads.steepen()
		}
		err := g.Scan(ctx, 1, func(_ int, b *undirected.Block) error {
			for i := range b.Len() {
				if pass == 0 {
					s.place(b, i)
				} else {
					s.move(b, i)
				}
			}
			if o.Progress != nil {
				o.Progress(int64(len(b.Neighbours)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s.part, nil
}

// stream is the state between two nodes.
type stream struct {
	part  []uint16
	loads *loads
	// affinity is the weight of the node's neighbours in each part; touched lists the parts where it is not 0.
	affinity []float64
	touched  []uint16
}

func newStream(g undirected.Rows, o Options) *stream {
	s := &stream{part: make([]uint16, g.Len()), affinity: make([]float64, o.Parts), loads: newLoads(g, o)}
	for v := range s.part {
		s.part[v] = none
	}
	return s
}

// ghost is the weight of a neighbour that was not yet placed, but has another neighbour that was.
const ghost = 0.5

func (s *stream) add(p uint16, w float64) {
	if s.affinity[p] == 0 {
		s.touched = append(s.touched, p)
	}
	s.affinity[p] += w
}

// place chooses the part of a node in the first pass. Nodes of lower ids are placed.
func (s *stream) place(b *undirected.Block, i int) {
	v := b.First + uint32(i)
	from, to := b.Row(i)
	row := b.Neighbours[from:to]
	for j, u := range row {
		p, w := s.part[u], 1.0
		if u > v {
			if p == none {
				continue
			}
			w = ghost
		}
		if b.EdgeWeights != nil {
			w *= float64(b.EdgeWeights[int(from)+j])
		}
		s.add(p, w)
	}
	p := s.best(v)
	s.part[v] = p
	s.loads.add(v, p, 1)
	for j := len(row) - 1; j >= 0 && row[j] > v; j-- {
		s.part[row[j]] = p
	}
}

// move chooses the part of a node anew, in a later pass.
func (s *stream) move(b *undirected.Block, i int) {
	v := b.First + uint32(i)
	from, to := b.Row(i)
	own := s.part[v]
	if b.EdgeWeights == nil {
		for _, u := range b.Neighbours[from:to] {
			s.add(s.part[u], 1)
		}
	} else {
		for j := from; j < to; j++ {
			s.add(s.part[b.Neighbours[j]], float64(b.EdgeWeights[j]))
		}
	}
	s.loads.add(v, own, -1)
	p := s.best(v)
	s.part[v] = p
	s.loads.add(v, p, 1)
}

// best returns the best part for a node and resets the affinities. Besides the parts of its neighbours, only
// the lightest part can be the best, if it has room.
func (s *stream) best(v uint32) uint16 {
	l := s.loads
	best, score := -1, math.Inf(-1)
	if p := l.lightest(); l.fits(v, p) {
		best, score = p, s.affinity[p]-l.penalty[p]
	}
	for _, p := range s.touched {
		x := s.affinity[p] - l.penalty[p]
		if (x > score || x == score && int(p) < best) && l.fits(v, int(p)) {
			best, score = int(p), x
		}
	}
	if best < 0 {
		best = l.roomiest(v)
	}
	for _, p := range s.touched {
		s.affinity[p] = 0
	}
	s.touched = s.touched[:0]
	return uint16(best)
}
