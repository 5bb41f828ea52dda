package features

import (
	"math"

	"github.com/graphmill/graphmill/graph"
)

// block writes rows of a feature: a goroutine's share of an applier.
type block struct {
	a      *applier
	faults []faults
	number []float64   // of one number of each row
	met    []uint8     // faults that each row of a part has met, so that one of a vector counts once
	row    [][]float64 // by piece of numbers or low-bit: the rows of a block
	codes  []byte      // of a piece, as they are written
	seen   map[string]bool
}

// block allocates the buffers of one goroutine, for blocks of up to rows rows.
func (a *applier) block(rows int) *block {
	b := &block{a: a, faults: make([]faults, len(a.f.Parts)), number: make([]float64, rows), met: make([]uint8, rows), row: make([][]float64, len(a.f.Pieces)), seen: map[string]bool{}}
	most := 0
	for i := range a.f.Pieces {
		p := &a.f.Pieces[i]
		if p.Kind == PieceNumbers || p.Kind == PieceLowBit {
			b.row[i] = make([]float64, rows*p.Width)
		}
		most = max(most, p.rowBytes(a.dtype))
	}
	b.codes = make([]byte, rows*most)
	return b
}

// blockBytes is how many bytes block takes for a row.
func (a *applier) blockBytes() int64 {
	bytes, most := 8+1, 0
	for i := range a.f.Pieces {
		p := &a.f.Pieces[i]
		if p.Kind == PieceNumbers || p.Kind == PieceLowBit {
			bytes += 8 * p.Width
		}
		most = max(most, p.rowBytes(a.dtype))
	}
	return int64(bytes + most)
}

// report adds the faults to the faults of the applier.
func (b *block) report() {
	for k := range b.faults {
		b.a.faults[k].merge(&b.faults[k])
	}
}

// write writes the rows [first, first+n).
func (b *block) write(first, n int) error {
	a := b.a
	part := 0
	for i := range a.f.Pieces {
		p := &a.f.Pieces[i]
		size := p.rowBytes(a.dtype)
		out := b.codes[:n*size]
		switch p.Kind {
		case PieceCode:
			b.code(part, first, n, out)
			part++
		case PieceOneHot:
			b.oneHot(part, first, n, p.Width, out)
			part++
		case PieceMultiHot:
			clear(out)
			b.multiHot(part, first, n, func(row, at int) { out[row*size+at/8] |= 1 << (at % 8) })
			part++
		case PieceNumbers:
			var rows []float64
			rows, part = b.results(i, part, first, n)
			b.round(part, first, rows, p.Width, out)
		case PieceLowBit:
			var rows []float64
			rows, part = b.results(i, part, first, n)
			clear(out)
			p.encode(rows, out, func(i int) {
				b.faults[a.partAt(part, p.Width, i%p.Width)].cut.add(first+i/p.Width, rows[i])
			})
		}
		if _, err := a.out[i].WriteAt(out, int64(first)*int64(size)); err != nil {
			return err
		}
	}
	return nil
}

// results are the numbers of n rows of a piece, whose first part is given, after all steps and the norm. It returns the part after the piece, too.
func (b *block) results(piece, part, first, n int) ([]float64, int) {
	width := b.a.f.Pieces[piece].Width
	rows := b.row[piece][:n*width]
	clear(rows)
	for at := 0; at < width; part++ {
		b.numbers(part, first, n, width, rows[at:])
		at += b.a.f.Parts[part].Width
	}
	normalise(rows, width, b.a.f.Norm)
	return rows, part
}

