package tablefiles

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/lakefiles"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/lake/delta"
	"github.com/graphmill/graphmill/internal/lake/iceberg"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// lakeFormat is a format of tables whose files are not their rows: a log beside the files says which of them count, and which of their
// rows are deleted.
type lakeFormat struct {
	what string
	// mark is a file or folder that every table of the format has, or that no other folder has.
	mark string
	// log is the path of the log in the folder of a table that is read here, which stands for its files; empty: the format is not read.
	log string
	// do writes the rows of a table in a format that is read.
	do string
}

var lakeFormats = []lakeFormat{
	{what: "Delta Lake", mark: delta.Log, log: delta.Log},
	{what: "Iceberg", mark: "metadata/version-hint.text", log: iceberg.Metadata},
	{what: "Iceberg", mark: "metadata/*.metadata.json", log: iceberg.Metadata},
	{what: "Iceberg", mark: "metadata/*.metadata.json.gz", log: iceberg.Metadata},
	{what: "Hudi", mark: ".hoodie", do: "spark.read.format('hudi').load('%s').write.parquet('table') in Spark"},
	{what: "Lance", mark: "_versions", do: "pyarrow.parquet.write_table(lance.dataset('%s').to_table(), 'table.parquet') in Python"},
}

// lakeAbove returns the format and the folder of the lake's table that a folder is, or is below as folders of its data are (data,
// KEY=VALUE); nil: none. A folder above it in a bucket is none where it cannot be read: keys are often good for what is below one
// alone.
func lakeAbove(fsys vfs.FS, dir string) (f *lakeFormat, root string, err error) {
	for level := range maxFolders {
		for i := range lakeFormats {
			f := &lakeFormats[i]
			there, err := f.marks(fsys, dir)
			if err != nil && (level == 0 || vfs.Scheme(dir) == "") {
				return nil, "", err
			}
			if there {
				return f, dir, nil
			}
		}
		base := filepath.Base(dir)
		if base != "data" && !strings.Contains(base, "=") {
			return nil, "", nil
		}
		dir = filepath.Dir(dir)
	}
	return nil, "", nil
}

// refuse is the error of kind table.ErrFormat about a path that names files of a table without its log.
func (f *lakeFormat) refuse(path, root string) error {
	do := "give the folder " + root
	if f.log == "" {
		do = "write its rows as they are now: " + strings.ReplaceAll(f.do, "%s", root)
	}
	return tagged.Errorf(table.ErrFormat, "%s: found a table of %s (%s), whose files also have rows that were deleted or overwritten, expected files that are all of a table; %s",
		path, f.what, filepath.Join(root, f.mark), do)
}

// IsLake says whether a path, which may end in a version as lake.CutRef has it, is the folder of a lake's table that can be read. A table
// that cannot be read, and a folder of the files of one, are errors of kind table.ErrFormat.
func IsLake(fsys vfs.FS, path string) (bool, error) {
	log, err := findLake(fsys, path)
	return log != "", err
}

