package undirected

import (
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// SpillWriter makes a Spilled from rows that come in the order of their nodes. It holds about 512 KiB and the longest row.
type SpillWriter struct {
	g          *Spilled
	temp       string
	end        int64
	ends       []uint32
	neighbours []uint32
	weights    []uint32
}

// NewSpillWriter makes a temporary file in a folder. weighted says that pairs have weights. Done or Close ends it.
func NewSpillWriter(fsys vfs.FS, temp string, weighted bool) (*SpillWriter, error) {
	file, err := fsys.Temp(temp)
	if err != nil {
		return nil, err
	}
	return &SpillWriter{g: &Spilled{Constraints: 1, files: []vfs.File{file}, weighted: weighted}, temp: temp}, nil
}

// Row appends the row of the next node. Its neighbours and, if pairs have weights, their weights are copied.
func (w *SpillWriter) Row(neighbours, weights []uint32) error {
	if len(w.neighbours) > 0 && len(w.neighbours)+len(neighbours) > piece || len(w.ends) == piece {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.neighbours = append(w.neighbours, neighbours...)
	if w.g.weighted {
		w.weights = append(w.weights, weights...)
	}
	w.ends = append(w.ends, uint32(len(w.neighbours)))
	return nil
}

// flush writes the rows since the last call as a block.
func (w *SpillWriter) flush() error {
	g := w.g
	g.blocks = append(g.blocks, spilledBlock{file: g.files[0], at: w.end, first: uint32(g.nodes), nodes: len(w.ends), neighbours: len(w.neighbours)})
	g.nodes += len(w.ends)
	g.entries += int64(len(w.neighbours))
	for _, words := range [][]uint32{w.ends, w.neighbours, w.weights} {
		b := graph.Bytes(words)
		if len(b) == 0 {
			continue
		}
		if _, err := g.files[0].WriteAt(b, w.end); err != nil {
			return fmt.Errorf("temporary file in %s: %w", w.temp, err)
		}
		w.end += int64(len(b))
	}
	w.ends, w.neighbours, w.weights = w.ends[:0], w.neighbours[:0], w.weights[:0]
	return nil
}

// Done returns the graph, which the caller must close.
func (w *SpillWriter) Done() (*Spilled, error) {
	if len(w.ends) > 0 {
		if err := w.flush(); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	g := w.g
	w.g = nil
	return g, nil
}

// Close removes the temporary file, unless Done returned it.
func (w *SpillWriter) Close() error {
	if w.g == nil {
		return nil
	}
	g := w.g
	w.g = nil
	return g.Close()
}
