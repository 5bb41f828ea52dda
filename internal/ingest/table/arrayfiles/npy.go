package arrayfiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/builder"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
	"github.com/graphmill/graphmill/internal/vfs"
)

// NpyColumn is an array that is used as a column of a table.
type NpyColumn struct {
	Name, Path string
	// Lists is set for a column of strings or lists. The array then holds the bytes of all strings, or the values of all
	// lists.
	Lists *Lists
}

// Npy is a table of arrays in files, mostly .npy files, with one row for each index of their first dimension.
//
// A scan can read an array as its own dtype; as another integer dtype if all values fit; as a floating-point dtype of
// any width (rounded to nearest); as String (decimal text); and a uint16 array as BFloat16 by its bits. A column with
// Lists can be read in its own shape only.
type Npy struct {
	fsys  vfs.FS
	cols  []array
	from  int // number of the first row
	rows  int
	bytes int64
	chunk int // bytes of a chunk; tests make it small
}

// array is a part of an .npy file, seen as a column: row i is width values at offset + i * stride + inner.
type array struct {
	table.Field
	path   string
	dtype  graph.DType
	width  int
	offset int64
	stride int64
	inner  int64
	index  string // format of the index of a row in NumPy's notation, with a %d
	// runs, if not nil, hold the rows instead of path and offset. ends holds the first row after each run.
	runs []Run
	ends []uint64
	// levels, if not nil, hold the offsets of lists and strings. width and stride then belong to an element.
	levels []level
}

func (a *array) rowBytes() int { return a.width * a.dtype.Size() }

// place names a value in NumPy's notation: "edges.npy[0, 17]".
func (a *array) place(row uint64) string {
	path := a.path
	if k := a.run(row); k < len(a.runs) {
		path = a.runs[k].Path
	}
	return path + fmt.Sprintf(a.index, row)
}

var descrs = map[string]graph.DType{
	"b1": graph.Bool, "i1": graph.Int8, "i2": graph.Int16, "i4": graph.Int32, "i8": graph.Int64,
	"u1": graph.Uint8, "u2": graph.Uint16, "u4": graph.Uint32, "u8": graph.Uint64,
	"f2": graph.Float16, "f4": graph.Float32, "f8": graph.Float64,
}

// DTypeOf returns the dtype of a type string of npy.Header.
func DTypeOf(descr string) graph.DType { return descrs[descr] }

func readHeader(fsys vfs.FS, path string) (h npy.Header, size int64, err error) {
	h, _, size, err = readLayout(fsys, path, false)
	return h, size, err
}

// readLayout reads the header of an array in C order, or in either order if fortran is set.
func readLayout(fsys vfs.FS, path string, fortran bool) (h npy.Header, l npy.Layout, size int64, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return h, l, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return h, l, 0, err
	}
	h, l, err = npy.ReadLayout(f, info.Size())
	if err == nil && (l.BigEndian || l.Fortran && !fortran) {
		h, err = npy.Read(f, info.Size()) // its error
	}
	if err != nil {
		return h, l, 0, badf("%s: %w", path, err)
	}
	return h, l, info.Size(), nil
}

// OpenNpy opens arrays with equal first dimensions as the columns of a table. The files are closed between scans.
func OpenNpy(fsys vfs.FS, columns []NpyColumn) (*Npy, error) {
	if len(columns) == 0 {
		return nil, errors.New("found no columns, expected at least one")
	}
	t := &Npy{fsys: fsys, chunk: table.ChunkSize}
	for i, c := range columns {
		h, size, err := readHeader(fsys, c.Path)
		if err != nil {
			return nil, err
		}
		if len(h.Shape) == 0 {
			return nil, badf("%s: found a single value, expected an array; write one row per node or edge", c.Path)
		}
		if h.Values() == 0 && h.Shape[0] > 0 {
			return nil, badf("%s: found shape %v, expected rows with values; write one row per node or edge", c.Path, h.Shape)
		}
		a := array{path: c.Path, dtype: descrs[h.Descr], width: 1, offset: h.Offset, index: "[%d]"}
		for _, d := range h.Shape[1:] {
			a.width *= d
		}
		a.stride = int64(a.rowBytes())
		a.Field = table.Field{Name: c.Name, DType: a.dtype}
		if len(h.Shape) > 1 {
			a.Shape = h.Shape[1:]
		}
		rows := h.Shape[0]
		if c.Lists != nil {
			if rows, err = a.open(fsys, c.Lists, rows); err != nil {
				return nil, err
			}
		}
		if i > 0 && rows != t.rows {
			return nil, badf("%s: found %d rows, expected %d, as in %s; write arrays with the same rows", a.rowFile(), rows, t.rows, t.cols[0].rowFile())
		}
		t.rows = rows
		t.cols = append(t.cols, a)
		t.bytes += size
	}
	return t, nil
}