// findLake is the path that stands for the files of a lake's table: its log, and the version that path ends in; empty: path is no lake's
// table.
func findLake(fsys vfs.FS, path string) (string, error) {
	if catalog.Is(path) { // the errors below have the path, which must have no secret
		if _, err := catalog.IsConfigured(path); err != nil {
			return "", tagged.Errorf(table.ErrFormat, "%w", err)
		}
	}
	dir, ref, err := lake.CutRef(path)
	if err == nil && ref != (lake.Ref{}) && !catalog.Is(dir) {
		if there, err := vfs.Exists(fsys, path); err != nil {
			return "", err
		} else if there { // a file that has such a name
			dir, ref = path, lake.Ref{}
		}
	}
	if err != nil {
		return "", tagged.Errorf(table.ErrFormat, "%w", err)
	}
	if catalog.Is(dir) {
		// The catalog says what it has: an error of it is not one of a path.
		if _, err := fsys.Stat(dir); errors.Is(err, lake.ErrFormat) {
			return "", tagged.Errorf(table.ErrFormat, "%w", err)
		} else if err != nil {
			return "", err
		}
		return filepath.Join(dir, iceberg.Metadata) + ref.String(), nil
	}
	if iceberg.IsMetadata(filepath.Base(dir)) {
		there, err := vfs.Exists(fsys, dir)
		if err != nil || !there {
			return "", err
		}
		return path, nil
	}
	if strings.HasPrefix(vfs.Scheme(dir), "http") { // a web server has no folders
		return findWebLake(fsys, dir, ref)
	}
	info, err := fsys.Stat(dir)
	if vfs.Absent(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var f *lakeFormat
	root := ""
	if info.IsDir() {
		f, root, err = lakeAbove(fsys, dir)
	}
	switch {
	case err != nil:
		return "", err
	case f == nil && ref != (lake.Ref{}):
		return "", tagged.Errorf(table.ErrFormat, "%s: found a version with what is no table of Delta Lake or Iceberg, expected the folder of one; leave the version out", path)
	case f == nil:
		return "", refuseLog(fsys, dir)
	case f.log == "" || root != dir:
		return "", f.refuse(dir, root)
	}
	return filepath.Join(dir, f.log) + ref.String(), nil
}

// findWebLake is findLake on a web server, which lists no folders: a table is found by the files that begin its log.
func findWebLake(fsys vfs.FS, dir string, ref lake.Ref) (string, error) {
	if filepath.Ext(dir) != "" || strings.ContainsAny(filepath.Base(dir), "*?[@") {
		return "", nil
	}
	for _, mark := range []struct{ log, file string }{{delta.Log, "_last_checkpoint"}, {delta.Log, "00000000000000000000.json"}, {iceberg.Metadata, "version-hint.text"}} {
		there, err := vfs.Exists(fsys, filepath.Join(dir, mark.log, mark.file))
		if err != nil {
			return "", err
		}
		if there {
			return filepath.Join(dir, mark.log) + ref.String(), nil
		}
	}
	there, err := vfs.Exists(fsys, dir)
	if err != nil || there {
		return "", err
	}
	return "", tagged.Errorf(table.ErrFormat, "%s: found no file, and no _delta_log/_last_checkpoint or metadata/version-hint.text of a table of a lake, expected one of them, as a web server lists no folders; give the file of metadata of a table of Iceberg: %s",
		dir, filepath.Join(dir, iceberg.Metadata, "NAME"+iceberg.MetadataSuffix))
}

// refuseLog refuses the folder of a log, whose table is the folder above.
func refuseLog(fsys vfs.FS, dir string) error {
	for i := range lakeFormats {
		f := &lakeFormats[i]
		if first, _, _ := strings.Cut(f.mark, "/"); first != filepath.Base(dir) || f.log == "" {
			continue
		}
		there, err := f.marks(fsys, filepath.Dir(dir))
		if err != nil {
			return err
		}
		if there {
			return tagged.Errorf(table.ErrFormat, "%s: found the log of a table of %s, expected the folder of the table; give %s", dir, f.what, filepath.Dir(dir))
		}
	}
	return nil
}

// CutLog returns the path of the log that stands for the files of a lake's table, as Find returns it, without its version; false: the
// path is that of a file.
func CutLog(path string) (log string, ok bool) {
	log, _, err := lake.CutRef(path)
	base := filepath.Base(log)
	return log, err == nil && (base == delta.Log || base == iceberg.Metadata || iceberg.IsMetadata(base))
}

// openLake opens the table that the path of a log stands for, or its rows after a mark.
func openLake(fsys vfs.FS, path, mark string, outside bool) (table.Table, error) {
	log, ref, err := lake.CutRef(path)
	if err != nil {
		return nil, tagged.Errorf(table.ErrFormat, "%w", err)
	}
	open := iceberg.Open
	dir := log
	if base := filepath.Base(log); base == delta.Log {
		open, dir = delta.Open, filepath.Dir(log)
	} else if base == iceberg.Metadata {
		dir = filepath.Dir(log)
	}
	s, err := open(fsys, dir, ref, mark, outside)
	if errors.Is(err, lake.ErrFormat) {
		err = tagged.Errorf(table.ErrFormat, "%w", err)
	}
	if err != nil {
		return nil, err
	}
	return lakefiles.Open(fsys, s, log)
}

// marks says whether a folder has the mark.
func (f *lakeFormat) marks(fsys vfs.FS, dir string) (bool, error) {
	head, pattern := filepath.Split(f.mark)
	if !strings.Contains(pattern, "*") {
		return vfs.Exists(fsys, filepath.Join(dir, f.mark))
	}
	folder := filepath.Join(dir, head)
	if there, err := vfs.Exists(fsys, folder); err != nil || !there {
		return false, err
	}
	info, err := fsys.Stat(folder)
	if err != nil || !info.IsDir() {
		return false, err
	}
	entries, err := fsys.ReadDir(folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if is, err := filepath.Match(pattern, e.Name()); err != nil || is {
			return is, err
		}
	}
	return false, nil
}

// refuseLakes refuses files of a lake's table that are named without its log.
func refuseLakes(fsys vfs.FS, files []string) error {
	seen := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f)
		if seen[dir] || strings.HasPrefix(vfs.Scheme(f), "http") { // a web server has no folders
			continue
		}
		seen[dir] = true
		if l, root, err := lakeAbove(fsys, dir); err != nil {
			return err
		} else if l != nil {
			return l.refuse(dir, root)
		}
	}
	return nil
}
