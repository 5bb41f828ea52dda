package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/ingest/table/textfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// denseMatrix is a matrix with all its entries, as an array of NumPy or as text. The entry in row i and column j is the edge from i to j,
// unless it is 0.
type denseMatrix struct{}

func (denseMatrix) name() string { return "dense-matrix" }
func (denseMatrix) about() string {
	return ".npy of shape (N, N) from N = 3 on; any matrix as .npy or text if the format is named"
}
func (denseMatrix) becomes() string {
	return npzArrays{}.becomes() + "; entries that are not 0 are edges with the column weight"
}
func (denseMatrix) detect(path string, names []string) bool {
	return names == nil && table.Extension(path) == ".npy"
}

// sniff accepts a square array, which cannot be the ends of edges.
func (denseMatrix) sniff(fsys vfs.FS, path string, _ []string) (bool, error) {
	h, _, err := arrayLayout(fsys, path)
	if errors.Is(err, npy.ErrFormat) { // a later format says what is wrong
		return false, nil
	}
	return err == nil && len(h.Shape) == 2 && h.Shape[0] == h.Shape[1] && h.Shape[0] > 2, err
}

// arrayLayout reads the header of an array.
func arrayLayout(fsys vfs.FS, path string) (h npy.Header, l npy.Layout, err error) {
	f, err := fsys.Open(path)
	if err != nil {
		return h, l, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return h, l, err
	}
	if h, l, err = npy.ReadLayout(f, info.Size()); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return h, l, err
}

// matrixFields are the columns of the entries of a matrix.
func matrixFields(weight graph.DType) []table.Field {
	return []table.Field{{Name: "src"}, {Name: "dst"}, {Name: "weight", DType: weight}}
}

func (denseMatrix) open(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	text, err := head(fsys, path)
	if err != nil {
		return nil, err
	}
	if table.BinaryKind(text) == table.Array {
		return openDenseArray(fsys, path, o)
	}
	return openDenseText(ctx, fsys, path, o)
}

// matrixEdges are the edges of a table of entries, whose weights have a dtype; bool is left out, since all are true.
func matrixEdges(t table.Table, integer bool, weight graph.DType) assemble.Edges {
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: t, Src: keyColumn("src", integer), Dst: keyColumn("dst", integer)}
	if weight != graph.Bool {
		e.Columns = []table.Column{{Name: "weight", DType: weight}}
	}
	return e
}

// notFinite is the error of an entry that is no finite number.
func notFinite(place string, row, column uint64, text string) error {
	return sourcef("%s: found %s in row %d and column %d, expected a finite number; write 0 where there is no edge", place, text, row, column)
}

// openDenseArray opens an array of NumPy.
func openDenseArray(fsys vfs.FS, path string, o Options) (*Source, error) {
	if o.IDs == idsString {
		return nil, usagef("found string ids with an array, expected integer ids: the rows and columns have no names")
	}
	h, l, err := arrayLayout(fsys, path)
	if err != nil {
		return nil, sourcef("%w", err)
	}
	dtype := arrayfiles.DTypeOf(h.Descr)
	if len(h.Shape) != 2 || dtype == graph.Invalid || dtype == graph.Float16 {
		return nil, sourcef("%s: found an array %s of shape %v, expected a matrix of two dimensions of integers, float32, float64 or bools; save it so", path, h.Descr, h.Shape)
	}
	t, err := textfiles.OpenStream(fsys, path, matrixFields(dtype), func(in io.Reader, row func(line int, cells [][]byte) error) error {
		return readDenseArray(in, path, h, l, dtype, row)
	})
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	s.Input, err = o.matrix(path, [2]uint64{uint64(h.Shape[0]), uint64(h.Shape[1])}, matrixEdges(t, true, dtype))
	return s, err
}

