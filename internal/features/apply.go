package features

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
)

// tally counts rows with a fault, and keeps the first of them.
type tally struct {
	n     int64
	first int
	value float64
	text  string
}

func (t *tally) add(row int, value float64) {
	if t.n == 0 || row < t.first {
		t.first, t.value = row, value
	}
	t.n++
}

func (t *tally) addText(row int, text string) {
	if t.n == 0 || row < t.first {
		t.first, t.text = row, text
	}
	t.n++
}

func (t *tally) merge(of *tally) {
	if of.n > 0 && (t.n == 0 || of.first < t.first) {
		t.first, t.value, t.text = of.first, of.value, of.text
	}
	t.n += of.n
}

// faults are what the values of a part can have that its state has no answer to.
type faults struct {
	missing tally // rows that stay missing
	infin   tally
	wide    tally // whole numbers that the dtype rounds
	low     tally // numbers without a logarithm
	over    tally // results beyond the dtype
	cut     tally // numbers outside the range of their codes
	unknown tally // texts that are not in the fit
	filled  tally // rows that were missing
}

func (f *faults) merge(of *faults) {
	f.missing.merge(&of.missing)
	f.infin.merge(&of.infin)
	f.wide.merge(&of.wide)
	f.low.merge(&of.low)
	f.over.merge(&of.over)
	f.cut.merge(&of.cut)
	f.unknown.merge(&of.unknown)
	f.filled.merge(&of.filled)
}

// Applied is what Apply met in the rows of a part.
type Applied struct {
	Feature string
	State   *State
	// Filled are rows whose value was missing, and Unknown rows with a text that the rows of the fit do not have, or that is rare there.
	Filled, Unknown int64
	// Cut are numbers of a feature of few bits outside the range that the fit has found, which became a bound of it, and FirstCut is the first row with one.
	Cut      int64
	FirstCut int
}

// Apply writes the pieces of features of a type. open returns where the rows of a piece go: it is called once for each, in the order of the names, before
// any row is written. Several goroutines write at once.
//
// It refuses values that the features have no answer to: those that are missing without impute, infinities, and texts that are unknown where that is an error. The
// error counts them.
func Apply(ctx context.Context, t *Table, of map[string]*Feature, open func(feature string, p *Piece) (io.WriterAt, error), opt Options) ([]Applied, error) {
	var all []*applier
	for _, name := range sortedNames(of) {
		a, err := newApplier(t, name, of[name])
		if err != nil {
			return nil, err
		}
		for i := range a.f.Pieces {
			w, err := open(name, &a.f.Pieces[i])
			if err != nil {
				return nil, err
			}
			a.out = append(a.out, w)
		}
		all = append(all, a)
	}
	if err := applyBlocks(ctx, t.Rows, all, &opt); err != nil {
		return nil, err
	}
	var applied []Applied
	for _, a := range all {
		for i, state := range a.f.Parts {
			if err := a.refused(i); err != nil {
				return nil, partError(t.Type, a.name, state.Source(), err)
			}
			x := &a.faults[i]
			applied = append(applied, Applied{a.name, state, x.filled.n, x.unknown.n, x.cut.n, x.cut.first})
		}
	}
	return applied, nil
}

// alike says whether columns of two meanings can stand for each other: both give texts, or both give numbers.
func alike(a, b string) bool {
	texts := []string{"texts", "categories"}
	if slices.Contains(texts, a) || slices.Contains(texts, b) {
		return slices.Contains(texts, a) && slices.Contains(texts, b)
	}
	return a != "times" && b != "times"
}

