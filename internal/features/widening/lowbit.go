package widening

import (
	"math"
	"sync"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
)

// lowBit writes the numbers of codes of 8 or 4 bits. The numbers of all codes are computed once, in the dtype of the rows, which is that
// of the feature or a wider one.
func lowBit(p *Part, values func() []byte, numbers *Numbers, to Place) Write {
	switch to.DType.Size() {
	case 2:
		return newLookup[uint16](p, values, numbers, to).write
	case 8:
		return newLookup[uint64](p, values, numbers, to).write
	}
	return newLookup[uint32](p, values, numbers, to).write
}

// Numbers are the numbers of the codes of pieces in a dtype, computed once for all writers that share them.
type Numbers struct {
	mu sync.Mutex
	of map[pieceAs]any
}

type pieceAs struct {
	piece *features.Piece
	dtype graph.DType
}

// numbersIn returns the numbers of a piece in a dtype, which newly makes at the first call.
func numbersIn[T any](t *Numbers, piece *features.Piece, dtype graph.DType, newly func() T) T {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := pieceAs{piece, dtype}
	if _, is := t.of[key]; !is {
		if t.of == nil {
			t.of = map[pieceAs]any{}
		}
		t.of[key] = newly()
	}
	return t.of[key].(T)
}

// NumberBytes is the most memory that the numbers of the codes of a part take.
func (p *Part) NumberBytes() int64 {
	if !p.LowBit() {
		return 0
	}
	return int64(p.Piece.Width) << p.Piece.Bits * 8 // float64 where it stands beside numbers that are
}

// lookup writes the numbers that the codes of a table stand for. B has the size of a number.
type lookup[B uint16 | uint32 | uint64] struct {
	values      func() []byte
	width, size int // numbers and bytes of a row of codes
	to          Place
	bytes       [][256]B   // of 8 bits: by position, the numbers of all codes
	halves      [][2][16]B // of 4 bits: by byte, the numbers of both positions
}

func newLookup[B uint16 | uint32 | uint64](p *Part, values func() []byte, shared *Numbers, to Place) *lookup[B] {
	w := &lookup[B]{values: values, width: p.Piece.Width, size: p.Piece.Width, to: to}
	if p.Piece.Bits == 8 {
		w.bytes = numbersIn(shared, p.Piece, to.DType, func() [][256]B {
			numbers := make([][256]B, w.width)
			for k := range w.width {
				setNumbers(numbers[k][:], p, k, to.DType)
			}
			return numbers
		})
		return w
	}
	w.size = (w.width + 1) / 2
	w.halves = numbersIn(shared, p.Piece, to.DType, func() [][2][16]B {
		numbers := make([][2][16]B, w.size)
		for k := range w.width {
			setNumbers(numbers[k/2][k%2][:], p, k, to.DType)
		}
		return numbers
	})
	return w
}

// codesBytes is the size of the codes that are copied at a time, so that they stay in the cache. A row has no more.
const codesBytes = 1 << 14

// write writes some rows of the table. A copy of their codes is made first, because it loads many rows at once.
func (w *lookup[B]) write(dst []byte, rows graph.Index) {
	var codes [codesBytes]byte
	from, to := w.values(), graph.View[B](dst)
	for first, step := 0, codesBytes/w.size; first < rows.Len(); first += step {
		n := min(step, rows.Len()-first)
		if rows.U64 != nil {
			batch.Gather(codes[:n*w.size], from, w.size, rows.U64[first:first+n])
		} else {
			batch.Gather(codes[:n*w.size], from, w.size, rows.U32[first:first+n])
		}
		for i := range n {
			row := to[(first+i)*w.to.Values+w.to.At:][:w.width]
			if w.bytes != nil {
				widenBytes(row, codes[i*w.size:][:w.size], w.bytes)
			} else {
				widenHalves(row, codes[i*w.size:][:w.size], w.halves)
			}
		}
	}
}

// widenBytes writes the numbers of codes of a byte each. It is no part of a longer loop, which would have too few registers for this one.
//
//go:noinline
func widenBytes[B any](to []B, codes []byte, numbers [][256]B) {
	to, numbers = to[:len(codes)], numbers[:len(codes)]
	for k, code := range codes {
		to[k] = numbers[k][code]
	}
}

// widenHalves writes the numbers of codes of half a byte each, the first in the low half. The last half of an odd row is no number.
//
//go:noinline
func widenHalves[B any](to []B, codes []byte, numbers [][2][16]B) {
	numbers = numbers[:len(codes)]
	for k, code := range codes {
		pair := &numbers[k]
		if len(to) < 2 {
			to[0] = pair[0][code&15]
			return
		}
		to[0], to[1] = pair[0][code&15], pair[1][code>>4]
		to = to[2:]
	}
}

// setNumbers sets the numbers of all codes at position k of a piece.
func setNumbers[B uint16 | uint32 | uint64](to []B, p *Part, k int, dtype graph.DType) {
	for code := range to {
		x := p.Piece.Number(k, code, p.DType)
		switch dtype {
		case graph.Float16:
			to[code] = B(features.Float16Bits(x))
		case graph.BFloat16:
			to[code] = B(math.Float32bits(float32(x)) >> 16)
		case graph.Float64:
			to[code] = B(math.Float64bits(x))
		default:
			to[code] = B(math.Float32bits(float32(x)))
		}
	}
}
