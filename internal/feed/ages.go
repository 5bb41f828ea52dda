package feed

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/sample"
)

// AgeColumn is the column of batches that has the ages of a type: float32, how long before the time of its seed each node or edge
// happened, negative after it.
const AgeColumn = "age"

// Age names the column with the times of a type whose batches have AgeColumn. Every row that a batch can have must have a time.
type Age struct {
	// Type is a node type, or an edge type as "src:rel:dst".
	Type, Column string
}

// ages writes the ages of a type.
type ages struct {
	seeds, rows int64   // ticks of the finer unit in a tick of the seeds' unit, and in one of the rows' unit
	per         float64 // ticks of the finer unit in the unit of ages
}

// agesIn is the ages of rows whose times are in a unit, at seeds whose times are in another, in one of features.Units ("" is days). Times
// are plain numbers where both units are empty, and so are ages then.
func agesIn(seeds, rows graph.Unit, unit string) *ages {
	if rows == "" {
		return &ages{1, 1, 1}
	}
	finer := max(seeds.PerSecond(), rows.PerSecond())
	return &ages{finer / seeds.PerSecond(), finer / rows.PerSecond(), float64(finer) * float64(features.Units[unitOf(unit)])}
}

func unitOf(unit string) string {
	if unit == "" {
		return "days"
	}
	return unit
}

// at is the age of a row at the time of a seed: the exact difference of whole numbers, which is rounded to float64, divided, and rounded
// to float32. Where one of them is a float, the difference is one of float64.
func (a *ages) at(seed, row sample.Time) float32 {
	s, sReal, sFloat := seed.Number()
	r, rReal, rFloat := row.Number()
	if !sFloat && !rFloat {
		if d := s - r; a.seeds == a.rows && (s^r)&(s^d) >= 0 { // one unit, and a difference that 64 bits hold
			return float32(float64(d) / a.per)
		}
		return float32(difference(s, a.seeds, r, a.rows) / a.per)
	}
	if !sFloat {
		sReal = float64(s)
	}
	if !rFloat {
		rReal = float64(r)
	}
	return float32((float64(sReal*float64(a.seeds)) - float64(rReal*float64(a.rows))) / a.per) // products of their own, which no machine fuses
}

// difference is x*byX - y*byY, rounded once. The factors are above 0.
func difference(x, byX, y, byY int64) float64 {
	xHigh, xLow := product(x, byX)
	yHigh, yLow := product(y, byY)
	low, borrow := bits.Sub64(xLow, yLow, 0)
	high, _ := bits.Sub64(xHigh, yHigh, borrow)
	sign := 1.0
	if int64(high) < 0 {
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
		sign = -1
	}
	n := bits.Len64(high)
	top := high<<(64-n) | low>>n
	if low<<(64-n) != 0 && n > 0 {
		top |= 1 // of what is cut off, it matters only whether there is something
	}
	return sign * math.Ldexp(float64(top), n)
}

// product is x*by as 128 bits in two's complement.
func product(x, by int64) (high, low uint64) {
	high, low = bits.Mul64(uint64(x), uint64(by))
	if x < 0 {
		high -= uint64(by)
	}
	return high, low
}

// aged says whether rows of a type have ages.
func (f *Features) aged(typ string) bool {
	return slices.ContainsFunc(f.Ages, func(a Age) bool { return a.Type == typ })
}

// addAge adds the ages of a type, if they are wanted. seed is the index in the batch of the seed of a row.
func (l *columnList) addAge(at, typ string, columns []*graph.Column, rows func(*made) graph.Index, seed func(m *made, row int) uint32, most func(*bounds) int64) error {
	for _, a := range l.f.Ages {
		if a.Type != typ {
			continue
		}
		c := graph.FindColumn(columns, a.Column)
		if c == nil {
			return fmt.Errorf("found no column %q of %s with its times, expected one of %s; name one of these, or import the column", a.Column, typ, columnNames(columns))
		}
		if !HasTimes(c) {
			return fmt.Errorf("column %q of %s: found %s rows of shape %v, expected a time or a number per row; name a column of times", a.Column, typ, c.DType, c.Shape)
		}
		write := writeAges(c, l.tabs.of(c.Values), agesIn(l.s.Plan().TimeUnit(l.g), c.Unit, l.f.AgeUnit), rows, seed)
		l.addColumns(column{ColumnInfo{Name: at + "x/" + AgeColumn, DType: "float32", Shape: []int{}}, 4,
			func(m *made) int { return rows(m).Len() }, write, most})
	}
	return nil
}

// HasTimes says whether the rows of a column can be times: it has a whole number of at most 63 bits and a sign, or a float of 32 or 64 bits,
// per row.
func HasTimes(c *graph.Column) bool {
	return !c.Ragged() && c.RowValues() == 1 && c.Categories == nil && writeAges(c, &table{}, nil, nil, nil) != nil
}

// writeAges writes the ages of the rows of a column; nil for a dtype that times do not have.
func writeAges(c *graph.Column, tab *table, a *ages, rows func(*made) graph.Index, seed func(m *made, row int) uint32) func(dst []byte, m *made) {
	switch c.DType {
	case graph.Int8:
		return agesOf[int8](tab, a, rows, seed, wholeTime)
	case graph.Int16:
		return agesOf[int16](tab, a, rows, seed, wholeTime)
	case graph.Int32:
		return agesOf[int32](tab, a, rows, seed, wholeTime)
	case graph.Int64:
		return agesOf[int64](tab, a, rows, seed, wholeTime)
	case graph.Uint8:
		return agesOf[uint8](tab, a, rows, seed, wholeTime)
	case graph.Uint16:
		return agesOf[uint16](tab, a, rows, seed, wholeTime)
	case graph.Uint32:
		return agesOf[uint32](tab, a, rows, seed, wholeTime)
	case graph.Float32:
		return agesOf[float32](tab, a, rows, seed, floatTime)
	case graph.Float64:
		return agesOf[float64](tab, a, rows, seed, floatTime)
	}
	return nil
}

func wholeTime[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](x T) sample.Time {
	return sample.IntTime(int64(x))
}

func floatTime[T float32 | float64](x T) sample.Time { return sample.FloatTime(float64(x)) }

// agesAtOnce is the number of rows whose times are gathered together. Tests lower it.
var agesAtOnce = 1 << 12

func agesOf[T graph.Numbers](tab *table, a *ages, rows func(*made) graph.Index, seed func(m *made, row int) uint32, time func(T) sample.Time) func(dst []byte, m *made) {
	return func(dst []byte, m *made) {
		to, of, width := graph.View[float32](dst), rows(m), int(unsafe.Sizeof(T(0)))
		if m.gathered == nil {
			m.gathered = make([]uint64, agesAtOnce)
		}
		for at := 0; at < of.Len(); at += agesAtOnce {
			end := min(at+agesAtOnce, of.Len())
			found := graph.Bytes(m.gathered)[:(end-at)*width]
			if of.U64 != nil {
				batch.Gather(found, tab.values(), width, of.U64[at:end])
			} else {
				batch.Gather(found, tab.values(), width, of.U32[at:end])
			}
			for i, x := range graph.View[T](found) {
				to[at+i] = a.at(m.times[seed(m, at+i)], time(x))
			}
		}
	}
}
