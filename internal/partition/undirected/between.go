package undirected

import (
	"sort"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Buffer holds the rows that Between reads from a temporary file. The zero Buffer is ready.
type Buffer struct {
	ends, neighbours, weights []uint32
}

// Placed is a graph whose rows are also read by the numbers of their nodes.
type Placed interface {
	Rows
	// Between returns the rows of the nodes from..to-1. The block is valid until m is used again. Several goroutines may call it, each
	// with a buffer of its own.
	Between(from, to int, m *Buffer) (Block, error)
	// EndsBetween is Between without neighbours: a block of which only Row and Len may be used.
	EndsBetween(from, to int, m *Buffer) (Block, error)
}

// Between implements Placed.
func (g *Graph) Between(from, to int, _ *Buffer) (Block, error) {
	b := Block{First: uint32(from), Offsets: g.Offsets[from : to+1], Neighbours: g.Neighbours[g.Offsets[from]:g.Offsets[to]]}
	if g.EdgeWeights != nil {
		b.EdgeWeights = g.EdgeWeights[g.Offsets[from]:g.Offsets[to]]
	}
	return b, nil
}

// EndsBetween implements Placed.
func (g *Graph) EndsBetween(from, to int, m *Buffer) (Block, error) { return g.Between(from, to, m) }

// Between implements Placed. It reads the rows and their ends alone.
func (g *Spilled) Between(from, to int, m *Buffer) (Block, error) {
	return g.blockOf(from, to, m, true)
}

// EndsBetween implements Placed.
func (g *Spilled) EndsBetween(from, to int, m *Buffer) (Block, error) {
	return g.blockOf(from, to, m, false)
}

func (g *Spilled) blockOf(from, to int, m *Buffer, neighbours bool) (Block, error) {
	m.ends, m.neighbours, m.weights = append(m.ends[:0], 0), m.neighbours[:0], m.weights[:0]
	// The first block that ends after from.
	at := sort.Search(len(g.blocks), func(i int) bool { return int(g.blocks[i].first)+g.blocks[i].nodes > from })
	for i := at; i < len(g.blocks) && int(g.blocks[i].first) < to; i++ {
		if err := g.between(g.blocks[i], from, to, m, neighbours); err != nil {
			return Block{}, err
		}
	}
	b := Block{First: uint32(from), Offsets: m.ends, Neighbours: m.neighbours}
	if g.weighted && neighbours {
		b.EdgeWeights = m.weights
	}
	return b, nil
}

// between appends the ends of the rows of a block that are in a range to m, and the rows.
func (g *Spilled) between(x spilledBlock, from, to int, m *Buffer, neighbours bool) error {
	lo, hi := max(from-int(x.first), 0), min(to-int(x.first), x.nodes)
	if lo >= hi {
		return nil
	}
	before, start := m.ends[len(m.ends)-1], uint32(0)
	if lo > 0 {
		var one [1]uint32
		if err := readWords(x.file, one[:], x.at+4*int64(lo-1)); err != nil {
			return err
		}
		start = one[0]
	}
	var err error
	if m.ends, err = more(x.file, m.ends, hi-lo, x.at+4*int64(lo)); err != nil {
		return err
	}
	ends := m.ends[len(m.ends)-(hi-lo):]
	for i := range ends {
		ends[i] += before - start
	}
	if !neighbours {
		return nil
	}
	n := int(ends[len(ends)-1] - before)
	at := x.at + 4*int64(x.nodes)
	if m.neighbours, err = more(x.file, m.neighbours, n, at+4*int64(start)); err != nil || !g.weighted {
		return err
	}
	m.weights, err = more(x.file, m.weights, n, at+4*(int64(x.neighbours)+int64(start)))
	return err
}

// more appends n words that are read from the file to s.
func more(f vfs.File, s []uint32, n int, at int64) ([]uint32, error) {
	old := len(s)
	if cap(s) < old+n {
		s = append(make([]uint32, 0, old+n+n/4), s...)
	}
	s = s[:old+n]
	return s, readWords(f, s[old:], at)
}
