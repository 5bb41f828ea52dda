package tfrecord

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Place is where a record is.
type Place struct {
	File   string
	Number uint64 // in the file, from 0
	Offset int64  // of its frame, in the uncompressed stream
}

// String begins an error about the record.
func (p Place) String() string {
	return fmt.Sprintf("%s: record %d (byte %d)", p.File, p.Number, p.Offset)
}

// Files reads the records of several files, one after the other. Close it.
type Files struct {
	fsys     vfs.FS
	names    []string // still to be opened
	limit    int64
	progress func(bytes int64)

	file   vfs.File
	name   string
	reader *Reader
	number uint64
}

// NewFiles reads the files of the given names. progress is told of the bytes that
// were read, as they lie in the files; nil tells nobody.
func NewFiles(fsys vfs.FS, names []string, progress func(bytes int64)) *Files {
	return &Files{fsys: fsys, names: names, progress: progress, limit: longest}
}

// Limit makes Next refuse longer records, as Reader.Limit does.
func (f *Files) Limit(n int64) { f.limit = n }

// Next is the next record, valid until the next call, or io.EOF after the last.
func (f *Files) Next() ([]byte, Place, error) {
	for {
		if f.reader == nil {
			if len(f.names) == 0 {
				return nil, Place{}, io.EOF
			}
			if err := f.open(f.names[0]); err != nil {
				return nil, Place{}, errors.Join(err, f.Close())
			}
			f.names = f.names[1:]
		}
		record, err := f.reader.Next()
		switch {
		case errors.Is(err, io.EOF):
			if err := f.Close(); err != nil {
				return nil, Place{}, err
			}
		case err != nil:
			return nil, Place{}, fmt.Errorf("%w (record %d)", err, f.number)
		default:
			f.number++
			return record, Place{f.name, f.number - 1, f.reader.Offset()}, nil
		}
	}
}

func (f *Files) open(name string) error {
	info, err := vfs.Regular(f.fsys, name)
	if err != nil {
		return err
	}
	if f.file, err = f.fsys.Open(name); err != nil {
		return err
	}
	f.name, f.number = name, 0
	reader, err := Open(watched{f.file, f.progress}, name, info.Size())
	if err != nil {
		return err
	}
	reader.Limit(f.limit)
	f.reader = reader
	return nil
}

// Close closes the file that is open. Next goes on with the one behind it.
func (f *Files) Close() error {
	f.reader = nil
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// watched tells of what is read.
type watched struct {
	io.Reader
	progress func(int64)
}

func (w watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if w.progress != nil {
		w.progress(int64(n))
	}
	return n, err
}
