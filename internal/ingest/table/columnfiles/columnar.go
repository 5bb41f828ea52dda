package columnfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Columnar is a table of Parquet or of Arrow files. Its columns are the top-level columns that are numbers, bools, times,
// byte strings, or lists of them. Null is an empty cell.
type Columnar struct {
	fsys   vfs.FS
	group  string // what a rowGroup is called
	files  []columnarFile
	like   int // index of the file whose columns the table has
	groups []rowGroup
	fields []table.Field
	// unreadable names the other columns, with what they are.
	unreadable []string
	rows       uint64
	bytes      int64
	chunk      int // bytes of a column in a chunk; tests make it small
}

type columnarFile struct {
	path    string
	columns []parquet.Column
	groups  []uint64 // rows of each row group
	meta    map[string]string
	rows    uint64
	// reader reads a column of a row group from the open file, and digits one of large decimals as texts.
	reader, digits func(r io.ReaderAt, group, column int) rowReader
}

// rowReader reads the rows of a column of a row group, as parquet.Reader does.
type rowReader interface {
	Read(rows *parquet.Rows, n, limit int) error
	Close()
}

// rowGroup is a row group of a Parquet file, or a record batch of an Arrow file.
type rowGroup struct {
	file, group int
	first       uint64 // first row in the table
	local       uint64 // first row in the file
	rows        uint64
}

// columnarRows bounds the rows of a chunk.
const columnarRows = 1 << 14

// OpenParquet opens the shards of a table, in order, and reads their footers. All shards must have the same columns,
// except that the columns of a shard without rows may have the type null. The files are closed between scans.
func OpenParquet(fsys vfs.FS, paths []string) (*Columnar, error) {
	return openColumnar(fsys, paths, "row group", func(f *columnarFile, r io.ReaderAt, size int64) error {
		p, err := parquet.Open(r, size)
		if err != nil {
			return err
		}
		f.columns, f.meta = p.Columns, p.Meta
		for _, g := range p.Groups {
			f.groups = append(f.groups, uint64(g.Rows))
		}
		f.reader = func(r io.ReaderAt, group, column int) rowReader { return p.Reader(r, group, column) }
		f.digits = func(r io.ReaderAt, group, column int) rowReader { return p.Digits(r, group, column) }
		return nil
	})
}

// openColumnar opens files whose footers head reads.
func openColumnar(fsys vfs.FS, paths []string, group string, head func(f *columnarFile, r io.ReaderAt, size int64) error) (*Columnar, error) {
	if len(paths) == 0 {
		return nil, errors.New("found no files, expected at least one")
	}
	t := &Columnar{fsys: fsys, group: group, chunk: table.ChunkSize}
	for i, path := range paths {
		f := columnarFile{path: path}
		size, err := f.open(fsys, head)
		if err != nil {
			return nil, err
		}
		t.bytes += size
		for g, rows := range f.groups {
			t.groups = append(t.groups, rowGroup{i, g, t.rows, f.rows, rows})
			f.rows += rows
			t.rows += rows
		}
		t.files = append(t.files, f)
	}
	// A file without rows may not declare the types of its columns.
	t.like = max(slices.IndexFunc(t.files, func(f columnarFile) bool { return f.rows > 0 }), 0)
	return t, t.declare()
}

func (f *columnarFile) open(fsys vfs.FS, head func(f *columnarFile, r io.ReaderAt, size int64) error) (size int64, err error) {
	info, err := vfs.Regular(fsys, f.path)
	if err != nil {
		return 0, badf("%w", err)
	}
	r, err := fsys.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := head(f, r, info.Size()); err != nil {
		return 0, columnarError(f.path, err)
	}
	return info.Size(), nil
}

