package cli

import (
	"io"
	"regexp"
	"strings"

	"golang.org/x/term"
)

// terminalColumns is the number of columns of the terminal that a writer writes to, or 0 where there is none.
func terminalColumns(w io.Writer) int {
	f := fileOf(w)
	if f == nil {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// fitted is a text whose lines a terminal of that many columns need not break. With 0 columns the text is as it was.
func fitted(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		b.WriteString(strings.Join(fold(bare, columns), "\n"))
		b.WriteString(line[len(bare):])
	}
	return b.String()
}

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")
	// gap separates the columns of a table.
	gap = regexp.MustCompile(` {2,}`)
)

// paintedWidth is the width of a text without its colours.
func paintedWidth(s string) int { return width(escapes.ReplaceAllString(s, "")) }

// fold breaks a line that is wider than columns: at the dots between figures, where it has some, and otherwise between words. It keeps
// the spaces within a line, so that tables stay aligned. Lines after the first begin below the last column of the table if there is room
// on the right of it, and otherwise four columns further in than the line. A word that is wider than the room stays whole.
func fold(line string, columns int) []string {
	if paintedWidth(line) <= columns {
		return []string{line}
	}
	bare := escapes.ReplaceAllString(line, "")
	text := strings.TrimLeft(bare, " ")
	further := width(bare) - width(text) + 4
	if gaps := gap.FindAllStringIndex(text, -1); gaps != nil {
		if at := width(bare) - width(text) + width(text[:gaps[len(gaps)-1][1]]); at <= columns/2 {
			further = at
		}
	}
	separator := " "
	if strings.Contains(bare, " · ") {
		separator = " · "
	}
	var out []string
	indent := ""
	now := ""
	for i, part := range strings.Split(line, separator) {
		next := part
		if i > 0 {
			next = now + separator + part
		}
		if strings.TrimSpace(escapes.ReplaceAllString(now, "")) != "" && paintedWidth(indent)+paintedWidth(next) > columns && strings.TrimSpace(part) != "" {
			out = append(out, indent+strings.TrimRight(now, " "))
			indent, next = strings.Repeat(" ", min(further, columns/2)), strings.TrimLeft(part, " ")
		}
		now = next
	}
	return append(out, indent+now)
}
