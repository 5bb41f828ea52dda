package tablefiles

import (
	"bytes"
	"errors"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/examplefiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// KindOf recognises the kind of a file by the first bytes of those that are not text, or else by its extension, or else by
// other first bytes.
func KindOf(fsys vfs.FS, path string) (table.Kind, error) {
	if _, ok := CutLog(path); ok {
		return table.LakeTable, nil
	}
	named := table.KindByName(path)
	if named == table.TFRecords || named == table.Array { // they are opened by name alone
		return named, nil
	}
	head, err := textfiles.Head(fsys, path, 512)
	if err != nil {
		return table.Unknown, err
	}
	if k := table.BinaryKind(head); k != table.Unknown && named != table.Unknown {
		return k, nil
	}
	if named != table.Unknown {
		return named, nil
	}
	return table.KindOfBytes(head), nil
}

// Options hold what the files of a table do not say themselves.
type Options struct {
	textfiles.CSVOptions
	// Text says that files of no known kind are text.
	Text bool
	// Outside allows the files of a lake's table to lie outside of its folder.
	Outside bool
	// Mark is that of the rows of a lake's table that were taken before: the table has the rows after it (MarkOf). Other tables have none.
	Mark string
	// Folders are the folders in which the files were found: the folders KEY=VALUE below them are columns.
	Folders []string
}

// Open opens the files of one table, in order. All must be of one kind. The Names of JSON lines are the keys to read.
func Open(fsys vfs.FS, files []string, o Options) (table.Table, error) {
	if len(files) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	kind := table.Unknown
	for i, f := range files {
		k := table.KindByName(f)
		var err error
		if i == 0 || k != kind { // one of another kind under the name is refused when it is opened
			k, err = KindOf(fsys, f)
		}
		switch {
		case err != nil:
			return nil, err
		case k == table.Unknown && o.Text:
			b, err := textfiles.Head(fsys, f, 512)
			if err != nil {
				return nil, err
			}
			if bytes.IndexByte(b, 0) >= 0 {
				return nil, badf("%s: found bytes of no known kind that are no text, expected %s; convert the file", f, table.Expected)
			}
			k = table.Text
		case k == table.Unknown:
			return nil, badf("%s: found a table with the extension %q whose first bytes are those of no known kind, expected %s; correct the extension, or convert the file", f, table.Extension(f), table.Expected)
		case k == table.Array:
			return nil, badf("%s: found an array, which has no names of columns, expected %s; name the array among the columns of a graph.yaml", f, table.Expected)
		}
		if i > 0 && k != kind {
			return nil, badf("%s: found %s, expected %s, as %s is; one table has files of one kind", f, k, kind, files[0])
		}
		kind = k
	}
	t, err := openKind(fsys, files, kind, o)
	if err != nil || len(o.Folders) == 0 {
		return t, err
	}
	return partitioned(t, o.Folders)
}

// MarkOf is the mark of a table up to which its rows are taken now; empty: it is no table of a lake.
func MarkOf(t table.Table) string {
	if x, ok := t.(interface{ Mark() string }); ok {
		return x.Mark()
	}
	return ""
}

// Described names a table of a lake with its version.
func Described(t table.Table) string {
	if x, ok := t.(interface{ Described() string }); ok {
		return x.Described()
	}
	return ""
}

// openKind opens files of one kind as a table.
func openKind(fsys vfs.FS, files []string, kind table.Kind, o Options) (table.Table, error) {
	if o.Missing != nil && kind != table.Text && kind != table.JSONLines {
		return nil, badf("%s: found missing_texts with %s, expected them with text: CSV or JSON lines; remove them, or replace the texts where the file is written", files[0], kind)
	}
	switch kind {
	case table.TFRecords:
		return examplefiles.OpenTFRecord(fsys, files)
	case table.LakeTable:
		if len(files) > 1 {
			return nil, badf("%s: found %d tables of lakes, expected one; list the others as tables of their own", files[0], len(files))
		}
		return openLake(fsys, files[0], o.Mark, o.Outside)
	case table.ParquetFile:
		return columnfiles.OpenParquet(fsys, files)
	case table.ArrowFile:
		return columnfiles.OpenArrow(fsys, files)
	case table.JSONLines:
		return textfiles.OpenJSONLines(fsys, files, o.Names, o.Missing)
	}
	return textfiles.OpenCSV(fsys, files, o.CSVOptions)
}
