package features

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/limits"
)

// Blocks of rows take at most the memory, with fewer goroutines where each would have less than a row, and a row that does not fit is an error.
func TestBlocksOf(t *testing.T) {
	const width = 100
	const each = 9 + 8*width + 4*width
	f := &Feature{DType: "float32", Pieces: []Piece{{Column: "f", Kind: PieceNumbers, Width: width}}}
	a := &applier{f: f, dtype: graph.Float32}
	for _, c := range []struct {
		rows, threads int
		memory        int64
		want          string
	}{
		{100_000, 4, 0, "4 of 4096"},
		{100_000, 4, 1 << 40, "4 of 4096"},
		{100_000, 4, 4 * 4096 * each, "4 of 4096"},
		{100_000, 4, 4*4096*each - 1, "4 of 4095"},
		{100_000, 4, 4 * each, "4 of 1"},
		{100_000, 4, 3 * each, "3 of 1"},
		{100_000, 4, each, "1 of 1"},
		{1, 4, 0, "1 of 1"},
		{0, 4, 1, "1 of 0"},
		{1, 4, each - 1, "features of u: too little memory: found 1209 bytes for a row of them, expected at most 1208; give a larger `Memory`, or fewer features"},
	} {
		of, err := blocksOf(&Table{Type: "u", Rows: c.rows}, []*applier{a}, &Options{Threads: c.threads, Memory: c.memory})
		got := fmt.Sprintf("%d of %d", of.workers, of.rows)
		if err != nil {
			got = err.Error()
		}
		if got != c.want || err != nil && !errors.Is(err, limits.ErrMemory) {
			t.Errorf("%d rows, %d threads, memory %d: found %s, expected %s", c.rows, c.threads, c.memory, got, c.want)
		}
	}
	f.Pieces[0].Width = 10_000_000 // of an array of one long row
	if of, err := blocksOf(&Table{Rows: 5000}, []*applier{a}, &Options{Threads: 4}); err != nil || of.workers != 1 || of.rows != 1 {
		t.Errorf("found %+v, %v, expected one row at a time", of, err)
	}
}

// What is written and counted does not depend on the size of blocks.
func TestBlockSizes(t *testing.T) {
	const rows = blockRows + 17
	r := rand.New(rand.NewPCG(7, 7))
	vectors, texts := make([]float32, 2*rows), make([]string, rows)
	for i := range vectors {
		if vectors[i] = float32(r.NormFloat64()); r.IntN(9) == 0 {
			vectors[i] = float32(math.NaN())
		}
	}
	for i := range texts {
		texts[i] = fmt.Sprint(r.IntN(60))
	}
	text := textColumn(texts)
	text.Name = "b"
	columns := []*graph.Column{{Name: "a", DType: graph.Float32, Shape: []int{2}, Rows: rows, Values: graph.Bytes(vectors)}, text}
	for _, bits := range []int{0, 4} {
		var want *referenceCase
		for _, opt := range []Options{{Threads: 1}, {Threads: 2}, {Threads: 3, Memory: 30_000}} {
			x := &referenceCase{table: &Table{Type: "u", Rows: rows, Columns: columns, Fit: func(first int, keep []bool) {
				for i := range keep {
					keep[i] = (first+i)%3 == 0
				}
			}}, spec: Spec{Name: "f", DType: graph.Float16, Bits: bits, Parts: []Part{{From: "a", Impute: ImputeConstant, Flag: true}, {From: "b", Encode: EncodeOneHot}}}}
			if _, err := rowsOf(t, x, opt); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = x
				continue
			}
			for i, p := range want.pieces {
				if !bytes.Equal(x.pieces[i].data, p.data) || fmt.Sprint(x.pieces[i].Piece) != fmt.Sprint(p.Piece) {
					t.Errorf("bits %d, %+v: found another piece %s than in blocks of %d rows", bits, opt, p.Column, blockRows)
				}
			}
			for i, a := range want.applied {
				if b := x.applied[i]; a.Filled != b.Filled || a.Unknown != b.Unknown || a.Cut != b.Cut || a.FirstCut != b.FirstCut || a.Filled+a.Unknown == 0 && i == 0 {
					t.Errorf("bits %d, %+v: found %+v, expected %+v", bits, opt, b, a)
				}
			}
		}
	}
}
