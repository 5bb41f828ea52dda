package preparing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Input is what features are made of.
type Input struct {
	Store *store.Store
	// Plan says what is fitted, where Like is nil.
	Plan *features.Plan
	// Like is the state of another store, which is applied.
	Like     *features.File
	LikeName string
	Run      *option.Run
}

// Write fits features, or takes the state of another store, and writes their columns and features.json to w. It adds the columns to meta, whose types are
// those of the store.
func Write(ctx context.Context, w *store.Writer, in Input, meta *store.Meta, r *report.Report) error {
	defer operation.LessGarbage(10)() // garbage counts as memory
	p := &preparation{Input: in, w: w, r: r}
	p.opt = features.Options{Threads: in.Run.Threads, Memory: in.Run.Memory / 2, Touched: p.touched}
	if in.Like != nil {
		p.file = features.NewFile(in.Like.Fit)
	} else {
		p.file = features.NewFile(in.Plan.Fit)
	}
	if err := p.check(); err != nil {
		return err
	}
	start := time.Now()
	g := in.Store.Graph
	for _, n := range g.Nodes {
		of := tableOf{name: n.Type, dir: store.NodesDir(n.Type), columns: n.Columns, count: n.Count, to: p.file.Nodes, added: n.Added}
		if err := p.prepare(ctx, of, p.specs(false, n.Type), p.like(false, n.Type), meta.Nodes[n.Type].Columns); err != nil {
			return err
		}
	}
	for _, e := range g.Edges {
		name := e.Type.String()
		of := tableOf{name: name, dir: store.EdgesDir(e.Type), columns: e.Columns, count: e.Count, to: p.file.Edges, edges: true}
		if err := p.prepare(ctx, of, p.specs(true, name), p.like(true, name), meta.Edges[name].Columns); err != nil {
			return err
		}
	}
	r.Stage("features", time.Since(start), p.rows, "rows")
	text, err := p.file.Encode()
	if err != nil {
		return err
	}
	return w.WriteFile(store.FeaturesFile, text)
}

// Build makes a store with features: build makes one without in a folder within the output's folder, whose metadata it returns; the features of its columns are written to
// w, and its files are moved there. The result is the metadata of both. in.Store is not used.
func Build(ctx context.Context, w *store.Writer, in Input, r *report.Report, build func(raw *store.Writer) (*store.Meta, error)) (meta *store.Meta, err error) {
	raw, err := w.Within("raw")
	if err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, raw.Abort)
	if meta, err = build(raw); err != nil {
		return nil, err
	}
	if in.Store, err = raw.Opened(ctx, meta, in.Run.Threads); err != nil {
		return nil, err
	}
	defer operation.CloseWith(&err, in.Store.Close)
	if err := Write(ctx, w, in, meta, r); err != nil {
		return nil, err
	}
	return meta, w.TakeAll(raw)
}

// preparation makes the features of a store.
type preparation struct {
	Input
	w    *store.Writer
	r    *report.Report
	opt  features.Options
	file *features.File
	rows int64
	kept map[graph.EdgeType][]uint64 // edges that structures count, once they are known
	maps [][]byte                    // numbers of structures in files
	read atomic.Int64                // bytes of columns since the last release
}

// tableOf is a type whose features are made.
type tableOf struct {
	name, dir string
	columns   []*graph.Column
	count     int
	to        map[string]*features.Type
	edges     bool
	added     int // rows at the end that no table has, which are no rows of a fit
}

// specs is the features that the plan asks for of a type.
func (p *preparation) specs(edges bool, name string) []features.Spec {
	switch {
	case p.Like != nil:
		return nil
	case edges:
		return p.Plan.Edges[name]
	}
	return p.Plan.Nodes[name]
}

// like is the state of a type in the other store.
func (p *preparation) like(edges bool, name string) *features.Type {
	switch {
	case p.Like == nil:
		return nil
	case edges:
		return p.Like.Edges[name]
	}
	return p.Like.Nodes[name]
}

// check refuses types that the store does not have, and a fit that no type has rows of.
func (p *preparation) check() error {
	g := p.Store.Graph
	have := map[string][]*graph.Column{}
	for _, n := range g.Nodes {
		have[n.Type] = n.Columns
	}
	for _, e := range g.Edges {
		have[e.Type.String()] = e.Columns
	}
	var asked []string
	if p.Like != nil {
		asked = append(slices.Sorted(maps.Keys(p.Like.Nodes)), slices.Sorted(maps.Keys(p.Like.Edges))...)
	} else {
		asked = append(slices.Sorted(maps.Keys(p.Plan.Nodes)), slices.Sorted(maps.Keys(p.Plan.Edges))...)
	}
	split := false
	for _, name := range asked {
		columns, is := have[name]
		if !is {
			return fmt.Errorf("features of %s: found no such type, expected one of %s", name, strings.Join(slices.Sorted(maps.Keys(have)), ", "))
		}
		column := transform.SplitColumn
		if p.Like == nil {
			column = splitOf(&p.Plan.Fit)
		}
		c := graph.FindColumn(columns, column)
		split = split || c != nil && c.Categories != nil
		if p.Like == nil && p.Plan.Fit == (features.FitRows{}) && c == nil && isSplit(graph.FindColumn(columns, transform.SplitColumn+"_0")) {
			return fmt.Errorf("features of %s: found several splits and no fit, expected the one whose training rows features are fitted on; give fit: {split: train, by: %s_0}, or fit: all, with which every test row takes part", name, transform.SplitColumn)
		}
	}
	if p.Like == nil && p.Plan.Fit.Split != "" && !split {
		return fmt.Errorf("fit of the split %s: found no type with features and a split, expected one; add a split under transforms, or give fit: all", p.Plan.Fit.Split)
	}
	return nil
}

