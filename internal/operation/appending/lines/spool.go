package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// spoolBuffer is the bytes of the buffer of a spool.
const spoolBuffer = 32 << 10

// spool is a file of rows, one per line.
type spool struct {
	path    string
	file    vfs.File
	w       *bufio.Writer
	size    int64
	numbers []uint64 // of the lines that the rows came with

	// Rows with new values are found again, as there is one per node and per pair of ends.
	rows   map[xxh3.Uint128]int
	starts []int64 // where the rows begin
	old    []bool  // rows that a later one replaced; nil: none
}

// newSpool makes an empty file.
func newSpool(fsys vfs.FS, path string) (*spool, error) {
	f, err := fsys.Create(path)
	if err != nil {
		return nil, err
	}
	return &spool{path: path, file: f, w: bufio.NewWriterSize(f, spoolBuffer), rows: map[xxh3.Uint128]int{}}, nil
}

// add adds a row.
func (s *spool) add(row []byte, number uint64) error {
	_, err := s.w.Write(row)
	if err == nil {
		err = s.w.WriteByte('\n')
	}
	s.size += int64(len(row)) + 1
	s.numbers = append(s.numbers, number)
	return err
}

// change adds a row with new values of what a key names. Values of an earlier row that it does not have stay.
func (s *spool) change(key xxh3.Uint128, row []byte, number uint64) error {
	if i, had := s.rows[key]; had {
		earlier, err := s.rowAt(i)
		if err != nil {
			return err
		}
		if row, err = merged(earlier, row); err != nil {
			return err
		}
		if s.old == nil {
			s.old = make([]bool, len(s.numbers), 2*len(s.numbers))
		}
		s.old[i] = true
	}
	if s.old != nil {
		s.old = append(s.old, false)
	}
	s.rows[key] = len(s.numbers)
	s.starts = append(s.starts, s.size)
	return s.add(row, number)
}

// rowAt reads a row of new values again.
func (s *spool) rowAt(i int) ([]byte, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	end := s.size
	if i+1 < len(s.starts) {
		end = s.starts[i+1]
	}
	row := make([]byte, end-1-s.starts[i])
	if n, err := s.file.ReadAt(row, s.starts[i]); n < len(row) {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	return row, nil
}

// merged is a row with the values of an earlier one for the keys that it does not have.
func merged(earlier, row []byte) ([]byte, error) {
	var o textfiles.Objects
	has := map[string]bool{}
	if err := o.Each(row, func(key []byte, _ textfiles.Value) error {
		has[string(key)] = true
		return nil
	}); err != nil {
		return nil, err
	}
	out := bytes.TrimRight(bytes.Clone(row), " \t\r\n")
	out = out[:len(out)-1] // without its brace
	some := len(has) > 0
	err := o.Each(earlier, func(key []byte, v textfiles.Value) error {
		if has[string(key)] {
			return nil
		}
		if some {
			out = append(out, ',')
		}
		some = true
		out = append(append(append(out, quoted(key)...), ':'), v.Raw...)
		return nil
	})
	return append(out, '}'), err
}

// quoted is a text as JSON has it.
func quoted(text []byte) []byte {
	out := []byte{'"'}
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < 0x20:
			out = append(out, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// finish ends the file, and writes it again without the rows that were replaced.
func (s *spool) finish(fsys vfs.FS) (err error) {
	if s.file == nil {
		return nil
	}
	if err := s.w.Flush(); err != nil {
		return err
	}
	if s.old != nil {
		path := strings.TrimSuffix(s.path, ".jsonl") + ".last.jsonl"
		last, err := newSpool(fsys, path)
		if err != nil {
			return err
		}
		for i := range s.numbers {
			if s.old[i] {
				continue
			}
			row, err := s.rowAt(i)
			if err == nil {
				err = last.add(row, s.numbers[i])
			}
			if err != nil {
				return errors.Join(err, last.file.Close())
			}
		}
		if err := errors.Join(s.remove(fsys), last.w.Flush()); err != nil {
			return errors.Join(err, last.file.Close())
		}
		*s = *last
	}
	s.rows, s.starts, s.old = nil, nil, nil
	err = s.file.Close()
	s.file = nil
	s.numbers = slices.Clip(s.numbers)
	return err
}

// remove closes and removes the file.
func (s *spool) remove(fsys vfs.FS) (err error) {
	if s.file != nil {
		err = s.file.Close()
		s.file = nil
	}
	return errors.Join(err, fsys.Remove(s.path))
}
