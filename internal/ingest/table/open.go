package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Kind is a kind of file that holds a table.
type Kind uint8

// The kinds. Array is an .npy file: it has no names of columns, so that its caller says what the rows are.
const (
	Unknown Kind = iota
	Text
	TFRecords
	ParquetFile
	ArrowFile
	JSONLines
	Array
)

// kindNames are the names of the kinds in errors.
var kindNames = [...]string{"no table", "text", "TFRecords", "Parquet", "Arrow", "JSON lines", "an array"}

// String returns the name of a kind.
func (k Kind) String() string { return kindNames[k] }

// extensions has the kinds by their extensions.
var extensions = map[string]Kind{
	".csv": Text, ".tsv": Text, ".txt": Text, ".edgelist": Text, ".edges": Text, ".el": Text,
	".tfrecord": TFRecords, ".tfrecords": TFRecords,
	".parquet": ParquetFile,
	".arrow":   ArrowFile, ".arrows": ArrowFile, ".ipc": ArrowFile, ".feather": ArrowFile,
	".jsonl": JSONLines, ".ndjson": JSONLines,
	".npy": Array,
}

// KindByName is the kind that the extension of a path says, or Unknown. The path may be a glob, and end in "@N".
func KindByName(path string) Kind { return extensions[Extension(path)] }

// Expected names the files that Open reads, for errors.
const Expected = ".csv, .tsv, .txt, .jsonl or .ndjson, plain or as .gz or .zst, .tfrecord, .parquet, .arrow, .ipc or .feather"

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

// binaryKind recognises the kinds whose first bytes no text has.
func binaryKind(b []byte) Kind {
	switch k := kindOfBytes(b); k {
	case ParquetFile, ArrowFile, Array:
		return k
	}
	return Unknown
}

// kindOfBytes recognises the kind of a file by its first bytes.
func kindOfBytes(b []byte) Kind {
	text := bytes.TrimLeft(bytes.TrimPrefix(b, []byte(byteOrderMark)), " \t\r\n")
	switch {
	case bytes.HasPrefix(b, []byte("PAR1")):
		return ParquetFile
	case bytes.HasPrefix(b, []byte("ARROW1")), len(b) >= 8 && binary.LittleEndian.Uint32(b) == 1<<32-1 && b[7] == 0:
		return ArrowFile
	case bytes.HasPrefix(b, []byte("\x93NUMPY")):
		return Array
	case len(b) >= 12 && tfrecord.Checksum(b[:8]) == binary.LittleEndian.Uint32(b[8:]):
		return TFRecords
	case len(text) > 0 && text[0] == '{':
		return JSONLines
	}
	return Unknown
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

// Unreadable names the columns of a table that cannot be read, and what they are.
func Unreadable(t Table) []string {
	if u, ok := t.(interface{ Unreadable() []string }); ok {
		return u.Unreadable()
	}
	return nil
}

// Unnamed returns the numbers, from 1, of the columns of text without a name in which the first MiB has values.
func Unnamed(t Table) []int {
	if u, ok := t.(interface{ Unnamed() []int }); ok {
		return u.Unnamed()
	}
	return nil
}

// difference describes the first difference between two lists of columns.
func difference(found, expected []string) string {
	for i := range max(len(found), len(expected)) {
		switch {
		case i >= len(found):
			return fmt.Sprintf("column %d, %s, is missing", i+1, expected[i])
		case i >= len(expected):
			return fmt.Sprintf("column %d, %s, is more", i+1, found[i])
		case found[i] != expected[i]:
			return fmt.Sprintf("column %d is %s and not %s", i+1, found[i], expected[i])
		}
	}
	return "the columns are the same"
}

// quoted returns names in quotes.
func quoted(names []string) []string {
	out := slices.Clone(names)
	for i, n := range out {
		out[i] = fmt.Sprintf("%q", n)
	}
	return out
}
