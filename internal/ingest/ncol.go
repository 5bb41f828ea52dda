package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// largeGraph is one of the two text formats of the program LGL, which igraph reads and writes. It gives a homogeneous graph.
type largeGraph struct {
	kind, ext, what string
	// read calls row with the line, the ends and the weight of each edge, and alone with the line and the name of each node that has no edge below it.
	read func(in io.Reader, path string, row func(line int, cells [][]byte) error, alone func(line int, node []byte) error) error
}

var (
	ncol = &largeGraph{"ncol", ".ncol", "two nodes and perhaps a weight per line", readNCOL}
	lgl  = &largeGraph{"lgl", ".lgl", "a line # and a node, and below it a neighbour and perhaps a weight per line", readLGL}
)

func (k *largeGraph) name() string { return k.kind }
func (k *largeGraph) about() string {
	return fmt.Sprintf("%s of LGL and igraph: %s; plain or as .gz or .zst", k.ext, k.what)
}
func (k *largeGraph) becomes() string {
	return "a graph of one type; weights become a column of the edges"
}
func (k *largeGraph) detect(path string, names []string) bool {
	return names == nil && table.Extension(path) == k.ext
}

func (k *largeGraph) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	alone, err := k.survey(fsys, path)
	if err != nil {
		return nil, err
	}
	if alone.text != "" {
		if o.IDs == idsInteger {
			return nil, sourcef("%s:%d: found the node %.40q, expected an integer; correct it, or leave `IDs` out", path, alone.line, alone.text)
		}
		o.IDs = idsString
	}
	t, err := openGuessed(ctx, fsys, path, []string{"src", "dst", "weight"}, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		return k.read(in, path, row, func(int, []byte) error { return nil })
	})
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	if s.Input, err = t.edges(ctx, o); err != nil || alone.nodes == 0 {
		return s, err
	}
	n := &s.Input.Nodes[0]
	switch {
	case n.ID.DType != graph.Uint64:
		return s, s.partial(ctx, n.Type, func() (table.Table, error) {
			return textfiles.OpenStream(fsys, path, []table.Field{{Name: "node", DType: graph.String}}, func(in io.Reader, row func(line int, cells [][]byte) error) error {
				return k.read(in, path, func(int, [][]byte) error { return nil }, func(line int, node []byte) error { return row(line, [][]byte{node}) })
			})
		}, o)
	case o.NumNodes > 0 && alone.largest >= o.NumNodes:
		return nil, sourcef("%s: found the node %d, expected ids below `NumNodes`, %d; give a larger number, or leave it out", path, alone.largest, o.NumNodes)
	case o.NumNodes == 0 && alone.largest > alone.end:
		n.Count = alone.largest + 1
	}
	return s, nil
}

// aloneNodes describes the nodes that have no edge below them.
type aloneNodes struct {
	nodes        int
	largest, end uint64 // the largest of them that is an integer, and the largest end of an edge
	text         string // the first that is no integer
	line         int
}

// survey reads a file once for the nodes that have no edge below them.
func (k *largeGraph) survey(fsys vfs.FS, path string) (a aloneNodes, err error) {
	err = textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		return k.read(in, path, func(_ int, cells [][]byte) error {
			for _, cell := range cells[:2] {
				if n, err := strconv.ParseUint(string(cell), 10, 63); err == nil {
					a.end = max(a.end, n)
				}
			}
			return nil
		}, func(line int, node []byte) error {
			a.nodes++
			n, err := strconv.ParseUint(string(node), 10, 63)
			if plain := err == nil && strconv.FormatUint(n, 10) == string(node); plain {
				a.largest = max(a.largest, n)
			} else if a.text == "" {
				a.text, a.line = string(node), line
			}
			return nil
		})
	})
	return a, err
}

// readNCOL reads lines of two nodes and perhaps a weight. Names have no #, which begins comments.
func readNCOL(in io.Reader, path string, row func(line int, cells [][]byte) error, _ func(int, []byte) error) error {
	cells := make([][]byte, 3)
	return textfiles.EachLine(in, path, func(line int, text []byte) error {
		words := bytes.Fields(text)
		if len(words) == 0 || words[0][0] == '#' {
			return nil
		}
		if len(words) < 2 || len(words) > 3 {
			return sourcef("%s:%d: found %d words, expected two nodes and perhaps a weight, separated by blanks; correct the line", path, line, len(words))
		}
		cells[2] = nil
		copy(cells, words)
		return row(line, cells)
	})
}

// readLGL reads lines # with a node, and lines of its neighbours, each with a weight or without one.
func readLGL(in io.Reader, path string, row func(line int, cells [][]byte) error, alone func(line int, node []byte) error) error {
	cells := make([][]byte, 3)
	var node []byte
	neighbours, at := 0, 0
	ended := func() error {
		if node != nil && neighbours == 0 {
			return alone(at, node)
		}
		return nil
	}
	err := textfiles.EachLine(in, path, func(line int, text []byte) error {
		words := bytes.Fields(text)
		switch {
		case len(words) == 0:
			return nil
		case words[0][0] == '#':
			name := bytes.Fields(bytes.TrimLeft(bytes.TrimSpace(text), "#"))
			if len(name) != 1 {
				return sourcef("%s:%d: found %d words after #, expected a node; correct the line", path, line, len(name))
			}
			if err := ended(); err != nil {
				return err
			}
			node, neighbours, at = bytes.Clone(name[0]), 0, line
			return nil
		case node == nil:
			return sourcef("%s:%d: found a neighbour above the first node, expected a line # and a node; correct the line", path, line)
		case len(words) > 2:
			return sourcef("%s:%d: found %d words, expected a neighbour and perhaps a weight, separated by a blank; correct the line", path, line, len(words))
		}
		neighbours++
		cells[0], cells[2] = node, nil
		copy(cells[1:], words)
		return row(line, cells)
	})
	if err == nil {
		err = ended()
	}
	return err
}
