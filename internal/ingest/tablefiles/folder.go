package tablefiles

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// maxFolders bounds the depth of folders.
const maxFolders = 32

// filesBelow returns the files of the table in a folder and the folders below it, in the byte order of their paths. Names that
// start with "_" or "." are not part of the table, such as _SUCCESS and _metadata. Symbolic links are refused unless links
// allows them.
func filesBelow(fsys vfs.FS, dir string, links bool) ([]string, error) {
	var files []string
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		if depth > maxFolders {
			return tagged.Errorf(table.ErrFormat, "%s: found folders deeper than %d, expected fewer; move the files up", dir, maxFolders)
		}
		entries, err := fsys.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), ".") {
				continue
			}
			folder := e.IsDir()
			if e.Type()&fs.ModeSymlink != 0 {
				if !links {
					return tagged.Errorf(table.ErrFormat, "%s: found a symbolic link, which can lead out of the folder of the table; allow it with `AllowOutside`", path)
				}
				info, err := fsys.Stat(path)
				if err != nil {
					return err
				}
				folder = info.IsDir()
			}
			if !folder {
				files = append(files, path)
			} else if err := walk(path, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(dir, 0); err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, tagged.Errorf(table.ErrFormat, "%s: found a folder without files of a table, expected some, such as part-0.parquet", dir)
	}
	slices.Sort(files)
	return files, nil
}

var digits = regexp.MustCompile(`[0-9]+`)

// IsTable says whether the names in a folder look like one table: folders KEY=VALUE, or files whose names start
// with "part" or differ in digits only.
func IsTable(names []string) bool {
	alike := ""
	for _, n := range names {
		if strings.HasPrefix(n, "_") || strings.HasPrefix(n, ".") {
			continue
		}
		this := "part"
		if key, _, hive := strings.Cut(n, "="); !hive || key == "" {
			if k := table.KindByName(n); k == table.Unknown || k == table.Array || k == table.TFRecords {
				return false
			}
			if !strings.HasPrefix(n, "part") {
				this = digits.ReplaceAllString(n, "0")
			}
		}
		if alike == "" {
			alike = this
		}
		if alike != this {
			return false
		}
	}
	return alike != ""
}
