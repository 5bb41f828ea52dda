package lakefiles

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/columnfiles"
	"github.com/graphmill/graphmill/internal/isotime"
	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// lakeTable is the rows of a snapshot.
type lakeTable struct {
	snapshot   *lake.Snapshot
	files      []lakeFile
	units      []unit
	fields     []table.Field
	unreadable []string
	rows       uint64
	bytes      int64

	mu       sync.Mutex
	resolved bool // the rows that are deleted by their keys are known
}

// lakeFile is a file of the table.
type lakeFile struct {
	*columnfiles.Columnar
	path    string
	deleted *roaring64.Bitmap
	// sources are where the values of each column of the table come from.
	sources []source
	// first is the number of the first row in the table, and rows the number of rows that are not deleted.
	first, rows uint64
}

// source is a column of a file, by its name there, or a text that all rows have in common; nil: an empty cell.
type source struct {
	name string
	has  bool // a column of the file
	// unit is that of the times in the file, where the table has another one.
	unit graph.Unit
	text *string
}

// unit is a part of a file that a worker scans.
type unit struct {
	file int
	part table.Part
}

// Open opens the files of a snapshot, and reads their footers. place names the table for errors.
func Open(fsys vfs.FS, s *lake.Snapshot, place string) (table.Table, error) {
	t := &lakeTable{snapshot: s}
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name)
	}
	if err := table.CheckNames(place, names); err != nil {
		return nil, err
	}
	for i := range s.Files {
		if err := t.addFile(fsys, &s.Files[i]); err != nil {
			return nil, err
		}
	}
	t.resolved = s.Resolve == nil
	for i := range s.Columns {
		t.declare(i)
	}
	if len(t.files) == 0 {
		return &emptyTable{t, place}, nil
	}
	return t, nil
}

// addFile opens a file.
func (t *lakeTable) addFile(fsys vfs.FS, f *lake.File) error {
	data, err := columnfiles.OpenParquet(fsys, []string{f.Path})
	if vfs.Absent(err) {
		return badf("%s: found no such file, expected it, as the log of the table names it; it was removed, by a vacuum perhaps: ask for a newer version, or copy the whole table", f.Path)
	}
	if err != nil {
		return err
	}
	if f.Size != 0 && f.Size != data.Bytes() || f.Rows != 0 && uint64(f.Rows) != data.Rows() {
		return badf("%s: found %d bytes with %d rows, expected %s as the log says; copy the file again", f.Path, data.Bytes(), data.Rows(), f.Said())
	}
	x := lakeFile{Columnar: data, path: f.Path, first: t.rows}
	if err := x.delete(f.Deleted); err != nil {
		return err
	}
	if t.snapshot.NeedsIDs && !data.HasIDs() && len(data.Fields())+len(data.Unreadable()) > 0 {
		return badf("%s: found columns without field ids, expected them, as the table says no names of columns in files; give it the property schema.name-mapping.default", f.Path)
	}
	for i := range t.snapshot.Columns {
		from, err := x.source(&t.snapshot.Columns[i], f, i)
		if err != nil {
			return err
		}
		x.sources = append(x.sources, from)
	}
	t.rows += x.rows
	t.bytes += data.Bytes()
	for _, p := range data.Divide(1) {
		t.units = append(t.units, unit{len(t.files), p})
	}
	t.files = append(t.files, x)
	return nil
}

// source finds column i of the table in a file.
func (f *lakeFile) source(c *lake.Column, of *lake.File, i int) (source, error) {
	name, has := c.Physical, f.Columnar.Named(c.Physical)
	if c.ByID && f.Columnar.HasIDs() {
		name = f.Columnar.Numbered(c.ID)
		has = name != ""
	}
	for _, alias := range c.Aliases {
		if !has && !(c.ByID && f.Columnar.HasIDs()) {
			name, has = alias, f.Columnar.Named(alias)
		}
	}
	value, common := of.Values[i]
	switch {
	case common && !(has && of.Fallback):
		text, err := commonText(c, value)
		if err != nil {
			return source{}, badf("%s: %w", of.Path, err)
		}
		return source{text: text}, nil
	case has:
		s := source{name: name, has: true}
		if unit := f.Columnar.UnitOf(name); unit != c.Unit {
			s.unit = unit
		}
		return s, nil
	}
	text, err := commonText(c, c.Default)
	if err != nil {
		return source{}, badf("%s: %w", of.Path, err)
	}
	return source{text: text}, nil
}

