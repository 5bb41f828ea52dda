package metis

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/ordered"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Header says what a file holds.
type Header struct {
	Nodes, Edges uint64
	// Sizes, Weights and EdgeWeights say which values the lines have. Constraints is the number of weights per node.
	Sizes, Weights, EdgeWeights bool
	Constraints                 int
}

// ReadHeader reads the header of a file.
func ReadHeader(fsys vfs.FS, name string) (_ Header, err error) {
	t, err := openText(fsys, name)
	if err != nil {
		return Header{}, err
	}
	defer func() { err = errors.Join(err, t.file.Close()) }()
	h, err := t.header()
	return Header{h.nodes, h.edges, h.size, h.weights, h.edged, h.constraints}, err
}

// Block is a run of nodes, numbered from First. The neighbours of node i of the run end at Ends[i]. The other lists are
// as in Graph, without the nodes before First.
type Block struct {
	First                                         uint64
	Ends, Neighbours, EdgeWeights, Weights, Sizes []uint32
}

// Scan reads a file in blocks of about 1 MiB, in order. It checks the lines and the counts of the header, and that
// neighbours are nodes, but not that each edge is listed at both ends. fn is called by one goroutine, and must not keep the block. Scan
// holds 2 threads + 1 blocks.
func Scan(ctx context.Context, fsys vfs.FS, name string, threads int, fn func(*Block) error) (err error) {
	return scan(ctx, fsys, name, threads, func(b *block, first uint64) error {
		return fn(&Block{First: first, Ends: b.ends, Neighbours: b.neighbours, EdgeWeights: b.edgeWeight, Weights: b.weight, Sizes: b.sizes})
	})
}

// errFound ends the scan of Place.
var errFound = errors.New("found")

// Place returns file:line of the node that lists the given neighbour, of all neighbours in the order of the file; or of
// a node.
func Place(ctx context.Context, fsys vfs.FS, name string, number uint64, ofNode bool) string {
	place := name
	err := scan(ctx, fsys, name, 1, func(b *block, first uint64) error {
		node := 0
		switch {
		case ofNode && number >= first+uint64(len(b.ends)):
			return nil
		case ofNode:
			node = int(number - first)
		case number >= uint64(len(b.neighbours)):
			number -= uint64(len(b.neighbours))
			return nil
		default:
			for uint64(b.ends[node]) <= number {
				node++
			}
		}
		place = fmt.Sprintf("%s:%d", name, b.line+lineOf(b.text, node))
		return errFound
	})
	if !errors.Is(err, errFound) {
		return fmt.Sprintf("%s: number %d", name, number)
	}
	return place
}

func scan(ctx context.Context, fsys vfs.FS, name string, threads int, fn func(b *block, first uint64) error) (err error) {
	t, err := openText(fsys, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.file.Close()) }()
	h, err := t.header()
	if err != nil {
		return err
	}
	count := counter{header: &h, name: name}
	if err := ordered.Run(ctx, max(threads, 1), func() struct{} { return struct{}{} }, func() *block { return &block{header: &h, name: name} }, ordered.Stages[struct{}, *block]{
		Fill: t.fill,
		Work: func(_ context.Context, _ struct{}, b *block) error { return b.parse() },
		Sink: func(b *block) error {
			first := count.nodes
			if err := count.add(b); err != nil {
				return err
			}
			return fn(b, first)
		},
	}); err != nil {
		return err
	}
	return count.end()
}

// fill reads the text of a block.
func (t *text) fill(b *block) (err error) {
	if b.text, err = t.next(b.text); err != nil {
		if !errors.Is(err, io.EOF) {
			return err
		}
		return io.EOF
	}
	b.line = t.line
	t.line += countLines(b.text)
	return nil
}

// counter compares the content of a file with its header.
type counter struct {
	*header
	name              string
	nodes, neighbours uint64
	empty             uint64 // line from which on all lines are empty and can only be the end of the file
}

// add takes the next block. Empty lines after the last node are cut off.
func (c *counter) add(b *block) error {
	if c.empty != 0 && len(b.ends) > 0 {
		return b.tooFew(c.empty, 0)
	}
	if c.empty == 0 {
		c.empty = b.empty
	}
	if all := c.nodes + uint64(len(b.ends)); all > c.header.nodes {
		if row := len(b.ends) - int(all-c.header.nodes); !b.cut(row) {
			return badf("%s:%d: found a line after that of the last node, expected %d nodes, as line %d says", c.name, b.line+lineOf(b.text, row), c.header.nodes, c.line)
		}
	}
	c.nodes += uint64(len(b.ends))
	c.neighbours += uint64(len(b.neighbours))
	if c.neighbours > 2*c.edges {
		return badf("%s:%d: found %d edges in the header, but more than %d neighbours up to line %d, expected two for each edge", c.name, c.line, c.edges, 2*c.edges, b.line+countLines(b.text))
	}
	return nil
}

// end checks the counts of the whole file.
func (c *counter) end() error {
	if c.nodes < c.header.nodes {
		return badf("%s: found the lines of %d nodes, expected %d, as line %d says; an empty line is a node without neighbours", c.name, c.nodes, c.header.nodes, c.line)
	}
	if c.neighbours != 2*c.edges {
		return badf("%s:%d: found %d edges in the header, expected half of the %d neighbours that the lines list; each edge counts once", c.name, c.line, c.edges, c.neighbours)
	}
	return nil
}