// sortedNames are the names of features in the order of their bytes.
func sortedNames(of map[string]*Feature) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// applyBlocks writes all rows of features, blocks of rows at a time.
func applyBlocks(ctx context.Context, rows int, all []*applier, opt *Options) error {
	workers := make([][]*block, blockWorkers(rows, opt))
	bytes := int64(0)
	for _, a := range all {
		bytes += a.rowBytes()
	}
	err := eachBlock(ctx, rows, bytes, opt, func(worker, first, n int) error {
		if workers[worker] == nil {
			for _, a := range all {
				workers[worker] = append(workers[worker], a.block())
			}
		}
		for _, b := range workers[worker] {
			if err := b.write(first, n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, worker := range workers {
		for _, b := range worker {
			b.report()
		}
	}
	return nil
}

// blockWorkers is how many goroutines eachBlock takes.
func blockWorkers(rows int, opt *Options) int {
	return max(1, min(opt.Threads, (rows+blockRows-1)/blockRows))
}

// eachBlock calls fn with all rows, blocks of rows at a time, in several goroutines. A row has so many bytes in the columns that are read.
func eachBlock(ctx context.Context, rows int, bytes int64, opt *Options, fn func(worker, first, n int) error) error {
	var next atomic.Int64
	group, ctx := guard.WithContext(ctx)
	for w := range blockWorkers(rows, opt) {
		group.Go(func() error {
			for {
				first := (int(next.Add(1)) - 1) * blockRows
				if first >= rows {
					return nil
				}
				n := min(blockRows, rows-first)
				if err := fn(w, first, n); err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if opt.Progress != nil {
					opt.Progress(int64(n))
				}
				if opt.Touched != nil {
					if err := opt.Touched(bytes * int64(n)); err != nil {
						return err
					}
				}
			}
		})
	}
	return group.Wait()
}

// applier applies a feature.
type applier struct {
	name    string
	f       *Feature
	dtype   graph.DType
	sources []*source
	out     []io.WriterAt // by piece
	faults  []faults      // by part
}

// newApplier opens the columns of a feature. It has nowhere to write to yet.
func newApplier(t *Table, name string, f *Feature) (*applier, error) {
	a := &applier{name: name, f: f, faults: make([]faults, len(f.Parts))}
	a.dtype, _ = graph.ParseDType(f.DType)
	for _, state := range f.Parts {
		s, err := newSource(&state.Part, t)
		if err == nil && meaning(s.c) != state.DType && !alike(meaning(s.c), state.DType) {
			err = specErrorf("found a column of %s, expected %s as in the fit; import it with this dtype", meaning(s.c), state.DType)
		}
		if err == nil && len(state.Numbers) > 0 && len(state.Numbers) != s.width {
			err = specErrorf("found vectors of %d values, expected %d as in the fit", s.width, len(state.Numbers))
		}
		if err != nil {
			return nil, partError(t.Type, name, state.Source(), err)
		}
		for k := range state.Numbers {
			if n := &state.Numbers[k]; len(n.Quantiles) > 0 && n.guide == nil {
				n.guide = newGuide(n.Quantiles)
			}
		}
		if s.cats = state.Categories; s.cats != nil {
			cats := *s.cats
			cats.Index(s.c)
			s.cats = &cats
		}
		a.sources = append(a.sources, s)
	}
	return a, nil
}

// rowBytes is about how many bytes of columns a row of the feature is made of.
func (a *applier) rowBytes() (bytes int64) {
	for _, s := range a.sources {
		bytes += s.rowBytes()
	}
	return bytes
}

// refused is an error where the values of a part have no answer.
func (a *applier) refused(part int) error {
	x, state := &a.faults[part], a.f.Parts[part]
	rows := func(t *tally) string {
		if t.n == 1 {
			return fmt.Sprintf("in row %d", t.first)
		}
		return fmt.Sprintf("in %d rows, the first in row %d", t.n, t.first)
	}
	switch {
	case x.infin.n > 0:
		return specErrorf("found an infinite value %s, expected finite ones; give clip: [LEAST, GREATEST], or correct them", rows(&x.infin))
	case x.wide.n > 0:
		return specErrorf("found the whole number %.0f %s, expected numbers that %s has without rounding; give scale, take encode, or leave the column out if it has ids", x.wide.value, rows(&x.wide), a.f.DType)
	case x.missing.n > 0:
		return specErrorf("found no value %s, expected one; give impute: mean, median, mode or constant", rows(&x.missing))
	case x.low.n > 0:
		return specErrorf("found %g %s, expected numbers above -1 for the scale log; take the scale signed-log", x.low.value, rows(&x.low))
	case x.over.n > 0:
		return specErrorf("found a result %g %s, expected one that %s has; give scale or clip", x.over.value, rows(&x.over), a.f.DType)
	case x.unknown.n > 0 && state.Unknown == UnknownError:
		return specErrorf("found the text %q %s, expected one of the texts of the fit; give unknown: other, or correct it", x.unknown.text, rows(&x.unknown))
	}
	return nil
}

// block writes rows of a feature: a goroutine's share of an applier.
type block struct {
	a      *applier
	faults []faults
	number []float64   // of one number of each row
	row    [][]float64 // by piece of numbers or low-bit: the rows of a block
	codes  []byte      // of a piece, as they are written
	seen   map[string]bool
}

// block makes the buffers of a goroutine.
func (a *applier) block() *block {
	b := &block{a: a, faults: make([]faults, len(a.f.Parts)), number: make([]float64, blockRows), row: make([][]float64, len(a.f.Pieces)), seen: map[string]bool{}}
	most := 0
	for i := range a.f.Pieces {
		p := &a.f.Pieces[i]
		if p.Kind == PieceNumbers || p.Kind == PieceLowBit {
			b.row[i] = make([]float64, blockRows*p.Width)
		}
		most = max(most, p.rowBytes(a.dtype))
	}
	b.codes = make([]byte, blockRows*most)
	return b
}

// report adds the faults to those of the applier.
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
	whole := s.c.DType.IsInt() && state.Encode == EncodeNone
	for k := range state.Numbers {
		number, of := b.number[:n], &state.Numbers[k]
		s.numbers(first, k, number, &x.wide)
		for i, v := range number {
			if v = of.clipped(v); v != v {
				if k == 0 || !state.Flag || rows[i*width+state.Width-1] == 0 {
					x.filled.add(first+i, 0)
				}
				if state.Flag {
					rows[i*width+state.Width-1] = 1
				}
			}
			y := of.apply(v)
			switch {
			case math.IsInf(v, 0):
				x.infin.add(first+i, v)
			case y != y && v != v:
				x.missing.add(first+i, 0)
			case y != y:
				x.low.add(first+i, v)
			case math.IsInf(y, 0):
				x.over.add(first+i, y)
			case whole && of.Scale == "" && rounded(y, b.a.dtype) != y:
				x.wide.add(first+i, y)
			}
			rows[i*width+k] = y
		}
	}
	b.unknownNumbers(state, s, x, first, n)
}

// unknownNumbers counts the texts of frequency and ordinal that the rows of the fit do not have.
func (b *block) unknownNumbers(state *State, s *source, x *faults, first, n int) {
	if state.Encode != EncodeFrequency && state.Encode != EncodeOrdinal {
		return
	}
	for i := range n {
		if code, known := s.code(first + i); known && code == 0 {
			x.unknown.addText(first+i, s.shown(first+i))
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
	case code == 0:
		x.unknown.addText(row, s.shown(row))
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

// multiHot calls set with the positions of each row of a part: those of its tags, and then one for all others.
func (b *block) multiHot(part, first, n int, set func(row, at int)) {
	s, x := b.a.sources[part], &b.faults[part]
	for i := range n {
		unknown := ""
		s.tags(first+i, b.seen, func(tag string) {
			if code := s.cats.codes[tag]; code > 0 {
				set(i, int(code)-1)
				return
			}
			unknown = tag
			set(i, len(s.cats.Texts))
		})
		if unknown != "" {
			x.unknown.addText(first+i, unknown)
		}
	}
}

// buckets calls set with the bucket of each row; missing is the one of a row without a value.
func (b *block) buckets(part, first, n int, set func(row, bucket int), missing int) {
	state, s, x := b.a.f.Parts[part], b.a.sources[part], &b.faults[part]
	number := b.number[:n]
	s.numbers(first, 0, number, &x.wide)
	for i, v := range number {
		y := state.Numbers[0].apply(v)
		if v != v {
			x.filled.add(first+i, 0)
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
		codes[i] = code
		switch {
		case !known:
			codes[i] = 0
			x.filled.add(first+i, 0)
		case code == 0:
			x.unknown.addText(first+i, s.shown(first+i))
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
		b.faults[b.a.partAt(last, width, i%width)].over.add(first+i/width, rows[i])
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

// normalise divides rows by their norm.
func normalise(rows []float64, width int, how Norm) {
	if how == NormNone {
		return
	}
	for ; len(rows) > 0; rows = rows[width:] {
		row := rows[:width]
		norm := 0.0
		for _, x := range row {
			switch how {
			case NormL1:
				norm += math.Abs(x)
			case NormL2:
				norm += float64(x * x)
			case NormMax:
				norm = max(norm, math.Abs(x))
			}
		}
		if how == NormL2 {
			norm = math.Sqrt(norm)
		}
		if norm != 0 {
			for i := range row {
				row[i] /= norm
			}
		}
	}
}
