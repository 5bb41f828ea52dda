package textfiles

import (
	"bytes"

	"github.com/graphmill/graphmill/internal/vfs"
)

// OpenSIF opens a file of Cytoscape's simple interaction format as triples: a node, a relation and the nodes to which it has the relation
// per line, separated by tabs (tabs), or by runs of blanks. Each of those is a row. Lines with a node alone have none.
func OpenSIF(fsys vfs.FS, path string, tabs bool) (*Lines, error) {
	return newLines(fsys, []string{path}, nil, []string{TripleHead, TripleRelation, TripleTail}, func(line []byte, c *cells) (string, int) {
		words, problem, at := sifWords(line, tabs)
		if problem != "" || len(words) < 3 {
			return problem, at
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

// OpenSIFNodes opens the nodes that stand alone on a line of such a file, as the column TripleHead. A node may be on several lines, and have relations on others.
func OpenSIFNodes(fsys vfs.FS, path string, tabs bool) (*Lines, error) {
	return newLines(fsys, []string{path}, nil, []string{TripleHead}, func(line []byte, c *cells) (string, int) {
		words, problem, at := sifWords(line, tabs)
		if problem == "" && len(words) == 1 {
			c.add(0, words[0])
			c.end()
		}
		return problem, at
	})
}

// sifWords cuts a line into words, and says what is wrong with it.
func sifWords(line []byte, tabs bool) (words [][]byte, problem string, place int) {
	words = bytes.Fields(line)
	if at := bytes.IndexByte(line, '\t'); tabs {
		words = words[:0]
		for cell := range bytes.SplitSeq(bytes.TrimSpace(line), []byte("\t")) {
			if cell = bytes.TrimSpace(cell); len(cell) == 0 && len(bytes.TrimSpace(line)) > 0 {
				return nil, "found an empty cell, expected a name between two tabs", 0
			} else if len(cell) > 0 {
				words = append(words, cell)
			}
		}
	} else if at >= 0 && len(words) > 0 {
		return nil, "found a tab after lines that are separated by blanks, expected one of the two in all lines; separate all cells by tabs", at
	}
	if len(words) == 2 {
		return nil, "found 2 cells, expected a node alone, or a node, a relation and nodes", 0
	}
	return words, "", 0
}
