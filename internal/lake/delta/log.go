package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Log is the folder of the log in the folder of a table.
const Log = "_delta_log"

// log lists the files of a log.
type log struct {
	fsys vfs.FS
	dir  string
	// commits are the versions that have a file, ascending.
	commits []int64
	// checkpoints are those that are whole, by version, ascending.
	checkpoints []checkpoint
	// read are the files that were read to replay the log.
	read []string
}

// checkpoint is the files with the state at a version.
type checkpoint struct {
	version int64
	files   []string
}

var (
	commitName     = regexp.MustCompile(`^([0-9]{20})\.json$`)
	checkpointName = regexp.MustCompile(`^([0-9]{20})\.checkpoint\.(?:parquet|([0-9]{10})\.([0-9]{10})\.parquet|([0-9a-fA-F-]{36})\.(?:json|parquet))$`)
)

// readLog lists the log of the table in a folder.
func readLog(fsys vfs.FS, table string) (*log, error) {
	l := &log{fsys: fsys, dir: filepath.Join(table, Log)}
	names, err := l.names()
	if err != nil {
		return nil, err
	}
	parts := map[string][]string{} // of a checkpoint in several files, by version and number of files
	for _, name := range names {
		if m := commitName.FindStringSubmatch(name); m != nil {
			if v, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				l.commits = append(l.commits, v)
			}
			continue
		}
		m := checkpointName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		v, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			continue
		}
		if m[2] == "" {
			l.checkpoints = append(l.checkpoints, checkpoint{v, []string{name}})
			continue
		}
		key := m[1] + " " + m[3]
		parts[key] = append(parts[key], name)
		if of, err := strconv.Atoi(m[3]); err == nil && len(parts[key]) == of {
			l.checkpoints = append(l.checkpoints, checkpoint{v, parts[key]})
		}
	}
	slices.Sort(l.commits)
	slices.SortStableFunc(l.checkpoints, func(a, b checkpoint) int { return int(min(max(a.version-b.version, -1), 1)) })
	if len(l.commits) == 0 && len(l.checkpoints) == 0 {
		return nil, lake.Badf("%s: found no commit, expected 00000000000000000000.json or a checkpoint; copy the whole table", l.dir)
	}
	return l, nil
}

// names lists the names in the folder of the log, in their order.
func (l *log) names() ([]string, error) {
	if strings.HasPrefix(vfs.Scheme(l.dir), "http") {
		return l.probe()
	}
	entries, err := l.fsys.ReadDir(l.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names, nil
}

// probe finds the files of the log on a web server, which lists no folders: the checkpoint that _last_checkpoint names, and the
// commits after it, one by one.
func (l *log) probe() (names []string, err error) {
	from := int64(0)
	b, err := vfs.ReadFile(l.fsys, filepath.Join(l.dir, "_last_checkpoint"), 1<<20)
	switch {
	case err == nil:
		var last struct {
			Version int64 `json:"version"`
			Parts   int   `json:"parts"`
			V2      *struct {
				Path string `json:"path"`
			} `json:"v2Checkpoint"`
		}
		if err := json.Unmarshal(b, &last); err != nil || last.Version < 0 || last.Parts > maxParts {
			return nil, lake.Badf("%s: found no version of a checkpoint, expected JSON with one; the log is damaged", filepath.Join(l.dir, "_last_checkpoint"))
		}
		from = last.Version + 1
		switch {
		case last.V2 != nil:
			names = append(names, filepath.Base(last.V2.Path))
		case last.Parts > 0:
			for i := range last.Parts {
				names = append(names, fmt.Sprintf("%020d.checkpoint.%010d.%010d.parquet", last.Version, i+1, last.Parts))
			}
		default:
			names = append(names, fmt.Sprintf("%020d.checkpoint.parquet", last.Version))
		}
	case !vfs.Absent(err):
		return nil, err
	}
	for ; ; from++ {
		name := commitFile(from)
		there, err := vfs.Exists(l.fsys, filepath.Join(l.dir, name))
		if err != nil {
			return nil, err
		}
		if !there {
			return names, nil
		}
		names = append(names, name)
	}
}

// maxParts bounds the files of a checkpoint.
const maxParts = 1 << 16

func commitFile(version int64) string { return fmt.Sprintf("%020d.json", version) }

// newest is the newest version.
func (l *log) newest() int64 {
	newest := int64(-1)
	if n := len(l.commits); n > 0 {
		newest = l.commits[n-1]
	}
	if n := len(l.checkpoints); n > 0 {
		newest = max(newest, l.checkpoints[n-1].version)
	}
	return newest
}

// plan returns the checkpoint to begin with, if there is one, and the commits after it up to a version.
func (l *log) plan(version int64) (start *checkpoint, commits []int64, err error) {
	next := int64(0)
	for i := range l.checkpoints {
		if c := &l.checkpoints[i]; c.version <= version {
			start, next = c, c.version+1
		}
	}
	for _, v := range l.commits {
		if v < next || v > version {
			continue
		}
		if v != next {
			break
		}
		commits = append(commits, v)
		next++
	}
	if next <= version {
		missing := filepath.Join(l.dir, commitFile(next))
		if start == nil && next == 0 {
			return nil, nil, lake.Badf("%s: found no checkpoint at or before version %d and no first commit, expected one of them; ask for a newer version: the log of older ones was removed", missing, version)
		}
		return nil, nil, lake.Badf("%s: found no such file, expected all commits up to version %d; copy the whole log, or ask for a version before", missing, version)
	}
	return start, commits, nil
}

// at returns the last version whose commit is not later than a time in ms since 1970.
func (l *log) at(ms int64, name string) (int64, error) {
	found, first := int64(-1), int64(0)
	last := int64(-1 << 62)
	for i, v := range l.commits {
		path := filepath.Join(l.dir, commitFile(v))
		info, err := l.fsys.Stat(path)
		if err != nil {
			return 0, err
		}
		when := info.ModTime().UnixMilli()
		inCommit := errors.New("the first action was read")
		err = eachLine(l.fsys, path, func(a *action) error {
			if a.CommitInfo != nil && a.CommitInfo.InCommitTimestamp != nil {
				when = *a.CommitInfo.InCommitTimestamp
			}
			return inCommit // such a time is in the first action alone
		})
		if err != nil && !errors.Is(err, inCommit) {
			return 0, err
		}
		when = max(when, last+1) // files can have been copied in another order
		last = when
		if i == 0 {
			first = when
		}
		if when <= ms {
			found = v
		}
	}
	if found < 0 {
		return 0, lake.Badf("%s: found no version at that time, expected a time from %s on, when the oldest commit that is left was made; ask for a later time", name, isoTime(first))
	}
	return found, nil
}
