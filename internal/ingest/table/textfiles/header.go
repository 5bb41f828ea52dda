package textfiles

// FirstCells returns the cells of the first line of the text of a file that is no comment, whatever they are, and the delimiter between them; nil: there is no such
// line, or it is longer than the text. text is the start of the file, and whole says that it is all of it.
func FirstCells(path string, text []byte, whole bool, delimiter byte) ([]string, byte) {
	h := head{path: path, bytes: text, whole: whole}
	if h.skipRemarks(CSVOptions{}) != nil || h.encoding() != nil {
		return nil, 0
	}
	line := h.first()
	if len(line) == 0 || !h.whole && h.body+len(line) >= len(h.bytes)-1 {
		return nil, 0
	}
	if delimiter == 0 {
		delimiter = h.delim
	}
	s := syntaxOf(path, delimiter, line)
	cells, bad := s.cells(line)
	if bad != nil || len(cells) > maxFields {
		return nil, 0
	}
	return cells, s.delim
}
