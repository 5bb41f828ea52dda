package sample

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
)

// values is a scalar column by edge id, or by node, that keeps the order of its numbers. One field is set. Integers stay integers,
// because large ones would become equal as floats.
type values struct {
	ints    []int64
	floats  []float64
	singles []float32 // not converted, which takes half the memory
	// timed: integers are times, and graph.NoTime is none: it passes no bound.
	timed bool
}

// readValues converts a column of edges. Columns of int64, float64 and float32 are read in place where their alignment
// allows.
func readValues(e *graph.Edges, name string) (*values, error) {
	return readNumbers(e.Type.String(), "edge", e.Columns, e.Count, name)
}

// readNodeValues is readValues for a column of nodes.
func readNodeValues(n *graph.Nodes, name string) (*values, error) {
	return readNumbers("node type "+n.Type, "node", n.Columns, n.Count, name)
}

func readNumbers(owner, row string, columns []*graph.Column, n int, name string) (*values, error) {
	c := graph.FindColumn(columns, name)
	b := c.Values
	if len(b) < n*c.DType.Size() {
		return nil, fmt.Errorf("%s: found %d bytes in column %q, expected %d", owner, len(b), name, n*c.DType.Size())
	}
	le := binary.LittleEndian
	v := &values{timed: c.Unit != ""}
	if c.DType.IsFloat() {
		if c.DType == graph.Float64 && viewable(b, 8) {
			v.floats = graph.View[float64](b)[:n]
			return v, nil
		}
		if c.DType == graph.Float32 && viewable(b, 4) {
			v.singles = graph.View[float32](b)[:n]
			return v, nil
		}
		v.floats = make([]float64, n)
		for i := range v.floats {
			switch c.DType {
			case graph.Float16:
				v.floats[i] = float64(example.Float16(le.Uint16(b[2*i:])))
			case graph.BFloat16:
				v.floats[i] = float64(example.BFloat16(le.Uint16(b[2*i:])))
			case graph.Float32:
				v.floats[i] = float64(math.Float32frombits(le.Uint32(b[4*i:])))
			default:
				v.floats[i] = math.Float64frombits(le.Uint64(b[8*i:]))
			}
		}
		return v, nil
	}
	if c.DType == graph.Int64 && viewable(b, 8) {
		v.ints = graph.View[int64](b)[:n]
		return v, nil
	}
	v.ints = make([]int64, n)
	for i := range v.ints {
		switch c.DType {
		case graph.Int8:
			v.ints[i] = int64(int8(b[i]))
		case graph.Bool, graph.Uint8:
			v.ints[i] = int64(b[i])
		case graph.Int16:
			v.ints[i] = int64(int16(le.Uint16(b[2*i:])))
		case graph.Uint16:
			v.ints[i] = int64(le.Uint16(b[2*i:]))
		case graph.Int32:
			v.ints[i] = int64(int32(le.Uint32(b[4*i:])))
		case graph.Uint32:
			v.ints[i] = int64(le.Uint32(b[4*i:]))
		case graph.Int64:
			v.ints[i] = int64(le.Uint64(b[8*i:]))
		case graph.Uint64:
			x := le.Uint64(b[8*i:])
			if x > math.MaxInt64 {
				return nil, fmt.Errorf("%s: found %d in column %q at %s %d, expected at most 2^63 - 1; import the column as int64 or float64", owner, x, name, row, i)
			}
			v.ints[i] = int64(x)
		}
	}
	return v, nil
}

// shares says whether two columns are read from the same memory.
func (v *values) shares(w *values) bool {
	return unsafe.SliceData(v.ints) == unsafe.SliceData(w.ints) && unsafe.SliceData(v.floats) == unsafe.SliceData(w.floats) && unsafe.SliceData(v.singles) == unsafe.SliceData(w.singles)
}

// less says whether the value of edge a is below the value of edge b.
func (v *values) less(a, b uint64) bool {
	if v.ints != nil {
		return v.ints[a] < v.ints[b]
	}
	return v.real(a) < v.real(b)
}

// nan says whether the value of an edge is not a number, or no time.
func (v *values) nan(e uint64) bool {
	if v.ints != nil {
		return v.timed && v.ints[e] == graph.NoTime
	}
	return v.real(e) != v.real(e)
}

