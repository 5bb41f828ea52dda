package textfiles

import (
	"fmt"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Header returns the cells of the first line of a file that is no comment, whatever they are; nil: there is no line.
func Header(fsys vfs.FS, path string, delimiter byte) ([]string, error) {
	t := newText(fsys)
	_, h, err := t.open(path, nil, CSVOptions{})
	if err != nil {
		return nil, err
	}
	if err := h.encoding(); err != nil {
		return nil, err
	}
	line := h.first()
	if len(line) == 0 {
		return nil, nil
	}
	if !h.whole && h.body+len(line) >= len(h.bytes)-1 {
		return nil, h.tooLong()
	}
	if delimiter == 0 {
		delimiter = h.delim
	}
	cells, bad := syntaxOf(path, delimiter, line).cells(line)
	if bad != nil {
		return nil, badf("%s:%d:%d: %s", path, h.line+1, bad.at+1, bad.text)
	}
	if len(cells) > maxFields {
		return nil, badf("%s: found %d columns, expected at most %d; is the table the wrong way round?", fmt.Sprintf("%s:%d", path, h.line+1), len(cells), maxFields)
	}
	return cells, nil
}
