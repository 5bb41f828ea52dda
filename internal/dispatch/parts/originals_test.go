package parts

import (
	"math"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// Edges that share a position have their edge ids as original ids, whatever the window.
func TestOriginals(t *testing.T) {
	defer func(bits uint64) { windowBits = bits }(windowBits)
	const last = math.MaxUint32
	for _, bits := range []uint64{64, 128, 1 << 29} {
		windowBits = bits
		for _, c := range []struct {
			positions []uint32
			own       bool // the positions are the original ids
		}{
			{nil, true}, {[]uint32{0}, true}, {[]uint32{5, 0, 900, 63, 64, 127, 128}, true}, {[]uint32{last}, true}, {[]uint32{0, 70, last}, true},
			{[]uint32{0, 0}, false}, {[]uint32{7, 1, 900, 7}, false}, {[]uint32{last, 3, last}, false}, {[]uint32{700, 1, 2, 700}, false},
		} {
			e := &graph.Edges{Count: len(c.positions), Columns: []*graph.Column{{Name: graph.PositionColumn, DType: graph.Uint32, Rows: len(c.positions), Values: graph.Bytes(c.positions)}}}
			x, err := Originals(e)
			if want := len(c.positions); err != nil || c.own && x.Len() != want || !c.own && x.Len() != 0 {
				t.Errorf("%v, windows of %d: found %d ids, %v, expected own %v", c.positions, bits, x.Len(), err, c.own)
			}
		}
	}
}
