package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// largeGraph is one of the two text formats of the program LGL, which igraph reads and writes. It gives a homogeneous graph.
type largeGraph struct {
	kind, ext, what string
	// read calls row with the line, the ends and the weight of each edge, and alone for each node that is named without an edge.
	read func(in io.Reader, path string, row func(line int, cells [][]byte) error, alone func()) error
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
	var nodesAlone atomic.Int64
	t, err := openGuessed(ctx, fsys, path, []string{"src", "dst", "weight"}, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		alone := int64(0)
		err := k.read(in, path, row, func() { alone++ })
		nodesAlone.Store(alone)
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	if n := nodesAlone.Load(); n > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: found %d nodes without neighbours below them; those that are no neighbours either are left out", path, n))
	}
	s.Input, err = t.edges(ctx, o)
	return s, err
}

// readNCOL reads lines of two nodes and perhaps a weight. Names have no #, which begins comments.
func readNCOL(in io.Reader, path string, row func(line int, cells [][]byte) error, _ func()) error {
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
func readLGL(in io.Reader, path string, row func(line int, cells [][]byte) error, alone func()) error {
	cells := make([][]byte, 3)
	var node []byte
	neighbours := 0
	ended := func() {
		if node != nil && neighbours == 0 {
			alone()
		}
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
			ended()
			node, neighbours = bytes.Clone(name[0]), 0
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
		ended()
	}
	return err
}
