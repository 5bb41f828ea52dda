package delta

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// readFeatures are the features of readers that are read here.
var readFeatures = []string{
	"columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck",
	// Columns of these types cannot be read, and each says so.
	"variantType", "variantType-preview", "variantShredding", "variantShredding-preview",
}

// Open reads the table in a folder at a version. mark is a mark of rows that were taken before (lake.Snapshot.Mark): where it is of this
// table, the files are those that were added after its version, at which the table had the rows that were taken. Commits that deleted or changed rows since are an error; those that moved them to other files
// add none. outside allows files of the table to lie outside of its folder. A table that needs
// what is not read, or whose log is damaged, is an error of kind lake.ErrFormat.
func Open(fsys vfs.FS, dir string, ref lake.Ref, mark string, outside bool) (*lake.Snapshot, error) {
	l, err := readLog(fsys, dir)
	if err != nil {
		return nil, err
	}
	version := l.newest()
	switch {
	case ref.Name != "":
		return nil, lake.Badf("%s: found the name %q of a branch or tag, expected a number or a time, as tables of Delta Lake have no branches; give @version=%d", dir, ref.Name, version)
	case ref.HasVersion && ref.Version > version:
		return nil, lake.Badf("%s: found versions up to %d, expected version %d; ask for one that there is", dir, version, ref.Version)
	case ref.HasVersion:
		version = ref.Version
	case !ref.Time.IsZero():
		if version, err = l.at(ref.Time.UnixMilli(), dir); err != nil {
			return nil, err
		}
	}
	s, err := l.replay(version)
	if err != nil {
		return nil, err
	}
	t, err := s.snapshot(fsys, dir, version, outside)
	if err != nil {
		return nil, err
	}
	commit, err := l.sum(version)
	if err != nil {
		return nil, err
	}
	if since, taken, ok := t.VersionOf(mark); ok {
		if s.files, err = l.added(since, version, taken); err != nil {
			return nil, err
		}
		if t, err = s.snapshot(fsys, dir, version, outside); err != nil {
			return nil, err
		}
	}
	t.Log, t.Commit = l.read, commit
	return t, nil
}

// state is what counts of the actions so far.
type state struct {
	files    map[string]*fileAction
	metadata *metadataAction
	protocol *protocolAction
}

// replay returns the state at a version.
func (l *log) replay(version int64) (*state, error) {
	start, commits, err := l.plan(version)
	if err != nil {
		return nil, err
	}
	s := &state{files: map[string]*fileAction{}}
	if start != nil {
		if err := l.eachOf(start, s.apply); err != nil {
			return nil, err
		}
	}
	for _, v := range commits {
		if err := s.commit(l, v); err != nil {
			return nil, err
		}
	}
	if s.metadata == nil || s.protocol == nil {
		return nil, lake.Badf("%s: found no schema and protocol up to version %d, expected both; the log is damaged", l.dir, version)
	}
	return s, nil
}

// commit applies the actions of a commit, whose lines have no order: files that it removes were there before.
func (s *state) commit(l *log, version int64) error {
	var added []*action
	path := filepath.Join(l.dir, commitFile(version))
	l.read = append(l.read, path)
	err := eachLine(l.fsys, path, func(a *action) error {
		if a.Add != nil {
			added = append(added, a)
			return nil
		}
		return s.apply(a)
	})
	for _, a := range added {
		if err == nil {
			err = s.apply(a)
		}
	}
	return err
}

func (s *state) apply(a *action) error {
	switch {
	case a.Add != nil:
		s.files[a.Add.key()] = a.Add
	case a.Remove != nil:
		delete(s.files, a.Remove.key())
	case a.MetaData != nil:
		s.metadata = a.MetaData
	case a.Protocol != nil:
		s.protocol = a.Protocol
		return s.protocol.check()
	}
	return nil
}

// check refuses a table that asks readers for more than is read here.
func (p *protocolAction) check() error {
	if p.MinReaderVersion > 3 {
		return lake.Badf("found a table that needs reader version %d, expected at most 3; update Graphmill, or write its rows as Parquet", p.MinReaderVersion)
	}
	if p.MinReaderVersion < 3 {
		return nil
	}
	for _, f := range p.ReaderFeatures {
		if !slices.Contains(readFeatures, f) {
			return lake.Badf("found a table that needs the reader feature %q, expected some of %s; update Graphmill, or write its rows as Parquet", f, strings.Join(readFeatures, ", "))
		}
	}
	return nil
}

// snapshot makes the table of a state.
func (s *state) snapshot(fsys vfs.FS, dir string, version int64, outside bool) (*lake.Snapshot, error) {
	place := filepath.Join(dir, Log)
	if provider := s.metadata.Format.Provider; provider != "parquet" {
		return nil, lake.Badf("%s: found files of the format %q, expected parquet; write the table as Parquet", place, provider)
	}
	columns, err := s.metadata.columns(place)
	if err != nil {
		return nil, err
	}
	out := &lake.Snapshot{Format: "Delta Lake", ID: s.metadata.ID, Version: version, Dir: dir, Columns: columns}
	parts := map[int]string{} // the columns of partitions, with their keys
	for _, name := range s.metadata.PartitionColumns {
		n := slices.IndexFunc(columns, func(c lake.Column) bool { return c.Name == name })
		if n < 0 {
			return nil, lake.Badf("%s: found the partition column %q, expected one of the schema; the log is damaged", place, name)
		}
		parts[n] = columns[n].Physical
	}
	for _, key := range slices.Sorted(maps.Keys(s.files)) {
		a := s.files[key]
		// Paths are URIs, so that "%20" is a blank.
		name, err := url.PathUnescape(a.Path)
		if err != nil {
			return nil, lake.Badf("%s: found the file %q, expected %%XX only for escaped bytes; the log is damaged", place, a.Path)
		}
		resolve := func(name string) (string, error) { return lake.Resolve(fsys, dir, name, outside) }
		f := lake.File{Size: a.Size}
		if f.Path, err = resolve(name); err != nil {
			return nil, err
		}
		if a.DeletionVector != nil {
			if f.Deleted, err = a.DeletionVector.read(fsys, dir, resolve); err != nil {
				return nil, err
			}
		}
		if len(parts) > 0 {
			f.Values = map[int]*string{}
		}
		for n, key := range parts {
			value, ok := a.PartitionValues[key]
			if !ok {
				return nil, lake.Badf("%s: found the file %q without the value of the partition %q, expected one; the log is damaged", place, a.Path, columns[n].Name)
			}
			if value != nil && *value == "" {
				value = nil
			}
			f.Values[n] = value
		}
		out.Files = append(out.Files, f)
	}
	out.SortFiles()
	for i := 1; i < len(out.Files); i++ {
		if out.Files[i].Path == out.Files[i-1].Path {
			return nil, lake.Badf("%s: found the file %s twice, expected it once; the log is damaged", place, out.Files[i].Path)
		}
	}
	return out, nil
}

// isoTime is a time in ms since 1970 for people.
func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// IsTable says whether a folder is a table of Delta Lake.
func IsTable(fsys vfs.FS, dir string) (bool, error) {
	there, err := vfs.Exists(fsys, filepath.Join(dir, Log))
	if err != nil {
		return false, fmt.Errorf("%s: %w", dir, err)
	}
	return there, nil
}
