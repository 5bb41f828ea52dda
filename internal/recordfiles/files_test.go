package recordfiles_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// The records of several files are read in order, each with its place. Any call to the file system may fail, and
// every file is closed.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i, records := range [][]string{{"a", "bc"}, {}, {"def"}} {
		var b []byte
		for _, r := range records {
			b = tfrecord.AppendFrame(b, []byte(r))
		}
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	read := func(fsys vfs.FS, progress func(int64)) (string, error) {
		f := recordfiles.New(fsys, names, progress)
		defer f.Close()
		var all []string
		for {
			record, at, err := f.Next()
			if errors.Is(err, io.EOF) {
				return strings.Join(all, " "), nil
			}
			if err != nil {
				return "", err
			}
			all = append(all, fmt.Sprintf("%s=%d.%d@%d", record, at.Number, len(at.File)-len(dir), at.Offset))
		}
	}
	var bytes int64
	count := &vfs.Fault{FS: vfs.OS}
	got, err := read(count, func(n int64) { bytes += n })
	if want := "a=0.2@0 bc=1.2@17 def=0.2@0"; err != nil || got != want || bytes != 17+18+19 {
		t.Fatalf("found %q of %d bytes, %v; expected %q", got, bytes, err, want)
	}
	for i := int64(1); i <= count.Calls(); i++ {
		broken := errors.New("broken")
		if _, err := read(&vfs.Fault{FS: vfs.OS, FailAt: i, Err: broken}, nil); !errors.Is(err, broken) {
			t.Errorf("call %d fails: found %v", i, err)
		}
	}
	if err := os.WriteFile(names[2], []byte("no frame at all"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(vfs.OS, nil); !errors.Is(err, tfrecord.ErrCorrupt) || !strings.HasPrefix(err.Error(), names[2]) || !strings.HasSuffix(err.Error(), "(record 0)") {
		t.Errorf("found %v", err)
	}
}