// real is a value that is not an integer.
func (v *values) real(e uint64) float64 {
	if v.singles != nil {
		return float64(v.singles[e])
	}
	return v.floats[e]
}

// float is the value of an edge as a weight.
func (v *values) float(e uint64) float64 {
	if v.ints != nil {
		return float64(v.ints[e])
	}
	return v.real(e)
}

// weight is the weight of an edge for a draw: 0 where the edge cannot be taken.
func (v *values) weight(e uint64) float64 {
	if w := v.float(e); w > 0 {
		return w
	}
	return 0
}

// viewable says whether bytes can be read in place as numbers of a width in bytes.
func viewable(b []byte, width uintptr) bool {
	return len(b) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%width == 0
}

// Time is the time of a seed: an integer or a float, as in its column.
type Time struct {
	i     int64
	f     float64
	float bool
}

// IntTime is a time from an integer column.
func IntTime(t int64) Time { return Time{i: t} }

// FloatTime is a time from a float column.
func FloatTime(t float64) Time { return Time{f: t, float: true} }

// Number is the time as in its column: i, or f where float.
func (t Time) Number() (i int64, f float64, float bool) { return t.i, t.f, t.float }

// interval is what Before lets through: values that pass the upper bound and not the lower one.
type interval struct {
	upper, lower cut
	bounded      bool // there is a lower bound
}

// interval is the times of a column that pass before time t.
func (v *values) interval(t Time, b *Before) interval {
	out := interval{upper: v.cutAt(t, b.OrEqual)}
	if b.Window > 0 {
		var first Time
		if first, out.bounded = t.minus(b.Window); out.bounded {
			out.lower = v.cutAt(first, b.OrEqual)
		}
	}
	return out
}

// within says whether the value of an edge or a node lies in the interval.
func (v *values) within(e uint64, in *interval) bool {
	return v.passes(e, in.upper) && !(in.bounded && v.passes(e, in.lower))
}

// minus is the time a window earlier. ok is false where that is below all times. The difference of an integer and a
// whole window is exact, any other is one of float64.
func (t Time) minus(window float64) (first Time, ok bool) {
	if t.float {
		return FloatTime(t.f - window), true
	}
	if window != math.Floor(window) {
		return FloatTime(float64(t.i) - window), true
	}
	above := uint64(t.i) ^ 1<<63 // how far t is above the least integer
	if window >= 1<<64 || uint64(window) > above {
		return Time{}, false
	}
	return IntTime(int64((above - uint64(window)) ^ 1<<63)), true
}

// cut is a bound on a column of values: values below it pass, and with orEqual those equal to it.
type cut struct {
	i       int64
	f       float64
	orEqual bool
	none    bool // nothing passes
}

// cutAt is the exact bound of time t on the numbers of v, also where one is an integer and the other a float.
func (v *values) cutAt(t Time, orEqual bool) cut {
	switch {
	case v.ints != nil && !t.float, v.ints == nil && t.float:
		return cut{i: t.i, f: t.f, orEqual: orEqual}
	case v.ints != nil:
		whole := math.Floor(t.f)
		switch {
		case t.f != t.f || whole < math.MinInt64:
			return cut{none: true}
		case whole >= math.MaxInt64:
			return cut{i: math.MaxInt64, orEqual: true}
		case whole == t.f:
			return cut{i: int64(whole), orEqual: orEqual}
		}
		return cut{i: int64(whole), orEqual: true}
	}
	f := float64(t.i)
	switch {
	case f >= math.MaxInt64 || int64(f) > t.i: // rounded up: a float below t is below f
		return cut{f: f}
	case int64(f) < t.i:
		return cut{f: f, orEqual: true}
	}
	return cut{f: f, orEqual: orEqual}
}

// passes says whether the value of an edge passes the bound.
func (v *values) passes(e uint64, c cut) bool {
	if c.none {
		return false
	}
	if v.ints != nil {
		t := v.ints[e]
		return (t < c.i || c.orEqual && t == c.i) && (t != graph.NoTime || !v.timed)
	}
	t := v.real(e)
	return t < c.f || c.orEqual && t == c.f
}
