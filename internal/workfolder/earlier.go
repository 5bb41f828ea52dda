package workfolder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// JobFile is the file of a work folder in which an engine notes the job that works there, until the job has ended.
const JobFile = "job.json"

// StepsFile is the file of a work folder that tells processes of a job whose tasks wait for them.
const StepsFile = "steps.json"

// ErrEarlier is in the error of a run that would remove what another one finished.
var ErrEarlier = errors.New("an earlier run made them")

// Kept is the error of a run that finds n finished pieces of another run, which it may not remove. what says what they are, and differ names the
// fields in which the works of both runs differ (Differences).
func Kept(n int, what, dir string, differ []string) error {
	return fmt.Errorf("found %d finished %s in %s, expected none, or those of this run: %w, with other values of %s; give the options of that run to continue from them, or `Overwrite` to remove them",
		n, what, dir, ErrEarlier, strings.Join(differ, ", "))
}

// Differences are the fields that two JSON objects do not have in common, in the order of their names; those of objects in fields as "outer.inner".
func Differences(a, b []byte) (names []string) {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return nil
	}
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if bytes.Equal(x[name], y[name]) {
			continue
		}
		inner := Differences(x[name], y[name])
		if len(inner) == 0 {
			names = append(names, name)
		}
		for _, n := range inner {
			names = append(names, name+"."+n)
		}
	}
	return names
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

// Busy says whether a job may still work in a folder: its engine noted it and did not see its end, or it is planned for steps.
func Busy(fsys vfs.FS, dir string) (bool, error) {
	if there, err := vfs.Exists(fsys, filepath.Join(dir, JobFile)); there || err != nil {
		return there, err
	}
	return vfs.Exists(fsys, filepath.Join(dir, StepsFile))
}
