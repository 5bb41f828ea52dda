package iceberg

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Open reads a table at a version: of the folder of a table, or of a file of its metadata. mark is a mark of rows that were taken before
// (lake.Snapshot.Mark): where it is of this table, the files are those that were added after its snapshot. Snapshots that deleted or
// changed rows since are an error; those that moved them to other files add none. outside allows files of the table to lie outside of its
// folder. A table that needs what is not read, or whose metadata is damaged, is an error of kind lake.ErrFormat.
func Open(fsys vfs.FS, path string, ref lake.Ref, mark string, outside bool) (*lake.Snapshot, error) {
	m, err := readMetadata(fsys, path)
	if err != nil {
		return nil, err
	}
	r := &reader{fsys: fsys, metadata: m, outside: outside, log: []string{m.path}}
	t, err := r.table(ref, mark)
	if errors.Is(err, lake.ErrFormat) && !strings.HasPrefix(err.Error(), m.dir) {
		err = fmt.Errorf("%s: %w", m.path, err)
	}
	return t, err
}

// reader reads a table.
type reader struct {
	fsys     vfs.FS
	metadata *metadata
	outside  bool
	log      []string // files that were read
}

// table reads the table at a version, or what was added after a mark.
func (r *reader) table(ref lake.Ref, mark string) (*lake.Snapshot, error) {
	m := r.metadata
	s, schema, err := m.choose(ref)
	none := errors.Is(err, errNoSnapshot)
	if err != nil && !none {
		return nil, err
	}
	names, err := m.nameMapping()
	if err != nil {
		return nil, err
	}
	out := &lake.Snapshot{Format: "Iceberg", ID: m.id(), Version: -1, Dir: m.dir, NeedsIDs: names == nil}
	if out.Columns, err = schema.columns(names); err != nil {
		return nil, err
	}
	if none {
		out.Log = r.log
		return out, nil
	}
	out.Version = s.ID
	var rows, deletions []*entry
	if since, _, ok := out.VersionOf(mark); ok && since != -1 {
		rows, err = r.added(since, s)
	} else {
		rows, deletions, err = r.files(s)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b *entry) int { return strings.Compare(a.path, b.path) })
	deleted, keyed, err := r.deleted(rows, deletions)
	if err != nil {
		return nil, err
	}
	if keyed != nil {
		out.Resolve = keyed.resolve
	}
	for i, e := range rows {
		out.Files = append(out.Files, lake.File{Path: e.path, Rows: e.File.Rows, Values: e.values(out.Columns), Fallback: true, Deleted: deleted[i]})
	}
	// The last one stands for the snapshot.
	out.Log = append(r.log, m.path)[1:]
	for i := 1; i < len(out.Files); i++ {
		if out.Files[i].Path == out.Files[i-1].Path {
			return nil, lake.Badf("found the file %s twice, expected it once; the manifests are damaged", out.Files[i].Path)
		}
	}
	return out, nil
}

// files returns the files of a snapshot that have rows, and those that have deletions.
func (r *reader) files(s *snapshot) (rows, deletions []*entry, err error) {
	list, err := r.manifests(s)
	if err != nil {
		return nil, nil, err
	}
	for i := range list {
		err := r.entries(&list[i], func(e *entry) error {
			path, err := r.resolve(e.File.Path)
			if err != nil {
				return err
			}
			if e.path = path; e.File.Content == contentRows {
				rows = append(rows, e)
			} else {
				deletions = append(deletions, e)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if err := s.checkCount(len(rows), "total-data-files"); err != nil {
		return nil, nil, err
	}
	return rows, deletions, s.checkCount(len(deletions), "total-delete-files")
}

// values are the texts of the columns that are values of the partition of a file. They count where the file does not have the column.
func (e *entry) values(columns []lake.Column) map[int]*string {
	var values map[int]*string
	for i, f := range e.spec.Fields {
		if f.Transform != "identity" {
			continue
		}
		for n := range columns {
			if columns[n].ID == f.Source {
				if values == nil {
					values = map[int]*string{}
				}
				values[n] = e.partition[i]
			}
		}
	}
	return values
}

// resolve returns the path of a file that the metadata names.
func (r *reader) resolve(name string) (string, error) {
	name = plainPath(name)
	location := strings.TrimRight(plainPath(r.metadata.Location), "/")
	if catalog.Is(r.metadata.dir) {
		return r.resolveCatalog(name, location)
	}
	if rel, ok := strings.CutPrefix(name, location+"/"); ok && location != "" {
		if rel = strings.TrimLeft(rel, "/"); !filepath.IsLocal(rel) {
			return "", lake.Badf("%s: found the file %s in the metadata, expected one in the folder of the table; the metadata is damaged", r.metadata.dir, name)
		}
		name = rel
	}
	return lake.Resolve(r.fsys, r.metadata.dir, name, r.outside)
}

// resolveCatalog is resolve for a table of a catalog, which says itself where its files are. Files of this machine are outside of any
// table of a catalog.
func (r *reader) resolveCatalog(name, location string) (string, error) {
	dir := r.metadata.dir
	if slices.Contains(strings.Split(name, "/"), "..") { // it would lead out of the path of the table, which a path here begins with
		return "", lake.Badf("%s: found the file %s in the metadata with dots in its path, expected the plain path of an object; the metadata is damaged", dir, name)
	}
	if vfs.Scheme(name) == "" && !r.outside {
		return "", lake.Badf("%s: found the file %s in the metadata, which is one of this machine, expected files in a bucket; allow it with `AllowOutside`", dir, name)
	}
	if rel, ok := strings.CutPrefix(name, location+"/"); ok && location != "" {
		if rel = strings.TrimLeft(rel, "/"); filepath.IsLocal(rel) {
			return filepath.Join(dir, rel), nil
		}
		return "", lake.Badf("%s: found the file %s in the metadata, expected one in the folder of the table; the metadata is damaged", dir, name)
	}
	if s := vfs.Scheme(name); s == "s3" || s == "gs" {
		return catalog.Outside(dir, name, r.outside), nil
	}
	return lake.Resolve(r.fsys, dir, name, r.outside)
}

// plainPath is a path without the scheme file:. Paths in the metadata have no escapes. Schemes of the same storage are one.
func plainPath(name string) string {
	if rest, ok := strings.CutPrefix(name, "file:"); ok {
		return "/" + strings.TrimLeft(rest, "/")
	}
	for _, s := range []string{"s3a://", "s3n://"} {
		if rest, ok := strings.CutPrefix(name, s); ok {
			return "s3://" + rest
		}
	}
	return name
}

// isoTime is a time in ms since 1970 for people.
func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
