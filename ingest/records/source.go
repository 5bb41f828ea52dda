package records

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/tagged"
)

// place is where a record is.
type place struct {
	file   string
	number uint64 // in the file
	offset int64  // of its frame, in the uncompressed stream
}

func (p place) String() string {
	return fmt.Sprintf("%s: record %d (byte %d)", p.file, p.number, p.offset)
}

// source reads the records of files, one after the other.
type source struct {
	fsys     fsx.FS
	files    []string // still to be opened
	longest  int64
	progress func(int64)

	file   fsx.File
	name   string
	reader *tfrecord.Reader
	number uint64
}

// counted tells of what is read.
type counted struct {
	fsx.File
	progress func(int64)
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.File.Read(b)
	if c.progress != nil {
		c.progress(int64(n))
	}
	return n, err
}

// next is the next record, valid until the next call, or io.EOF.
func (s *source) next() ([]byte, place, error) {
	for {
		if s.reader == nil {
			if len(s.files) == 0 {
				return nil, place{}, io.EOF
			}
			if err := s.open(s.files[0]); err != nil {
				return nil, place{}, err
			}
			s.files = s.files[1:]
		}
		record, err := s.reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			if err := s.close(); err != nil {
				return nil, place{}, err
			}
			continue
		case errors.Is(err, tfrecord.ErrTooLong):
			return nil, place{}, tagged.Errorf(ErrMemory, "%w (record %d); give more --memory, or fewer --threads", err, s.number)
		case err != nil:
			return nil, place{}, fmt.Errorf("%w (record %d)", err, s.number)
		}
		s.number++
		return record, place{s.name, s.number - 1, s.reader.Offset()}, nil
	}
}

func (s *source) open(name string) error {
	info, err := fsx.Regular(s.fsys, name)
	if err != nil {
		return err
	}
	if s.file, err = s.fsys.Open(name); err != nil {
		return err
	}
	s.name, s.number = name, 0
	if s.reader, err = tfrecord.Open(counted{s.file, s.progress}, name, info.Size()); err != nil {
		return err
	}
	s.reader.Limit(s.longest)
	return nil
}

func (s *source) close() error {
	s.reader = nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