// prepare makes the features of a type.
func (p *preparation) prepare(ctx context.Context, of tableOf, specs []features.Spec, like *features.Type, metas map[string]store.ColumnMeta) (err error) {
	if len(specs) == 0 && like == nil {
		return nil
	}
	t := &features.Table{Type: of.name, Columns: of.columns, Rows: of.count}
	release, err := p.addStructures(ctx, of, t, structuresOf(specs, like))
	defer operation.CloseWith(&err, release)
	if err != nil {
		return err
	}
	made := like
	if like == nil {
		var err error
		if made, err = p.fit(ctx, of, t, specs); err != nil {
			return err
		}
	}
	of.to[of.name] = made
	for _, name := range slices.Sorted(maps.Keys(made.Features)) {
		if graph.FindColumn(of.columns, name) != nil {
			return fmt.Errorf("feature %s/%s: found a column of this name, expected a new name; rename the column, or make features anew", of.name, name)
		}
	}
	meter := operation.NewMeter(p.Run, "features of "+of.name, int64(of.count), "rows")
	defer meter.End()
	opt := p.opt
	opt.Progress = meter.Add
	var arrays []*store.Array
	applied, err := features.Apply(ctx, t, made.Features, func(feature string, piece *features.Piece) (io.WriterAt, error) {
		dtype, err := graph.ParseDType(made.Features[feature].DType)
		if err != nil {
			return nil, err
		}
		dtype, shape := piece.Stored(dtype)
		file := store.ColumnDir(of.dir, piece.Column) + "/" + store.FileName(piece.Column) + ".npy"
		metas[piece.Column] = store.ColumnMeta{File: file, DType: dtype.String(), Shape: append([]int{}, shape...)}
		a, err := p.w.Array(file, dtype, shape...)
		if err == nil {
			arrays = append(arrays, a)
		}
		return a, err
	}, opt)
	for _, a := range arrays {
		err = errors.Join(err, a.Close())
	}
	if err != nil {
		return err
	}
	p.rows += int64(of.count)
	p.note(of.name, of.count, made, applied)
	return nil
}

// fit fits the features of a type.
func (p *preparation) fit(ctx context.Context, of tableOf, t *features.Table, specs []features.Spec) (*features.Type, error) {
	rows, what, err := fitRows(&p.Plan.Fit, of)
	if err != nil {
		return nil, err
	}
	rows = withoutAdded(rows, of)
	made := &features.Type{Rows: of.count, Of: what, From: []string{}}
	if t.Fit = rows; rows != nil {
		made.Rows = countRows(rows, of.count)
		if what != allRows {
			t.Of = "the rows of " + what
		}
	}
	meter := operation.NewMeter(p.Run, "fit of "+of.name, 0, "rows") // a column is read once or several times
	defer meter.End()
	opt := p.opt
	opt.Progress = meter.Add
	if made.Features, err = features.Fit(ctx, t, specs, opt); err != nil {
		return nil, err
	}
	for _, name := range features.Sources(specs) {
		made.From = append(made.From, name)
		if mark := name + features.MarkSuffix; graph.FindColumn(of.columns, mark) != nil && !slices.Contains(made.From, mark) {
			made.From = append(made.From, mark)
		}
	}
	return made, nil
}

// withoutAdded is rows without those that no table has.
func withoutAdded(rows features.Rows, of tableOf) features.Rows {
	if of.added == 0 {
		return rows
	}
	end := of.count - of.added
	return func(first int, keep []bool) {
		if rows != nil {
			rows(first, keep)
		}
		clear(keep[min(len(keep), max(0, end-first)):])
	}
}

// countRows counts the rows of a fit.
func countRows(rows features.Rows, count int) (n int) {
	keep := make([]bool, 1<<12)
	for first := 0; first < count; first += len(keep) {
		block := keep[:min(len(keep), count-first)]
		rows.Set(first, block)
		for _, is := range block {
			if is {
				n++
			}
		}
	}
	return n
}

// allRows is what all rows of a type are called.
const allRows = "all"

