package delta

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/graphmill/graphmill/internal/lake"
)

// added returns the files with the rows that the commits after a version, up to another, added. A commit that moved rows to other files, as
// a compaction does, says so (dataChange). Others that remove a file, or delete rows of one, are an error: rows that were taken are
// gone.
func (l *log) added(after, version int64) (map[string]*fileAction, error) {
	if version < after {
		return nil, lake.Badf("%s: found version %d, expected version %d or a newer one, up to which its rows were taken; do not ask for an older one", l.dir, version, after)
	}
	files := map[string]*fileAction{}
	for v := after + 1; v <= version; v++ {
		path := filepath.Join(l.dir, commitFile(v))
		if _, ok := slices.BinarySearch(l.commits, v); !ok {
			return nil, lake.Badf("%s: found no such file, expected all commits after version %d, up to which the rows were taken; take the whole table anew", path, after)
		}
		err := eachLine(l.fsys, path, func(a *action) error {
			switch {
			case a.Remove != nil && a.Remove.DataChange:
				return errRemoved
			case a.Add != nil && a.Add.DataChange:
				files[a.Add.key()] = a.Add
			}
			return nil
		})
		if errors.Is(err, errRemoved) {
			return nil, lake.Badf("%s: found a commit that deleted or changed rows, expected commits that add rows alone after version %d, up to which the rows were taken; take the whole table anew, or append what changed with tables of your own", path, after)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

var errRemoved = errors.New("rows were removed")
