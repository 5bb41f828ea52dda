package cluster

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
)

// drawColumn is a random column: numbers or strings, with fixed and variable dimensions.
func drawColumn(t *rapid.T) *graph.Column {
	c := &graph.Column{Name: "x", DType: rapid.SampledFrom([]graph.DType{graph.Int8, graph.Float16, graph.Float32, graph.Int64, graph.String}).Draw(t, "dtype"),
		Rows: rapid.IntRange(1, 20).Draw(t, "rows"), Shape: rapid.SliceOfN(rapid.SampledFrom([]int{-1, 1, 2, 3}), 0, 3).Draw(t, "shape")}
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "values"), 1))
	n := c.Rows
	for _, d := range c.Shape {
		if d != -1 {
			n *= d
			continue
		}
		offsets := []uint64{0}
		for range n {
			offsets = append(offsets, offsets[len(offsets)-1]+uint64(r.IntN(3)))
		}
		n = int(offsets[len(offsets)-1])
		c.Offsets = append(c.Offsets, graph.Index{U64: offsets})
	}
	size := c.DType.Size()
	if c.DType == graph.String {
		c.StringOffsets.U64 = []uint64{0}
		for range n {
			c.StringOffsets.U64 = append(c.StringOffsets.U64, c.StringOffsets.U64[len(c.StringOffsets.U64)-1]+uint64(r.IntN(4)))
		}
		n, size = int(c.StringOffsets.U64[n]), 1
	}
	for range n * size {
		c.Values = append(c.Values, byte(r.Uint32()))
	}
	return c
}

// TestRowsTravel checks that rows of any column arrive as they were sent, in any order, and that a record that was cut or
// changed is refused.
func TestRowsTravel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := drawColumn(r)
		if err := c.CheckOffsets(); err != nil {
			r.Fatal(err)
		}
		table := rowTable{count: c.Rows, columns: []*graph.Column{c}}
		s := &Site{tables: []rowTable{table}}
		var rows []uint64
		for i := range c.Rows {
			if rapid.Bool().Draw(r, "row") {
				rows = append(rows, uint64(i))
			}
		}
		b, n, err := appendRows(nil, 0, &table, rows)
		if err != nil || n != len(rows) {
			r.Fatalf("found %d rows and %v, expected %d", n, err, len(rows))
		}
		g := newGroupRows(s)
		if err := g.add(b); err != nil {
			r.Fatal(err)
		}
		got := g.tables[0].columns[0]
		if err := got.CheckOffsets(); err != nil || got.Rows != len(rows) {
			r.Fatalf("found %d rows and %v, expected %d", got.Rows, err, len(rows))
		}
		for i, place := range g.tables[0].Places(nil, graph.Index{U64: rows}) {
			if a, b := appendRow(nil, got, int(place)), appendRow(nil, c, int(rows[i])); !slices.Equal(a, b) {
				r.Fatalf("row %d: found %x, expected %x", rows[i], a, b)
			}
		}
		if err := g.check(); err != nil {
			r.Fatal(err)
		}
		if cut := rapid.IntRange(0, len(b)).Draw(r, "cut"); cut < len(b) {
			if err := newGroupRows(s).add(b[:cut]); err == nil && len(rows) > 0 && c.RowValues() != 0 {
				// Only rows without values could be cut unseen, and their numbers are counted.
				r.Fatalf("found no error for %d of %d bytes", cut, len(b))
			}
		}
	})
}

// TestRowsAreChecked checks that damaged offsets of a store are an error of the row that they lead to.
func TestRowsAreChecked(t *testing.T) {
	for name, c := range map[string]*graph.Column{
		"values":  {Name: "x", DType: graph.Int32, Rows: 3, Values: make([]byte, 8)},
		"strings": {Name: "x", DType: graph.String, Rows: 3, Values: []byte("abc"), StringOffsets: graph.Index{U64: []uint64{0, 1, 2, 9}}},
		"falling": {Name: "x", DType: graph.String, Rows: 3, Values: []byte("abc"), StringOffsets: graph.Index{U64: []uint64{0, 1, 3, 2}}},
		"ragged":  {Name: "x", DType: graph.Int8, Shape: []int{-1}, Rows: 3, Values: []byte("abc"), Offsets: []graph.Index{{U64: []uint64{0, 1, 2, 9}}}},
	} {
		if _, _, err := appendRows(nil, 0, &rowTable{count: 3, columns: []*graph.Column{c}}, []uint64{2}); err == nil {
			t.Errorf("%s: found no error", name)
		}
	}
}