// fitRows is the rows of a type that its features are fitted on, and what they are called; nil is all rows.
func fitRows(fit *features.FitRows, of tableOf) (features.Rows, string, error) {
	switch {
	case fit.All:
		return nil, allRows, nil
	case fit.Before != nil:
		c, err := timesOf(of.columns, fit.By)
		if c == nil || err != nil {
			return nil, allRows, err
		}
		values, limit := graph.View[int64](c.Values), *fit.Before*c.Unit.PerSecond()
		return func(first int, keep []bool) {
			for i, t := range values[first:][:len(keep)] {
				keep[i] = t != graph.NoTime && t < limit
			}
		}, "times before " + time.Unix(*fit.Before, 0).UTC().Format(time.RFC3339), nil
	}
	c := graph.FindColumn(of.columns, splitOf(fit))
	part := fit.Split
	if part == "" {
		part = transform.Parts[0]
	}
	if c == nil || c.Categories == nil {
		return nil, allRows, nil
	}
	code := int32(-1)
	var parts []string
	for i := range c.Categories.Rows {
		if parts = append(parts, string(c.Categories.Text(i))); parts[i] == part {
			code = int32(i)
		}
	}
	if code < 0 {
		if fit.Split == "" {
			return nil, allRows, nil
		}
		return nil, "", fmt.Errorf("fit of the split %q: found the parts %s, expected one of them; correct the name of the part", part, strings.Join(parts, ", "))
	}
	codes := graph.View[int32](c.Values)
	return func(first int, keep []bool) {
		for i, of := range codes[first:][:len(keep)] {
			keep[i] = of == code
		}
	}, splitOf(fit) + " " + part, nil
}

// splitOf is the column of the split of a fit.
func splitOf(fit *features.FitRows) string {
	if fit.Split != "" && fit.By != "" {
		return fit.By
	}
	return transform.SplitColumn
}

// isSplit says whether a column has the parts of a split.
func isSplit(c *graph.Column) bool {
	if c == nil || c.Categories == nil || c.Categories.Rows != len(transform.Parts) {
		return false
	}
	for i, part := range transform.Parts {
		if string(c.Categories.Text(i)) != part {
			return false
		}
	}
	return true
}

// timesOf is the column of times of a type: the one of a name, or the only one; nil is none.
func timesOf(columns []*graph.Column, name string) (*graph.Column, error) {
	if name != "" {
		c := graph.FindColumn(columns, name)
		if c != nil && (c.Unit == "" || c.Ragged() || c.RowValues() != 1) {
			return nil, fmt.Errorf("fit by %s: found a column without times, expected one of the type datetime", name)
		}
		return c, nil
	}
	var found *graph.Column
	for _, c := range columns {
		if c.Unit == "" || c.Ragged() || c.RowValues() != 1 {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("fit before a time: found the columns of times %s and %s, expected one; name it, as in fit: {before: 2024-04-01, by: %s}", found.Name, c.Name, c.Name)
		}
		found = c
	}
	return found, nil
}

// note tells the report what features are made of, and what their columns did not have.
func (p *preparation) note(name string, count int, made *features.Type, applied []features.Applied) {
	table := report.Table{Title: "Features of " + name, Columns: []string{"feature", "column", "made by", "numbers", "rows without a value", "rows of unknown texts"}}
	unknown := int64(0)
	for _, a := range applied {
		table.Rows = append(table.Rows, []report.Value{report.Text(a.Feature), report.Text(a.State.Source()), report.Text(a.State.Describe()),
			report.Count(a.State.Width, ""), report.Count(a.Filled, ""), report.Count(a.Unknown, "")})
		unknown = max(unknown, a.Unknown)
		p.r.Warn(a.Cut, fmt.Sprintf("numbers of feature %s/%s, %s, cut to the range of the rows of the fit, the first in row %d", name, a.Feature, a.State.Source(), a.FirstCut))
	}
	p.r.Table(table)
	switch {
	case p.Like != nil:
		text := fmt.Sprintf("features of %s are those of %s, applied", name, p.LikeName)
		if unknown > 0 {
			text += fmt.Sprintf("; up to %s of %s rows have a text that is unknown there", human.Exact(unknown), human.Exact(int64(count)))
		}
		p.r.Note(text)
	case made.Of == allRows:
		p.r.Note(fmt.Sprintf("features of %s are fitted on all %s rows, because %s", name, human.Exact(int64(made.Rows)), p.whyAll()))
	default:
		p.r.Note(fmt.Sprintf("features of %s are fitted on %s rows: %s", name, human.Exact(int64(made.Rows)), made.Of))
	}
}

// whyAll says why a fit takes all rows of a type.
func (p *preparation) whyAll() string {
	switch {
	case p.Plan.Fit.All:
		return "fit is all"
	case p.Plan.Fit.Before != nil:
		return "the type has no times"
	}
	return "the type has no split"
}
