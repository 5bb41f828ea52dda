package tablefiles

import (
	"path/filepath"
	"strings"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// lake is a format of tables whose files are not their rows: a log beside the files says which of them count, and which of their
// rows are deleted.
type lake struct {
	what string
	// mark is a file or folder that every table of the format has, or that no other folder has.
	mark string
	do   string
}

var lakes = []lake{
	{"Delta Lake", "_delta_log", "COPY (SELECT * FROM delta_scan('%s')) TO 'table.parquet' in DuckDB"},
	{"Iceberg", "metadata/version-hint.text", iceberg},
	{"Iceberg", "metadata/*.metadata.json", iceberg},
	{"Hudi", ".hoodie", "spark.read.format('hudi').load('%s').write.parquet('table') in Spark"},
	{"Lance", "_versions", "pyarrow.parquet.write_table(lance.dataset('%s').to_table(), 'table.parquet') in Python"},
}

const iceberg = "COPY (SELECT * FROM iceberg_scan('%s')) TO 'table.parquet' in DuckDB"

// RefuseLake is an error of kind table.ErrFormat where a folder is a table of Delta Lake, Iceberg, Hudi or Lance, or is below
// one as folders of its data are (data, KEY=VALUE). A folder above it in a bucket is none where it cannot be read: keys are often
// good for what is below one alone.
func RefuseLake(fsys vfs.FS, dir string) error {
	for level := range maxFolders {
		for _, l := range lakes {
			there, err := l.marks(fsys, dir)
			if err != nil && (level == 0 || vfs.Scheme(dir) == "") {
				return err
			}
			if there {
				return tagged.Errorf(table.ErrFormat, "%s: found a table of %s (%s), whose files also have rows that were deleted or overwritten, expected files that are all of a table; write its rows as they are now: %s",
					dir, l.what, filepath.Join(dir, l.mark), strings.ReplaceAll(l.do, "%s", dir))
			}
		}
		base := filepath.Base(dir)
		if base != "data" && !strings.Contains(base, "=") {
			return nil
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// marks says whether a folder has the mark.
func (l *lake) marks(fsys vfs.FS, dir string) (bool, error) {
	head, pattern := filepath.Split(l.mark)
	if !strings.Contains(pattern, "*") {
		return vfs.Exists(fsys, filepath.Join(dir, l.mark))
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

// refuseLakes is RefuseLake for the folders of files.
func refuseLakes(fsys vfs.FS, files []string) error {
	seen := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f)
		if seen[dir] || strings.HasPrefix(vfs.Scheme(f), "http") { // a web server has no folders
			continue
		}
		seen[dir] = true
		if err := RefuseLake(fsys, dir); err != nil {
			return err
		}
	}
	return nil
}
