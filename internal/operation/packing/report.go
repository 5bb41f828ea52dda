package packing

import (
	"cmp"
	"slices"

	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

func newPacking(r *pack.Result, l *layout.Layout, o *option.Pack) *report.Packing {
	h := r.Problem.Histogram
	used, most := r.Used(h)
	j := &report.Packing{
		Packs: r.Packs(), LowerBound: r.LowerBound, Gap: r.Gap(), Seconds: r.Elapsed.Seconds(), FoundSeconds: r.Found.Seconds(),
		Method: string(o.Method), By: r.By, MaxGraphs: o.MaxGraphs, MostGraphs: most, Graphs: h.Graphs(), Shapes: len(h.Counts), Oversize: l.Meta.OversizeGraphs, Reserve: o.Reserve, Timed: o.TimeBudget > 0,
		Components: h.Components, Larger: layout.Larger(l.Meta.OversizeGraphs, string(o.Oversize)),
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

// reportPacking reports the quality of a packing.
func reportPacking(r *report.Report, p *pack.Result, j *report.Packing) {
	components := j.Components
	r.Head("packs", report.Count(j.Packs, "packs"))
	r.Head("lower bound", report.Count(j.LowerBound, "packs"))
	for _, c := range components {
		r.Head(c+" full", report.Share(j.Efficiency[c]))
	}
	r.In("graphs", report.Count(j.Graphs+j.Oversize, "graphs"))
	r.In("shapes", report.Count(j.Shapes, "shapes"))
	r.Out("packs", report.Count(j.Packs, "packs"))
	r.Out("patterns", report.Count(len(p.Patterns), "patterns"))
	r.Warn(j.Oversize, j.Larger)
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
