package feed

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/features/widening"
)

// lowBitColumn is a column of random codes of a piece of a feature.
func lowBitColumn(r *rand.Rand, name string, rows, width, bits int) (*graph.Column, *features.Piece) {
	p := &features.Piece{Column: name, Kind: features.PieceLowBit, Width: width, Bits: bits}
	for range width {
		a, b := float64(r.IntN(50)), float64(r.IntN(50))
		p.Least, p.Greatest = append(p.Least, min(a, b)), append(p.Greatest, max(a, b))
	}
	_, shape := p.Stored(graph.Float32)
	c := &graph.Column{Name: name, DType: graph.Uint8, Shape: shape, Rows: rows, Values: make([]byte, rows*shape[0])}
	for i := range c.Values {
		c.Values[i] = byte(r.IntN(256))
	}
	return c, p
}

// Codes become the numbers of the law, in the dtype of the feature, or in that of the columns that they stand beside.
func TestLowBitJoined(t *testing.T) {
	floats := []graph.DType{graph.Float32, graph.Float16, graph.BFloat16}
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		rows, d, bits := rapid.IntRange(1, 20).Draw(t, "rows"), rapid.SampledFrom(floats).Draw(t, "dtype"), rapid.SampledFrom([]int{4, 8}).Draw(t, "bits")
		width := rapid.SampledFrom([]int{1, 2, 3, 7, 8, 3001}).Draw(t, "width") // of the last one, a copy has few rows
		codes, piece := lowBitColumn(r, "#x.0", rows, width, bits)
		beside, _ := random(rapid.SampledFrom([]graph.DType{d, graph.Float64, graph.Float32}).Draw(t, "beside"), "y", rows, 2, r)
		j := Joined{"n", "x", []widening.Part{{Column: "#x.0", Piece: piece, DType: d}}}
		want, values := d, width
		if rapid.Bool().Draw(t, "alone") {
			beside = nil
		} else {
			j.Columns = append(j.Columns, widening.Part{Column: "y"})
			values += 2
			if beside.DType != d {
				want = beside.DType
			}
		}
		ids := make([]uint32, rapid.IntRange(0, 20).Draw(t, "ids"))
		for i := range ids {
			ids[i] = uint32(r.IntN(rows))
		}
		index := graph.Index{U32: ids}
		if rapid.Bool().Draw(t, "wide") {
			index.U32 = nil
			for _, id := range ids {
				index.U64 = append(index.U64, uint64(id))
			}
		}
		columns := []*graph.Column{codes}
		if beside != nil {
			columns = append(columns, beside)
		}
		tabs := tables{numbers: &widening.Numbers{}}
		defer tabs.close()
		c, err := joinedOf(&tabs, "nodes/n/", j, columns, rows, func(*made) graph.Index { return index }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.info.DType != want.String() || c.width != values*want.Size() {
			t.Fatalf("found %+v of %d bytes, expected %s", c.info, c.width, want)
		}
		size := want.Size()
		got := graph.Bytes(make([]uint64, (len(ids)*c.width+7)/8))[:len(ids)*c.width]
		c.write(got, &made{})
		for i, id := range ids {
			row := codes.Row(int(id))
			for k := range width {
				code := int(row[k*bits/8]) >> (k * bits % 8) & (1<<bits - 1)
				if x := got[(i*values+k)*size:][:size]; !bytes.Equal(x, bitsOf(piece.Number(k, code, d), want)) {
					t.Fatalf("row %d, number %d: found %x for code %d, expected %g", i, k, x, code, piece.Number(k, code, d))
				}
			}
		}
	})
}

// bitsOf is a number that a dtype has.
func bitsOf(x float64, d graph.DType) []byte {
	switch d {
	case graph.Float16:
		return graph.Bytes([]uint16{features.Float16Bits(x)})
	case graph.BFloat16:
		return graph.Bytes([]uint16{uint16(math.Float32bits(float32(x)) >> 16)})
	case graph.Float64:
		return graph.Bytes([]float64{x})
	}
	return graph.Bytes([]float32{float32(x)})
}

// A column that is not that of the piece is refused before its rows are read.
func TestLowBitDamaged(t *testing.T) {
	c, piece := lowBitColumn(rand.New(rand.NewPCG(1, 1)), "#x.0", 3, 5, 4)
	for _, change := range []func(c *graph.Column){
		func(c *graph.Column) { c.Shape, c.Values = []int{2}, c.Values[:6] },
		func(c *graph.Column) { c.DType, c.Values = graph.Uint16, append(c.Values, c.Values...) },
	} {
		damaged := *c
		change(&damaged)
		tabs := tables{numbers: &widening.Numbers{}}
		_, err := joinedOf(&tabs, "nodes/n/", Joined{"n", "x", []widening.Part{{Column: "#x.0", Piece: piece, DType: graph.Float32}}}, []*graph.Column{&damaged}, 3, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "expected uint8 of shape [3] for a feature; graphmill verify finds damage") {
			t.Errorf("found %v", err)
		}
	}
}
