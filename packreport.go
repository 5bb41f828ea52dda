package graphmill

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/report"
)

// Packing describes how graphs were packed. Its JSON is what the command pack prints with --json. The keys of its maps are
// components.
type Packing struct {
	Packs      int64   `json:"packs"`
	Output     string  `json:"output,omitempty"` // the folder of the pack layout, as it was named; "" if none was written
	LowerBound int64   `json:"lower_bound"`      // proven: no packing has fewer packs
	Gap        float64 `json:"gap"`              // (Packs - LowerBound) / LowerBound
	// Efficiency is the share of the room of all packs that graphs fill.
	Efficiency map[string]float64 `json:"efficiency"`
	// EfficiencyUsed is the same with Used in place of Limits, as in the paper on tuple packing.
	EfficiencyUsed map[string]float64 `json:"efficiency_used"`
	// Ceiling is the efficiency of LowerBound packs: the most that any packing reaches with these limits.
	Ceiling      map[string]float64 `json:"ceiling"`
	Seconds      float64            `json:"seconds"`       // elapsed time of the search
	FoundSeconds float64            `json:"found_seconds"` // time from its start to the packing that was kept
	Method       string             `json:"method"`        // the requested method
	By           string             `json:"by"`            // the method, or the part of PackAuto, that found the packing
	Limits       map[string]int     `json:"limits"`        // as given, with the room that Reserve keeps
	Used         map[string]int     `json:"used"`          // size of the fullest pack
	MaxGraphs    int                `json:"max_graphs"`    // PackOptions.MaxGraphs
	MostGraphs   int                `json:"most_graphs"`   // graphs in the pack with the most
	Graphs       int64              `json:"graphs"`        // graphs that were packed
	Shapes       int                `json:"shapes"`        // distinct sizes among them
	Oversize     int64              `json:"oversize"`      // graphs that are larger than a pack
	Reserve      bool               `json:"reserve"`
	Timed        bool               `json:"timed,omitempty"` // a TimeBudget was given

	components []string
	oversize   string
}

func newPacking(r *pack.Result, l *layout.Layout, o *PackOptions) *Packing {
	h := r.Problem.Histogram
	used, most := r.Used(h)
	j := &Packing{
		Packs: r.Packs(), LowerBound: r.LowerBound, Gap: r.Gap(), Seconds: r.Elapsed.Seconds(), FoundSeconds: r.Found.Seconds(),
		Method: string(o.Method), By: r.By, MaxGraphs: o.MaxGraphs, MostGraphs: most, Graphs: h.Graphs(), Shapes: len(h.Counts), Oversize: l.Meta.OversizeGraphs, Reserve: o.Reserve, Timed: o.TimeBudget > 0,
		components: h.Components, oversize: string(o.Oversize),
		Efficiency: map[string]float64{}, EfficiencyUsed: map[string]float64{}, Ceiling: map[string]float64{}, Limits: map[string]int{}, Used: map[string]int{},
	}
	for i, name := range h.Components {
		limit := l.Meta.Limits[i]
		j.Efficiency[name] = h.Efficiency(i, r.Packs(), limit)
		j.EfficiencyUsed[name] = h.Efficiency(i, r.Packs(), used[i])
		j.Ceiling[name] = h.Efficiency(i, r.LowerBound, limit)
		j.Limits[name], j.Used[name] = limit, used[i]
	}
	return j
}

