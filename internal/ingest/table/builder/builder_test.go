package builder

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// For any cell, an accepted vector has as many values as its lengths say.
func FuzzVector(f *testing.F) {
	for _, s := range []string{"[[1 2] [3]]", "1;2;3", "['a, b', \"c]\"]", "[[[1],[2]];[[],[]]]", "[[1,2],[3,4]]", "[", "[]]", "[[', ]]", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			for _, d := range []graph.DType{graph.Int16, graph.String} {
				for _, shape := range [][]int{{-1}, {2, 2}, {-1, 2}, {-1, -1}, {2, -1}, {1, -1}, {-1, 2, -1}} {
					c, err := New(table.Column{Name: "x", DType: d, Shape: shape, Empty: table.EmptyAbsent})
					if err != nil {
						t.Fatal(err)
					}
					if _, problem := c.Put([]byte(text)); problem != "" {
						continue
					}
					n, k := 1, 0
					for _, dim := range shape {
						if dim > 0 {
							n *= dim
							continue
						}
						if len(c.Lengths[k]) != n {
							t.Fatalf("%q as %s%v: %d lengths of dimension %d, want %d", text, d, shape, len(c.Lengths[k]), k, n)
						}
						n = 0
						for _, length := range c.Lengths[k] {
							n += int(length)
						}
						k++
					}
					if v := c.Vector(1); d == graph.String && len(v.Ends) != n || d == graph.Int16 && len(v.Data) != 2*n {
						t.Fatalf("%q as %s%v: found %d ends, %d bytes, want %d values", text, d, shape, len(v.Ends), len(v.Data), n)
					}
				}
			}
		})
	})
}
