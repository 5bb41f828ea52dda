package delta

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// added returns the files with the rows that the commits after a version, up to another, added. A commit that moved rows to other files, as
// a compaction does, says so (dataChange). Others that remove a file, or delete rows of one, are an error: rows that were taken are
// gone. So is another commit after than the one whose rows were taken, whose checksum is taken.
func (l *log) added(after, version int64, taken string) (map[string]*fileAction, error) {
	if version < after {
		return nil, lake.Badf("%s: found version %d, expected version %d or a newer one, up to which its rows were taken; do not ask for an older one", l.dir, version, after)
	}
	sum, err := l.sum(after)
	if err != nil {
		return nil, err
	}
	if sum != "" && taken != "" && sum != taken {
		return nil, lake.Badf("%s: found another commit than the one up to which rows were taken, expected the same; the table was restored from a copy, so take the whole table anew", filepath.Join(l.dir, commitFile(after)))
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
			return nil, lake.Badf("%s: found a commit that deleted or changed rows, expected commits that add rows alone after version %d, up to which the rows were taken; import the whole table anew, or give what changed as tables to `Drop` and `Change`", path, after)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

var errRemoved = errors.New("rows were removed")

// sum is the checksum of a commit; empty: the log does not have it any more.
func (l *log) sum(version int64) (string, error) {
	if _, ok := slices.BinarySearch(l.commits, version); !ok {
		return "", nil
	}
	b, err := vfs.ReadFile(l.fsys, filepath.Join(l.dir, commitFile(version)), maxAction)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", xxh3.Hash(b)), nil
}
