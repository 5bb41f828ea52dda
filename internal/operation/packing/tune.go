package packing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// tuneSearch converts the options for package pack.
func tuneSearch(o *option.TunePacks) (pack.Tune, error) {
	if o.Components == nil {
		o.Components = []string{"num_nodes", "num_edges"}
	}
	operation.SetDefault(&o.Tries, 400)
	s := pack.Tune{Ceiling: o.Ceiling, MaxGraphs: o.MaxGraphs, Tries: o.Tries}
	if !(o.Ceiling >= 0) || o.MaxGraphs < 0 || o.Tries < 1 {
		return s, operation.Usagef("found `Ceiling` %v, `MaxGraphs` %d and `Tries` %d, expected numbers that are not negative, and at least one try", o.Ceiling, o.MaxGraphs, o.Tries)
	}
	if !(o.Target >= 0 && o.Target <= 100) {
		return s, operation.Usagef("found `Target` %v, expected a percentage above 0, at most 100", o.Target)
	}
	for range o.Components {
		s.Align, s.Cost = append(s.Align, 1), append(s.Cost, 1)
	}
	for _, list := range []struct {
		field   string
		amounts []option.Amount
		set     func(i int, v float64)
	}{{"Align", o.Align, func(i int, v float64) { s.Align[i] = int(v) }}, {"Cost", o.Cost, func(i int, v float64) { s.Cost[i] = v }}} {
		for _, a := range list.amounts {
			i := slices.Index(o.Components, a.Component)
			if i < 0 || !(a.N >= 0) || a.N > 1<<30 || list.field == "Align" && (a.N < 1 || a.N != float64(int(a.N))) {
				return s, operation.Usagef("found `%s` \"%s=%v\", expected COMPONENT=NUMBER with a component of %s", list.field, a.Component, a.N, strings.Join(o.Components, ","))
			}
			list.set(i, a.N)
		}
	}
	return s, errors.Join(checkComponents(o.Components), operation.CheckRun(&o.Run))
}

// TunePacks searches for good limits. It packs with limits near the ratio of the mean sizes, from the size of the largest
// graph to packs that cost sixteen times as much, and finds the front: the limits for which no cheaper limits are as full.
// The measure of fullness is the harmonic mean of the efficiencies, which is low if any component loses room. A report
// with plots goes to the folder out, or, with a Target, the pack layout for the cheapest limits that reach it; if out is
// "", nothing is written.
func TunePacks(ctx context.Context, in, out string, o option.TunePacks) (_ *report.Tuning, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	search, err := tuneSearch(&o)
	if err != nil {
		return nil, err
	}
	h, fingerprint, size, err := histogram(in, o.Components, o.Memory)
	if err != nil {
		return nil, err
	}
	if out != "" {
		if err := operation.Keeps(out, in); err != nil {
			return nil, err
		}
	}
	line := operation.NewMeter(&o.Run, "tune", int64(o.Tries), "limits")
	search.Tried = func() { line.Add(1) }
	all, front, err := pack.Search(ctx, h, search)
	line.End()
	if err != nil {
		return nil, operation.Described(in, err)
	}
	t := &report.Tuning{Components: o.Components, Front: plainCandidates(front), Tried: plainCandidates(all), Target: o.Target}
	if o.Target > 0 {
		from := packSource{in: in, fingerprint: fingerprint, size: size, start: start, ready: time.Now(), before: "search for limits"}
		if t.Packing, err = packTarget(&o, ctx, from, out, h, all); err == nil || errors.Is(err, operation.ErrWhole) {
			t.Output = out
		}
		return t, err
	}
	if out == "" {
		return t, nil
	}
	made := store.Made{Command: "pack tune", Version: operation.Version(), Inputs: map[string]string{}, Options: map[string]string{
		"components": strings.Join(o.Components, ","), "align": amountText(o.Align), "cost": amountText(o.Cost), "ceiling": strconv.FormatFloat(o.Ceiling, 'g', -1, 64),
		"max_graphs": strconv.Itoa(o.MaxGraphs), "tries": strconv.Itoa(o.Tries)}}
	if fingerprint == "" {
		if fingerprint, err = store.Fingerprint(ctx, vfs.OS, in); err != nil {
			return nil, err
		}
	}
	name := filepath.Base(filepath.Clean(in))
	made.Inputs[name] = fingerprint
	r := operation.NewReport(&o.Run, "pack tune", "Limits for "+name)
	r.InputAt(name, size, fingerprint, in)
	r.Stage("search", time.Since(start), int64(len(all)), "limits")
	if err = reportTuning(&o, ctx, out, r, made, h, all, front, start); err == nil || errors.Is(err, operation.ErrWhole) {
		t.Output = out
	}
	return t, err
}

// plainCandidates are candidates as reports have them.
func plainCandidates(list []pack.Candidate) []report.PackCandidate {
	out := make([]report.PackCandidate, len(list))
	for i := range list {
		out[i] = list[i].PackCandidate
	}
	return out
}