// commonText is the text of a value that all rows of a file have in common, as a cell of its column: times are integers of its unit.
func commonText(c *lake.Column, value *string) (*string, error) {
	if value == nil || c.Unit == "" {
		return value, nil
	}
	at, ok := isotime.Parse([]byte(*value))
	v, exact, fits := at.In(c.Unit.PerSecond())
	if !ok || !exact || !fits {
		return nil, fmt.Errorf("found the value %q of column %q, expected a time; the log is damaged", *value, c.Name)
	}
	text := strconv.FormatInt(v, 10)
	return &text, nil
}

// declare adds column i of the table to the fields, or to the columns that cannot be read.
func (t *lakeTable) declare(i int) {
	c := &t.snapshot.Columns[i]
	if c.Reason != "" {
		t.unreadable = append(t.unreadable, fmt.Sprintf("%q (%s)", c.Name, c.Reason))
		return
	}
	field := table.Field{Name: c.Name, DType: c.DType, Unit: c.Unit}
	for range c.Lists {
		field.Shape = append(field.Shape, -1)
	}
	t.fields = append(t.fields, field)
}

// Mark is the mark of the snapshot.
func (t *lakeTable) Mark() string { return t.snapshot.Mark() }

// Described names the table, with its version.
func (t *lakeTable) Described() string {
	return fmt.Sprintf("%s, a table of %s, at version %d", filepath.Base(t.snapshot.Dir), t.snapshot.Format, t.snapshot.Version)
}

// Fields implements Table.
func (t *lakeTable) Fields() []table.Field { return t.fields }

// Unreadable names the columns that cannot be read, and what they are.
func (t *lakeTable) Unreadable() []string { return t.unreadable }

// HasTyped says that the table declares the dtypes of all fields.
func (t *lakeTable) HasTyped(string) bool { return true }

// Files implements Table.
func (t *lakeTable) Files() []string {
	paths := make([]string, len(t.files))
	for i, f := range t.files {
		paths[i] = f.path
	}
	return paths
}

// Bytes implements Table.
func (t *lakeTable) Bytes() int64 { return t.bytes }

// Where implements Table: the place of the row in its file.
func (t *lakeTable) Where(row uint64, column string) string {
	n := max(sort.Search(len(t.files), func(i int) bool { return t.files[i].first > row })-1, 0)
	f := &t.files[n]
	local := row - f.first
	if f.deleted != nil {
		local = f.physical(local)
	}
	return f.Columnar.Where(local, column)
}

