package table

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

// Short numbers are rounded as strconv rounds them.
func TestShortFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,9}\.?[0-9]{0,9}`).Draw(t, "text")
		for d, width := range map[graph.DType]int{graph.Float32: 32, graph.Float64: 64} {
			got, ok := shortFloat([]byte(text), d)
			want, err := strconv.ParseFloat(text, width)
			if ok && (err != nil || math.Float64bits(got) != math.Float64bits(want)) {
				t.Fatalf("%q as %s is %v, want %v (%v)", text, d, got, want, err)
			}
		}
	})
	for _, text := range []string{"0.25", "-17", "1234567", "5.", ".5", "-0"} {
		if _, ok := shortFloat([]byte(text), graph.Float32); !ok {
			t.Errorf("%q takes the slow way", text)
		}
	}
}

// Digits of every length and alignment, followed by every byte.
func TestNumber(t *testing.T) {
	text := "123456789012345678"
	for n := range 18 {
		for behind := range 256 {
			c := byte(behind)
			if c >= '0' && c <= '9' {
				continue
			}
			b := append([]byte(text[:n]), c)
			b = append(b, bytes.Repeat([]byte{'7'}, 32)...)
			v, end := number(b, 0)
			want, _ := strconv.ParseUint(text[:n], 10, 64)
			if n == 0 || n > 15 {
				if end != 0 {
					t.Fatalf("%q: read %d digits", b, end)
				}
			} else if v != want || end != n {
				t.Fatalf("%q: read %d in %d bytes", b, v, end)
			}
		}
	}
}

func TestStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := syntax{delim: rapid.SampledFrom([]byte(",\t;| ")).Draw(t, "delimiter")}
		s.runs = s.delim == ' '
		b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "text")
		set := string(rune(s.delim)) + "\"\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r"
		b = append(append(b, '\n'), make([]byte, padding)...)
		stops := stopsOf(s)
		want := 0
		for !strings.ContainsRune(set, rune(b[want])) {
			want++
		}
		if got := stops.find(b, 0); got != want {
			t.Fatalf("%q: stop at %d, want %d", b, got, want)
		}
	})
}

// Halves are rounded to nearest, ties to even: every half gives itself, and a number between two neighbours gives the
// nearer one.
func TestHalves(t *testing.T) {
	for _, f := range []struct {
		d   graph.DType
		inf uint16
		as  func(uint16) float64
	}{
		{graph.Float16, 0x7c00, func(h uint16) float64 { return getFloat([]byte{byte(h), byte(h >> 8)}, graph.Float16) }},
		{graph.BFloat16, 0x7f80, func(h uint16) float64 { return float64(math.Float32frombits(uint32(h) << 16)) }},
	} {
		var b [2]byte
		half := func(v float64) (uint16, bool) {
			ok := putFloat(b[:], f.d, v)
			return uint16(b[0]) | uint16(b[1])<<8, ok
		}
		for h := uint16(0); h < f.inf; h++ {
			v := f.as(h)
			if got, ok := half(v); got != h || !ok {
				t.Fatalf("%s: %v is %#x, want %#x", f.d, v, got, h)
			}
			if h+1 == f.inf {
				break
			}
			next := f.as(h + 1)
			middle := v + (next-v)/2
			even := h + h&1
			if got, _ := half(middle); got != even {
				t.Fatalf("%s: %v is %#x, want %#x", f.d, middle, got, even)
			}
			if got, _ := half(math.Nextafter(middle, math.Inf(1))); got != h+1 {
				t.Fatalf("%s: above %v is %#x, want %#x", f.d, middle, got, h+1)
			}
			if got, _ := half(-math.Nextafter(middle, 0)); got != h|0x8000 {
				t.Fatalf("%s: below %v is %#x, want %#x", f.d, -middle, got, h|0x8000)
			}
		}
		if _, ok := half(f.as(f.inf-1) * 1.5); ok {
			t.Fatalf("%s: took a number beyond its range", f.d)
		}
	}
}

// For any cell, an accepted vector has as many values as its lengths say.
func FuzzVector(f *testing.F) {
	for _, s := range []string{"[[1 2] [3]]", "1;2;3", "['a, b', \"c]\"]", "[[[1],[2]];[[],[]]]", "[[1,2],[3,4]]", "[", "[]]", "[[', ]]", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			for _, d := range []graph.DType{graph.Int16, graph.String} {
				for _, shape := range [][]int{{-1}, {2, 2}, {-1, 2}, {-1, -1}, {2, -1}, {1, -1}, {-1, 2, -1}} {
					c, err := newColumn(Column{Name: "x", DType: d, Shape: shape, Empty: EmptyAbsent})
					if err != nil {
						t.Fatal(err)
					}
					if _, problem := c.put([]byte(text)); problem != "" {
						continue
					}
					n, k := 1, 0
					for _, dim := range shape {
						if dim > 0 {
							n *= dim
							continue
						}
						if len(c.lengths[k]) != n {
							t.Fatalf("%q as %s%v: %d lengths of dimension %d, want %d", text, d, shape, len(c.lengths[k]), k, n)
						}
						n = 0
						for _, length := range c.lengths[k] {
							n += int(length)
						}
						k++
					}
					if v := c.vector(1); d == graph.String && len(v.Ends) != n || d == graph.Int16 && len(v.Data) != 2*n {
						t.Fatalf("%q as %s%v: found %d ends, %d bytes, want %d values", text, d, shape, len(v.Ends), len(v.Data), n)
					}
				}
			}
		})
	})
}
