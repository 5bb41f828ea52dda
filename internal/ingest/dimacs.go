package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/vfs"
)

// dimacs is a graph in the text format of the DIMACS challenges: the arcs of shortest paths (.gr), or the edges of colouring (.col). It
// gives a homogeneous graph.
type dimacs struct{}

func (dimacs) name() string { return "dimacs" }
func (dimacs) about() string {
	return ".gr or .col of the DIMACS challenges, with p sp, p edge or p col; plain or as .gz or .zst"
}
func (dimacs) becomes() string {
	return "a graph of one type; the weights of arcs become the column weight, and edges are in both directions"
}
func (dimacs) detect(path string, names []string) bool {
	return names == nil && (slices.Contains(dimacsExtensions, table.Extension(path)) || mayBeList(path))
}

var dimacsExtensions = []string{".gr", ".col", ".dimacs"}

// sniff looks for a line p WORD NODES EDGES below comments.
func (dimacs) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	first, err := headLine(fsys, path)
	if err != nil || first == "" || !strings.Contains("cpae", first[:1]) {
		return false, err
	}
	if slices.Contains(dimacsExtensions, table.Extension(path)) { // the reader says what is wrong
		return true, nil
	}
	text, err := head(fsys, path)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0, words[0] == "c":
		case words[0] == "p" && len(words) == 4:
			_, nodes := strconv.ParseUint(words[2], 10, 63)
			_, edges := strconv.ParseUint(words[3], 10, 63)
			return nodes == nil && edges == nil, nil
		default:
			return false, nil
		}
	}
	return false, nil
}

// dimacsProblem holds the line p of a file: its problem, and the numbers of nodes and edges that it states.
type dimacsProblem struct {
	kind         string // sp, edge or col
	nodes, edges uint64
	line         int
}

// parseDIMACS parses the line p.
func parseDIMACS(words [][]byte, path string, line int) (p dimacsProblem, err error) {
	p.line = line
	if len(words) == 4 {
		p.kind = string(words[1])
		if p.nodes, err = strconv.ParseUint(string(words[2]), 10, 63); err == nil {
			p.edges, err = strconv.ParseUint(string(words[3]), 10, 63)
		}
		if err == nil {
			if slices.Contains([]string{"sp", "edge", "col"}, p.kind) {
				return p, nil
			}
			return p, sourcef("%s:%d: found the problem %.20q, expected sp, edge or col, which are graphs; write its edges as a table", path, line, p.kind)
		}
	}
	return p, sourcef("%s:%d: found %.60q, expected p, the problem and the numbers of nodes and edges; correct the line", path, line, bytes.Join(words, []byte(" ")))
}

// readDIMACS calls row with the ends and the weight of each line of an arc or an edge, and problem with the line p before.
func readDIMACS(in io.Reader, path string, problem func(p dimacsProblem), row func(line int, cells [][]byte) error) error {
	var p dimacsProblem
	cells := make([][]byte, 3)
	err := textfiles.EachLine(in, path, func(line int, text []byte) error {
		words := bytes.Fields(text)
		if len(words) == 0 || words[0][0] == 'c' {
			return nil
		}
		kind, want := "a", 4
		if p.kind == "edge" || p.kind == "col" {
			kind, want = "e", 3
		}
		switch word := string(words[0]); {
		case word == "p" && p.kind != "":
			return sourcef("%s:%d: found a second line p, expected the one in line %d; a file has one graph", path, line, p.line)
		case word == "p":
			var err error
			if p, err = parseDIMACS(words, path, line); err == nil {
				problem(p)
			}
			return err
		case p.kind == "":
			return sourcef("%s:%d: found %.40q, expected a line p above the edges; add it", path, line, text)
		case word != kind || len(words) != want:
			return sourcef("%s:%d: found %.40q, expected %s and %d numbers in a problem %s; write other data as tables", path, line, text, kind, want-1, p.kind)
		}
		cells[2] = nil
		copy(cells, words[1:])
		return row(line, cells)
	})
	if err == nil && p.kind == "" {
		err = sourcef("%s: found no line p, expected one such as p sp 4 6; correct the file", path)
	}
	return err
}

func (dimacs) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString || o.NumNodes > 0 {
		return nil, usagef("found string ids or `NumNodes` with %s, expected neither: the file numbers its nodes and states their number; leave `IDs` and `NumNodes` out", path)
	}
	var p dimacsProblem
	names := []string{"src", "dst", "weight"}
	err := textfiles.ReadStream(fsys, path, func(in io.Reader) error {
		err := readDIMACS(in, path, func(found dimacsProblem) { p = found }, func(int, [][]byte) error { return errEnough })
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if p.kind != "sp" {
		names = names[:2]
	}
	t, err := openGuessed(ctx, fsys, path, names, func(in io.Reader, row func(line int, cells [][]byte) error) error {
		return readDIMACS(in, path, func(dimacsProblem) {}, func(line int, cells [][]byte) error { return row(line, cells[:len(names)]) })
	})
	if err != nil {
		return nil, err
	}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Src: keyColumn("src", true), Dst: keyColumn("dst", true), Symmetrise: p.kind != "sp"}
	if e.Columns, err = t.numbers(ctx, o); err != nil {
		return nil, err
	}
	n, err := plainNodes(fsys, path, graph.HomogeneousNode, p.nodes)
	if err != nil {
		return nil, err
	}
	names = names[:len(t.Fields())]
	if e.Table, err = views.Concat(names, []views.Piece{{Table: views.FromOne(t, "src", "dst"), Rows: p.edges, Says: fmt.Sprintf("%s:%d", path, p.line)}}); err != nil {
		return nil, err
	}
	return &Source{Primary: graph.In, Files: []string{path}, Input: assemble.Input{Nodes: []assemble.Nodes{n}, Edges: []assemble.Edges{e}}}, nil
}
