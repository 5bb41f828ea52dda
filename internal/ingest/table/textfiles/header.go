package textfiles

import (
	"fmt"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Header returns the cells of the first line of a file that is no comment, whatever they are, and the delimiter between them; nil: there is no
// line.
func Header(fsys vfs.FS, path string, delimiter byte) ([]string, byte, error) {
	t := newText(fsys)
	_, h, err := t.open(path, nil, CSVOptions{})
	if err != nil {
		return nil, 0, err
	}
	if err := h.encoding(); err != nil {
		return nil, 0, err
	}
	line := h.first()
	if len(line) == 0 {
		return nil, 0, nil
	}
	if !h.whole && h.body+len(line) >= len(h.bytes)-1 {
		return nil, 0, h.tooLong()
	}
	if delimiter == 0 {
		delimiter = h.delim
	}
	syntax := syntaxOf(path, delimiter, line)
	cells, bad := syntax.cells(line)
	if bad != nil {
		return nil, 0, badf("%s:%d:%d: %s", path, h.line+1, bad.at+1, bad.text)
	}
	if len(cells) > maxFields {
		return nil, 0, badf("%s: found %d columns, expected at most %d; is the table the wrong way round?", fmt.Sprintf("%s:%d", path, h.line+1), len(cells), maxFields)
	}
	return cells, syntax.delim, nil
}
