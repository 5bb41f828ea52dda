package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// blind cannot look at one name.
type blind struct {
	vfs.FS
	name string
}

func (b blind) Lstat(name string) (fs.FileInfo, error) {
	if name == b.name {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: syscall.EACCES}
	}
	return b.FS.Lstat(name)
}

// An output of which it is not known whether it is there is not taken for one that is not.
func TestCreateCannotLook(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	if _, err := Create(blind{vfs.OS, out}, out, false); !errors.Is(err, syscall.EACCES) {
		t.Errorf("found %v, expected EACCES", err)
	}
}
