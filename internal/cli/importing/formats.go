package importing

import (
	"fmt"
	"io"
	"strings"

	"github.com/graphmill/graphmill"
)

// formatList is the list of the formats of import.
type formatList []graphmill.ImportFormat

// Text writes a paragraph for each format: its name and what SRC is, and below it what SRC becomes.
func (l formatList) Text(w io.Writer) error {
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
