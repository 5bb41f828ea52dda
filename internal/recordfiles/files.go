package recordfiles

import (
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Place is where a record is.
type Place struct {
	File   string
	Number uint64 // of the record in its file, from 0
	Offset int64  // of the record's frame in bytes, in the uncompressed stream
}

// String is the prefix of an error about the record.
func (p Place) String() string {
	return fmt.Sprintf("%s: record %d (byte %d)", p.File, p.Number, p.Offset)
}

// Files reads the records of several files, one file after the other. The caller closes it.
type Files struct {
	fsys     vfs.FS
	names    []string // of the files that are not open yet
	limit    int64    // 0: the limit of tfrecord.Reader
	progress func(bytes int64)

	file   vfs.File
	name   string
	reader *tfrecord.Reader
	number uint64
}

// New reads the files of the given names, in their order. It opens a file when Next needs it. progress, if not nil,
// receives the number of bytes of each read, counted as the file stores them.
func New(fsys vfs.FS, names []string, progress func(bytes int64)) *Files {
	return &Files{fsys: fsys, names: names, progress: progress}
}

// Limit makes Next refuse records of more than n bytes, as tfrecord.Reader.Limit does; n is above 0. It holds for the
// files that are opened after the call.
func (f *Files) Limit(n int64) { f.limit = n }

// Next returns the next record, valid until the next call, and its place. It returns io.EOF after the last record.
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
	reader, err := tfrecord.Open(watched{f.file, f.progress}, name, info.Size())
	if err != nil {
		return err
	}
	if f.limit > 0 {
		reader.Limit(f.limit)
	}
	f.reader = reader
	return nil
}

// Close closes the open file. Next then continues with the file after it.
func (f *Files) Close() error {
	f.reader = nil
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}

// watched passes the number of bytes of each read to progress.
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