// physical returns the number in the file of the row that is number n of those that are not deleted.
func (f *lakeFile) physical(n uint64) uint64 {
	low, high := n, n+f.deleted.GetCardinality()
	for low < high {
		mid := low + (high-low)/2
		if mid+1-f.deleted.Rank(mid) > n {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// Scan implements Table.
func (t *lakeTable) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *lakeTable) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	threads = max(threads, 1)
	if err := t.resolve(ctx, threads); err != nil {
		return 0, err
	}
	workers := make([]lakeWorker, threads)
	for i := range workers {
		if err := workers[i].begin(t, columns); err != nil {
			return 0, err
		}
	}
	err := table.Each(ctx, len(t.units), threads, func(worker, n int) error {
		w := &workers[worker]
		return w.scan(ctx, &t.units[n], func(c *table.Chunk) error { return fn(worker, c) })
	})
	if err != nil {
		return 0, err
	}
	return t.rows, nil
}

// resolve finds the rows that are deleted by their keys, before the first scan.
func (t *lakeTable) resolve(ctx context.Context, threads int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.resolved {
		return nil
	}
	deleted, err := t.snapshot.Resolve(ctx, threads)
	if errors.Is(err, lake.ErrFormat) {
		err = tagged.Errorf(table.ErrFormat, "%w", err)
	}
	if err != nil {
		return err
	}
	t.rows = 0
	for i := range t.files {
		f := &t.files[i]
		if f.first = t.rows; deleted[i] != nil {
			if f.deleted != nil {
				deleted[i].Or(f.deleted)
			}
			if err := f.delete(deleted[i]); err != nil {
				return err
			}
		}
		t.rows += f.rows
	}
	t.resolved = true
	return nil
}

// delete sets the rows that are deleted.
func (f *lakeFile) delete(rows *roaring64.Bitmap) error {
	f.deleted, f.rows = nil, f.Rows()
	if rows == nil || rows.IsEmpty() {
		return nil
	}
	if last := rows.Maximum(); last >= f.rows {
		return badf("%s: found %d rows, expected more, as row %d is deleted; copy the table again", f.path, f.rows, last)
	}
	f.deleted = rows
	f.rows -= rows.GetCardinality()
	return nil
}

// lakeWorker scans units, one after the other.
type lakeWorker struct {
	t       *lakeTable
	columns []table.Column
	numbers []int // of the columns in the snapshot
	// common builds the values that all rows of a file have in common.
	common  []builder.Column
	chunk   table.Chunk
	vectors []table.Vector
	absent  []bool
	live    []run
}

// begin prepares the scan of columns.
func (w *lakeWorker) begin(t *lakeTable, columns []table.Column) error {
	w.t, w.columns = t, columns
	w.vectors = make([]table.Vector, len(columns))
	for _, a := range columns {
		n := slices.IndexFunc(t.snapshot.Columns, func(c lake.Column) bool { return c.Name == a.Name })
		if n < 0 {
			return badf("%s: found no column %q, expected one of the table; correct the name", t.files[0].path, a.Name)
		}
		if reason := t.snapshot.Columns[n].Reason; reason != "" {
			return badf("%s: found %s in column %q, expected numbers, bools, strings, or lists of them", t.files[0].path, reason, a.Name)
		}
		w.numbers = append(w.numbers, n)
		c, err := builder.New(a)
		if err != nil {
			return fmt.Errorf("%s: column %q: %w", t.files[0].path, a.Name, err)
		}
		c.Wide = false
		w.common = append(w.common, c)
	}
	return nil
}

// scan passes the rows of a unit that are not deleted to fn.
func (w *lakeWorker) scan(ctx context.Context, u *unit, fn func(*table.Chunk) error) error {
	f := &w.t.files[u.file]
	var inner []table.Column
	for i, a := range w.columns {
		if s := &f.sources[w.numbers[i]]; s.has {
			a.Name = s.name
			a.Mark = a.Mark || s.unit != ""
			inner = append(inner, a)
		}
	}
	_, err := f.Columnar.Cut(u.part).Scan(ctx, inner, 1, func(_ int, c *table.Chunk) error {
		at, rows := c.First, c.Rows
		w.live = f.liveRuns(w.live[:0], at, rows)
		left := 0
		for _, r := range w.live {
			left += r.n
		}
		if left == 0 {
			return nil
		}
		next := 0
		w.chunk = *c
		w.chunk.Columns, w.chunk.Rows = w.vectors, left
		w.chunk.First = f.first + at
		if left < rows {
			w.chunk.Bytes = c.Bytes / int64(rows) * int64(left)
		}
		if f.deleted != nil && at > 0 {
			w.chunk.First -= f.deleted.Rank(at - 1)
		}
		if left < rows && c.Absent != nil {
			w.chunk.Absent = keepBools(c.Absent, w.live)
		}
		for i := range w.columns {
			s := &f.sources[w.numbers[i]]
			if s.has {
				w.vectors[i] = c.Columns[next]
				if next++; left < rows {
					keepRows(&w.vectors[i], &w.columns[i], w.live, rows)
				}
				if s.unit != "" {
					if err := w.convertTimes(i, s.unit, f); err != nil {
						return err
					}
				}
				continue
			}
			if err := w.fill(i, s, left, f.path); err != nil {
				return err
			}
		}
		return fn(&w.chunk)
	})
	return err
}

// fill makes the vector of column i for rows with a text in common.
func (w *lakeWorker) fill(i int, s *source, rows int, path string) error {
	col := &w.common[i]
	col.Reset()
	for row := range rows {
		var cell []byte
		if s.text != nil {
			cell = []byte(*s.text)
		}
		absent, problem := col.Put(cell)
		if problem != "" {
			return badf("%s: %s", path, fmt.Sprintf("found %s in column %q for all rows, as the log says, expected %s", describeCommon(s), col.Name, problem))
		}
		if absent {
			if w.chunk.Absent == nil {
				w.absent = append(w.absent[:0], make([]bool, rows)...)
				w.chunk.Absent = w.absent
			}
			w.chunk.Absent[row] = true
		}
	}
	w.vectors[i] = col.Vector(rows)
	return nil
}

func describeCommon(s *source) string {
	if s.text == nil {
		return "an empty cell"
	}
	return fmt.Sprintf("the value %q", *s.text)
}

// emptyTable is a table without files.
type emptyTable struct {
	*lakeTable
	place string
}

// Files implements Table: the last one of the log, since there are no others.
func (t *emptyTable) Files() []string { return t.snapshot.Log[len(t.snapshot.Log)-1:] }

// Where implements Table.
func (t *emptyTable) Where(row uint64, _ string) string {
	return fmt.Sprintf("%s: row %d", t.place, row)
}

// Scan implements Table.
func (t *emptyTable) Scan(ctx context.Context, _ []table.Column, _ int, _ func(worker int, c *table.Chunk) error) (uint64, error) {
	return 0, context.Cause(ctx)
}

func badf(format string, a ...any) error { return tagged.Errorf(table.ErrFormat, format, a...) }
