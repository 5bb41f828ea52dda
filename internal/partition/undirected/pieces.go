package undirected

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Piece is the rows of consecutive nodes in a file of their own.
type Piece struct {
	Name       string
	Nodes      int
	Neighbours int64
}

// WritePiece writes the rows of a block without weights as the file of a piece.
func WritePiece(w io.Writer, b *Block) error {
	ends := make([]uint32, b.Len())
	for i := range ends {
		ends[i] = b.Offsets[i+1] - b.Offsets[0]
	}
	if _, err := w.Write(graph.Bytes(ends)); err != nil {
		return err
	}
	_, err := w.Write(graph.Bytes(b.Neighbours))
	return err
}

// OpenPieces opens a graph whose rows are in the files of pieces, which follow each other. The caller must close the result.
func OpenPieces(fsys vfs.FS, pieces []Piece) (_ *Spilled, err error) {
	g := &Spilled{Constraints: 1}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	for _, p := range pieces {
		f, err := fsys.Open(p.Name)
		if err != nil {
			return nil, err
		}
		g.files = append(g.files, f)
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if want := 4*int64(p.Nodes) + 4*p.Neighbours; info.Size() != want {
			return nil, fmt.Errorf("%s: found %d bytes, expected %d for %d nodes with %d neighbours; remove the work folder, and give the same command again", p.Name, info.Size(), want, p.Nodes, p.Neighbours)
		}
		if p.Nodes > 0 {
			g.blocks = append(g.blocks, spilledBlock{file: f, first: uint32(g.nodes), nodes: p.Nodes, neighbours: int(p.Neighbours)})
		}
		g.nodes, g.entries = g.nodes+p.Nodes, g.entries+p.Neighbours
	}
	return g, nil
}
