package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Parquet is a table of Parquet files. Its columns are the top-level columns that are numbers, bools, byte strings,
// or lists of them. Null is an empty cell.
type Parquet struct {
	fsys   vfs.FS
	files  []parquetFile
	like   int // index of the file whose columns are those of the table
	groups []parquetGroup
	fields []Field
	// unreadable names the other columns, with what they are.
	unreadable []string
	rows       uint64
	bytes      int64
	chunk      int // bytes of a column in a chunk; tests make it small
}

type parquetFile struct {
	path string
	*parquet.File
	rows uint64
}

// parquetGroup is a row group of a file.
type parquetGroup struct {
	file, group int
	first       uint64 // first row in the table
	local       uint64 // first row in the file
	rows        uint64
}

// parquetRows bounds the rows of a chunk.
const parquetRows = 1 << 14

// OpenParquet opens the shards of a table, in order, and reads their footers. All shards must have the same columns,
// except that the columns of a shard without rows may have the type null. The files are closed between scans.
func OpenParquet(fsys vfs.FS, paths []string) (*Parquet, error) {
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	t := &Parquet{fsys: fsys, chunk: chunkSize}
	for i, path := range paths {
		f, size, err := readFooter(fsys, path)
		if err != nil {
			return nil, err
		}
		t.bytes += size
		local := uint64(0)
		for g := range f.Groups {
			rows := uint64(f.Groups[g].Rows)
			t.groups = append(t.groups, parquetGroup{i, g, t.rows, local, rows})
			local += rows
			t.rows += rows
		}
		t.files = append(t.files, parquetFile{path, f, local})
	}
	// A file without rows may not declare the types of its columns.
	t.like = max(slices.IndexFunc(t.files, func(f parquetFile) bool { return f.rows > 0 }), 0)
	return t, t.declare()
}

func readFooter(fsys vfs.FS, path string) (f *parquet.File, size int64, err error) {
	info, err := vfs.Regular(fsys, path)
	if err != nil {
		return nil, 0, badf("%w", err)
	}
	r, err := fsys.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if f, err = parquet.Open(r, info.Size()); err != nil {
		return nil, 0, parquetError(path, err)
	}
	return f, info.Size(), nil
}

// parquetError puts a place before an error. Only errors about the bytes are ErrFormat.
func parquetError(place string, err error) error {
	if errors.Is(err, parquet.ErrCorrupt) || errors.Is(err, parquet.ErrUnsupported) {
		return badf("%s: %w", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}

var parquetTypes = map[parquet.Type]graph.DType{
	parquet.Bool: graph.Bool,
	parquet.Int8: graph.Int8, parquet.Int16: graph.Int16, parquet.Int32: graph.Int32, parquet.Int64: graph.Int64,
	parquet.Uint8: graph.Uint8, parquet.Uint16: graph.Uint16, parquet.Uint32: graph.Uint32, parquet.Uint64: graph.Uint64,
	parquet.Float16: graph.Float16, parquet.Float32: graph.Float32, parquet.Float64: graph.Float64, parquet.Bytes: graph.String,
}

// declare takes the columns of one file and checks those of the other files against them.
func (t *Parquet) declare() error {
	names, fields, unreadable := describeParquet(&t.files[t.like])
	t.fields, t.unreadable = fields, unreadable
	if err := checkNames(t.files[t.like].path, names); err != nil {
		return err
	}
	for i := range t.files {
		f := &t.files[i]
		_, fields, unreadable := describeParquet(f)
		same := func(a, b Field) bool {
			return a.Name == b.Name && (a.DType == b.DType && len(a.Shape) == len(b.Shape) || f.rows == 0 && f.null(a.Name))
		}
		if !slices.EqualFunc(fields, t.fields, same) || !slices.Equal(unreadable, t.unreadable) {
			return badf("%s: found the columns %s, expected %s, as in %s", f.path, declared(fields), declared(t.fields), t.files[t.like].path)
		}
	}
	return nil
}

// null says whether a column has the type null.
func (f *parquetFile) null(name string) bool {
	return slices.ContainsFunc(f.Columns, func(c parquet.Column) bool { return c.Name == name && c.Null })
}

// describeParquet returns all column names of a file, the fields that can be read, and the columns that cannot.
func describeParquet(f *parquetFile) (names []string, fields []Field, unreadable []string) {
	for i := range f.Columns {
		c := &f.Columns[i]
		names = append(names, c.Name)
		if c.Reason != "" {
			unreadable = append(unreadable, fmt.Sprintf("%q (%s)", c.Name, c.Reason))
			continue
		}
		field := Field{Name: c.Name, DType: parquetTypes[c.Type]}
		for range c.Lists {
			field.Shape = append(field.Shape, -1)
		}
		fields = append(fields, field)
	}
	return names, fields, unreadable
}

func declared(fields []Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, fmt.Sprintf("%s %s%s", f.Name, strings.Repeat("list of ", len(f.Shape)), f.DType))
	}
	return strings.Join(out, ", ")
}

