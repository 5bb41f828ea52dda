package ingest

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// snapComments is what the comments above an edge list say, as SNAP writes them:
//
//	# Undirected graph: ../../data/output/dblp.ungraph.txt
//	# Nodes: 317080 Edges: 1049866
//	# FromNodeId	ToNodeId
type snapComments struct {
	Declared
	columns    []string // of the last comment, if it names the ends
	undirected bool
	warnings   []string
}

var snapCounts = regexp.MustCompile(`(?i)\bnodes:\s*([0-9]+)\s+edges:\s*([0-9]+)`)

// snapEnds are the names of the ends in comments, in lower case and without separators.
var snapEnds = [2][]string{{"fromnodeid", "fromnode", "from", "source", "src"}, {"tonodeid", "tonode", "to", "target", "dst"}}

// readSNAP reads the comments of one list, such as a .txt file. Several files have comments of their own each, which are not read.
func readSNAP(fsys vfs.FS, files []string) (c snapComments, err error) {
	if len(files) != 1 || !textfiles.IsList(files[0]) {
		return c, nil
	}
	text, err := head(fsys, files[0])
	if err != nil {
		return c, err
	}
	for n := 1; len(text) > 0 && text[0] == '#'; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		comment := strings.TrimSpace(strings.TrimLeft(string(line), "# "))
		if m := snapCounts.FindStringSubmatch(comment); m != nil {
			nodes, nerr := strconv.ParseUint(m[1], 10, 64)
			edges, eerr := strconv.ParseUint(m[2], 10, 64)
			if nerr == nil && eerr == nil {
				c.Declared = Declared{Place: fmt.Sprintf("%s:%d", files[0], n), Nodes: nodes, Edges: edges}
			}
		}
		if strings.HasPrefix(strings.ToLower(comment), "undirected graph") {
			c.undirected = true
			c.warnings = append(c.warnings, fmt.Sprintf("%s:%d: the comment says that the graph is undirected, so the reverse of each edge is added", files[0], n))
		}
		c.columns = columnsOf(comment)
	}
	return c, nil
}

// columnsOf returns the columns that a comment names, or nil if the first two are not the ends.
func columnsOf(comment string) []string {
	names := strings.Fields(comment)
	if len(names) < 2 {
		return nil
	}
	for i, usual := range snapEnds {
		if !slices.Contains(usual, strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(names[i]))) {
			return nil
		}
		names[i] = []string{"src", "dst"}[i]
	}
	for i, n := range names {
		if names[i] = strings.ToLower(n); slices.Contains(names[:i], names[i]) {
			return nil
		}
	}
	return names
}

// names returns the columns of a file whose first line is data, or nil if they are not known. A third column of a list
// of numbers has the name weight, or time where it holds whole numbers as of seconds since 1970.
func (c *snapComments) names(first []string, file string) []string {
	switch {
	case len(c.columns) == len(first):
		return c.columns
	case len(first) == 2:
		return []string{"src", "dst"}
	case len(first) != 3 || !textfiles.IsList(file) || slices.ContainsFunc(first, func(cell string) bool {
		_, err := strconv.ParseFloat(cell, 64)
		return err != nil
	}):
		return nil
	}
	third := "weight"
	if table.Extension(file) == ".wel" { // weights by definition
		return []string{"src", "dst", third}
	}
	if v, err := strconv.ParseInt(first[2], 10, 64); err == nil && v >= 1e8 {
		third = "time"
	}
	c.warnings = append(c.warnings, fmt.Sprintf("%s: the file has no header: its columns are read as src, dst and %s; name them with `Columns` if they are others", file, third))
	return []string{"src", "dst", third}
}