// OpenPairs opens one array of integers as the ends of edges. The fields src and dst are the rows of a (2, E) array,
// or the columns of an (E, 2) array if E is not 2. The array is in C or in Fortran order.
func OpenPairs(fsys vfs.FS, path string) (*Npy, error) {
	h, l, size, err := readLayout(fsys, path, true)
	if err != nil {
		return nil, err
	}
	d := descrs[h.Descr]
	s := int64(d.Size())
	var e int
	index := [2]string{"[0, %d]", "[1, %d]"}
	apart := !l.Fortran // all sources are before all destinations
	switch {
	case len(h.Shape) == 2 && h.Shape[0] == 2:
		e = h.Shape[1]
	case len(h.Shape) == 2 && h.Shape[1] == 2:
		e, apart = h.Shape[0], l.Fortran
		index = [2]string{"[%d, 0]", "[%d, 1]"}
	default:
		return nil, badf("%s: found shape %v, expected (2, E) or (E, 2), the ends of edges; transpose or stack the ends", path, h.Shape)
	}
	if !d.IsInt() {
		return nil, badf("%s: found %s, expected integers, the ends of edges", path, d)
	}
	far, inner, stride := int64(0), s, 2*s
	if apart {
		far, inner, stride = s*int64(e), 0, s
	}
	t := &Npy{fsys: fsys, rows: e, bytes: size, chunk: table.ChunkSize}
	for i, name := range []string{"src", "dst"} {
		t.cols = append(t.cols, array{Field: table.Field{Name: name, DType: d}, path: path, dtype: d, width: 1, offset: h.Offset + int64(i)*far, stride: stride, inner: int64(i) * inner, index: index[i]})
	}
	return t, nil
}

// Fields implements Table.
func (t *Npy) Fields() []table.Field {
	fields := make([]table.Field, len(t.cols))
	for i, a := range t.cols {
		fields[i] = a.Field
	}
	return fields
}

// Files implements Table.
func (t *Npy) Files() []string {
	var paths []string
	add := func(path string) {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, a := range t.cols {
		add(a.path)
		for _, l := range a.levels {
			add(l.path)
		}
		for i, r := range a.runs {
			if i > 0 && r.Path != a.runs[i-1].Path {
				add(r.Path)
			}
		}
	}
	return paths
}

// Bytes implements Table.
func (t *Npy) Bytes() int64 { return t.bytes }

// Rows is the number of rows.
func (t *Npy) Rows() uint64 { return uint64(t.rows) }

// Where implements Table: "edges.npy[0, 17]". Without a column, it names both ends of an edge: "edges.npy[:, 17]".
func (t *Npy) Where(row uint64, column string) string {
	i := slices.IndexFunc(t.cols, func(a array) bool { return a.Name == column })
	if i >= 0 {
		return t.cols[i].place(row)
	}
	whole := t.cols[0]
	whole.index = strings.NewReplacer("[0, %d]", "[:, %d]", "[%d, 0]", "[%d]").Replace(whole.index)
	return whole.place(row)
}

// Scan implements Table. Its memory per thread is 1 MiB, or twice the size of a row if that is more; with lists, it is up
// to 8 MiB.
func (t *Npy) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return table.ScanValues(ctx, t, columns, threads, fn, t.plain)
}

func (t *Npy) plain(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	asked := make([]*array, len(columns))
	width := int64(1)
	for i, c := range columns {
		n := slices.IndexFunc(t.cols, func(a array) bool { return a.Name == c.Name })
		if n < 0 {
			var names []string
			for _, a := range t.cols {
				names = append(names, a.Name)
			}
			return 0, badf("%s: found the columns %s, expected %q among them; correct the name", t.cols[0].path, table.List(names), c.Name)
		}
		asked[i] = &t.cols[n]
		if err := asked[i].check(c); err != nil {
			return 0, err
		}
		width += max(asked[i].stride, 8)
		if asked[i].levels != nil {
			width += t.bytes / int64(max(t.rows, 1)) // about the width of a row
		}
	}
	step := int(max(1, int64(t.chunk)/width))
	threads = max(threads, 1)
	readers := make([]npyReader, threads)
	for i := range readers {
		readers[i] = newReader(t.fsys, len(columns))
	}
	err := table.Each(ctx, (t.rows+step-1)/step, threads, func(worker, unit int) error {
		r := &readers[worker]
		bytes := t.bytes / int64(t.rows)
		return r.parts(asked, uint64(t.from)+uint64(unit)*uint64(step), min(step, t.rows-unit*step), 8*int64(t.chunk), func(first uint64, rows int) error {
			r.chunk.First, r.chunk.Rows, r.chunk.Bytes = first, rows, bytes*int64(rows)
			for i, c := range columns {
				if err := r.read(i, asked[i], c); err != nil {
					return err
				}
			}
			return fn(worker, &r.chunk)
		})
	})
	for i := range readers {
		err = errors.Join(err, readers[i].close())
	}
	if err != nil {
		return 0, err
	}
	return uint64(t.rows), nil
}