// packTarget packs with the cheapest of the limits that were tried with which packs are as full as the target, and writes
// the layout, unless out is "".
func packTarget(o *option.TunePacks, ctx context.Context, from packSource, out string, h *pack.Histogram, tried []pack.Candidate) (*report.Packing, error) {
	best := tried[0]
	for _, c := range tried {
		if c.Mean > best.Mean {
			best = c
		}
		if 100*c.Mean < o.Target {
			continue
		}
		p := option.Pack{Run: o.Run, MaxGraphs: o.MaxGraphs}
		for i, name := range o.Components {
			p.Limits = append(p.Limits, option.PackLimit{Component: name, Max: c.Limits[i]})
		}
		if err := checkPack(&p); err != nil {
			return nil, err
		}
		r, terms, err := solvePacking(&p, ctx, from.in, &pack.Problem{Histogram: h, Limits: c.Limits, MaxGraphs: o.MaxGraphs})
		if err != nil {
			return nil, err
		}
		// Pack works longer than the search did, but by other methods: it may need more packs.
		if 100*pack.HarmonicMean(h, c.Limits, r.Packs()) < o.Target {
			continue
		}
		packing, l := describePacking(&p, r, terms)
		if out == "" {
			return packing, nil
		}
		return packing, writePacking(&p, ctx, from, out, r, l, packing)
	}
	return nil, fmt.Errorf("%s: found packs that are at most %.2f %% full, with the limits %s, expected %v %%; lower `Target`, or raise `Ceiling` or `Tries`",
		from.in, 100*best.Mean, human.Assigned(o.Components, best.Limits), o.Target)
}

// amountText returns amounts in the form of the command line.
func amountText(list []option.Amount) string {
	var s []string
	for _, a := range list {
		s = append(s, a.Component+"="+strconv.FormatFloat(a.N, 'g', -1, 64))
	}
	return strings.Join(s, ",")
}

// reportTuning writes the result of a search as a page with plots.
func reportTuning(o *option.TunePacks, ctx context.Context, out string, r *report.Report, made store.Made, h *pack.Histogram, all, front []pack.Candidate, start time.Time) (err error) {
	writing := time.Now()
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	r.Stage("write", time.Since(writing), 0, "")
	best := front[len(front)-1]
	r.Head("best harmonic mean", report.Share(best.Mean))
	r.In("graphs", report.Count(h.Graphs(), "graphs"))
	r.Out("limits packed", report.Count(len(all), "limits"))
	r.Out("limits on the front", report.Count(len(front), "limits"))
	table := report.Table{Title: "No cheaper limits are as full"}
	table.Columns = append(append(table.Columns, h.Components...), "cost of a pack", "packs", "full (harmonic mean)")
	for _, f := range front {
		var row []report.Value
		for _, l := range f.Limits {
			row = append(row, report.Exact(int64(l)))
		}
		table.Rows = append(table.Rows, append(row, report.Number(f.Cost, ""), report.Exact(f.Packs), report.Share(f.Mean)))
	}
	r.Table(table)
	if m := shapesMap(h); m != nil {
		r.Heat(*m)
	}
	began := time.Now()
	n := gridSize(len(all))
	line := operation.NewMeter(&o.Run, "heat map", int64(n*n), "limits")
	grid, err := pack.Grid(ctx, h, o.MaxGraphs, n, o.Threads, func() { line.Add(1) })
	line.End()
	if err != nil {
		return err
	}
	r.Stage("heat map", time.Since(began), int64(len(grid)), "limits")
	if m := limitsMap(h, grid, n); m != nil {
		r.Heat(*m)
	}
	return operation.Publish(&o.Run, w, r, start)
}

// limitsMap draws how full packs are by pairs of limits; nil if nothing can be drawn. As in the paper, values below a half
// are drawn as a half.
func limitsMap(h *pack.Histogram, grid []pack.Candidate, size int) *report.HeatMap {
	if len(grid) == 0 {
		return nil
	}
	m := &report.HeatMap{Title: "How full packs are, by limits", X: "limit of " + h.Components[1], Y: "limit of " + h.Components[0],
		Value: "harmonic mean of the efficiencies", Low: 0.5, High: 1, Share: true}
	// The grid is sorted by the second limit, then by the first. A cell ends where the next one begins.
	next := func(j, at int) float64 {
		for _, c := range grid {
			if c.Limits[j] > at {
				return float64(c.Limits[j])
			}
		}
		return float64(at) + max(float64(at-grid[0].Limits[j])/float64(size), 1)
	}
	for _, c := range grid {
		y, x := c.Limits[0], c.Limits[1]
		m.Cells = append(m.Cells, report.HeatCell{X0: float64(x), X1: next(1, x), Y0: float64(y), Y1: next(0, y), Value: c.Mean})
	}
	return m
}

// gridSize returns the number of limits of each component in the heat map: so few that the map, which has up to two cells for
// each limit that was tried, takes about the time of the search at most.
func gridSize(tried int) int { return min(max(int(math.Sqrt(2*float64(tried))), 10), 16) }
