package preparing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/structure"
	"github.com/graphmill/graphmill/internal/vfs"
)

// structuresOf lists the structures that features have parts of.
func structuresOf(specs []features.Spec, like *features.Type) (list []*structure.Spec) {
	add := func(p *features.Part) {
		if p.Structure != nil {
			list = append(list, p.Structure)
		}
	}
	for i := range specs {
		for k := range specs[i].Parts {
			add(&specs[i].Parts[k])
		}
	}
	if like != nil {
		for _, f := range like.Features {
			for _, p := range f.Parts {
				add(&p.Part)
			}
		}
	}
	return list
}

// releaseEvery is the number of bytes that may be read between two releases of touched.
const releaseEvery = 8 << 20

// touched counts bytes of columns that were read, and gives back the pages of the store and of structures when they are many.
func (p *preparation) touched(bytes int64) error {
	if p.read.Add(bytes) < releaseEvery {
		return nil
	}
	p.read.Store(0)
	err := p.Store.Release()
	for _, m := range p.maps {
		err = errors.Join(err, vfs.Release(m))
	}
	return err
}

// addStructures computes structures of the nodes of a type, each once. The function frees their numbers.
func (p *preparation) addStructures(ctx context.Context, of tableOf, t *features.Table, list []*structure.Spec) (release func() error, err error) {
	var frees []func() error
	release = func() error {
		var err error
		for _, free := range frees {
			err = errors.Join(err, free())
		}
		p.maps = nil
		return err
	}
	if of.edges || len(list) == 0 {
		return release, nil // the fit of a structure of edges says that there is none
	}
	if p.kept == nil {
		if p.kept, err = p.keptEdges(); err != nil {
			return release, err
		}
	}
	for _, s := range list {
		if t.HasStructure(s) {
			continue
		}
		start := time.Now()
		x, free, err := p.compute(ctx, of, s)
		if free != nil {
			frees = append(frees, free)
		}
		if err != nil {
			return release, fmt.Errorf("structure %s of %s: %w", s.Structure, of.name, err)
		}
		p.r.Stage(s.Structure, time.Since(start), int64(of.count), "nodes")
		t.AddStructure(s, x)
	}
	return release, nil
}

// compute computes a structure. Its numbers are in memory where they fit, and otherwise in an unnamed file.
func (p *preparation) compute(ctx context.Context, of tableOf, s *structure.Spec) (_ *features.Structure, free func() error, err error) {
	names, err := structure.Positions(*s, p.Store.Graph, of.name)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return nil, nil, errors.New("found no edge type of the nodes, expected at least one; leave the structure out")
	}
	size := int64(of.count) * int64(len(names)) * 8
	var numbers []float64
	var file vfs.File
	taken := int64(limits.ProcessBytes+2*releaseEvery) + keptBytes(p.kept) // and the pages of the store
	if p.Run.Memory == 0 || size <= p.Run.Memory/8 {
		taken += size
		numbers = make([]float64, of.count*len(names))
	} else if file, err = vfs.OS.Temp(p.w.Dir()); err != nil {
		return nil, nil, err
	} else {
		defer func() { err = errors.Join(err, file.Close()) }()
	}
	meter := operation.NewStages(p.Run)
	defer meter.End()
	options := structure.Options{Threads: p.Run.Threads, Memory: p.Run.Memory, Taken: taken, Temp: p.w.Dir(), Keep: p.kept, Touched: p.Store.Touched,
		Progress: func(done, total int64) { meter.Update(s.Structure+" of "+of.name, done, total, "") }}
	result, err := structure.Compute(ctx, p.Store.Graph, of.name, *s, options, func(first int, values []float64) error {
		if file == nil {
			copy(numbers[first*len(names):], values)
			return nil
		}
		_, err := file.WriteAt(graph.Bytes(values), int64(first)*int64(len(names))*8)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	bytes := graph.Bytes(numbers)
	if file != nil {
		if bytes, free, err = file.Map(); err != nil {
			return nil, nil, err
		}
		p.maps = append(p.maps, bytes)
	}
	for _, note := range result.Notes {
		p.r.Note(fmt.Sprintf("structure %s of %s: %s", s.Structure, of.name, note))
	}
	if result.Method == structure.Estimate {
		most := 0.0
		for _, e := range result.Errors {
			most = max(most, e)
		}
		text := fmt.Sprintf("structure %s of %s is an estimate, with a standard error of at most %s", s.Structure, of.name, human.Number(most))
		p.r.Note(text)
		operation.Note(p.Run, "%s", text)
	}
	column := &graph.Column{Name: "#" + s.Structure, DType: graph.Float64, Shape: []int{len(names)}, Rows: of.count, Values: bytes}
	return &features.Structure{Structured: features.Structured{Method: result.Method, Errors: result.Errors, Positions: names}, Column: column}, free, nil
}

// keptEdges are the edges that structures count, by type: the edges of the fit, where edges have a split or, when features are fitted, times. So no number knows an edge
// that a model is tested on.
func (p *preparation) keptEdges() (map[graph.EdgeType][]uint64, error) {
	fit := p.file.Fit
	if p.Like != nil {
		fit.Before = nil // a time of the tables of the fit
	}
	keep := map[graph.EdgeType][]uint64{}
	for _, e := range p.Store.Graph.Edges {
		rows, _, err := fitRows(&fit, tableOf{name: e.Type.String(), dir: store.EdgesDir(e.Type), columns: e.Columns, count: e.Count})
		if err != nil {
			return nil, err
		}
		if rows == nil {
			continue
		}
		bits := make([]uint64, (e.Count+63)/64)
		block := make([]bool, 1<<12)
		for first := 0; first < e.Count; first += len(block) {
			of := block[:min(len(block), e.Count-first)]
			rows.Set(first, of)
			for i, is := range of {
				if is {
					bits[(first+i)/64] |= 1 << ((first + i) % 64)
				}
			}
			if err := p.touched(8 * int64(len(of))); err != nil { // a code or a time of each
				return nil, err
			}
		}
		keep[e.Type] = bits
	}
	return keep, nil
}

// keptBytes is the memory of the bits that say which edges are kept.
func keptBytes(kept map[graph.EdgeType][]uint64) (bytes int64) {
	for _, bits := range kept {
		bytes += 8 * int64(len(bits))
	}
	return bytes
}
