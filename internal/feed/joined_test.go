package feed

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// random is a column of a dtype with rows of some width, and its values. All values are exact in float32.
func random(dtype graph.DType, name string, rows, width int, r *rand.Rand) (*graph.Column, []float64) {
	c := &graph.Column{Name: name, DType: dtype, Rows: rows}
	if width > 1 {
		c.Shape = []int{width}
	}
	values := make([]float64, rows*width)
	for i := range values {
		values[i] = float64(r.IntN(120))
		if dtype == graph.Bool {
			values[i] = float64(r.IntN(2))
		}
	}
	c.Values = encoded(dtype, values)
	return c, values
}

// encoded is values in a dtype.
func encoded(dtype graph.DType, values []float64) []byte {
	switch dtype {
	case graph.Bool, graph.Uint8:
		return as[uint8](values, func(x float64) uint8 { return uint8(x) })
	case graph.Int8:
		return as[int8](values, func(x float64) int8 { return int8(x) })
	case graph.Int16:
		return as[int16](values, func(x float64) int16 { return int16(x) })
	case graph.Int32:
		return as[int32](values, func(x float64) int32 { return int32(x) })
	case graph.Int64:
		return as[int64](values, func(x float64) int64 { return int64(x) })
	case graph.Uint16:
		return as[uint16](values, func(x float64) uint16 { return uint16(x) })
	case graph.Uint32:
		return as[uint32](values, func(x float64) uint32 { return uint32(x) })
	case graph.Uint64:
		return as[uint64](values, func(x float64) uint64 { return uint64(x) })
	case graph.Float16:
		return as[uint16](values, func(x float64) uint16 {
			if x == 0 {
				return 0
			}
			e := math.Floor(math.Log2(x))
			return uint16(e+15)<<10 | uint16((x/math.Exp2(e)-1)*1024)
		})
	case graph.BFloat16:
		return as[uint16](values, func(x float64) uint16 { return uint16(math.Float32bits(float32(x)) >> 16) })
	case graph.Float32:
		return as[float32](values, func(x float64) float32 { return float32(x) })
	case graph.Float64:
		return as[float64](values, func(x float64) float64 { return x })
	}
	return nil
}

func as[T graph.Numbers](values []float64, f func(float64) T) []byte {
	out := make([]T, len(values))
	for i, x := range values {
		out[i] = f(x)
	}
	return graph.Bytes(out)
}

// Joined columns have the values of their columns side by side, in the dtype of the rule, before and after their table is
// made.
func TestJoined(t *testing.T) {
	dtypes := []graph.DType{graph.Bool, graph.Int8, graph.Int16, graph.Int32, graph.Int64, graph.Uint8, graph.Uint16, graph.Uint32, graph.Uint64,
		graph.Float16, graph.BFloat16, graph.Float32, graph.Float64}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows := rapid.IntRange(1, 40).Draw(t, "rows")
		var columns []*graph.Column
		var of [][]float64
		var names []string
		same, double, width := true, false, 0
		for i := range rapid.IntRange(1, 5).Draw(t, "columns") {
			dtype, w := rapid.SampledFrom(dtypes).Draw(t, "dtype"), rapid.IntRange(1, 3).Draw(t, "width")
			c, values := random(dtype, fmt.Sprint("c", i), rows, w, r)
			columns, of, names = append(columns, c), append(of, values), append(names, c.Name)
			same, double, width = same && dtype == columns[0].DType, double || dtype == graph.Float64, width+w
		}
		want := graph.Float32
		switch {
		case same:
			want = columns[0].DType
		case double:
			want = graph.Float64
		}
		ids := make([]uint32, rapid.IntRange(0, 30).Draw(t, "ids"))
		for i := range ids {
			ids[i] = uint32(r.IntN(rows))
		}
		var tabs tables
		defer tabs.close()
		c, err := joinedOf(&tabs, "nodes/n/", Joined{"n", "x", partsOf(names)}, columns, rows, func(*made) graph.Index { return graph.Index{U32: ids} }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.info.Name != "nodes/n/x/x" || c.info.DType != want.String() || len(c.info.Shape) != 1 || c.info.Shape[0] != width || c.width != width*want.Size() {
			t.Fatalf("found %+v of %d bytes, expected %s [%d]", c.info, c.width, want, width)
		}
		for _, loaded := range []bool{false, true} {
			if loaded {
				tabs.load(context.Background(), 1<<30)
				if len(columns) > 1 && tabs.joined[0].whole.Load() == nil {
					t.Fatal("found no table, expected one")
				}
			}
			got := make([]byte, len(ids)*c.width+64)
			c.write(got[:len(ids)*c.width], &made{})
			for i, id := range ids {
				at := i * width
				for k, values := range of {
					w := len(values) / rows
					x, y := got[at*want.Size():][:w*want.Size()], encoded(want, values[int(id)*w:][:w])
					if !bytes.Equal(x, y) {
						t.Fatalf("row %d of column %d: found %v, expected %v", i, k, x, y)
					}
					at += w
				}
			}
		}
	})
}

// Every float16 has its value by the definition of IEEE 754.
func TestHalf(t *testing.T) {
	for bits := range 1 << 16 {
		sign, e, f := 1-2*float64(bits>>15), bits>>10&31, float64(bits&1023)
		want := sign * math.Exp2(float64(e)-15) * (1 + f/1024)
		switch {
		case e == 0:
			want = sign * f / (1 << 24)
		case e == 31 && f == 0:
			want = math.Inf(int(sign))
		case e == 31:
			want = math.NaN()
		}
		got := float64(example.Float16(uint16(bits)))
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) || got == 0 && math.Signbit(got) != (sign < 0) {
			t.Fatalf("bits %#x: found %v, expected %v", bits, got, want)
		}
	}
}

func TestJoinedRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a, _ := random(graph.Int8, "a", 3, 1, r)
	columns := []*graph.Column{a, {Name: "s", DType: graph.String, Rows: 3},
		{Name: "kind", DType: graph.Int32, Rows: 3, Categories: &graph.Column{DType: graph.String}}, {Name: "day", DType: graph.Int64, Rows: 3, Unit: graph.Seconds}}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"b"}, `found no column "b" of n to join, expected one of a s kind day`},
		{[]string{"a", "s"}, `column "s" of n: found string rows of shape [], expected numbers of a fixed shape to join`},
		{[]string{"a", "kind"}, `column "kind" of n: found categories, whose codes are no quantities, expected numbers to join`},
		{[]string{"day"}, `column "day" of n: found times, expected numbers to join`},
		{nil, "found no columns of n to join, expected at least one"},
	} {
		var tabs tables
		_, err := joinedOf(&tabs, "nodes/n/", Joined{"n", "x", partsOf(c.names)}, columns, 3, nil, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: found %v, expected %q", c.names, err, c.want)
		}
	}
}

// partsOf are columns that are joined as they are.
func partsOf(names []string) (parts []widening.Part) {
	for _, name := range names {
		parts = append(parts, widening.Part{Column: name})
	}
	return parts
}
