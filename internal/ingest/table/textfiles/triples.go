package textfiles

import (
	"bytes"
	"fmt"

	"github.com/graphmill/graphmill/format/rdf"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The fields of tables of triples.
const (
	TripleHead     = "head"
	TripleRelation = "relation"
	TripleTail     = "tail"
	TripleSplit    = "split"
)

// OpenNTriples opens files of N-Triples or N-Quads. The rows are the triples whose object is an IRI or a blank node,
// with the columns head, relation and tail: IRIs without brackets, and blank nodes with their "_:". Triples with a
// literal are left out. Labels of graphs are not read.
func OpenNTriples(fsys vfs.FS, paths ...string) (*Lines, error) {
	return newLines(fsys, paths, nil, []string{TripleHead, TripleRelation, TripleTail}, func(line []byte, c *cells) (string, int) {
		if c.triple == nil {
			c.triple = &rdf.Triple{}
		}
		t := c.triple
		if problem, at := t.Parse(line); problem != "" {
			return problem, at
		}
		switch {
		case !t.Some:
			return "", 0
		case t.Literal:
			return leftOut, 0
		}
		c.add(0, t.Subject)
		c.add(1, t.Predicate)
		c.add(2, t.Object)
		c.end()
		return "", 0
	})
}

// OpenTriples opens files with a triple per line: head, relation and tail, separated by tabs. Quotes stand for
// themselves, and empty lines are skipped. If labels is not nil, the column split has the label of each file.
func OpenTriples(fsys vfs.FS, paths, labels []string) (*Lines, error) {
	fields := []string{TripleHead, TripleRelation, TripleTail}
	if labels != nil {
		fields = append(fields, TripleSplit)
	}
	return newLines(fsys, paths, labels, fields, tabbed(3, "a head, a relation and a tail, separated by tabs"))
}

// OpenPairsOfText opens a file with two cells per line, separated by a tab. Quotes stand for themselves.
func OpenPairsOfText(fsys vfs.FS, path, first, second string) (*Lines, error) {
	return newLines(fsys, []string{path}, nil, []string{first, second}, tabbed(2, first+" and "+second+", separated by a tab"))
}

// tabbed cuts a line at its tabs.
func tabbed(n int, expected string) split {
	return func(line []byte, c *cells) (string, int) {
		if len(line) == 0 {
			return "", 0
		}
		if tabs := bytes.Count(line, []byte("\t")); tabs != n-1 {
			return fmt.Sprintf("found %d cells, expected %s", tabs+1, expected), 0
		}
		for i := range n {
			cell, rest, _ := bytes.Cut(line, []byte("\t"))
			c.add(i, bytes.TrimSpace(cell))
			line = rest
		}
		c.end()
		return "", 0
	}
}
