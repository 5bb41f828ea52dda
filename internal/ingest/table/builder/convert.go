package builder

import (
	"math"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/scalar"
)

// CanConvert says whether Convert can convert values of one dtype to another. Floats that are whole numbers are integers, and
// texts as ids.
func CanConvert(from, to graph.DType, id bool) bool {
	return from == to || to == graph.String && (id || !from.IsFloat()) || from.IsFloat() && to.IsInt() ||
		(from.IsInt() || from == graph.Bool) && (to.IsInt() || to.IsFloat() && to != graph.BFloat16 || to == graph.Bool) ||
		from.IsFloat() && to.IsFloat() || from == graph.Uint16 && to == graph.BFloat16
}

// Convert appends n values of raw, of dtype from and step bytes apart, converted to values of a column. It returns the index of
// the first value that does not fit and its text, or -1.
func Convert(out *scalar.Words, ends *[]uint32, raw []byte, n int, from graph.DType, step int, c *table.Column) (int, string) {
	size, to := from.Size(), c.DType
	switch {
	case step == size && (from == to || from == graph.Uint16 && to == graph.BFloat16):
		copy(out.Add(n*size), raw)
		return -1, ""
	case from.IsFloat() && (to.IsInt() || to == graph.String):
		return convertWhole(out, ends, raw, step, n, from, to)
	case from.IsFloat():
		return convertFloats(out, raw, step, n, from, c)
	case to.IsInt():
		out.Add(8 * n)
		w := out.W[:n]
		scalar.Widen(w, raw, step, from)
		if bad := scalar.Clash(w, from, to); bad >= 0 {
			return bad, scalar.IntegerText(w[bad], from)
		}
		if bad := scalar.Narrow(w, to); bad >= 0 {
			return bad, scalar.IntegerText(w[bad], from)
		}
		out.N = n * to.Size()
		return -1, ""
	}
	return convertInts(out, ends, raw, step, n, from, to)
}

// convertWhole appends n floats that are whole numbers, step bytes apart, as integers or strings.
func convertWhole(out *scalar.Words, ends *[]uint32, raw []byte, step, n int, from, to graph.DType) (int, string) {
	least, largest := scalar.Bounds(to)
	for i := range n {
		v, text := scalar.Whole(raw[i*step:], from)
		if text != "" {
			return i, text
		}
		if to == graph.String {
			text = strconv.FormatInt(v, 10)
			copy(out.Add(len(text)), text)
			*ends = append(*ends, uint32(out.N))
			continue
		}
		scalar.PutInt(out.Add(to.Size()), uint64(v))
		if v < least || v > 0 && uint64(v) > largest {
			return i, strconv.FormatInt(v, 10)
		}
	}
	return -1, ""
}

// convertFloats appends n floats, step bytes apart, as floats of the dtype of c, and counts those that become subnormal.
func convertFloats(out *scalar.Words, raw []byte, step, n int, from graph.DType, c *table.Column) (int, string) {
	small := uint64(0)
	for i := range n {
		v := scalar.Float(raw[i*step:], from)
		if !scalar.PutFloat(out.Add(c.DType.Size()), c.DType, v) {
			return i, strconv.FormatFloat(v, 'g', -1, 64)
		}
		if f := float64(float32(v)); f != v && math.Abs(f) < 0x1p-126 {
			small++
		}
	}
	if c.Underflows != nil && c.DType == graph.Float32 {
		c.Underflows.Add(small)
	}
	return -1, ""
}

// convertInts appends n integers, step bytes apart, as strings, bools or floats.
func convertInts(out *scalar.Words, ends *[]uint32, raw []byte, step, n int, from, to graph.DType) (int, string) {
	var one [1]uint64
	for i := range n {
		scalar.Widen(one[:], raw[i*step:], step, from)
		switch {
		case to == graph.String:
			text := scalar.IntegerText(one[0], from)
			copy(out.Add(len(text)), text)
			*ends = append(*ends, uint32(out.N))
		case to == graph.Bool:
			if one[0] > 1 {
				return i, scalar.IntegerText(one[0], from)
			}
			out.Add(1)[0] = byte(one[0])
		default:
			v := float64(int64(one[0]))
			if from == graph.Uint64 {
				v = float64(one[0])
			}
			if !scalar.PutFloat(out.Add(to.Size()), to, v) {
				return i, scalar.IntegerText(one[0], from)
			}
		}
	}
	return -1, ""
}

// ExpectedNumber describes the values of a column for an error about a number.
func ExpectedNumber(c *table.Column) string {
	if c.DType == graph.String {
		return "a whole number as an id"
	}
	return ExpectedOf(c.DType)
}

// ExpectedOf describes the values of a dtype.
func ExpectedOf(d graph.DType) string {
	return (&Column{Column: table.Column{DType: d}}).Expected()
}
