package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/graphmill/graphmill"
)

// TestErrorsInWords checks that an error about a file that is not there names no call of the system, and that damage has advice.
func TestErrorsInWords(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	_, stat := os.Stat(gone)
	_, open := os.Open(gone)
	write := os.WriteFile(filepath.Join(gone, "x"), nil, 0o644)
	for _, test := range []struct {
		err  error
		want string
	}{
		{stat, gone + ": found no such file or folder; correct the path"},
		{fmt.Errorf("known hosts: %w", open), "known hosts: " + gone + ": found no such file or folder; correct the path"},
		{fmt.Errorf("found no layout: %w; make one", stat), "found no layout: " + gone + ": found no such file or folder; make one"},
		{errors.Join(open, errors.New("more")), gone + ": found no such file or folder\nmore"},
		{write, gone + "/x: found no such file or folder; correct the path"},
		{&fs.PathError{Op: "mkdir", Path: "a", Err: syscall.ENOENT}, "mkdir a: no such file or directory"},
		{&fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES}, "open a: permission denied"},
		{errors.New("plain"), "plain"},
		{fmt.Errorf("g: %w: found 3 bytes", graphmill.ErrDamaged), "g: damaged: found 3 bytes; 'graphmill verify FOLDER' names all that is damaged: copy it again, or make the folder again"},
		{fmt.Errorf("g: %w: found 3 bytes; send again", graphmill.ErrDamaged), "g: damaged: found 3 bytes; send again"},
	} {
		if got := inWords(test.err); got != test.want {
			t.Errorf("%v: found %q, expected %q", test.err, got, test.want)
		}
	}
}
