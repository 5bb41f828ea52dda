package table

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/graphmill/graphmill/format/tfrecord"
)

// Kind is a kind of file that holds a table.
type Kind uint8

// The kinds. LakeTable is a table of Delta Lake or Iceberg, by the path of its log. Array is an .npy file: it has no names of columns, so that its caller says what the rows are.
const (
	Unknown Kind = iota
	Text
	TFRecords
	ParquetFile
	ArrowFile
	JSONLines
	Array
	LakeTable
)

// kindNames are the names of the kinds in errors.
var kindNames = [...]string{"no table", "text", "TFRecords", "Parquet", "Arrow", "JSON lines", "an array", "a table of a lake"}

// String returns the name of a kind.
func (k Kind) String() string { return kindNames[k] }

// extensions has the kinds by their extensions.
var extensions = map[string]Kind{
	".csv": Text, ".tsv": Text, ".txt": Text, ".edgelist": Text, ".edges": Text, ".el": Text,
	".edge": Text, ".wel": Text, ".dat": Text, ".ungraph": Text, ".konect": Text, ".net": Text,
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

// shardSuffix is the suffix of the name of a shard, after the name of the table.
var shardSuffix = regexp.MustCompile(`-[0-9]{5}-of-[0-9]{5}$`)

// Extension returns the lower-case extension of a path: ".csv" for "a.csv.gz" and for "a.csv-00000-of-00002".
func Extension(path string) string {
	ext, _ := SplitExtension(path)
	return ext
}

// SplitExtension returns the lower-case extension of a path without the extension of its compression: ".gz", ".zst", or "".
func SplitExtension(path string) (ext, compressed string) {
	base := shardSuffix.ReplaceAllString(strings.ToLower(filepath.Base(path)), "")
	if c := filepath.Ext(base); c == ".gz" || c == ".zst" {
		compressed, base = c, strings.TrimSuffix(base, c)
	}
	return filepath.Ext(base), compressed
}

// ByteOrderMark may begin a text in UTF-8.
const ByteOrderMark = "\xef\xbb\xbf"

// BinaryKind recognises the kinds whose first bytes no text has.
func BinaryKind(b []byte) Kind {
	switch k := KindOfBytes(b); k {
	case ParquetFile, ArrowFile, Array:
		return k
	}
	return Unknown
}

// KindOfBytes recognises the kind of a file by its first bytes.
func KindOfBytes(b []byte) Kind {
	text := bytes.TrimLeft(bytes.TrimPrefix(b, []byte(ByteOrderMark)), " \t\r\n")
	switch {
	case bytes.HasPrefix(b, []byte("PAR1")):
		return ParquetFile
	case bytes.HasPrefix(b, []byte("ARROW1")), len(b) >= 8 && binary.LittleEndian.Uint32(b) == 1<<32-1 && b[7] == 0:
		return ArrowFile
	case bytes.HasPrefix(b, []byte("\x93NUMPY")):
		return Array
	case len(b) >= 12 && tfrecord.Checksum(b[:8]) == binary.LittleEndian.Uint32(b[8:]):
		return TFRecords
	case len(text) > 0 && text[0] == '{', len(text) > 0 && text[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("{")):
		return JSONLines
	}
	return Unknown
}
