package records

import (
	"fmt"
	"math"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/examplecolumns"
)

// columnPlan says what becomes of a feature.
type columnPlan struct {
	key      string // key in an Example
	name     string
	dtype    graph.DType
	shape    []int
	variable int // number of variable dimensions
}

func newColumnPlan(piece example.Piece, set, name string, f *tfgnnpb.Feature) columnPlan {
	c := columnPlan{key: tfgnn.FeatureKey(piece.String(), set, name), name: name, dtype: examplecolumns.DType(f.GetDtype()), shape: examplecolumns.Shape(f)}
	for _, d := range c.shape {
		if d == -1 {
			c.variable++
		}
	}
	return c
}

// values holds rows of a column, as store.ColumnWriter.Append takes them.
type values struct {
	data    []byte
	ends    []uint32
	lengths [][]uint32
	rounded uint64
}

func (v *values) reset() {
	v.data, v.ends, v.rounded = v.data[:0], v.ends[:0], 0
	for k := range v.lengths {
		v.lengths[k] = v.lengths[k][:0]
	}
}

// bytes returns the number of bytes of memory of the rows.
func (v *values) bytes() int {
	n := len(v.data) + 4*len(v.ends)
	for _, l := range v.lengths {
		n += 4 * len(l)
	}
	return n
}

// add appends the rows of a tensor.
func (v *values) add(c *columnPlan, t *example.Tensor) error {
	for k, lengths := range t.Lengths {
		v.lengths[k] = appendCounts(v.lengths[k], lengths)
	}
	ok := true
	switch c.dtype {
	case graph.String:
		for _, s := range t.Texts {
			v.data = append(v.data, s...)
			v.ends = append(v.ends, uint32(len(v.data)))
		}
	case graph.Float32:
		v.data = append(v.data, graph.Bytes(t.Floats)...)
	case graph.Float64:
		v.data = grow(v.data, 8*len(t.Floats))
		out := graph.View[uint64](v.data[len(v.data)-8*len(t.Floats):])
		for i, f := range t.Floats {
			out[i] = examplecolumns.Widen(f)
		}
	case graph.Float16:
		v.round(t.Floats, example.ToFloat16, example.Float16)
	case graph.BFloat16:
		v.round(t.Floats, example.ToBFloat16, example.BFloat16)
	case graph.Bool:
		for _, x := range t.Ints {
			v.data = append(v.data, byte(x))
			ok = ok && uint64(x) <= 1
		}
	case graph.Int8:
		v.data, ok = narrow[int8](v.data, t.Ints)
	case graph.Uint8:
		v.data, ok = narrow[uint8](v.data, t.Ints)
	case graph.Int16:
		v.data, ok = narrow[int16](v.data, t.Ints)
	case graph.Uint16:
		v.data, ok = narrow[uint16](v.data, t.Ints)
	case graph.Int32:
		v.data, ok = narrow[int32](v.data, t.Ints)
	case graph.Uint32:
		v.data, ok = narrow[uint32](v.data, t.Ints)
	default: // int64, and uint64 by its bits
		v.data = append(v.data, graph.Bytes(t.Ints)...)
	}
	if !ok {
		return fmt.Errorf("found an integer that %s cannot hold, expected none; read the records with the dtype of their values", c.dtype)
	}
	return nil
}

// grow appends n bytes to b. All lengths are multiples of the size of a value, so that graph.View can access the
// values.
func grow(b []byte, n int) []byte {
	at := len(b)
	if at+n > cap(b) {
		// Capacities in whole words make the memory aligned to words.
		b = append(make([]byte, 0, max(2*cap(b), (at+n+63)&^63)), b...)
	}
	return b[:at+n]
}

// narrow appends integers as a smaller type and returns whether the type can hold them.
func narrow[T int8 | uint8 | int16 | uint16 | int32 | uint32](dst []byte, ints []int64) ([]byte, bool) {
	var zero T
	n := len(ints) * len(graph.Bytes([]T{zero}))
	dst = grow(dst, n)
	out := graph.View[T](dst[len(dst)-n:])
	var lost int64
	for i, x := range ints {
		y := T(x)
		out[i] = y
		lost |= int64(y) ^ x
	}
	return dst, lost == 0
}

// round appends floats as 16 bits and counts those that change.
func (v *values) round(floats []float32, to func(float32) uint16, back func(uint16) float32) {
	n := 2 * len(floats)
	v.data = grow(v.data, n)
	out := graph.View[uint16](v.data[len(v.data)-n:])
	for i, f := range floats {
		out[i] = to(f)
		if math.Float32bits(back(out[i])) != math.Float32bits(f) {
			v.rounded++
		}
	}
}
