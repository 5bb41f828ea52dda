package predictions

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphmill/graphmill/format/npy"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table/arrayfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// array is an open .npy file whose rows are read from front to back.
type array struct {
	Array
	f     vfs.File
	start int64 // of the values in the file
	rows  int
	dtype graph.DType
	width int // values of a row that is a vector; 0: one value
}

// openArray opens a file with a row of one value or one vector per node or edge.
func openArray(fsys vfs.FS, a Array) (*array, error) {
	x, shape, err := openFile(fsys, a)
	if err != nil {
		return nil, err
	}
	switch {
	case len(shape) == 1:
	case len(shape) == 2 && shape[1] > 0:
		x.width = shape[1]
	default:
		return nil, errors.Join(fmt.Errorf("%s: found shape %v, expected [rows] or [rows, values of a row]; save a.reshape(len(a), -1)", a.File, shape), x.f.Close())
	}
	x.rows = shape[0]
	return x, nil
}

// openFile opens a file of any shape.
func openFile(fsys vfs.FS, a Array) (_ *array, shape []int, err error) {
	f, err := fsys.Open(a.File)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	h, err := npy.Read(f, info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", a.File, err)
	}
	return &array{Array: a, f: f, start: h.Offset, dtype: arrayfiles.DTypeOf(h.Descr)}, h.Shape, nil
}

// rowBytes is the size of a row.
func (a *array) rowBytes() int { return max(a.width, 1) * a.dtype.Size() }

// read reads rows into b, which has their size.
func (a *array) read(b []byte, from int) error {
	_, err := a.f.ReadAt(b, a.start+int64(from)*int64(a.rowBytes()))
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: found its end at row %d, expected %d rows, as its header says; write it again, and then the table", a.File, from, a.rows)
	}
	return err
}

// numbers are the nodes or edges that the rows of arrays belong to: from a file, or all in order. Of pairs they are the sources.
type numbers struct {
	file    *array   // nil: all in order
	count   int      // of the nodes or edges
	what    string   // "the number of nodes of user"
	targets *numbers // of pairs, from the same file
	raw     []byte
}

// openNumbers opens the file of nodes or edge ids; "" opens none.
func openNumbers(fsys vfs.FS, file string, x *subject) (_ *numbers, err error) {
	if x.pair[0] != nil {
		return openPairs(fsys, file, x)
	}
	n := &numbers{count: x.count(), what: fmt.Sprintf("the number of %ss of %s", x.kind(), x.name())}
	if file == "" {
		return n, nil
	}
	if n.file, err = openArray(fsys, Array{File: file}); err != nil {
		return nil, err
	}
	if !n.file.dtype.IsInt() || n.file.width > 0 {
		return nil, errors.Join(fmt.Errorf("%s: found %s %s, expected one integer per row, the number of its %s; save such an array", file, n.file.dtype, n.file.shape(), x.kind()), n.close())
	}
	return n, nil
}

// openPairs opens the file of the sources and targets of pairs, [2, rows].
func openPairs(fsys vfs.FS, file string, x *subject) (*numbers, error) {
	if file == "" {
		return nil, usagef("found no `Nodes` with the pairs of types %s, expected the node numbers of each pair; give `Nodes` FILE.npy of integers [2, rows], sources and targets", x.name())
	}
	from, shape, err := openFile(fsys, Array{File: file})
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 || shape[0] != 2 || !from.dtype.IsInt() {
		return nil, errors.Join(fmt.Errorf("%s: found %s %v, expected integers [2, rows], the sources and the targets of pairs of %s; save such an array", file, from.dtype, shape, x.name()), from.f.Close())
	}
	from.rows = shape[1]
	to := *from
	to.start += int64(from.rows) * int64(from.rowBytes())
	of := func(end *graph.Nodes, a *array) *numbers {
		return &numbers{file: a, count: end.Count, what: "the number of nodes of " + end.Type}
	}
	n := of(x.pair[0], from)
	n.targets = of(x.pair[1], &to)
	return n, nil
}

// shape is the shape of the array, for errors.
func (a *array) shape() string {
	if a.width == 0 {
		return fmt.Sprintf("[%d]", a.rows)
	}
	return fmt.Sprintf("[%d, %d]", a.rows, a.width)
}

func (n *numbers) close() error {
	if n.file == nil {
		return nil
	}
	return n.file.f.Close()
}

// rows is the number of rows that each array has.
func (n *numbers) rows() int {
	if n.file == nil {
		return n.count
	}
	return n.file.rows
}

// read sets the numbers that belong to rows of the arrays.
func (n *numbers) read(dst []uint64, from int) error {
	if n.file == nil {
		for i := range dst {
			dst[i] = uint64(from + i)
		}
		return nil
	}
	size := n.file.rowBytes()
	n.raw = grown(n.raw, len(dst)*size)
	if err := n.file.read(n.raw, from); err != nil {
		return err
	}
	for i := range dst {
		v, negative := integer(n.file.dtype, n.raw, i)
		if n.count == 0 {
			return fmt.Errorf("%s: row %d: found %s, expected no row, as %s is 0; leave it out", n.file.File, from+i, shown(v, negative), n.what)
		}
		if negative || v >= uint64(n.count) {
			return fmt.Errorf("%s: row %d: found %s, expected 0 to %d, below %s", n.file.File, from+i, shown(v, negative), n.count-1, n.what)
		}
		dst[i] = v
	}
	return nil
}

// shown is an integer, negative where its bits say so.
func shown(v uint64, negative bool) string {
	if negative {
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprint(v)
}

// integer is number i of an array of integers. A negative one has the bits of an int64.
func integer(d graph.DType, b []byte, i int) (v uint64, negative bool) {
	var n int64
	switch d {
	case graph.Int8:
		n = int64(int8(b[i]))
	case graph.Int16:
		n = int64(graph.View[int16](b)[i])
	case graph.Int32:
		n = int64(graph.View[int32](b)[i])
	case graph.Int64:
		n = graph.View[int64](b)[i]
	case graph.Uint8:
		n = int64(b[i])
	case graph.Uint16:
		n = int64(graph.View[uint16](b)[i])
	case graph.Uint32:
		n = int64(graph.View[uint32](b)[i])
	default:
		return graph.View[uint64](b)[i], false
	}
	return uint64(n), n < 0
}

// maxText is the most bytes of text of a column in a block.
const maxText = math.MaxInt32

// grown is b with n bytes, whose content is lost where it was smaller. It begins at a multiple of 8.
func grown(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	return graph.Bytes(make([]uint64, (n+7)/8))[:n]
}
