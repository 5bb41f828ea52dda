package lake

import (
	"context"
	"errors"
	"fmt"
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
	// Commit identifies the commit of Version where other ones can have the number, as in a table that was copied or restored from a
	// backup; empty: no other one can.
	Commit string
	// Dir is the folder of the table.
	Dir     string
	Columns []Column
	// Log are the files that say all this, in the order in which they were read.
	Log []string
	// Files are in the byte order of their paths.
	Files []File
	// Resolve, if not nil, finds more rows of Files that are deleted, by their keys. It reads their columns of the files with several threads,
	// and returns a bitmap for each of Files; nil: none.
	Resolve func(ctx context.Context, threads int) ([]*roaring64.Bitmap, error)
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
	// Size and Rows are the bytes and rows that the log says the file has; 0: it does not say.
	Size, Rows int64
	// Values are the texts of columns, by their numbers, whose value all rows have in common; nil: an empty cell.
	Values map[int]*string
	// Fallback says that Values count only where the file does not have the column.
	Fallback bool
	// Deleted are the numbers of the rows in the file that are deleted, but those that Resolve finds; nil: none.
	Deleted *roaring64.Bitmap
}

// Mark says up to which version the rows of a table were taken, as text: ID@VERSION, or ID@VERSION@COMMIT.
func (s *Snapshot) Mark() string {
	mark := s.ID + "@" + strconv.FormatInt(s.Version, 10)
	if s.Commit != "" {
		mark += "@" + s.Commit
	}
	return mark
}

// VersionOf returns the version of the mark of this table among marks, and its commit; false: there is none.
func (s *Snapshot) VersionOf(marks string) (version int64, commit string, ok bool) {
	for mark := range strings.FieldsSeq(marks) {
		text, ok := strings.CutPrefix(mark, s.ID+"@")
		if !ok || s.ID == "" {
			continue
		}
		text, commit, _ := strings.Cut(text, "@")
		version, err := strconv.ParseInt(text, 10, 64)
		return version, commit, err == nil
	}
	return 0, "", false
}

// AddMark puts the mark of a table among marks, in place of an older one of the same table. A type can have had rows of several tables.
func AddMark(marks, mark string) string {
	id, _, _ := strings.Cut(mark, "@")
	list := slices.DeleteFunc(strings.Fields(marks), func(m string) bool { return strings.HasPrefix(m, id+"@") })
	return strings.Join(append(list, mark), " ")
}

// Said is what the log says of the size of a file, for errors.
func (f *File) Said() string {
	if f.Size != 0 {
		return fmt.Sprintf("%d bytes", f.Size)
	}
	return fmt.Sprintf("%d rows", f.Rows)
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
