package features

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/graphmill/graphmill/internal/exact"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/structure"
)

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
	// Bits is the size of the codes that stand for numbers; 0: the store has the numbers.
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
	// Width is how many numbers a row gives, with the flag.
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
	// sorter is the goroutine's.
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
			state.Categories.Index(s.c, false)
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
		f.t.Fit.Set(first, block)
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
	err = f.each(func(first int, keep []bool) error {
		block := buffer[:len(keep)]
		f.s.numbers(first, k, block)
		if f.s.wide {
			for i, x := range block {
				if f.s.rounds(x) {
					f.wide.add(first+i, x)
				}
			}
		}
		if f.p.Clip != nil {
			clip := Numbers{Clip: f.p.Clip}
			for i, x := range block {
				block[i] = clip.clipped(x)
			}
		}
		for i, x := range block {
			if math.IsInf(x, 0) && keep[i] {
				f.infin.add(first+i, x)
				keep[i] = false
				rows++
			}
		}
		kept, known := compact(block, keep)
		rows += kept
		missing += kept - known
		return fn(block[:known])
	})
	return rows, missing, err
}

// compact moves the numbers of the rows to keep that are not missing to the front. It returns how many rows are kept, and how many of them have a number.
// It has no branch that depends on a row, since a processor cannot foresee the rows of a random split.
func compact(block []float64, keep []bool) (kept, known int) {
	keep = keep[:len(block)]
	for i, x := range block {
		block[known] = x
		is, has := 0, 0
		if keep[i] {
			is = 1
		}
		if x == x {
			has = 1
		}
		kept += is
		known += is & has
	}
	return kept, known
}
