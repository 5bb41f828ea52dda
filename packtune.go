package graphmill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Amount is a number for a component.
type Amount struct {
	Component string
	N         float64
}

// TuneOptions say how TunePacks searches for limits.
type TuneOptions struct {
	Run
	Components []string // nil is num_nodes and num_edges
	Align      []Amount // limits are multiples of these integers from 1; components that are not listed have 1
	Cost       []Amount // cost of one unit of a component, such as its bytes; components that are not listed have 1
	Ceiling    float64  // the most that a pack may cost; 0 is sixteen times the cost of the smallest limits
	MaxGraphs  int      // most graphs in a pack; 0 is no bound
	Tries      int      // the most limits to pack with; 0 is 400
	// Target is a harmonic mean of the efficiencies, in percent, at most 100. If it is not 0, TunePacks packs with the
	// cheapest limits that reach it, as Pack does with these Limits and MaxGraphs, and writes the pack layout.
	Target float64
}

// search converts the options for package pack.
func (o *TuneOptions) search() (pack.Tune, error) {
	if o.Components == nil {
		o.Components = []string{"num_nodes", "num_edges"}
	}
	setDefault(&o.Tries, 400)
	s := pack.Tune{Ceiling: o.Ceiling, MaxGraphs: o.MaxGraphs, Tries: o.Tries}
	if !(o.Ceiling >= 0) || o.MaxGraphs < 0 || o.Tries < 1 {
		return s, usagef("found `Ceiling` %v, `MaxGraphs` %d and `Tries` %d, expected numbers that are not negative, and at least one try", o.Ceiling, o.MaxGraphs, o.Tries)
	}
	if !(o.Target >= 0 && o.Target <= 100) {
		return s, usagef("found `Target` %v, expected a percentage above 0, at most 100", o.Target)
	}
	for range o.Components {
		s.Align, s.Cost = append(s.Align, 1), append(s.Cost, 1)
	}
	for _, list := range []struct {
		field   string
		amounts []Amount
		set     func(i int, v float64)
	}{{"Align", o.Align, func(i int, v float64) { s.Align[i] = int(v) }}, {"Cost", o.Cost, func(i int, v float64) { s.Cost[i] = v }}} {
		for _, a := range list.amounts {
			i := slices.Index(o.Components, a.Component)
			if i < 0 || !(a.N >= 0) || a.N > 1<<30 || list.field == "Align" && (a.N < 1 || a.N != float64(int(a.N))) {
				return s, usagef("found `%s` \"%s=%v\", expected COMPONENT=NUMBER with a component of %s", list.field, a.Component, a.N, strings.Join(o.Components, ","))
			}
			list.set(i, a.N)
		}
	}
	return s, errors.Join(checkComponents(o.Components), o.check())
}

// Tuning is the result of TunePacks. Its JSON is what the command pack tune prints with --json.
type Tuning struct {
	Output     string           `json:"output,omitempty"` // the folder that was written, as it was named; "" if none was
	Components []string         `json:"components"`
	Front      []pack.Candidate `json:"front"`            // limits for which no cheaper limits are as full
	Tried      []pack.Candidate `json:"tried"`            // all limits that were packed with
	Target     float64          `json:"target,omitempty"` // TuneOptions.Target
	// Packing is the packing with the cheapest limits that reach Target; nil without a target.
	Packing *Packing `json:"packing,omitempty"`
}

