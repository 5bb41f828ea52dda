package features

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/exact"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/structure"
)

// Rows are rows of a type: those for which keep is true. keep stands for the rows from first on, and comes as true.
type Rows func(first int, keep []bool)

// Table is the columns of a type that features are made of.
type Table struct {
	Type    string // for errors
	Columns []*graph.Column
	Rows    int
	// Structures are the numbers that parts have in place of a column: AddStructure adds them.
	Structures map[string]*Structure
	Fit        Rows   // the rows of the fit; nil: all
	Of         string // what the rows of the fit are called in errors; "": the table
}

// Options bound what Fit and Apply take.
type Options struct {
	Threads int
	Memory  int64 // 0: no bound
	// Touched counts bytes of columns that were read, so that their pages are given back; nil: not counted.
	Touched func(bytes int64) error
	// Progress counts rows of columns that were read; nil: not counted.
	Progress func(rows int64)
}

// Feature is a fitted feature.
type Feature struct {
	DType string `json:"dtype"`
	Norm  Norm   `json:"norm,omitempty"`
	// Bits are those of the codes that stand for numbers; 0: the store has the numbers.
	Bits int  `json:"bits,omitempty"`
	Code bool `json:"code,omitempty"`
	// Codes is how many codes there are, with 0.
	Codes  int      `json:"codes,omitempty"`
	Pieces []Piece  `json:"pieces"`
	Parts  []*State `json:"parts"`
}

// State is a fitted part.
type State struct {
	Part
	// Width is how many numbers a row gives, with those of the flag.
	Width      int         `json:"width"`
	Numbers    []Numbers   `json:"numbers,omitempty"` // how each number is clipped, filled and scaled
	Categories *Categories `json:"categories,omitempty"`
	DType      string      `json:"column_dtype"`
	Structured *Structured `json:"structured,omitempty"` // of a part of a structure
}

// Structured says how a structure was computed, and what its numbers are.
type Structured struct {
	Method    string    `json:"method"`
	Errors    []float64 `json:"errors,omitempty"` // of an estimate: the standard error of each number
	Positions []string  `json:"positions"`
}

// Structure is the numbers of a structure: a column of float64, [nodes, numbers].
type Structure struct {
	Structured
	Column *graph.Column
}

// AddStructure adds the numbers that parts of this structure are made of.
func (t *Table) AddStructure(s *structure.Spec, x *Structure) {
	if t.Structures == nil {
		t.Structures = map[string]*Structure{}
	}
	t.Structures[structureKey(s)] = x
}

// HasStructure says whether the numbers of a structure are there.
func (t *Table) HasStructure(s *structure.Spec) bool { return t.Structures[structureKey(s)] != nil }

// columnOf is the column of a part.
func (t *Table) columnOf(p *Part) (*graph.Column, error) {
	if p.Structure == nil {
		return p.columnOf(t.Columns)
	}
	if x := t.Structures[structureKey(p.Structure)]; x != nil {
		return x.Column, nil
	}
	return nil, specErrorf("found structure %s of edges, expected it of nodes; leave it out", p.Structure.Structure)
}

// Describe says what a part does with its column, in a few words.
func (s *State) Describe() string {
	var steps []string
	if s.Structured != nil && s.Structured.Method == structure.Estimate {
		steps = append(steps, "estimate")
	}
	if s.Encode != EncodeNone {
		steps = append(steps, string(s.Encode))
	}
	if s.Clip != nil {
		steps = append(steps, "clip")
	}
	if s.Impute != ImputeNone {
		steps = append(steps, "impute "+string(s.Impute))
	}
	if s.Scale != "" {
		steps = append(steps, string(s.Scale))
	}
	if s.Flag {
		steps = append(steps, "flag")
	}
	if len(steps) == 0 {
		return "as it is"
	}
	return strings.Join(steps, ", ")
}

