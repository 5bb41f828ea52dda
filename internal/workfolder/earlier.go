package workfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// JobFile is the file of a work folder in which an engine notes the job that works there, until the job has ended.
const JobFile = "job.json"

// ErrEarlier is in the error of a run that would remove what an earlier one finished.
var ErrEarlier = errors.New("an earlier run made them")

// Kept is the error of a run that finds n finished pieces which it may not remove. what says what they are.
func Kept(n int, what, dir string) error {
	return fmt.Errorf("found %d finished %s in %s, expected none: %w; give the options of that run and `Resume` to continue from them, or `Overwrite` to begin anew", n, what, dir, ErrEarlier)
}

// Whole is the number of entries of a folder that have the name of a whole file or folder; 0 where there is no folder.
func Whole(fsys vfs.FS, dir string) (n int, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, e := range entries {
		if !strings.Contains(filepath.Base(e.Name()), ".") { // not one that is being made
			n++
		}
	}
	return n, err
}

// Busy says whether a job may still work in a folder: its engine noted it, and did not see its end.
func Busy(fsys vfs.FS, dir string) (bool, error) {
	return vfs.Exists(fsys, filepath.Join(dir, JobFile))
}