// Text writes the front in words; with a target, the limits that reach it and the packing.
func (t *Tuning) Text(out io.Writer) error {
	var b strings.Builder
	if t.Packing != nil {
		limits := make([]int, len(t.Components))
		for i, c := range t.Components {
			limits[i] = t.Packing.Limits[c]
		}
		fmt.Fprintf(&b, "%s are the cheapest limits that reach %v %% (%d were packed)\n", limitText(t.Components, limits), t.Target, len(t.Tried))
		if err := t.Packing.Text(&b); err != nil {
			return err
		}
		_, err := io.WriteString(out, b.String())
		return err
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tcost of a pack\tpacks\tcost of all\tfull (%%)\tharmonic mean (%%)\t\n", strings.Join(t.Components, "\t"))
	for _, c := range t.Front {
		for _, l := range c.Limits {
			fmt.Fprintf(w, "%d\t", l)
		}
		var full []string
		for _, e := range c.Efficiency {
			full = append(full, strconv.FormatFloat(100*e, 'f', 2, 64))
		}
		fmt.Fprintf(w, "%.6g\t%s\t%.6g\t%s\t%.2f\t\n", c.Cost, human.Exact(c.Packs), c.Cost*float64(c.Packs), strings.Join(full, ", "), 100*c.Mean)
	}
	w.Flush()
	fmt.Fprintf(&b, "%d limits were packed\n", len(t.Tried))
	_, err := io.WriteString(out, b.String())
	return err
}

// TunePacks searches for good limits. It packs with limits near the ratio of the mean sizes, from the size of the largest
// graph to packs that cost sixteen times as much, and finds the front: the limits for which no cheaper limits are as full.
// The measure of fullness is the harmonic mean of the efficiencies, which is low if any component loses room. A report
// with plots goes to the folder out, or, with a Target, the pack layout for the cheapest limits that reach it; if out is
// "", nothing is written.
func TunePacks(ctx context.Context, in, out string, o TuneOptions) (_ *Tuning, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	search, err := o.search()
	if err != nil {
		return nil, err
	}
	h, fingerprint, size, err := histogram(in, o.Components, o.Memory)
	if err != nil {
		return nil, err
	}
	if out != "" {
		if err := keeps(out, in); err != nil {
			return nil, err
		}
	}
	line := o.meter("tune", int64(o.Tries), "limits")
	search.Tried = func() { line.add(1) }
	all, front, err := pack.Search(ctx, h, search)
	line.end()
	if err != nil {
		return nil, described(in, err)
	}
	t := &Tuning{Components: o.Components, Front: front, Tried: all, Target: o.Target}
	if o.Target > 0 {
		from := packSource{in: in, fingerprint: fingerprint, size: size, start: start, ready: time.Now(), before: "search for limits"}
		if t.Packing, err = o.packTarget(ctx, from, out, h, all); err == nil || errors.Is(err, ErrWhole) {
			t.Output = out
		}
		return t, err
	}
	if out == "" {
		return t, nil
	}
	made := store.Made{Command: "pack tune", Version: Version(), Inputs: map[string]string{}, Options: map[string]string{
		"components": strings.Join(o.Components, ","), "align": amountText(o.Align), "cost": amountText(o.Cost), "ceiling": strconv.FormatFloat(o.Ceiling, 'g', -1, 64),
		"max_graphs": strconv.Itoa(o.MaxGraphs), "tries": strconv.Itoa(o.Tries)}}
	if fingerprint == "" {
		if fingerprint, err = store.Fingerprint(ctx, vfs.OS, in); err != nil {
			return nil, err
		}
	}
	name := filepath.Base(filepath.Clean(in))
	made.Inputs[name] = fingerprint
	r := o.begin("pack tune", "Limits for "+name)
	r.InputAt(name, size, fingerprint, in)
	r.Stage("search", time.Since(start), int64(len(all)), "limits")
	if err = o.report(ctx, out, r, made, h, all, front, start); err == nil || errors.Is(err, ErrWhole) {
		t.Output = out
	}
	return t, err
}

// packTarget packs with the cheapest of the limits that were tried with which packs are as full as the target, and writes
// the layout, unless out is "".
func (o *TuneOptions) packTarget(ctx context.Context, from packSource, out string, h *pack.Histogram, tried []pack.Candidate) (*Packing, error) {
	best := tried[0]
	for _, c := range tried {
		if c.Mean > best.Mean {
			best = c
		}
		if 100*c.Mean < o.Target {
			continue
		}
		p := PackOptions{Run: o.Run, MaxGraphs: o.MaxGraphs}
		for i, name := range o.Components {
			p.Limits = append(p.Limits, PackLimit{name, c.Limits[i]})
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		r, terms, err := p.solve(ctx, from.in, &pack.Problem{Histogram: h, Limits: c.Limits, MaxGraphs: o.MaxGraphs})
		if err != nil {
			return nil, err
		}
		// Pack works longer than the search did, but by other methods: it may need more packs.
		if 100*pack.HarmonicMean(h, c.Limits, r.Packs()) < o.Target {
			continue
		}
		packing, l := p.describe(r, terms)
		if out == "" {
			return packing, nil
		}
		return packing, p.write(ctx, from, out, r, l, packing)
	}
	return nil, fmt.Errorf("%s: found packs that are at most %.2f %% full, with the limits %s, expected %v %%; lower `Target`, or raise `Ceiling` or `Tries`",
		from.in, 100*best.Mean, limitText(o.Components, best.Limits), o.Target)
}

// limitText returns limits in the form of the command line.
func limitText(components []string, limits []int) string {
	var list []string
	for i, c := range components {
		list = append(list, c+"="+strconv.Itoa(limits[i]))
	}
	return strings.Join(list, ",")
}

// amountText returns amounts in the form of the command line.
func amountText(list []Amount) string {
	var s []string
	for _, a := range list {
		s = append(s, a.Component+"="+strconv.FormatFloat(a.N, 'g', -1, 64))
	}
	return strings.Join(s, ",")
}

// report writes the result of a search as a page with plots.
func (o *TuneOptions) report(ctx context.Context, out string, r *report.Report, made store.Made, h *pack.Histogram, all, front []pack.Candidate, start time.Time) (err error) {
	writing := time.Now()
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer endWith(&err, w)
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
	line := o.meter("heat map", int64(n*n), "limits")
	grid, err := pack.Grid(ctx, h, o.MaxGraphs, n, o.Threads, func() { line.add(1) })
	line.end()
	if err != nil {
		return err
	}
	r.Stage("heat map", time.Since(began), int64(len(grid)), "limits")
	if m := limitsMap(h, grid, n); m != nil {
		r.Heat(*m)
	}
	return o.publish(w, r, start)
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