// readDenseArray calls row for each entry that is not 0, in the order of the file, with the number of its row as the line.
func readDenseArray(in io.Reader, path string, h npy.Header, l npy.Layout, dtype graph.DType, row func(line int, cells [][]byte) error) error {
	if _, err := io.CopyN(io.Discard, in, h.Offset); err != nil {
		return cutArray(path, err)
	}
	size := dtype.Size()
	order := binary.ByteOrder(binary.LittleEndian)
	if l.BigEndian {
		order = binary.BigEndian
	}
	inner := uint64(h.Shape[1])
	if l.Fortran {
		inner = uint64(h.Shape[0])
	}
	var texts [3][24]byte
	cells := make([][]byte, 3)
	at, values := uint64(0), uint64(h.Shape[0])*uint64(h.Shape[1])
	buf := make([]byte, 64<<10)
	for at < values {
		b := buf[:min(uint64(len(buf)), (values-at)*uint64(size))]
		if _, err := io.ReadFull(in, b); err != nil {
			return cutArray(path, err)
		}
		for ; len(b) > 0; b, at = b[size:], at+1 {
			if zero(b[:size]) {
				continue
			}
			i, j := at/inner, at%inner
			if l.Fortran {
				i, j = j, i
			}
			text, finite := appendNumber(texts[2][:0], b[:size], order, dtype)
			if !finite {
				return notFinite(path, i, j, string(text))
			}
			if string(text) == "-0" {
				continue
			}
			cells[0], cells[1], cells[2] = strconv.AppendUint(texts[0][:0], i, 10), strconv.AppendUint(texts[1][:0], j, 10), text
			if err := row(int(i)+1, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// cutArray is the error of an array that ended, or that could not be read.
func cutArray(path string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return sourcef("%s: found the end of the array, expected more; the file was cut while it was read", path)
	}
	return err
}

// zero says whether all bytes are 0.
func zero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

// appendNumber appends the text of a value, which the dtype reads as the same value, and says whether it is finite.
func appendNumber(text, b []byte, order binary.ByteOrder, dtype graph.DType) ([]byte, bool) {
	var bits uint64
	switch len(b) {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(order.Uint16(b))
	case 4:
		bits = uint64(order.Uint32(b))
	default:
		bits = order.Uint64(b)
	}
	switch {
	case dtype == graph.Float32, dtype == graph.Float64:
		v, width := math.Float64frombits(bits), 64
		if dtype == graph.Float32 {
			v, width = float64(math.Float32frombits(uint32(bits))), 32
		}
		return strconv.AppendFloat(text, v, 'g', -1, width), !math.IsNaN(v) && !math.IsInf(v, 0)
	case dtype == graph.Bool:
		return append(text, '1'), true
	case dtype == graph.Int8, dtype == graph.Int16, dtype == graph.Int32, dtype == graph.Int64:
		shift := 64 - 8*len(b)
		return strconv.AppendInt(text, int64(bits)<<shift>>shift, 10), true
	}
	return strconv.AppendUint(text, bits, 10), true
}

// denseText reads a matrix as text.
type denseText struct {
	path      string
	delimiter byte
	names     []string // of the columns, and of the rows; nil: there are none
	corner    bool     // rows begin with their names
	columns   int
}

// openDenseText opens a matrix of numbers that are separated by commas, semicolons, tabs, bars or blanks, perhaps below a line of names.
func openDenseText(ctx context.Context, fsys vfs.FS, path string, o Options) (*Source, error) {
	m := &denseText{path: path, delimiter: o.Delimiter}
	rows := 0
	if err := textfiles.ReadStream(fsys, path, func(in io.Reader) error { return m.look(in, &rows) }); err != nil {
		return nil, err
	}
	integer := !slices.ContainsFunc(m.names, func(name string) bool {
		n, err := strconv.ParseUint(name, 10, 64)
		return err != nil || strconv.FormatUint(n, 10) != name
	})
	if m.names == nil && o.IDs == idsString {
		return nil, usagef("found string ids with %s, expected integer ids: its rows and columns have no names", path)
	}
	if m.names != nil && o.IDs != idsAuto {
		integer = o.IDs == idsInteger
	}
	t, err := openGuessed(ctx, fsys, path, []string{"src", "dst", "weight"}, m.read)
	if err != nil {
		return nil, err
	}
	s := &Source{Primary: graph.In, Files: []string{path}}
	e := assemble.Edges{Type: graph.HomogeneousEdge, Table: t, Src: keyColumn("src", integer), Dst: keyColumn("dst", integer)}
	if e.Columns, err = t.numbers(ctx, o); err != nil {
		return nil, err
	}
	if m.names == nil {
		s.Input, err = o.matrix(path, [2]uint64{uint64(rows), uint64(m.columns)}, e)
		return s, err
	}
	if o.NumNodes > 0 {
		return nil, usagef("found `NumNodes` with %s, expected the nodes that it names", path)
	}
	n := assemble.Nodes{Type: graph.HomogeneousNode, ID: keyColumn("name", integer)}
	n.Table, err = textfiles.OpenStream(fsys, path, []table.Field{{Name: "name"}}, func(_ io.Reader, row func(line int, cells [][]byte) error) error {
		for _, name := range m.names {
			if err := row(1, [][]byte{[]byte(name)}); err != nil {
				return err
			}
		}
		return nil
	})
	s.Input = assemble.Input{Nodes: []assemble.Nodes{n}, Edges: []assemble.Edges{e}}
	return s, err
}

// lines calls fn for each line of cells. Lines that start with # above the first other one are comments.
func (m *denseText) lines(in io.Reader, fn func(line int, cells [][]byte) error) error {
	begun := false
	return textfiles.EachLine(in, m.path, func(line int, text []byte) error {
		trimmed := bytes.TrimSpace(text)
		if len(trimmed) == 0 || !begun && trimmed[0] == '#' {
			return nil
		}
		if !begun && m.delimiter == 0 {
			m.delimiter = ' '
			if at := bytes.IndexAny(text, ",;\t|"); at >= 0 {
				m.delimiter = text[at]
			}
		}
		begun = true
		if m.delimiter == ' ' {
			return fn(line, bytes.Fields(text))
		}
		cells := bytes.Split(text, []byte{m.delimiter})
		for i, cell := range cells {
			if cell = bytes.TrimSpace(cell); len(cell) > 1 && cell[0] == '"' && cell[len(cell)-1] == '"' {
				cell = cell[1 : len(cell)-1]
			}
			cells[i] = cell
		}
		return fn(line, cells)
	})
}

// look finds out what the first lines are, and checks that the lines have as many cells and rows the names of columns.
func (m *denseText) look(in io.Reader, rows *int) error {
	n := 0
	header := 0 // cells of the line of names
	err := m.lines(in, func(line int, cells [][]byte) error {
		n++
		if n == 1 && hasNames(cells) {
			if at := slices.IndexFunc(cells[1:], func(cell []byte) bool { return len(cell) == 0 }); at >= 0 {
				return sourcef("%s:%d: found an empty cell in column %d, expected a number or the name of a column; write 0 where there is no edge", m.path, line, at+2)
			}
			header = len(cells)
			for _, cell := range cells {
				m.names = append(m.names, string(cell))
			}
			return nil
		}
		if *rows == 0 {
			m.columns = len(cells)
			if m.names != nil {
				if m.corner = len(cells) == header+1 || m.names[0] == ""; m.corner && len(cells) == header {
					m.names = m.names[1:]
				}
				m.columns = len(m.names)
			}
		}
		want := m.columns
		if m.corner {
			want++
		}
		if len(cells) != want {
			return sourcef("%s:%d: found %d cells, expected %d, as in the lines above; correct the line, or give `Delimiter`", m.path, line, len(cells), want)
		}
		if m.corner && (*rows >= len(m.names) || string(cells[0]) != m.names[*rows]) {
			return sourcef("%s:%d: found the row %.40q, expected the names of the columns, in their order; sort the rows", m.path, line, cells[0])
		}
		*rows++
		return nil
	})
	switch {
	case err != nil:
		return err
	case *rows == 0:
		return sourcef("%s: found no row of numbers, expected a matrix; correct the file", m.path)
	case m.names != nil && *rows != len(m.names):
		return sourcef("%s: found %d rows and the names of %d columns, expected as many: %s; correct the file", m.path, *rows, len(m.names), "a matrix with names is square")
	}
	return nil
}

// hasNames says whether the cells of the first line are names: one is no number, or the first is empty, above the names of rows.
func hasNames(cells [][]byte) bool {
	return slices.ContainsFunc(cells, func(cell []byte) bool {
		_, err := strconv.ParseFloat(string(cell), 64)
		return err != nil && !errors.Is(err, strconv.ErrRange)
	})
}

// read calls row for each entry that is not 0.
func (m *denseText) read(in io.Reader, row func(line int, cells [][]byte) error) error {
	i, header := uint64(0), m.names != nil
	var texts [2][24]byte
	out := make([][]byte, 3)
	return m.lines(in, func(line int, cells [][]byte) error {
		if header {
			header = false
			return nil
		}
		if m.corner {
			cells = cells[min(1, len(cells)):]
		}
		if len(cells) != m.columns || m.names != nil && i >= uint64(len(m.names)) {
			return sourcef("%s:%d: found other cells than before, expected the same; leave the file as it is while it is read", m.path, line)
		}
		for j, cell := range cells {
			v, err := strconv.ParseFloat(string(cell), 64)
			switch {
			case err != nil && !errors.Is(err, strconv.ErrRange):
				return sourcef("%s:%d: found %.40q in column %d, expected a number; write 0 where there is no edge", m.path, line, cell, j+1)
			case err != nil, math.IsNaN(v), math.IsInf(v, 0):
				return notFinite(fmt.Sprintf("%s:%d", m.path, line), i, uint64(j), string(cell))
			case v == 0:
				continue
			}
			if out[2] = cell; m.names == nil {
				out[0], out[1] = strconv.AppendUint(texts[0][:0], i, 10), strconv.AppendUint(texts[1][:0], uint64(j), 10)
			} else {
				out[0], out[1] = []byte(m.names[i]), []byte(m.names[j])
			}
			if err := row(line, out); err != nil {
				return err
			}
		}
		i++
		return nil
	})
}
