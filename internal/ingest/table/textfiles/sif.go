package textfiles

import (
	"bytes"
	"fmt"

	"github.com/graphmill/graphmill/internal/vfs"
)

// OpenSIF opens a file of Cytoscape's simple interaction format as triples: a node, a relation and the nodes to which it has the relation
// per line, separated by tabs (tabs), or by runs of blanks. Each of those is a row. Lines with a node alone are left out.
func OpenSIF(fsys vfs.FS, path string, tabs bool) (*Lines, error) {
	return newLines(fsys, []string{path}, nil, []string{TripleHead, TripleRelation, TripleTail}, func(line []byte, c *cells) (string, int) {
		words := bytes.Fields(line)
		if at := bytes.IndexByte(line, '\t'); tabs {
			words = words[:0]
			for cell := range bytes.SplitSeq(bytes.TrimSpace(line), []byte("\t")) {
				if cell = bytes.TrimSpace(cell); len(cell) == 0 && len(bytes.TrimSpace(line)) > 0 {
					return "found an empty cell, expected a name between two tabs", 0
				} else if len(cell) > 0 {
					words = append(words, cell)
				}
			}
		} else if at >= 0 && len(words) > 0 {
			return "found a tab after lines that are separated by blanks, expected one of the two in all lines; separate all cells by tabs", at
		}
		switch len(words) {
		case 0:
			return "", 0
		case 1:
			return leftOut, 0
		case 2:
			return fmt.Sprintf("found %d cells, expected a node alone, or a node, a relation and nodes", len(words)), 0
		}
		for _, to := range words[2:] {
			c.add(0, words[0])
			c.add(1, words[1])
			c.add(2, to)
			c.end()
		}
		return "", 0
	})
}
