package lake

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// ErrFormat is wrapped by errors about a log that is damaged, or that has what is not read.
var ErrFormat = errors.New("not a table of a lake that can be read")

// Badf makes an error of kind ErrFormat.
func Badf(format string, a ...any) error { return tagged.Errorf(ErrFormat, format, a...) }

// Snapshot is a table at one version.
type Snapshot struct {
	// Format is the name of the format for people: Delta Lake, Iceberg.
	Format string
	// ID identifies the table, whatever its folder is called.
	ID string
	// Version is the version of the table: the number of the last commit, or the id of a snapshot.
	Version int64
	// Dir is the folder of the table.
	Dir     string
	Columns []Column
	// Log are the files that say all this, in the order in which they were read.
	Log []string
	// Files are in the byte order of their paths.
	Files []File
	// NeedsIDs says that columns have no names in files without field ids, so that such a file is an error.
	NeedsIDs bool
}

// Column is a top-level column of a table.
type Column struct {
	Name string
	// DType is the type of the values, and Unit their unit if they are times.
	DType graph.DType
	Unit  graph.Unit
	// Lists is the depth of lists: 0 for single values.
	Lists int
	// Text says that strings are UTF-8, and not any bytes.
	Text bool
	// Reason says why the column cannot be read: "a struct". It is empty if it can.
	Reason string
	// Physical is the name of the column in the files, and ID its field id there. A column is found by its id, if ByID says so, and else
	// by its name. Aliases are further names that it may have.
	Physical string
	Aliases  []string
	ID       int
	ByID     bool
	// Default is the text of the value that rows of files without the column have; nil: they are empty cells.
	Default *string
}

// File is a file with rows of a table.
type File struct {
	Path string
	// Values are the texts of columns, by their numbers, whose value all rows have in common; nil: an empty cell.
	Values map[int]*string
	// Fallback says that Values count only where the file does not have the column.
	Fallback bool
	// Deleted are the numbers of the rows in the file that are deleted; nil: none.
	Deleted *roaring64.Bitmap
}

// Mark says up to which version the rows of a table were taken, as text: ID@VERSION.
func (s *Snapshot) Mark() string { return s.ID + "@" + strconv.FormatInt(s.Version, 10) }

// Since returns the version of a mark of this table; false: the mark is that of another table, or none.
func (s *Snapshot) Since(mark string) (version int64, ok bool) {
	text, ok := strings.CutPrefix(mark, s.ID+"@")
	if !ok || s.ID == "" {
		return 0, false
	}
	version, err := strconv.ParseInt(text, 10, 64)
	return version, err == nil
}

// SortFiles puts the files into their order.
func (s *Snapshot) SortFiles() {
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
}

// Decimal is the type of decimals of a number of digits, of which scale are after the point, as package parquet reads them.
func Decimal(digits, scale int) graph.DType {
	if scale == 0 && digits <= 18 {
		return graph.Int64
	}
	return graph.Float64
}
