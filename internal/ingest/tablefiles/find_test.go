package tablefiles

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// A folder whose name has the characters of a pattern is that folder. A disk that does not say whether it is there is an error, because
// the pattern means other files.
func TestFindPathOfUnknownFolder(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"x[1]", "x1"} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, sub), 0o700), os.WriteFile(filepath.Join(dir, sub, "t.csv"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "x[1]", "t.csv")
	if files, _, err := FindPath(vfs.OS, name, false); err != nil || len(files) != 1 || files[0] != name {
		t.Errorf("found %v, %v", files, err)
	}
	if files, _, err := FindPath(&vfs.Fault{FS: vfs.OS, FailAt: 1, Err: syscall.EMFILE}, name, false); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("found %v, %v", files, err)
	}
}
