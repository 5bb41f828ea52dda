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

// Spilled is a graph whose rows are in a temporary file.
type Spilled struct {
	// Constraints and Weights are as in Graph.
	Constraints int
	Weights     []uint32

	file    vfs.File
	blocks  []spilledBlock
	nodes   int
	entries int64
	largest int // words of the largest block
}

// spilledBlock is the position of a block in the file: first the ends of its rows, then the neighbours.
type spilledBlock struct {
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
	g := &Spilled{Constraints: 1, file: file, nodes: b.nodes, blocks: make([]spilledBlock, len(b.starts)-1)}
	var end, entries atomic.Int64
	err = b.rows(ctx, func(_ context.Context, i int, first uint32, degrees, neighbours []uint32) error {
		size := int64(4 * (len(degrees) + len(neighbours)))
		x := spilledBlock{at: end.Add(size) - size, first: first, nodes: len(degrees), neighbours: len(neighbours)}
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
	for _, x := range g.blocks {
		g.largest = max(g.largest, x.nodes+x.neighbours)
	}
	return g, nil
}

// Close removes the temporary file.
func (g *Spilled) Close() error { return g.file.Close() }

// Len implements Rows.
func (g *Spilled) Len() int { return g.nodes }

// Entries implements Rows.
func (g *Spilled) Entries() int64 { return g.entries }

// NodeWeights implements Rows.
func (g *Spilled) NodeWeights() (int, []uint32) { return g.Constraints, g.Weights }

// Scan implements Rows.
func (g *Spilled) Scan(ctx context.Context, threads int, fn func(worker int, b *Block) error) error {
	buffers := make([][]uint32, max(1, threads))
	return scan(ctx, len(g.blocks), threads, func(_ context.Context, worker, i int) error {
		if buffers[worker] == nil {
			buffers[worker] = make([]uint32, 1+g.largest)
		}
		x, words := g.blocks[i], buffers[worker]
		if _, err := g.file.ReadAt(graph.Bytes(words[1:1+x.nodes+x.neighbours]), x.at); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("temporary file: %w", err)
		}
		return fn(worker, &Block{First: x.first, Offsets: words[:1+x.nodes], Neighbours: words[1+x.nodes:][:x.neighbours]})
	})
}
