package ingest

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/format/dgf"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/tablefiles"
)

// open opens the table of a set in a folder; nil: it has no files, as DGF writes none for a set without rows.
func (d *dgfReader) open(place, dir, name string) (table.Table, error) {
	if name != filepath.Base(name) || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return nil, sourcef("%s: found a name that is no name of a file, expected one without a slash; rename the set", place)
	}
	files, err := d.files(place, dir, name)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		d.warn("%s: found no files %s/%s-*%s, and takes it for a set without rows, for which DGF writes none", place, dir, name, dgf.ParquetSuffix)
		return nil, nil
	}
	for _, file := range files {
		if err := d.p.inside(d.p.dir, file); err != nil {
			return nil, err
		}
		d.p.use(file)
	}
	return openTable(d.p.fsys, files, tablefiles.Options{})
}

// names are the names of the sets whose files are in a folder.
func (d *dgfReader) names(dir string) []string {
	if dir == dgf.NodeSetsDir {
		return slices.Sorted(maps.Keys(d.schema.NodeSets))
	}
	return slices.Sorted(maps.Keys(d.schema.EdgeSets))
}

// files finds the files NAME-*.parquet of a set, in order. A file that may be one of several sets is one of the set with the longest
// name.
func (d *dgfReader) files(place, dir, name string) ([]string, error) {
	folder := filepath.Join(d.p.dir, dir)
	entries, err := d.p.fsys.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sourcef("%s: found no folder %s, expected it; copy it from where the graph was written", place, folder)
	}
	if err != nil {
		return nil, err
	}
	var found, others []string
	for _, e := range entries {
		file := e.Name()
		if e.IsDir() || !strings.HasPrefix(file, name+"-") || !strings.HasSuffix(file, dgf.ParquetSuffix) {
			continue
		}
		if longer := slices.IndexFunc(d.names(dir), func(o string) bool { return len(o) > len(name) && strings.HasPrefix(file, o+"-") }); longer >= 0 {
			others = append(others, file)
			continue
		}
		found = append(found, file)
	}
	if len(others) > 0 {
		d.warn("%s: DGF reads %s as files of this set, too, and here they are those of the set whose name is longer", place, table.List(some(others)))
	}
	slices.Sort(found)
	if err := d.checkShards(place, name, found); err != nil {
		return nil, err
	}
	for i := range found {
		found[i] = filepath.Join(folder, found[i])
	}
	return found, nil
}

// shardName is what follows the name of a set in the names of files that DGF wrote. BigQuery's exports have other names.
var shardName = regexp.MustCompile(`^-([0-9]{5})-of-([0-9]{5})\.parquet$`)

// checkShards refuses files of several writings, and gaps. DGF writes no file for a shard without rows, and these are the last ones.
func (d *dgfReader) checkShards(place, name string, files []string) error {
	next, total := 0, 0
	for _, file := range files {
		m := shardName.FindStringSubmatch(file[len(name):])
		if m == nil {
			if total > 0 {
				return sourcef("%s: found the files %s and %s, expected those of one writing; remove the others", place, files[0], file)
			}
			continue
		}
		number, _ := strconv.Atoi(m[1])
		of, _ := strconv.Atoi(m[2])
		switch {
		case total == 0 && file != files[0] || total > 0 && of != total:
			return sourcef("%s: found the files %s and %s, expected those of one writing; remove the others", place, files[0], file)
		case number != next || number >= of:
			return sourcef("%s: found the file %s, expected shard %d of %d; copy the missing file, or write the graph again", place, file, next, of)
		}
		next, total = next+1, of
	}
	if next < total {
		d.warn("%s: found %d of %d files, and takes the last ones for shards without rows, for which DGF writes none", place, next, total)
	}
	return nil
}
