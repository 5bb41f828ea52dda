package direct

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// The memory of Alloc is resident at once, the memory of Array is not.
func TestTouched(t *testing.T) {
	const n = 6 << 20
	resident := func(b []byte) (sum int) {
		t.Helper()
		pages := make([]byte, n/os.Getpagesize())
		if err := mincore(b, pages); err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			sum += int(p & 1)
		}
		return sum
	}
	b, free, err := Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	if found, want := resident(b), n/os.Getpagesize(); found != want {
		t.Errorf("Alloc: %d pages are in memory, expected %d", found, want)
	}
	a, free, err := Array[byte](n)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	if found := resident(a); found != 0 {
		t.Errorf("Array: %d pages are in memory, expected none", found)
	}
}

// The written half of a file is in the page cache. The other half was never there.
func TestResident(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	is := func(want float64) {
		t.Helper()
		if share, err := Resident(vfs.OS, name); err != nil || share != want {
			t.Errorf("found %v, %v, expected %v", share, err, want)
		}
	}
	is(1)
	if err := os.Truncate(name, 1<<20); err != nil {
		t.Fatal(err)
	}
	is(0)
	if err := os.WriteFile(name, make([]byte, 1<<19), 0o644); err != nil {
		t.Fatal(err)
	}
	is(1)
	if err := os.Truncate(name, 1<<20); err != nil {
		t.Fatal(err)
	}
	is(0.5)
}

// For a file that only others may write, the system tells only root.
func TestResidentOfOthers(t *testing.T) {
	const name = "/etc/passwd"
	share, err := Resident(vfs.OS, name)
	if os.Geteuid() == 0 {
		if err != nil || share < 0 || share > 1 {
			t.Errorf("%s: found %v, %v, expected a share", name, share, err)
		}
	} else if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), name) {
		t.Errorf("%s: found %v, %v, expected fs.ErrPermission with its name", name, share, err)
	}
}
