package undirected

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Spilled is a graph whose rows are in a temporary file, or in the files of pieces (OpenPieces).
type Spilled struct {
	// Constraints and Weights are as in Graph.
	Constraints int
	Weights     []uint32

	files    []vfs.File // one, or one for each piece
	blocks   []spilledBlock
	nodes    int
	entries  int64
	weighted bool // pairs have weights
}

// spilledBlock is the position of a block in a file: first the ends of its rows, then the neighbours, then their weights
// if there are any.
type spilledBlock struct {
	file              vfs.File
	at                int64
	first             uint32
	nodes, neighbours int
}

// Spill builds the graph of all edges of a store in a temporary file, of 8 bytes per pair and 4 bytes per
// node. BuildOptions bound its memory. The caller must close the result.
func Spill(ctx context.Context, s *store.Store, o BuildOptions) (_ *Spilled, err error) {
	b, err := newBuilder(s, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.cut(ctx); err != nil {
		return nil, err
	}
	file, err := o.FS.Temp(o.Temp)
	if err != nil {
		return nil, err
	}
	g := &Spilled{Constraints: 1, files: []vfs.File{file}, nodes: b.nodes, blocks: make([]spilledBlock, len(b.starts)-1)}
	var end, entries atomic.Int64
	err = b.rows(ctx, func(_ context.Context, i int, first uint32, degrees, neighbours []uint32) error {
		size := int64(4 * (len(degrees) + len(neighbours)))
		x := spilledBlock{file: file, at: end.Add(size) - size, first: first, nodes: len(degrees), neighbours: len(neighbours)}
		g.blocks[i] = x
		entries.Add(int64(len(neighbours)))
		sum := uint32(0)
		for j, d := range degrees {
			sum += d
			degrees[j] = sum
		}
		if _, err := file.WriteAt(graph.Bytes(degrees), x.at); err != nil {
			return fmt.Errorf("temporary file in %s: %w", o.Temp, err)
		}
		if _, err := file.WriteAt(graph.Bytes(neighbours), x.at+int64(4*len(degrees))); err != nil {
			return fmt.Errorf("temporary file in %s: %w", o.Temp, err)
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	g.entries = entries.Load()
	return g, nil
}

// Close closes the files. It removes a temporary one.
func (g *Spilled) Close() error {
	var errs []error
	for _, f := range g.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Bytes is the size of the files.
func (g *Spilled) Bytes() int64 {
	words := int64(1)
	if g.weighted {
		words = 2
	}
	return 4*int64(g.nodes) + 4*words*g.entries
}

// Weighted says that pairs have weights.
func (g *Spilled) Weighted() bool { return g.weighted }

// Len implements Rows.
func (g *Spilled) Len() int { return g.nodes }

// Entries implements Rows.
func (g *Spilled) Entries() int64 { return g.entries }

// NodeWeights implements Rows.
func (g *Spilled) NodeWeights() (int, []uint32) { return g.Constraints, g.Weights }

// piece is about the number of neighbours that Scan holds per goroutine. A row with more neighbours is held whole.
const piece = 1 << 16

// Scan implements Rows.
func (g *Spilled) Scan(ctx context.Context, threads int, fn func(worker int, b *Block) error) error {
	buffers := make([]spilledBuffer, max(1, threads))
	return scan(ctx, len(g.blocks), threads, func(_ context.Context, worker, i int) error {
		x, m := g.blocks[i], &buffers[worker]
		if err := m.readEnds(g, x); err != nil {
			return err
		}
		for from := 0; from < x.nodes; {
			to := from + 1
			for to < x.nodes && m.ends[to+1]-m.ends[from] <= piece {
				to++
			}
			first, end := int64(m.ends[from]), int64(m.ends[to])
			b := Block{First: x.first + uint32(from), Offsets: m.ends[from : to+1]}
			at := x.at + 4*int64(x.nodes)
			var err error
			if m.neighbours, err = g.words(x.file, m.neighbours, int(end-first), at+4*first); err != nil {
				return err
			}
			b.Neighbours = m.neighbours
			if g.weighted {
				if m.weights, err = g.words(x.file, m.weights, int(end-first), at+4*(int64(x.neighbours)+first)); err != nil {
					return err
				}
				b.EdgeWeights = m.weights
			}
			if err := fn(worker, &b); err != nil {
				return err
			}
			from = to
		}
		return nil
	})
}

// Degrees calls fn for consecutive nodes in order, with the ends of their rows: the degree of node first+i is
// ends[i+1]-ends[i]. It reads no neighbours. ends is valid during the call.
func (g *Spilled) Degrees(ctx context.Context, fn func(first uint32, ends []uint32) error) error {
	var m spilledBuffer
	return scan(ctx, len(g.blocks), 1, func(_ context.Context, _, i int) error {
		if err := m.readEnds(g, g.blocks[i]); err != nil {
			return err
		}
		return fn(g.blocks[i].first, m.ends)
	})
}

// spilledBuffer holds a part of a block while it is read.
type spilledBuffer struct {
	ends       []uint32 // 0, then the end of each row of the block
	neighbours []uint32
	weights    []uint32
}

// readEnds reads the ends of the rows of a block.
func (m *spilledBuffer) readEnds(g *Spilled, x spilledBlock) error {
	m.ends = sized(m.ends, x.nodes+1)
	m.ends[0] = 0
	return readWords(x.file, m.ends[1:], x.at)
}

// words reads n words into s, which it replaces if it is too small.
func (g *Spilled) words(f vfs.File, s []uint32, n int, at int64) ([]uint32, error) {
	s = sized(s, n)
	return s, readWords(f, s, at)
}

func readWords(f vfs.File, words []uint32, at int64) error {
	b := graph.Bytes(words)
	if n, err := f.ReadAt(b, at); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return fmt.Errorf("rows of a graph: %w", err)
	}
	return nil
}
