package tablefiles

import (
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/lake/catalog"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Find returns the files of a table that a name in folder dir means, as tfgnnfiles.Tables does. The name can also be that
// of a folder, which is returned too. The folder of a lake's table is one file, the path of its log, with the version that the name ends
// in. Files of such a table alone are refused.
func Find(fsys vfs.FS, dir, name string, outside bool) (files []string, folder string, err error) {
	full := filepath.Join(dir, name)
	switch {
	case filepath.IsAbs(name):
		full = name
	case catalog.Is(name):
		known, err := catalog.IsConfigured(name)
		if err != nil {
			return nil, "", tagged.Errorf(table.ErrFormat, "%w", err)
		}
		if !outside && !known {
			return nil, "", badf("%s: found the table of a catalog that the environment does not name, expected one within %s; give PYICEBERG_CATALOG__NAME__URI with its address, or allow it with `AllowOutside`", name, dir)
		}
		log, err := findLake(fsys, filepath.Clean(name))
		return []string{log}, "", err
	}
	if filepath.IsLocal(name) || outside {
		log, err := findLake(fsys, full)
		if err != nil {
			return nil, "", err
		}
		if log != "" {
			return []string{log}, "", nil
		}
		info, err := fsys.Stat(full)
		switch {
		case err == nil && info.IsDir():
			files, err := filesBelow(fsys, full, outside)
			if err == nil {
				err = refuseLakes(fsys, files)
			}
			return files, full, err
		case err != nil && !vfs.Absent(err):
			return nil, "", err
		}
	}
	files, err = tfgnnfiles.Tables(fsys, dir, name, outside)
	if err == nil {
		err = refuseLakes(fsys, files)
	}
	return files, "", err
}

// FindPath is Find for a path that is not relative to a folder: parts of it from the first glob on are the name.
func FindPath(fsys vfs.FS, path string, outside bool) (files []string, folder string, err error) {
	path = filepath.Clean(path) // without the slash that completion puts after a folder
	if catalog.Is(path) {
		log, err := findLake(fsys, path)
		return []string{log}, "", err
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	for strings.ContainsAny(dir, "*?[") {
		// The name of an existing folder means that folder.
		if there, err := vfs.Exists(fsys, dir); err != nil {
			return nil, "", err
		} else if there {
			break
		}
		dir, name = filepath.Dir(dir), filepath.Join(filepath.Base(dir), name)
	}
	return Find(fsys, dir, name, outside)
}
