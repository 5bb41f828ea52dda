package predictions

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/database"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Format is a format of a table.
type Format uint8

// The formats.
const (
	Parquet Format = iota
	CSV
	Arrow
	Database
)

// Target is where a table is written.
type Target struct {
	Format Format
	Path   string // of the file, or the address of the database
	Table  string // of a database
}

// endings are the formats by the ends of names.
var endings = map[string]Format{".parquet": Parquet, ".pq": Parquet, ".csv": CSV, ".arrow": Arrow, ".feather": Arrow, ".db": Database, ".sqlite": Database, ".sqlite3": Database}

// ParseTarget finds out the format from the end of a name, or from an address. The table of a database stands after # or in table.
func ParseTarget(out, table string) (Target, error) {
	t := Target{Path: out, Table: table}
	address := database.Is(out)
	if at := strings.LastIndexByte(out, '#'); address && at >= 0 {
		if table != "" && table != out[at+1:] {
			return t, usagef("found the table %q in `Out` and %q as `Table`, expected one; leave one out", out[at+1:], table)
		}
		t.Path, t.Table = out[:at], out[at+1:]
	}
	var known bool
	if t.Format, known = endings[strings.ToLower(filepath.Ext(out))]; address {
		t.Format = Database
	} else if !known {
		return t, usagef("found `Out` %s, expected a name that ends with .parquet, .arrow, .csv or .db, or the address of a database, such as sqlite:FILE#TABLE; rename it", out)
	}
	switch {
	case t.Format == Database && t.Table == "":
		return t, usagef("found no `Table` for the database %s, expected the name of the table to write; give `Table`", database.Shown(out))
	case t.Format != Database && t.Table != "":
		return t, usagef("found `Table` with `Out` %s, expected it with a database; leave it out", out)
	case t.Format == Database && !address:
		t.Path = "sqlite:" + out
	}
	return t, nil
}

// vacant refuses a file that is there, unless it is to be replaced, and a folder that is not.
func vacant(fsys vfs.FS, out string, overwrite bool) error {
	switch info, err := fsys.Lstat(out); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: %w and is a folder, expected the name of a file; choose another `Out`", out, store.ErrExists)
	case !overwrite:
		return fmt.Errorf("%s: %w; choose another `Out`, or give `Overwrite` to replace it", out, store.ErrExists)
	}
	dir := filepath.Dir(filepath.Clean(out))
	if vfs.Scheme(out) != "" { // buckets have no folders
		return nil
	}
	there, err := vfs.Exists(fsys, dir)
	if err == nil && !there {
		err = fmt.Errorf("%s: found no folder %s, expected one to write the file in; make it, or choose another `Out`", out, dir)
	}
	return err
}
