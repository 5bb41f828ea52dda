package tablefiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table"
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

// TestFindNoSecrets names no part of the address of a catalog that can have a secret, whatever is wrong with it.
func TestFindNoSecrets(t *testing.T) {
	for _, address := range []string{
		"iceberg+https://host.example/?token=secret-word#a.b", "iceberg+https://host.example/?token=secret-word", "iceberg+https://me:secret-word@host.example/#a.b",
		"iceberg+https://me:secret-word@host.example#a.b@version=x", "iceberg+https://host.example/?token=secret-word#a.b@time=x",
	} {
		for _, outside := range []bool{false, true} {
			_, _, err := Find(vfs.OS, t.TempDir(), address, outside)
			_, _, pathErr := FindPath(vfs.OS, address, outside)
			for _, err := range []error{err, pathErr} {
				if err == nil || strings.Contains(err.Error(), "word") || !errors.Is(err, table.ErrFormat) {
					t.Errorf("%s: found %v, expected an error of the kind ErrFormat without the secret", address, err)
				}
			}
		}
	}
}