// Fields implements Table. The shape of a list is -1 for each level.
func (t *Parquet) Fields() []Field { return t.fields }

// Unreadable names the columns that cannot be read, and what they are.
func (t *Parquet) Unreadable() []string { return t.unreadable }

// Meta returns the value of a key in the metadata of file i.
func (t *Parquet) Meta(i int, key string) (value string, ok bool) {
	value, ok = t.files[i].Meta[key]
	return value, ok
}

// Files implements Table.
func (t *Parquet) Files() []string {
	paths := make([]string, len(t.files))
	for i, f := range t.files {
		paths[i] = f.path
	}
	return paths
}

// Bytes implements Table.
func (t *Parquet) Bytes() int64 { return t.bytes }

// Where implements Table: "nodes.parquet: row 17 (row group 0)".
func (t *Parquet) Where(row uint64, _ string) string {
	for _, g := range t.groups {
		if row < g.first+g.rows {
			return fmt.Sprintf("%s: row %d (row group %d)", t.files[g.file].path, row-g.first+g.local, g.group)
		}
	}
	return fmt.Sprintf("%s: row %d", t.files[len(t.files)-1].path, row)
}

// Scan implements Table. Each worker reads whole row groups. Its memory per column and worker is a page with its
// dictionary, and 1 MiB of values, or twice the size of a row if that is more.
func (t *Parquet) Scan(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	return scanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *Parquet) plain(ctx context.Context, columns []Column, threads int, fn func(worker int, c *Chunk) error) (uint64, error) {
	threads = max(threads, 1)
	workers := make([]parquetWorker, threads)
	for i := range workers {
		w := &workers[i]
		w.t, w.columns = t, make([]parquetColumn, len(columns))
		w.chunk.Columns = make([]Vector, len(columns))
		for j, a := range columns {
			var err error
			if w.columns[j], err = t.column(a); err != nil {
				return 0, err
			}
		}
	}
	err := each(ctx, len(t.groups), threads, func(worker, unit int) error {
		return workers[worker].group(ctx, t.groups[unit], func(c *Chunk) error { return fn(worker, c) })
	})
	for i := range workers {
		err = errors.Join(err, workers[i].close())
	}
	if err != nil {
		return 0, err
	}
	return t.rows, nil
}

