package table

import (
	"bytes"
	"errors"

	"github.com/graphmill/graphmill/internal/vfs"
)

// KindOf recognises the kind of a file by the first bytes of those that are not text, or else by its extension, or else by
// other first bytes.
func KindOf(fsys vfs.FS, path string) (Kind, error) {
	named := KindByName(path)
	if named == TFRecords || named == Array { // they are opened by name alone
		return named, nil
	}
	head, err := Head(fsys, path, 512)
	if err != nil {
		return Unknown, err
	}
	if k := binaryKind(head); k != Unknown && named != Unknown {
		return k, nil
	}
	if named != Unknown {
		return named, nil
	}
	return kindOfBytes(head), nil
}

// Options hold what the files of a table do not say themselves.
type Options struct {
	CSVOptions
	// Text says that files of no known kind are text.
	Text bool
	// Folders are the folders in which the files were found: the folders KEY=VALUE below them are columns.
	Folders []string
}

// Open opens the files of one table, in order. All must be of one kind. The Names of JSON lines are the keys to read.
func Open(fsys vfs.FS, files []string, o Options) (Table, error) {
	if len(files) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	kind := Unknown
	for i, f := range files {
		k := KindByName(f)
		var err error
		if i == 0 || k != kind { // one of another kind under the name is refused when it is opened
			k, err = KindOf(fsys, f)
		}
		switch {
		case err != nil:
			return nil, err
		case k == Unknown && o.Text:
			b, err := Head(fsys, f, 512)
			if err != nil {
				return nil, err
			}
			if bytes.IndexByte(b, 0) >= 0 {
				return nil, badf("%s: found bytes of no known kind that are no text, expected %s; convert the file", f, Expected)
			}
			k = Text
		case k == Unknown:
			ext, _ := extension(f)
			return nil, badf("%s: found a table with the extension %q whose first bytes are those of no known kind, expected %s; correct the extension, or convert the file", f, ext, Expected)
		case k == Array:
			return nil, badf("%s: found an array, which has no names of columns, expected %s; name the array among the columns of a graph.yaml", f, Expected)
		}
		if i > 0 && k != kind {
			return nil, badf("%s: found %s, expected %s, as %s is; one table has files of one kind", f, k, kind, files[0])
		}
		kind = k
	}
	t, err := open(fsys, files, kind, o)
	if err != nil || len(o.Folders) == 0 {
		return t, err
	}
	return partitioned(t, o.Folders)
}

func open(fsys vfs.FS, files []string, kind Kind, o Options) (Table, error) {
	switch kind {
	case TFRecords:
		return OpenTFRecord(fsys, files)
	case ParquetFile:
		return OpenParquet(fsys, files)
	case ArrowFile:
		return OpenArrow(fsys, files)
	case JSONLines:
		return OpenJSONLines(fsys, files, o.Names)
	}
	return OpenCSV(fsys, files, o.CSVOptions)
}
