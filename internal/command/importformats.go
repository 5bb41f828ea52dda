package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/report"
)

// importFormatList is the list of the formats of import.
type importFormatList []report.ImportFormat

// importFormats are the formats, and the databases, which are recognised by their address and have no name for --format.
func importFormats() importFormatList {
	return append(graphmill.DescribeImportFormats(), report.ImportFormat{
		Name: "database", Source: "sqlite:FILE, or postgres://USER@HOST/DATABASE; not a name for --format",
		Becomes: "a node type for each table, and an edge type for each foreign key; or the rows of queries in a graph.yaml",
	})
}

// Text writes a paragraph for each format: its name and what SRC is, and below it what SRC becomes.
func (l importFormatList) Text(w io.Writer) error {
	width := 0
	for _, f := range l {
		width = max(width, len(f.Name))
	}
	for _, f := range l {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n%s  -> %s\n", width, f.Name, f.Source, strings.Repeat(" ", width), f.Becomes); err != nil {
			return err
		}
	}
	return nil
}
