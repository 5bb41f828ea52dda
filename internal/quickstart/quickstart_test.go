package quickstart

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// TestUnpackFails fails each call in turn: then the folder is not there or has all files, and nothing else is left.
func TestUnpackFails(t *testing.T) {
	var all int
	for at := int64(0); ; at++ {
		parent := t.TempDir()
		dir := filepath.Join(parent, "tables")
		fault := &vfs.Fault{FS: vfs.Unsynced{FS: vfs.OS}, FailAt: at, Err: syscall.EIO}
		err := Unpack(fault, dir)
		files, _ := os.ReadDir(dir)
		if at == 0 {
			all = len(files)
		}
		if len(files) != 0 && len(files) != all || err == nil && len(files) == 0 {
			t.Fatalf("call %d: found %d files, expected none or %d; %v", at, len(files), all, err)
		}
		if at > 0 && at <= fault.Calls() && !errors.Is(err, syscall.EIO) {
			t.Fatalf("call %d: error %v, expected EIO", at, err)
		}
		if beside, err := os.ReadDir(parent); err != nil || len(beside) > 1 {
			t.Fatalf("call %d leaves %v, %v", at, beside, err)
		}
		if at > fault.Calls() {
			return
		}
	}
}