// numbers writes the numbers of a part to rows of the given width, which are zeros.
func (b *block) numbers(part, first, n, width int, rows []float64) {
	state, s, x := b.a.f.Parts[part], b.a.sources[part], &b.faults[part]
	switch state.Encode {
	case EncodeOneHot:
		for i := range n {
			rows[i*width+b.place(s, x, first+i)] = 1
		}
		return
	case EncodeMultiHot:
		b.multiHot(part, first, n, func(row, at int) { rows[row*width+at] = 1 })
		return
	case EncodeHash:
		for i := range n {
			if text := s.text(first + i); len(text) > 0 {
				state.Hash.apply(text, rows[i*width:][:state.Width])
			} else {
				x.filled.add(first+i, 0)
			}
		}
		return
	case EncodeBuckets:
		b.buckets(part, first, n, func(row, bucket int) { rows[row*width+bucket] = 1 }, state.Width-1)
		return
	}
	clear(b.met[:n])
	for k := range state.Numbers {
		number, of := b.number[:n], &state.Numbers[k]
		s.numbers(first, k, number)
		// Finite numbers with finite results have no fault but these.
		checked := s.wide || of.Clip != nil || s.whole() && of.Scale == ""
		var results [512]float64
		for at := 0; at < n; at += len(results) {
			some := number[at:min(at+len(results), n)]
			of.applyBlock(some, results[:])
			for i, raw := range some {
				y, row := results[i], at+i
				if checked || raw-raw != 0 || y-y != 0 {
					b.checkNumber(of, s, x, first, row, raw, y)
					if state.Flag && raw != raw {
						rows[row*width+state.Width-1] = 1
					}
				}
				rows[row*width+k] = y
			}
		}
	}
	b.unknownNumbers(state, s, x, first, n)
}

// checkNumber counts what number raw of row first+i has met on the way to y.
func (b *block) checkNumber(of *Numbers, s *source, x *faults, first, i int, raw, y float64) {
	v := of.clipped(raw)
	if v != v {
		b.meet(metFilled, i, &x.filled, first, 0)
	}
	switch {
	case s.rounds(raw):
		b.meet(metWide, i, &x.wide, first, raw)
	case math.IsInf(v, 0):
		b.meet(metInfin, i, &x.infin, first, v)
	case y != y && v != v:
		b.meet(metMissing, i, &x.missing, first, 0)
	case y != y:
		b.meet(metLow, i, &x.low, first, v)
	case math.IsInf(y, 0):
		b.meet(metOver, i, &x.over, first, y)
	case s.whole() && of.Scale == "" && y == raw && rounded(y, b.a.dtype) != y: // a fill or a bound of clip is no number of the column
		b.meet(metWide, i, &x.wide, first, y)
	}
}

// What a row of numbers can meet, as bits.
const (
	metFilled = 1 << iota
	metMissing
	metInfin
	metWide
	metLow
	metOver
)

// meet counts row first+i of the block from first on, unless it has met the fault before.
func (b *block) meet(fault uint8, i int, t *tally, first int, value float64) {
	if b.met[i]&fault == 0 {
		b.met[i] |= fault
		t.add(first+i, value)
	}
}

// unknownNumbers counts the texts of frequency and ordinal that the rows of the fit do not have.
func (b *block) unknownNumbers(state *State, s *source, x *faults, first, n int) {
	if state.Encode != EncodeFrequency && state.Encode != EncodeOrdinal {
		return
	}
	for i := range n {
		if code, known := s.code(first + i); known && code <= 0 {
			x.other(first+i, code, func() string { return s.shown(first + i) })
		}
	}
}

// place is the position of a row in a one-hot part: of its text, then of all others, then of a missing one.
func (b *block) place(s *source, x *faults, row int) int {
	code, known := s.code(row)
	switch {
	case !known:
		x.filled.add(row, 0)
		return len(s.cats.Texts) + 1
	case code <= 0:
		x.other(row, code, func() string { return s.shown(row) })
		return len(s.cats.Texts)
	}
	return int(code) - 1
}

// shown is the text of a row for an error.
func (s *source) shown(row int) string {
	if s.c.Categories != nil || s.c.DType == graph.String {
		return string(s.text(row))
	}
	return integerText(s.integer(row), s.c.DType)
}

// oneHot writes the positions of a part as codes.
func (b *block) oneHot(part, first, n, width int, out []byte) {
	s, x := b.a.sources[part], &b.faults[part]
	if width <= 1<<8 {
		for i := range out[:n] {
			out[i] = byte(b.place(s, x, first+i))
		}
		return
	}
	codes := graph.View[uint16](out)
	for i := range n {
		codes[i] = uint16(b.place(s, x, first+i))
	}
}

// multiHot calls set with the positions of each row of a part: one for each of its known tags, and then one for all others.
func (b *block) multiHot(part, first, n int, set func(row, at int)) {
	s, x := b.a.sources[part], &b.faults[part]
	for i := range n {
		unknown, least := "", int32(1) // a tag without a code of its own, and its code
		s.tags(first+i, b.seen, func(tag string) {
			code := s.cats.codes[tag]
			if code > 0 {
				set(i, int(code)-1)
				return
			}
			if least != 0 {
				unknown, least = tag, code
			}
			set(i, len(s.cats.Texts))
		})
		if least <= 0 {
			x.other(first+i, least, func() string { return unknown })
		}
	}
}

