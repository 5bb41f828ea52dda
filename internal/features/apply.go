package features

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
)

// tally counts rows with a fault, and keeps the first of them.
type tally struct {
	n           int64
	first, last int // last is the one that was added last
	value       float64
	text        string
}

func (t *tally) add(row int, value float64) {
	if t.n == 0 || row < t.first {
		t.first, t.value = row, value
	}
	t.last = row
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
	unknown tally // texts without a code of their own: those that are not in the fit, or rare there
	foreign tally // of these, texts that are not in the fit; rare ones count, too, where that is no error
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
	f.foreign.merge(&of.foreign)
	f.filled.merge(&of.filled)
}

// other counts a row whose text has no code of its own, but one for all others.
func (f *faults) other(row int, code int32, text func() string) {
	f.unknown.add(row, 0)
	if code == 0 {
		f.foreign.addText(row, text())
	}
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
	if err := applyBlocks(ctx, t, all, &opt); err != nil {
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
func applyBlocks(ctx context.Context, t *Table, all []*applier, opt *Options) error {
	of, err := blocksOf(t, all, opt)
	if err != nil {
		return err
	}
	workers := make([][]*block, of.workers)
	err = of.each(ctx, opt, func(worker, first, n int) error {
		if workers[worker] == nil {
			for _, a := range all {
				workers[worker] = append(workers[worker], a.block(of.rows))
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

// blocks are the rows of a table, some at a time.
type blocks struct {
	all     int // rows of the table
	rows    int // of a block
	workers int // goroutines that take one each
	bytes   int64
}

// blocksBytes bounds the memory of all blocks where Options.Memory is 0. A single row may exceed it.
const blocksBytes = 32 << 20

// blocksOf divides the rows of a table into blocks whose buffers fit into the memory. Nothing but the memory depends on their size.
func blocksOf(t *Table, all []*applier, opt *Options) (blocks, error) {
	of := blocks{all: t.Rows, workers: max(1, min(opt.Threads, (t.Rows+blockRows-1)/blockRows))}
	each := int64(0)
	for _, a := range all {
		of.bytes += a.rowBytes()
		each += a.blockBytes()
	}
	memory := opt.Memory
	if memory == 0 {
		memory = max(blocksBytes, each)
	}
	if each > memory && t.Rows > 0 {
		return of, fmt.Errorf("features of %s: %w: found %d bytes for a row of them, expected at most %d; give a larger `Memory`, or fewer features", t.Type, limits.ErrMemory, each, memory)
	}
	of.workers = int(max(1, min(int64(of.workers), memory/max(1, each))))
	of.rows = int(min(memory/max(1, each)/int64(of.workers), blockRows, int64(max(1, t.Rows))))
	return of, nil
}

// each calls fn with all rows, a block at a time, in several goroutines.
func (of *blocks) each(ctx context.Context, opt *Options, fn func(worker, first, n int) error) error {
	var next atomic.Int64
	group, ctx := guard.WithContext(ctx)
	for w := range of.workers {
		group.Go(func() error {
			for {
				first := (int(next.Add(1)) - 1) * of.rows
				if first >= of.all {
					return nil
				}
				n := min(of.rows, of.all-first)
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
					if err := opt.Touched(of.bytes * int64(n)); err != nil {
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
			cats.Index(s.c, state.Unknown == UnknownError)
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
	case x.foreign.n > 0 && state.Unknown == UnknownError:
		return specErrorf("found the text %q %s, expected one of the texts of the fit; give unknown: other, or correct it", x.foreign.text, rows(&x.foreign))
	}
	return nil
}