// columnarError puts a place before an error. Only errors about the bytes are ErrFormat.
func columnarError(place string, err error) error {
	if errors.Is(err, parquet.ErrCorrupt) || errors.Is(err, parquet.ErrUnsupported) {
		return badf("%s: %w", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}

var columnarTypes = map[parquet.Type]graph.DType{
	parquet.Bool: graph.Bool,
	parquet.Int8: graph.Int8, parquet.Int16: graph.Int16, parquet.Int32: graph.Int32, parquet.Int64: graph.Int64,
	parquet.Uint8: graph.Uint8, parquet.Uint16: graph.Uint16, parquet.Uint32: graph.Uint32, parquet.Uint64: graph.Uint64,
	parquet.Float16: graph.Float16, parquet.Float32: graph.Float32, parquet.Float64: graph.Float64, parquet.Bytes: graph.String,
}

// declare takes the columns of one file and checks the columns of the other files against them.
func (t *Columnar) declare() error {
	names, fields, unreadable := describeColumns(&t.files[t.like])
	t.fields, t.unreadable = fields, unreadable
	if err := table.CheckNames(t.files[t.like].path, names); err != nil {
		return err
	}
	for i := range t.files {
		f := &t.files[i]
		_, fields, unreadable := describeColumns(f)
		same := func(a, b table.Field) bool {
			return a.Name == b.Name && (a.DType == b.DType && len(a.Shape) == len(b.Shape) || f.rows == 0 && f.null(a.Name))
		}
		if !slices.EqualFunc(fields, t.fields, same) || !slices.Equal(unreadable, t.unreadable) {
			return badf("%s: found the columns %s, expected %s, as in %s; write all files of a table with the same columns", f.path, declared(fields), declared(t.fields), t.files[t.like].path)
		}
	}
	return nil
}

// null says whether a column has the type null.
func (f *columnarFile) null(name string) bool {
	return slices.ContainsFunc(f.columns, func(c parquet.Column) bool { return c.Name == name && c.Null })
}

// describeColumns returns all column names of a file, the fields that can be read, and the columns that cannot.
func describeColumns(f *columnarFile) (names []string, fields []table.Field, unreadable []string) {
	for i := range f.columns {
		c := &f.columns[i]
		names = append(names, c.Name)
		if c.Reason != "" {
			unreadable = append(unreadable, fmt.Sprintf("%q (%s)", c.Name, c.Reason))
			continue
		}
		field := table.Field{Name: c.Name, DType: columnarTypes[c.Type], Unit: graph.Unit(c.Unit), Category: c.Category}
		for range c.Lists {
			field.Shape = append(field.Shape, -1)
		}
		fields = append(fields, field)
	}
	return names, fields, unreadable
}

func declared(fields []table.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, fmt.Sprintf("%s %s%s", table.Word(f.Name), strings.Repeat("list of ", len(f.Shape)), f.DType))
	}
	return strings.Join(out, ", ")
}

// Fields implements Table. The shape of a list is -1 for each level.
func (t *Columnar) Fields() []table.Field { return t.fields }

// Unreadable names the columns that cannot be read, and what they are.
func (t *Columnar) Unreadable() []string { return t.unreadable }

// HasTyped says that the files store all fields with their dtypes.
func (t *Columnar) HasTyped(string) bool { return true }

// Meta returns the value of a key in the metadata of file i.
func (t *Columnar) Meta(i int, key string) (value string, ok bool) {
	value, ok = t.files[i].meta[key]
	return value, ok
}

// Rows is the number of rows.
func (t *Columnar) Rows() uint64 { return t.rows }

// Named says whether the files have a column, also one that cannot be read.
func (t *Columnar) Named(name string) bool {
	return slices.ContainsFunc(t.files[t.like].columns, func(c parquet.Column) bool { return c.Name == name })
}

// UnitOf is the unit of a column of times; empty: it has none.
func (t *Columnar) UnitOf(name string) graph.Unit {
	for _, f := range t.fields {
		if f.Name == name {
			return f.Unit
		}
	}
	return ""
}

// Numbered returns the name of the column with a field id of Parquet; empty: none has it.
func (t *Columnar) Numbered(id int) string {
	for _, c := range t.files[t.like].columns {
		if c.ID == id {
			return c.Name
		}
	}
	return ""
}

// HasIDs says whether columns have field ids.
func (t *Columnar) HasIDs() bool {
	return slices.ContainsFunc(t.files[t.like].columns, func(c parquet.Column) bool { return c.ID != 0 })
}

// Files implements Table.
func (t *Columnar) Files() []string {
	paths := make([]string, len(t.files))
	for i, f := range t.files {
		paths[i] = f.path
	}
	return paths
}

// Bytes implements Table.
func (t *Columnar) Bytes() int64 { return t.bytes }

// Where implements Table: "nodes.parquet: row 17 (row group 0)", or "nodes.arrow: row 17 (record batch 0)".
func (t *Columnar) Where(row uint64, _ string) string {
	for _, g := range t.groups {
		if row < g.first+g.rows {
			return fmt.Sprintf("%s: row %d (%s %d)", t.files[g.file].path, row-g.first+g.local, t.group, g.group)
		}
	}
	return fmt.Sprintf("%s: row %d", t.files[len(t.files)-1].path, row)
}

// Scan implements Table. Each worker reads whole row groups. Its memory per column and worker is a page with its
// dictionary, and 1 MiB of values, or twice the size of a row if that is more.
func (t *Columnar) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *Columnar) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	threads = max(threads, 1)
	workers := make([]columnarWorker, threads)
	for i := range workers {
		w := &workers[i]
		w.t, w.columns = t, make([]columnarColumn, len(columns))
		w.chunk.Columns = make([]table.Vector, len(columns))
		for j, a := range columns {
			var err error
			if w.columns[j], err = t.column(a); err != nil {
				return 0, err
			}
		}
	}
	err := table.Each(ctx, len(t.groups), threads, func(worker, unit int) error {
		return workers[worker].group(ctx, t.groups[unit], func(c *table.Chunk) error { return fn(worker, c) })
	})
	for i := range workers {
		err = errors.Join(err, workers[i].close())
	}
	if err != nil {
		return 0, err
	}
	return t.rows, nil
}

