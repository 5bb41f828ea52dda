package vfs

import (
	"os"
	"sync/atomic"
)

// writebackBytes is how much is written to a new file before the system is asked
// to bring it to the disk.
const writebackBytes = 16 << 20

// newFile is a file that Create made. It is brought to the disk while it is being
// written, so that the Sync at its end waits for little; without, gigabytes pile
// up in memory and Sync takes as long as all the rest. Temporary files are left
// alone, for most of them need never reach the disk.
type newFile struct {
	osFile
	written atomic.Int64
}

func (f *newFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.wrote(n)
	return n, err
}

func (f *newFile) WriteAt(b []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(b, off)
	f.wrote(n)
	return n, err
}

func (f *newFile) wrote(n int) {
	if to := f.written.Add(int64(n)); to/writebackBytes != (to-int64(n))/writebackBytes {
		startWriteback(f.File)
	}
}

// wrapNew makes a File of one just created.
func wrapNew(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &newFile{osFile: osFile{f}}, nil
}