// column plans how to read a column as it is asked for.
func (t *Parquet) column(a Column) (p parquetColumn, err error) {
	path := t.files[t.like].path
	n := slices.IndexFunc(t.files[t.like].Columns, func(c parquet.Column) bool { return c.Name == a.Name })
	if n < 0 {
		var names []string
		for _, f := range t.fields {
			names = append(names, f.Name)
		}
		return p, badf("%s: found the columns %s, expected %q among them", path, strings.Join(names, ", "), a.Name)
	}
	c := &t.files[t.like].Columns[n]
	if c.Reason != "" {
		return p, badf("%s: found %s in column %q, expected numbers, bools, strings, or lists of them", path, c.Reason, a.Name)
	}
	if p.out, err = newColumn(a); err != nil {
		return p, fmt.Errorf("%s: column %q: %w", path, a.Name, err)
	}
	p.number, p.lists = n, c.Lists
	p.out.wide = false // values are converted, not parsed
	// Narrow integers are stored in 32 bits.
	p.from = parquetTypes[c.Type]
	switch {
	case p.from == graph.Int8 || p.from == graph.Int16:
		p.from = graph.Int32
	case p.from == graph.Uint8 || p.from == graph.Uint16:
		p.from = graph.Uint32
	}
	if p.null = c.Null && c.Lists == 0; p.null {
		return p, nil // empty cells of any dtype and shape
	}
	if !readable(p.from, a.DType) {
		return p, badf("%s: found %s in column %q, expected values that can be read as %s", path, parquetTypes[c.Type], a.Name, a.DType)
	}
	switch {
	case c.Lists == len(a.Shape):
	case c.Lists == 1 && !p.out.deep: // flat values
	case c.Lists == 0 && !p.out.ragged && p.out.values == 1:
	default:
		return p, badf("%s: found lists of depth %d in column %q, expected depth %d for shape %v", path, c.Lists, a.Name, len(a.Shape), a.Shape)
	}
	return p, nil
}

// parquetWorker reads row groups, one after the other.
type parquetWorker struct {
	t       *Parquet
	columns []parquetColumn
	chunk   Chunk
	absent  []bool
	file    vfs.File
	open    int // index of the open file
}

func (w *parquetWorker) close() error {
	for i := range w.columns {
		w.columns[i].close()
	}
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	return err
}

// group passes the rows of a row group to fn.
func (w *parquetWorker) group(ctx context.Context, g parquetGroup, fn func(*Chunk) error) error {
	f := w.t.files[g.file]
	if w.file == nil || w.open != g.file {
		if err := w.close(); err != nil {
			return err
		}
		var err error
		if w.file, err = w.t.fsys.Open(f.path); err != nil {
			return err
		}
		w.open = g.file
	}
	for i := range w.columns {
		c := &w.columns[i]
		c.close()
		c.rows.Reset()
		c.reader = f.Reader(w.file, g.group, c.number)
	}
	for done := uint64(0); done < g.rows; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := int(min(g.rows-done, parquetRows))
		for i := range w.columns {
			c := &w.columns[i]
			err := c.reader.Read(&c.rows, n, w.t.chunk)
			if errors.Is(err, io.EOF) {
				err = badf("%s: row group %d: column %q: found %d rows, expected %d; the file is damaged", f.path, g.group, c.out.Name, done, g.rows)
			} else if err != nil {
				err = parquetError(fmt.Sprintf("%s: row group %d", f.path, g.group), err)
			}
			if err != nil {
				return err
			}
			n = min(n, c.rows.N)
		}
		w.chunk.First, w.chunk.Rows, w.chunk.Absent = g.first+done, n, nil
		w.chunk.Bytes = w.t.bytes / int64(w.t.rows) * int64(n)
		w.absent = append(w.absent[:0], make([]bool, n)...)
		marked := false
		for i := range w.columns {
			c := &w.columns[i]
			absent, bad, problem := c.take(n, w.absent)
			if problem != "" {
				return badf("%s: %s", w.t.Where(w.chunk.First+uint64(bad), c.out.Name), problem)
			}
			marked = marked || absent
			w.chunk.Columns[i] = c.out.vector(n)
		}
		if marked {
			w.chunk.Absent = w.absent
		}
		if err := fn(&w.chunk); err != nil {
			return err
		}
		done += uint64(n)
	}
	for i := range w.columns {
		c := &w.columns[i]
		if err := c.reader.Read(&c.rows, 1, 1); c.rows.N > 0 || err == nil {
			return badf("%s: row group %d: column %q: found more than %d rows, expected %d; the file is damaged", f.path, g.group, c.out.Name, g.rows, g.rows)
		} else if !errors.Is(err, io.EOF) {
			return parquetError(fmt.Sprintf("%s: row group %d", f.path, g.group), err)
		}
	}
	return nil
}