// Divide implements Divisible: between row groups.
func (t *Columnar) Divide(size int64) []table.Part {
	var parts []table.Part
	rows := uint64(max(size/max(t.bytes/int64(max(t.rows, 1)), 1), 1))
	for i, g := range t.groups {
		if last := len(parts) - 1; last >= 0 && parts[last].Rows+g.rows <= rows {
			parts[last].To, parts[last].Rows = int64(i+1), parts[last].Rows+g.rows
			continue
		}
		parts = append(parts, table.Part{From: int64(i), To: int64(i + 1), First: g.first, Rows: g.rows, Counted: true})
	}
	return parts
}

// Cut implements Divisible.
func (t *Columnar) Cut(p table.Part) table.Table {
	x := *t
	x.groups, x.rows = slices.Clone(t.groups[p.From:p.To]), p.Rows
	return &x
}

// column plans how to read a column as it is asked for.
func (t *Columnar) column(a table.Column) (p columnarColumn, err error) {
	path := t.files[t.like].path
	n := slices.IndexFunc(t.files[t.like].columns, func(c parquet.Column) bool { return c.Name == a.Name })
	if n < 0 {
		var names []string
		for _, f := range t.fields {
			names = append(names, f.Name)
		}
		return p, badf("%s: found the columns %s, expected %q among them; correct the name", path, table.List(names), a.Name)
	}
	c := &t.files[t.like].columns[n]
	if c.Reason != "" {
		return p, badf("%s: found %s in column %q, expected numbers, bools, strings, or lists of them", path, c.Reason, a.Name)
	}
	if p.out, err = builder.New(a); err != nil {
		return p, fmt.Errorf("%s: column %q: %w", path, a.Name, err)
	}
	p.number, p.lists = n, c.Lists
	p.out.Wide = false // values are converted, not parsed
	// Narrow integers are stored in 32 bits.
	p.from = columnarTypes[c.Type]
	switch {
	case p.from == graph.Int8 || p.from == graph.Int16:
		p.from = graph.Int32
	case p.from == graph.Uint8 || p.from == graph.Uint16:
		p.from = graph.Uint32
	}
	if p.null = c.Null && c.Lists == 0; p.null {
		return p, nil // empty cells of any dtype and shape
	}
	if p.digits = c.Digits && c.Lists == 0 && (a.DType == graph.String || a.DType.IsInt()); p.digits {
		p.from = graph.String
	}
	if !p.digits && !builder.CanConvert(p.from, a.DType, a.ID) {
		return p, badf("%s: found %s in column %q, expected values that can be read as %s; read it as another dtype, or convert the column", path, columnarTypes[c.Type], a.Name, a.DType)
	}
	switch {
	case c.Lists == len(a.Shape):
	case c.Lists == 1 && !p.out.Deep: // flat values
	case c.Lists == 0 && !p.out.Ragged && p.out.Values == 1:
	default:
		return p, badf("%s: found lists of depth %d in column %q, expected depth %d for shape %v; correct the shape", path, c.Lists, a.Name, len(a.Shape), a.Shape)
	}
	return p, nil
}

// columnarWorker reads row groups, one after the other.
type columnarWorker struct {
	t       *Columnar
	columns []columnarColumn
	chunk   table.Chunk
	absent  []bool
	file    vfs.File
	open    int // index of the open file
}

func (w *columnarWorker) close() error {
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
func (w *columnarWorker) group(ctx context.Context, g rowGroup, fn func(*table.Chunk) error) error {
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
		open := f.reader
		if c.digits {
			open = f.digits
		}
		c.reader = open(w.file, g.group, c.number)
		c.utf8 = f.columns[c.number].Text // shards of bytes that happen to be text may say so
	}
	for done := uint64(0); done < g.rows; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := int(min(g.rows-done, columnarRows))
		for i := range w.columns {
			c := &w.columns[i]
			err := c.reader.Read(&c.rows, n, w.t.chunk)
			if errors.Is(err, io.EOF) {
				err = badf("%s: %s %d: column %q: found %d rows, expected %d; the file is damaged", f.path, w.t.group, g.group, c.out.Name, done, g.rows)
			} else if err != nil {
				err = columnarError(fmt.Sprintf("%s: %s %d", f.path, w.t.group, g.group), err)
			}
			if err != nil {
				return err
			}
			n = min(n, c.rows.N)
		}
		w.chunk.First, w.chunk.Rows, w.chunk.Absent, w.chunk.File = g.first+done, n, nil, f.path
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
			w.chunk.Columns[i] = c.out.Vector(n)
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
			return badf("%s: %s %d: column %q: found more than %d rows, expected %d; the file is damaged", f.path, w.t.group, g.group, c.out.Name, g.rows, g.rows)
		} else if !errors.Is(err, io.EOF) {
			return columnarError(fmt.Sprintf("%s: %s %d", f.path, w.t.group, g.group), err)
		}
	}
	return nil
}
