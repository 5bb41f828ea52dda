package textfiles

import (
	"bytes"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Columns without a name are no fields. Programs write them as the index of a table (pandas), as the names of its rows (R, which
// leaves them out of the header), and after a delimiter at the end of each line.

// namedFields returns the fields that have a name.
func namedFields(fields []table.Field) []table.Field {
	if !slices.ContainsFunc(fields, func(f table.Field) bool { return f.Name == "" }) {
		return fields
	}
	return slices.DeleteFunc(slices.Clone(fields), func(f table.Field) bool { return f.Name == "" })
}

// Unnamed returns the numbers, from 1, of the columns without a name in which the first MiB has values.
func (t *CSV) Unnamed() []int { return t.unnamed }

// complete adds the columns that a header leaves out: one without a name at its start, if all lines of the head, of which there are
// several, have one cell more and begin with different ones, or at its end, if those are empty. It notes the columns without a name that have values. rest
// is the text after the header.
func (t *CSV) complete(names []string, rest []byte, whole bool) []string {
	p := &parser{syntax: t.syntax, stops: stopsOf(t.syntax)}
	text := new(block)
	text.grow(len(rest), 0)
	n := copy(text.buf, rest)
	end := max(0, t.syntax.lastRecordEnd(text.buf[:n]))
	if whole {
		end = text.finish(n)
	}
	rows, trailing, different := 0, true, true
	first := map[string]bool{}
	valued := make([]bool, len(names)+1) // by cell
	for at := 0; at < end; {
		cells, next, bad := p.cellsAt(text.buf, at, end)
		at = next
		switch {
		case bad != nil: // of the scan
			at = end
		case cells == nil:
		case rows == 0 && len(cells) <= len(names) && !slices.Contains(names, ""):
			return names
		case len(cells) == len(names)+1:
			rows++
			trailing = trailing && cells[len(names)] == ""
			different = different && cells[0] != "" && !first[cells[0]]
			first[cells[0]] = true
		default:
			rows, trailing, different = rows+1, false, false
		}
		for i := range min(len(cells), len(valued)) {
			valued[i] = valued[i] || cells[i] != ""
		}
	}
	switch {
	case rows > 0 && trailing:
		names = append(names, "")
	case rows > 1 && different:
		names = append([]string{""}, names...)
	}
	for i, name := range names {
		if name == "" && valued[i] {
			t.unnamed = append(t.unnamed, i+1)
		}
	}
	return names
}

// cellsAt returns the cells of the record at b[at:], none for an empty line, and the offset after it.
func (p *parser) cellsAt(b []byte, at, end int) (cells []string, next int, bad *badText) {
	at = p.blanks(b, at)
	if next := lineEnd(b, at); next > 0 {
		return nil, next, nil
	}
	for {
		cell, after, bad := p.field(b, at, end)
		if bad != nil {
			return nil, end, bad
		}
		cells = append(cells, string(bytes.TrimSpace(cell)))
		at = p.blanks(b, after)
		if next := lineEnd(b, at); next > 0 {
			return cells, next, nil
		}
		if !p.runs {
			at++
		}
	}
}

// separatorLine returns the delimiter that the first line "sep=;" says, as spreadsheets do, and the bytes of that line; 0: it is
// another line.
func separatorLine(b []byte) (delim byte, n int) {
	line, _, ended := bytes.Cut(b, []byte("\n"))
	if !ended {
		return 0, 0
	}
	text := strings.Trim(strings.TrimRight(string(line), "\r"), `"`)
	if len(text) != 5 || !strings.EqualFold(text[:4], "sep=") || !strings.Contains(",\t;| ", text[4:]) {
		return 0, 0
	}
	return text[4], len(line) + 1
}

// remarks returns the offset after the lines at the start of b that begin with # and are comments: those before the first that has as
// many cells as the first line without #. That one is a header, or data.
func remarks(path string, delim byte, b []byte) int {
	at := 0
	for at < len(b) && b[at] == '#' {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			return 0
		}
		at += n + 1
	}
	if at == 0 {
		return 0
	}
	after := (&head{bytes: b, body: at}).first()
	s := syntaxOf(path, delim, after)
	cells, bad := s.cells(after)
	if len(after) == 0 || bad != nil {
		return 0
	}
	for line := 0; line < at; {
		n := bytes.IndexByte(b[line:], '\n')
		if found, bad := s.cells(bytes.TrimRight(b[line:line+n], "\r")); bad == nil && len(found) == len(cells) {
			return line
		}
		line += n + 1
	}
	return at
}