// Fit fits features of a type. The result is by name.
func Fit(ctx context.Context, t *Table, specs []Spec, opt Options) (map[string]*Feature, error) {
	type job struct {
		feature *Feature
		spec    *Spec
		part    int
	}
	out := make(map[string]*Feature, len(specs))
	var jobs []job
	for i := range specs {
		spec := &specs[i]
		if err := spec.Check(); err != nil {
			return nil, fmt.Errorf("feature %s/%s: %w", t.Type, spec.Name, err)
		}
		f := &Feature{DType: spec.DType.String(), Norm: spec.Norm, Bits: spec.Bits, Code: spec.Code, Parts: make([]*State, len(spec.Parts))}
		out[spec.Name] = f
		for k := range spec.Parts {
			jobs = append(jobs, job{f, spec, k})
		}
	}
	threads := max(1, min(opt.Threads, len(jobs)))
	memory := opt.Memory / int64(threads)
	if opt.Memory == 0 {
		memory = math.MaxInt64
	}
	sorters := make(chan *exact.Sorter, threads)
	for range threads {
		sorters <- &exact.Sorter{}
	}
	group, within := guard.WithContext(ctx)
	group.SetLimit(threads)
	errs := make([]error, len(jobs))
	for i, j := range jobs {
		group.Go(func() error {
			own := <-sorters
			defer func() { sorters <- own }()
			state, err := fitPart(within, t, &j.spec.Parts[j.part], memory, &opt, own)
			if err != nil {
				errs[i] = j.spec.error(t.Type, j.part, err)
				if within.Err() != nil {
					return err
				}
				return nil // the others may have errors, too
			}
			j.feature.Parts[j.part] = state
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	for name, f := range out {
		f.Pieces = piecesOf(name, f)
		if f.Code {
			f.Codes = f.Parts[0].codes()
		}
	}
	for i := range specs {
		spec := &specs[i]
		if spec.Bits == 0 {
			continue
		}
		if err := fitRanges(ctx, t, spec.Name, out[spec.Name], &opt); err != nil {
			return nil, spec.placed(err)
		}
	}
	return out, nil
}

// fitter fits a part.
type fitter struct {
	ctx    context.Context
	t      *Table
	p      *Part
	s      *source
	opt    *Options
	memory int64
	// sorter is that of the goroutine.
	sorter *exact.Sorter
	wide   tally
	infin  tally
}

func fitPart(ctx context.Context, t *Table, p *Part, memory int64, opt *Options, sorter *exact.Sorter) (*State, error) {
	s, err := newSource(p, t)
	if err != nil {
		return nil, err
	}
	f := &fitter{ctx: ctx, t: t, p: p, s: s, opt: opt, memory: memory, sorter: sorter}
	state := &State{Part: *p, Width: s.width, DType: meaning(s.c)}
	if p.Structure != nil {
		state.Structured = &t.Structures[structureKey(p.Structure)].Structured
	}
	switch p.Encode {
	case EncodeHash:
		state.Width = p.Hash.Dim
		return state, nil
	case EncodeCode, EncodeOneHot, EncodeFrequency:
		err = f.fitCategories(state)
	case EncodeMultiHot:
		err = f.fitTags(state)
	case EncodeOrdinal:
		state.Categories, err = f.fitOrder()
	}
	if err != nil {
		return nil, err
	}
	switch p.Encode {
	case EncodeCode:
		state.Width = 1
	case EncodeOneHot:
		state.Width = len(state.Categories.Texts) + 2
	case EncodeMultiHot:
		state.Width = len(state.Categories.Texts) + 1
	default:
		if state.Categories != nil {
			state.Categories.Index(s.c)
			s.cats = state.Categories
		}
		return state, f.fitNumbers(state)
	}
	return state, f.checkWidth(state)
}

// checkWidth refuses more positions than a part may have.
func (f *fitter) checkWidth(state *State) error {
	if f.p.Encode == EncodeCode || state.Width <= MostPositions {
		return nil
	}
	return specErrorf("found %d distinct values in the rows of the fit, expected at most %d numbers of encode %s; give least or most, or take encode hash, or code as a feature of its own",
		len(state.Categories.Texts)+len(state.Categories.Rare), MostPositions, f.p.Encode)
}

// each calls fn with the rows of the fit, a block of rows after another: keep stands for the rows from first on.
func (f *fitter) each(fn func(first int, keep []bool) error) error {
	keep := make([]bool, blockRows)
	bytes := f.s.rowBytes()
	for first := 0; first < f.t.Rows; first += blockRows {
		block := keep[:min(blockRows, f.t.Rows-first)]
		for i := range block {
			block[i] = true
		}
		if f.t.Fit != nil {
			f.t.Fit(first, block)
		}
		if err := fn(first, block); err != nil {
			return err
		}
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if f.opt.Progress != nil {
			f.opt.Progress(int64(len(block)))
		}
		if f.opt.Touched != nil {
			if err := f.opt.Touched(bytes * int64(len(block))); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass calls fn with number k of the rows of the fit, clipped, without those that are missing. It returns how many rows there are, and how many are missing.
// Infinities are counted, and left out.
func (f *fitter) pass(k int, fn func(values []float64) error) (rows, missing int, err error) {
	buffer := make([]float64, blockRows)
	clip := Numbers{Clip: f.p.Clip}
	err = f.each(func(first int, keep []bool) error {
		block := buffer[:len(keep)]
		f.s.numbers(first, k, block, &f.wide)
		known := 0
		for i, x := range block {
			if !keep[i] {
				continue
			}
			rows++
			switch x = clip.clipped(x); {
			case x != x:
				missing++
			case math.IsInf(x, 0):
				f.infin.add(first+i, x)
			default:
				block[known] = x
				known++
			}
		}
		return fn(block[:known])
	})
	return rows, missing, err
}

// fitNumbers fits how each number is filled, and scaled or put into buckets.
func (f *fitter) fitNumbers(state *State) error {
	state.Width = f.s.width
	for k := range f.s.width {
		n, err := f.fitNumber(k)
		if err != nil {
			if f.s.width > 1 && f.p.Encode == EncodeNone {
				return fmt.Errorf("value %d: %w", k, err)
			}
			return err
		}
		state.Numbers = append(state.Numbers, n)
	}
	if f.p.Encode == EncodeBuckets {
		most := 0
		for _, n := range state.Numbers {
			most = max(most, len(n.Edges)+1)
		}
		state.Width = most + 1
	}
	if f.p.Flag {
		state.Width++
	}
	return nil
}

// moments is what one pass over a number finds.
type moments struct {
	rows, missing, known int
	least, greatest      float64
	sums                 exact.Sums
}

// fitNumber fits number k. A number of a cycle has its scale already.
func (f *fitter) fitNumber(k int) (Numbers, error) {
	p := f.p
	n := Numbers{Clip: p.Clip, Scale: p.Scale}
	if f.s.cycle(k) {
		n.Scale = ""
	}
	buckets := p.Encode == EncodeBuckets
	m := moments{least: math.Inf(1), greatest: math.Inf(-1)}
	scaled := n.Scale != "" && n.Scale != ScaleLog && n.Scale != ScaleSignedLog
	if p.Impute == ImputeConstant || p.Impute == ImputeNone {
		if p.Impute == ImputeConstant {
			n.Fill = &p.Value
		}
		if buckets {
			n.Buckets = true
		}
		if !scaled && !(buckets && p.Edges == nil) {
			if buckets {
				n.Edges = p.Edges[1 : len(p.Edges)-1]
			}
			return n, nil
		}
	}
	sums := p.Impute == ImputeMean || n.Scale == ScaleStandard
	var err error
	m.rows, m.missing, err = f.pass(k, func(values []float64) error {
		m.known += len(values)
		for _, x := range values {
			m.least, m.greatest = min(m.least, x), max(m.greatest, x)
		}
		if sums {
			m.sums.Add(values)
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	if err := f.refused(); err != nil {
		return n, err
	}
	if m.known == 0 && (n.Fill == nil || m.rows == 0) {
		if m.rows == 0 {
			return n, specErrorf("found no row in %s, expected at least one; give fit: all, or a split that has rows", f.t.fitOf())
		}
		return n, specErrorf("found no value in the %d rows of %s, expected at least one; give impute: constant, or leave the column out", m.rows, f.t.fitOf())
	}
	return n, f.finish(&n, k, &m)
}

// refused is an error where the values that were read do not allow what is fitted.
func (f *fitter) refused() error {
	switch {
	case f.infin.n > 0:
		return specErrorf("found %d infinite values, the first in row %d, expected finite ones; give clip: [LEAST, GREATEST], or correct them", f.infin.n, f.infin.first)
	case f.wide.n > 0:
		return specErrorf("found %d whole numbers above 2^53, the first, %.0f, in row %d, expected smaller ones, because float64 rounds them; if they are ids, take encode hash of texts, or leave them out", f.wide.n, f.wide.value, f.wide.first)
	}
	return nil
}

// fitOf names the rows of the fit.
func (t *Table) fitOf() string {
	if t.Of == "" {
		return "the table"
	}
	return t.Of
}

// finish fits number k after the pass that found m.
func (f *fitter) finish(n *Numbers, k int, m *moments) error {
	p := f.p
	var sorted *ordered
	fill := 0.0
	if p.Impute == ImputeMedian || p.Impute == ImputeMode {
		ask := &ordered{n: m.known, asking: true}
		median(ask)
		var err error
		if sorted, err = f.sort(k, m.known, ask.asked); err != nil {
			return err
		}
	}
	switch p.Impute {
	case ImputeMean:
		fill, _ = m.sums.Moments()
	case ImputeMedian:
		fill = median(sorted)
	case ImputeMode:
		fill = sorted.mode
	case ImputeConstant:
		fill = p.Value
	}
	if p.Impute != ImputeNone {
		n.Fill = &fill
		if m.missing > 0 {
			m.least, m.greatest = min(m.least, fill), max(m.greatest, fill)
		}
	} else {
		m.missing = 0
	}
	switch n.Scale {
	case ScaleStandard:
		if n.Center = m.least; m.least < m.greatest {
			m.sums.Repeat(fill, uint64(m.missing))
			n.Center, n.By = m.sums.Moments()
		}
	case ScaleMinMax, ScaleMinMaxCut:
		n.Center, n.By = m.least, m.greatest-m.least
	case ScaleMaxAbs:
		n.By = max(math.Abs(m.least), math.Abs(m.greatest))
	case ScaleRobust:
		return f.fitOrdered(k, m, sorted, fill, n.fitRobust)
	case ScaleUniform, ScaleNormal:
		return f.fitOrdered(k, m, sorted, fill, func(o *ordered) { n.fitQuantiles(o, m.rows) })
	}
	switch {
	case p.Encode != EncodeBuckets:
	case p.Edges != nil:
		n.Buckets, n.Edges = true, p.Edges[1:len(p.Edges)-1]
	case p.By == ByRows:
		return f.fitOrdered(k, m, sorted, fill, func(o *ordered) { n.fitShares(o, p.Count) })
	default:
		n.fitWidth(m.least, m.greatest, p.Count)
	}
	return nil
}

// sort sorts number k of the rows of the fit.
func (f *fitter) sort(k, known int, places []int) (*ordered, error) {
	return order(f.ctx, func(fn func([]float64) error) error {
		_, _, err := f.pass(k, fn)
		return err
	}, known, places, f.memory, f.sorter)
}

// fitOrdered calls fit with the sorted numbers, of which those that were missing are fill. sorted is those that are not missing, nil if they are not sorted yet.
func (f *fitter) fitOrdered(k int, m *moments, sorted *ordered, fill float64, fit func(*ordered)) error {
	before := 0
	if m.missing > 0 && (sorted == nil || sorted.sorted == nil) {
		if _, _, err := f.pass(k, func(values []float64) error {
			for _, x := range values {
				if x < fill {
					before++
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if sorted == nil || sorted.sorted == nil {
		ask := (&ordered{n: m.known, asking: true}).filled(fill, m.missing, before)
		fit(ask)
		var err error
		if sorted, err = f.sort(k, m.known, ask.asked); err != nil {
			return err
		}
	} else if m.missing > 0 {
		before = below(sorted.sorted, fill)
	}
	fit(sorted.filled(fill, m.missing, before))
	return nil
}

// fitCategories fits the texts of a column that gives one per row.
func (f *fitter) fitCategories(state *State) error {
	counter, rows := newTextCounter(f.memory), 0
	var byCode []int64
	byInt := map[int64]int64{}
	c := f.s.c
	if c.Categories != nil {
		byCode = make([]int64, c.Categories.Rows)
	}
	err := f.each(func(first int, keep []bool) error {
		for i, is := range keep {
			if !is {
				continue
			}
			rows++
			switch row := first + i; {
			case f.s.marked(row):
			case c.Categories != nil:
				if code := graph.View[int32](c.Values)[row]; code >= 0 {
					byCode[code]++
				}
			case c.DType == graph.String:
				if text := c.Text(row); len(text) > 0 {
					if err := counter.count(text); err != nil {
						return err
					}
				}
			default:
				byInt[f.s.integer(row)]++
			}
		}
		return counter.checkInts(len(byInt))
	})
	if err != nil {
		return err
	}
	counts := counter.all()
	for code, n := range byCode {
		if n > 0 {
			counts[string(c.Categories.Text(code))] += n
		}
	}
	if len(byInt) > 0 {
		values := slices.Sorted(maps.Keys(byInt))
		if c.DType == graph.Uint64 { // those from 2^63 on are negative here
			slices.SortFunc(values, func(a, b int64) int {
				if uint64(a) < uint64(b) {
					return -1
				}
				return 1
			})
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = integerText(v, c.DType)
			counts[texts[i]] = byInt[v]
		}
		state.Categories = counts.fit(texts, max(1, f.p.Least), f.p.Most)
		return nil
	}
	return f.kept(state, counts, rows)
}

// kept is the end of fitCategories and fitTags.
func (f *fitter) kept(state *State, counts Counts, rows int) error {
	if rows == 0 {
		return specErrorf("found no row in %s, expected at least one; give fit: all, or a split that has rows", f.t.fitOf())
	}
	if len(counts) == 0 {
		return specErrorf("found no text in the %d rows of %s, expected at least one; leave the column out", rows, f.t.fitOf())
	}
	for text := range counts {
		if !utf8.ValidString(text) {
			return specErrorf("found a text that is no UTF-8, expected UTF-8; convert the file, or take encode hash")
		}
	}
	state.Categories = counts.Fit(max(1, f.p.Least), f.p.Most)
	return nil
}

// fitTags fits the tags of a column that gives several per row.
func (f *fitter) fitTags(state *State) error {
	counter, rows, seen := newTextCounter(f.memory), 0, map[string]bool{}
	err := f.each(func(first int, keep []bool) error {
		for i, is := range keep {
			if !is {
				continue
			}
			rows++
			var err error
			f.s.tags(first+i, seen, func(tag string) {
				if err == nil {
					err = counter.count([]byte(tag))
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return f.kept(state, counter.all(), rows)
}

// fitOrder counts the texts of an order.
func (f *fitter) fitOrder() (*Categories, error) {
	s := &Categories{Texts: f.p.Order, Of: make([]int64, len(f.p.Order))}
	s.Index(f.s.c)
	f.s.cats = s
	err := f.each(func(first int, keep []bool) error {
		for i, is := range keep {
			if code, known := f.s.code(first + i); is && known {
				s.Rows++
				if code > 0 {
					s.Of[code-1]++
				}
			}
		}
		return nil
	})
	return s, err
}

// textCounter counts texts, within a bound on the memory of the distinct ones.
type textCounter struct {
	places     map[string]int32
	counts     []int64
	held, most int64
}

// textBytes is about what a text takes in a map beside its bytes.
const textBytes = 64

// newTextCounter makes a counter whose texts take at most so many bytes, and at least 1 MiB.
func newTextCounter(most int64) *textCounter {
	return &textCounter{places: map[string]int32{}, most: max(most, 1<<20)}
}

// count counts a text.
func (c *textCounter) count(text []byte) error {
	if at, known := c.places[string(text)]; known {
		c.counts[at]++
		return nil
	}
	if c.held += int64(len(text)) + textBytes; c.held > c.most || len(c.counts) == math.MaxInt32 {
		return fmt.Errorf("%w: found more than %d distinct texts, expected those that fit into the memory; give a larger `Memory`, or take encode hash", limits.ErrMemory, len(c.counts))
	}
	c.places[string(text)] = int32(len(c.counts))
	c.counts = append(c.counts, 1)
	return nil
}

// all returns the counts by text.
func (c *textCounter) all() Counts {
	counts := make(Counts, len(c.places))
	for text, at := range c.places {
		counts[text] = c.counts[at]
	}
	return counts
}

// checkInts refuses more distinct whole numbers than fit into the memory.
func (c *textCounter) checkInts(n int) error {
	if int64(n)*textBytes > c.most {
		return fmt.Errorf("%w: found more than %d distinct values, expected those that fit into the memory; give a larger `Memory`", limits.ErrMemory, n)
	}
	return nil
}
