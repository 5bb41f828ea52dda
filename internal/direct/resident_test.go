package direct_test

import (
	"testing"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/vfs"
)

func TestResidentFaults(t *testing.T) {
	name := write(t, t.TempDir(), content(5000))
	everyFault(t, vfs.OS, func(fsys vfs.FS) error {
		_, err := direct.Resident(fsys, name)
		return err
	}, name)
}