// buckets calls set with the bucket of each row; missing is the one of a row without a value.
func (b *block) buckets(part, first, n int, set func(row, bucket int), missing int) {
	state, s, x := b.a.f.Parts[part], b.a.sources[part], &b.faults[part]
	number, of := b.number[:n], &state.Numbers[0]
	s.numbers(first, 0, number)
	for i, v := range number {
		y := of.apply(v)
		if s.rounds(v) {
			x.wide.add(first+i, v)
		}
		if v != v {
			x.filled.add(first+i, 0)
		}
		if math.IsInf(of.clipped(v), 0) {
			x.infin.add(first+i, v)
		}
		if y != y {
			set(i, missing)
			continue
		}
		set(i, int(y))
	}
}

// code writes the codes of a feature: 0 is a value that is missing or unknown.
func (b *block) code(part, first, n int, out []byte) {
	s, x, codes := b.a.sources[part], &b.faults[part], graph.View[int32](out)
	if b.a.f.Parts[part].Encode == EncodeBuckets {
		clear(codes[:n])
		b.buckets(part, first, n, func(row, bucket int) { codes[row] = int32(bucket + 1) }, -1)
		return
	}
	for i := range n {
		code, known := s.code(first + i)
		codes[i] = max(0, code)
		switch {
		case !known:
			codes[i] = 0
			x.filled.add(first+i, 0)
		case code <= 0:
			x.other(first+i, code, func() string { return s.shown(first + i) })
		}
	}
}

// partAt is the part that gives a position of a piece of some width; last is the part after the piece.
func (a *applier) partAt(last, width, at int) int {
	part := last - 1
	for ; part > 0; part-- {
		if width -= a.f.Parts[part].Width; at >= width {
			break
		}
	}
	return part
}

// round writes numbers in the dtype of the feature. last is the part after the piece.
func (b *block) round(last, first int, rows []float64, width int, out []byte) {
	over := func(i int) {
		if x := &b.faults[b.a.partAt(last, width, i%width)].over; x.n == 0 || x.last != first+i/width {
			x.add(first+i/width, rows[i])
		}
	}
	switch b.a.dtype {
	case graph.Float32:
		to := graph.View[float32](out)
		for i, x := range rows {
			if to[i] = float32(x); to[i]-to[i] != 0 && x == x && !math.IsInf(x, 0) {
				over(i)
			}
		}
	default:
		to := graph.View[uint16](out)
		for i, x := range rows {
			y := rounded(x, b.a.dtype)
			if y-y != 0 && x == x && !math.IsInf(x, 0) {
				over(i)
			}
			if b.a.dtype == graph.BFloat16 {
				to[i] = uint16(math.Float32bits(float32(y)) >> 16)
			} else {
				to[i] = Float16Bits(y)
			}
		}
	}
}

// leastNormal is the least positive number that float64 has with all bits of precision.
const leastNormal = 0x1p-1022

// normalise divides rows by their norm. Where float64 does not have the sum of a norm, it divides a row by its greatest magnitude first.
func normalise(rows []float64, width int, how Norm) {
	if how == NormNone {
		return
	}
	for ; len(rows) > 0; rows = rows[width:] {
		row := rows[:width]
		greatest := 0.0
		for _, x := range row {
			greatest = max(greatest, math.Abs(x))
		}
		sum := greatest
		if how != NormMax {
			sum = sumOf(row, how)
			if math.IsInf(sum, 0) || how == NormL2 && sum < leastNormal && greatest > 0 {
				divide(row, greatest)
				sum = sumOf(row, how)
			}
		}
		if how == NormL2 {
			sum = math.Sqrt(sum)
		}
		if sum != 0 {
			divide(row, sum)
		}
	}
}

// sumOf is the sum of the magnitudes of a row, or of their squares.
func sumOf(row []float64, how Norm) (sum float64) {
	for _, x := range row {
		if how == NormL1 {
			sum += math.Abs(x)
		} else {
			sum += float64(x * x)
		}
	}
	return sum
}

func divide(row []float64, by float64) {
	for i := range row {
		row[i] /= by
	}
}