// Text writes the packing in words.
func (j *Packing) Text(w io.Writer) error {
	var b strings.Builder
	proof := fmt.Sprintf("at most %.3g %% above the best", 100*j.Gap)
	if j.Packs == j.LowerBound {
		proof = "optimal"
	}
	fmt.Fprintf(&b, "%s of %s (%s; no packing has fewer than %s), by %s, found after %s of %s\n",
		counted(j.Packs, "pack"), counted(j.Graphs, "graph"), proof, human.Exact(j.LowerBound), j.By, human.Duration(seconds(j.FoundSeconds)), human.Duration(seconds(j.Seconds)))
	for _, c := range j.components {
		fmt.Fprintf(&b, "  %-12s limit %s, full %.2f %% (at most %.2f %% with these limits)\n", c, human.Exact(int64(j.Limits[c])), 100*j.Efficiency[c], 100*j.Ceiling[c])
	}
	fmt.Fprintf(&b, "  %-12s at most %s per pack\n", "graphs", human.Exact(int64(j.MostGraphs)))
	if j.Reserve {
		b.WriteString("  " + reserveNote + "\n")
	}
	if j.Oversize > 0 {
		fmt.Fprintf(&b, "  %s %s\n", human.Exact(j.Oversize), larger(j.Oversize, j.oversize))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// reportPacking reports the quality of a packing.
func reportPacking(r *report.Report, p *pack.Result, j *Packing) {
	components := j.components
	r.Head("packs", report.Count(j.Packs, "packs"))
	r.Head("lower bound", report.Count(j.LowerBound, "packs"))
	for _, c := range components {
		r.Head(c+" full", report.Share(j.Efficiency[c]))
	}
	r.In("graphs", report.Count(j.Graphs+j.Oversize, "graphs"))
	r.In("shapes", report.Count(j.Shapes, "shapes"))
	r.Out("packs", report.Count(j.Packs, "packs"))
	r.Out("patterns", report.Count(len(p.Patterns), "patterns"))
	r.Warn(j.Oversize, larger(j.Oversize, j.oversize))
	rows := [][]report.Value{}
	for _, c := range components {
		rows = append(rows, []report.Value{report.Text(c), report.Exact(int64(j.Limits[c])), report.Exact(int64(j.Used[c])), report.Share(j.Efficiency[c]), report.Share(j.EfficiencyUsed[c]), report.Share(j.Ceiling[c])})
	}
	r.Table(report.Table{Title: "Components", Columns: []string{"component", "limit", "most used", "full", "full, of the most used", "ceiling"}, Rows: rows})
	if m := shapesMap(p.Problem.Histogram); m != nil {
		r.Heat(*m)
	}
	for i, c := range components {
		after, h := new(report.Histogram), p.Problem.Histogram
		for _, x := range p.Patterns {
			sum := 0
			for _, part := range x.Parts {
				sum += h.Shape(part.Shape)[i] * part.Copies
			}
			after.AddN(uint64(sum), uint64(x.Packs))
		}
		r.Plot(report.Distribution{Title: "Sizes in " + c, Of: "graphs or packs", What: c, View: report.Bins,
			Series: []report.Series{{Name: "graphs", Histogram: sizesOf(h, i)}, {Name: "packs", Histogram: after}}})
	}
}

// sizesOf returns the histogram of the sizes of the graphs in a component.
func sizesOf(h *pack.Histogram, component int) *report.Histogram {
	sizes := new(report.Histogram)
	for i, n := range h.Counts {
		sizes.AddN(uint64(h.Shape(i)[component]), uint64(n))
	}
	return sizes
}

// shapesMap draws the number of graphs by their sizes in the first two components; nil if there is only one component.
// Sizes above the 99.9th percentile are left out, as in the paper.
func shapesMap(h *pack.Histogram) *report.HeatMap {
	if len(h.Components) < 2 {
		return nil
	}
	const bins = 80
	var top [2]int
	for j := range top {
		var sizes report.Histogram
		for i, c := range h.Counts {
			sizes.AddN(uint64(h.Shape(i)[j]), uint64(c))
		}
		top[j] = int(sizes.Quantile(0.999)) + 1
	}
	step := [2]float64{max(float64(top[0])/bins, 1), max(float64(top[1])/bins, 1)}
	counts := map[[2]int]int64{}
	most := int64(1)
	for i, c := range h.Counts {
		s := h.Shape(i)
		if s[0] >= top[0] || s[1] >= top[1] {
			continue
		}
		at := [2]int{int(float64(s[0]) / step[0]), int(float64(s[1]) / step[1])}
		counts[at] += c
		most = max(most, counts[at])
	}
	m := &report.HeatMap{Title: "Graphs by size", X: h.Components[1], Y: h.Components[0], Value: "graphs", Low: 1, High: float64(max(most, 2)), Log: true}
	for at, c := range counts {
		y, x := float64(at[0])*step[0], float64(at[1])*step[1]
		m.Cells = append(m.Cells, report.HeatCell{X0: x, X1: x + step[1], Y0: y, Y1: y + step[0], Value: float64(c)})
	}
	slices.SortFunc(m.Cells, func(a, b report.HeatCell) int { return cmp.Or(cmp.Compare(a.Y0, b.Y0), cmp.Compare(a.X0, b.X0)) })
	return m
}

// counted returns a number and a noun: "1 pack", "3,744 packs".
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return human.Exact(n) + " " + noun
}

// larger says how n graphs that are larger than a pack are treated. The caller puts their number before it.
func larger(n int64, oversize string) string {
	switch {
	case oversize == layout.Skip && n == 1:
		return "graph is larger than a pack and is left out"
	case oversize == layout.Skip:
		return "graphs are larger than a pack and are left out"
	case n == 1:
		return "graph is larger than a pack and is a pack of its own, separate from the others"
	}
	return "graphs are larger than a pack and are packs of their own, separate from the others"
}
