package vfs

import (
	"os"
	"sync/atomic"
)

// writebackBytes is the number of bytes that are written to a new file before the system is asked to bring them to the
// disk.
const writebackBytes = 16 << 20

// newFile is a file from Create. The system brings it to the disk while it is being written, so that the final Sync is
// short. Otherwise gigabytes would collect in memory, and Sync would take as long as all the rest. Temporary files are
// not brought to the disk, because most of them need never reach it.
type newFile struct {
	osFile
	written atomic.Int64
}

func (f *newFile) Write(b []byte) (int, error) {
	n, err := f.osFile.Write(b)
	f.wrote(n)
	return n, err
}

func (f *newFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.osFile.WriteAt(b, off)
	f.wrote(n)
	return n, err
}

func (f *newFile) wrote(n int) {
	if to := f.written.Add(int64(n)); to/writebackBytes != (to-int64(n))/writebackBytes {
		startWriteback(f.File)
	}
}

// wrapNew is the File of a file that was just created.
func wrapNew(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, tooMany(err)
	}
	return &newFile{osFile: osFile{f}}, nil
}