// Divide implements Divisible: between rows.
func (t *Npy) Divide(size int64) []table.Part {
	var parts []table.Part
	rows := max(size/max(t.bytes/int64(max(t.rows, 1)), 1), 1)
	for at := int64(0); at < int64(t.rows); at += rows {
		to := min(at+rows, int64(t.rows))
		parts = append(parts, table.Part{From: at, To: to, First: uint64(at), Rows: uint64(to - at), Counted: true})
	}
	return parts
}

// Cut implements Divisible.
func (t *Npy) Cut(p table.Part) table.Table {
	x := *t
	x.from, x.rows = int(p.From), int(p.Rows)
	return &x
}

// check checks that a column of an array can be read as it is asked for.
func (a *array) check(c table.Column) error {
	if a.levels != nil {
		return a.checkLists(c)
	}
	width := 1
	for _, d := range c.Shape {
		width *= max(d, 0) // rows of an array have no variable dimensions
	}
	if width != a.width {
		return badf("%s: found rows of shape %v, expected %v for column %q; correct the shape, or write the array again", a.path, a.Shape, c.Shape, c.Name)
	}
	if from := a.dtype; !builder.CanConvert(from, c.DType, c.ID) {
		return badf("%s: found %s, expected a dtype that can be read as %s for column %q; convert the array", a.path, from, c.DType, c.Name)
	}
	return nil
}

// step is the distance in bytes of the values of an array.
func (a *array) step() int {
	if a.stride > int64(a.rowBytes()) { // a row is one value
		return int(a.stride)
	}
	return a.dtype.Size()
}

// npyReader reads chunks. It belongs to one worker.
type npyReader struct {
	fsys  vfs.FS
	files map[string]vfs.File
	raw   []byte
	path  string // the file that raw was read from
	from  int64
	whole []byte // rows gathered from several runs
	data  []scalar.Words
	ends  [][]uint32
	lens  [][][]uint32
	words scalar.Words // offsets
	chunk table.Chunk
}

func (r *npyReader) close() error {
	var errs []error
	for _, f := range r.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// at reads n bytes at an offset. Both columns of an (E, 2) array share one read.
func (r *npyReader) at(path string, from int64, n int) ([]byte, error) {
	if r.path == path && r.from <= from && from+int64(n) <= r.from+int64(len(r.raw)) {
		return r.raw[from-r.from:][:n], nil
	}
	f := r.files[path]
	if f == nil {
		var err error
		if f, err = r.fsys.Open(path); err != nil {
			return nil, err
		}
		r.files[path] = f
	}
	r.raw = slices.Grow(r.raw[:0], n)[:n]
	r.path = ""
	if m, err := f.ReadAt(r.raw, from); m < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = badf("%s: found %d bytes, expected %d; the file was cut while it was read", path, from+int64(m), from+int64(n))
		}
		return nil, err
	}
	r.path, r.from = path, from
	return r.raw, nil
}

// read fills column i of the chunk.
func (r *npyReader) read(i int, a *array, c table.Column) error {
	if a.levels != nil {
		return r.readLists(i, a, c)
	}
	rows := r.chunk.Rows
	// Read whole rows, so that both columns of an (E, 2) array share one read.
	var raw []byte
	var err error
	if a.runs != nil {
		raw, err = r.gather(a, r.chunk.First, rows)
	} else {
		raw, err = r.at(a.path, a.offset+int64(r.chunk.First)*a.stride, rows*int(a.stride))
	}
	if err != nil {
		return err
	}
	r.data[i].N = 0
	r.ends[i] = r.ends[i][:0]
	if bad, what := builder.Convert(&r.data[i], &r.ends[i], raw[a.inner:], rows*a.width, a.dtype, a.step(), &c); bad >= 0 {
		return badf("%s: found %s, expected %s; write the array again", a.place(r.chunk.First+uint64(bad/a.width)), what, builder.ExpectedNumber(&c))
	}
	v := &r.chunk.Columns[i]
	v.Data, v.Ends, v.Lengths = r.data[i].Bytes()[:r.data[i].N:r.data[i].N], nil, nil
	if c.DType == graph.String {
		v.Ends = r.ends[i]
	}
	return nil
}
