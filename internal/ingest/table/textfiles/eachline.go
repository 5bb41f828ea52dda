package textfiles

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

// EachLine calls fn for each line of a text, without its line end, and its number from 1. The line is valid until fn returns. It returns
// the first error of fn. path is the name of the file, for errors.
func EachLine(in io.Reader, path string, fn func(line int, text []byte) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var long []byte // a line that does not fit the buffer
	for n := 1; ; n++ {
		text, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], text...)
			for errors.Is(err, bufio.ErrBufferFull) && len(long) <= table.MaxRecord {
				text, err = r.ReadSlice('\n')
				long = append(long, text...)
			}
			if len(long) > table.MaxRecord {
				return badf("%s:%d: found a line of more than %d bytes, expected fewer; is this a text file?", path, n, table.MaxRecord)
			}
			text = long
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended := err != nil
		if ended && len(text) == 0 {
			return nil
		}
		text = bytes.TrimRight(bytes.TrimSuffix(text, []byte("\n")), "\r")
		if at := invalid(text); at >= 0 {
			return badEncoding(path, uint64(n), at, text[at])
		}
		if err := fn(n, text); err != nil {
			return err
		}
		if ended {
			return nil
		}
	}
}
