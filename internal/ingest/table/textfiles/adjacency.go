package textfiles

import (
	"bytes"

	"github.com/graphmill/graphmill/internal/vfs"
)

// OpenAdjacency opens a text file with a node and its neighbours per line, separated by runs of spaces and tabs. A '#'
// begins a comment. nodes has the first name of each line in the column node, edges a row for each neighbour, with the
// columns src, the node, and dst.
func OpenAdjacency(fsys vfs.FS, path string) (nodes, edges *Lines, err error) {
	cut := func(line []byte) [][]byte {
		line, _, _ = bytes.Cut(line, []byte("#"))
		return bytes.Fields(line)
	}
	if nodes, err = newLines(fsys, []string{path}, nil, []string{"node"}, func(line []byte, c *cells) (string, int) {
		if words := cut(line); len(words) > 0 {
			c.add(0, words[0])
			c.end()
		}
		return "", 0
	}); err != nil {
		return nil, nil, err
	}
	edges, err = newLines(fsys, []string{path}, nil, []string{"src", "dst"}, func(line []byte, c *cells) (string, int) {
		words := cut(line)
		for i := 1; i < len(words); i++ {
			c.add(0, words[0])
			c.add(1, words[i])
			c.end()
		}
		return "", 0
	})
	return nodes, edges, err
}
