package dividing

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

func byName(names []string, values []float64) map[string]float64 {
	m := map[string]float64{}
	for i, name := range names {
		m[name] = values[i]
	}
	return m
}

func newDivision(p *partition.Result, elapsed time.Duration) *report.Division {
	q := p.Quality
	j := &report.Division{
		Method: p.Method, Parts: p.Assignment.Parts, Trainers: p.Assignment.Trainers, Nodes: p.Nodes, Pairs: p.Pairs,
		Cut: q.Cut, CutShare: q.CutShare, Volume: q.Volume, Boundary: q.Boundary, Balance: byName(p.Constraints, q.Balance), Within: p.Within,
		EdgeBalance: q.EdgeBalance, EmptyParts: q.EmptyParts, EdgeTypes: map[string]report.EdgeTypeCut{},
		Random:  report.RandomDivision{Cut: p.RandomCut, Volume: p.RandomVolume, CutRatio: human.Ratio(float64(q.Cut), p.RandomCut)},
		Seconds: p.Seconds, ElapsedSeconds: elapsed.Seconds(), PeakRSS: report.PeakRSS(),
		Forecast: report.DivisionForecast{Memory: p.Forecast.Memory, Disk: p.Forecast.Disk, Seconds: p.Forecast.Seconds, Rough: p.Forecast.Rough, Unknown: p.Forecast.Unknown}, Notes: p.Notes, Balanced: p.Constraints,
	}
	if x := p.OutOfCore; x != nil {
		j.OutOfCore = &report.DivisionOutOfCore{Levels: x.Levels, CoreNodes: x.CoreNodes, CorePairs: x.CorePairs, Passes: x.Passes, ReadBytes: x.Read, WrittenBytes: x.Written, Words: x.String()}
	}
	if x := p.Ranges; x != nil {
		j.Ranges = &report.DivisionRanges{CoreNodes: x.CoreNodes, CorePairs: x.CorePairs, CoreOutOfCore: x.OutOfCore != nil, ByDegree: x.ByDegree, Passes: x.Passes, Barriers: x.Barriers,
			SentBytes: x.Sent, ReceivedBytes: x.Received, Words: x.String()}
	}
	if p.Trainers != nil {
		j.TrainerBalance = byName(p.Constraints, p.Trainers.Balance)
	}
	for _, e := range p.Relations {
		j.EdgeTypes[e.Type] = report.EdgeTypeCut{Edges: e.Edges, Cut: e.Cut, CutShare: human.Ratio(float64(e.Cut), float64(e.Edges))}
	}
	for _, g := range p.Gaps {
		j.Gaps = append(j.Gaps, report.TypeGap{Type: g.Type, Nodes: g.Nodes, Parts: g.Parts})
	}
	for _, x := range q.Parts {
		w := map[string]int64{}
		for c, name := range p.Constraints {
			w[name] = x.Weights[c]
		}
		j.Each = append(j.Each, report.DividedPart{Nodes: x.Nodes, Volume: x.Volume, Cut: x.Cut, Weights: w})
	}
	return j
}

// ReportCut reports the quality of a division.
func ReportCut(r *report.Report, p *partition.Result) {
	q := p.Quality
	r.Head("cut", report.Count(q.Cut, "pairs"))
	r.Head("share of pairs cut", report.Share(q.CutShare))
	r.Head("volume", report.Count(q.Volume, "nodes"))
	r.Head("edge balance", report.Number(q.EdgeBalance, ""))
	r.In("nodes", report.Count(p.Nodes, "nodes"))
	r.In("pairs of neighbours", report.Count(p.Pairs, "pairs"))
	r.Out("parts", report.Count(p.Assignment.Parts, "parts"))
	r.Out("method", report.Text(p.Method))
	if p.OutOfCore != nil {
		r.Note("out of core: " + p.OutOfCore.String())
	}
	if p.Ranges != nil {
		r.Note("ranges: " + p.Ranges.String())
	}
	for _, note := range p.Notes {
		r.Note(note)
	}
	if !p.Within {
		r.Note("the requested balance was not reached")
	}
	r.Warn(int64(q.EmptyParts), "parts are empty")

	chance := report.Table{Title: "Against chance", Columns: []string{"measure", "this", "nodes dealt out by chance", "ratio"}}
	for _, x := range []struct {
		name       string
		this, that float64
	}{{"cut", float64(q.Cut), p.RandomCut}, {"volume", float64(q.Volume), p.RandomVolume}} {
		chance.Rows = append(chance.Rows, []report.Value{report.Text(x.name), report.Count(int64(x.this), ""), report.Count(int64(x.that), ""), report.Number(human.Ratio(x.this, x.that), "")})
	}
	r.Table(chance)

	balance := report.Table{Title: "Balance: the heaviest part against the mean", Columns: []string{"of", "parts"}}
	if p.Trainers != nil {
		balance.Columns = append(balance.Columns, "trainers")
	}
	add := func(name string, parts float64, trainers func() float64) {
		row := []report.Value{report.Text(name), report.Number(parts, "")}
		if p.Trainers != nil {
			row = append(row, report.Number(trainers(), ""))
		}
		balance.Rows = append(balance.Rows, row)
	}
	for c, name := range p.Constraints {
		add(name, q.Balance[c], func() float64 { return p.Trainers.Balance[c] })
	}
	add("degrees (edges)", q.EdgeBalance, func() float64 { return p.Trainers.EdgeBalance })
	r.Table(balance)

	if len(p.Relations) > 0 {
		types := report.Table{Title: "Edge types", Columns: []string{"edge type", "edges", "cut", "share"}}
		for _, e := range p.Relations {
			types.Rows = append(types.Rows, []report.Value{report.Text(e.Type), report.Count(e.Edges, ""), report.Count(e.Cut, ""), report.Share(human.Ratio(float64(e.Cut), float64(e.Edges)))})
		}
		r.Table(types)
	}
	reportParts(r, p)
	for _, s := range p.Stages {
		r.Stage(s.Name, time.Duration(s.Seconds*float64(time.Second)), s.Count, s.Unit)
	}
}

// tellGaps warns about node types that some parts lack.
func tellGaps(o *option.Run, r *report.Report, p *partition.Result) {
	if len(p.Gaps) == 0 {
		return
	}
	var list []string
	for _, g := range p.Gaps {
		list = append(list, fmt.Sprintf("%s: none of its %s nodes in part %s", g.Type, human.Exact(g.Nodes), human.List(g.Parts)))
	}
	what := fmt.Sprintf("node types are not in every part; DGL's server does not start for a part that owns no node of a type with features: %s", strings.Join(list, "; "))
	operation.WarnCount(o, r, int64(len(list)), what)
}

// reportParts adds a table with a row per part to the report, and plots of the parts.
func reportParts(r *report.Report, p *partition.Result) {
	q := p.Quality
	parts := report.Table{Title: "Parts", Columns: []string{"part", "nodes", "volume", "pairs cut"}}
	if len(p.Relations) > 0 {
		parts.Columns = append(parts.Columns, "edges owned")
	}
	var inner, volume, cut []uint64
	for i, x := range q.Parts {
		inner, volume, cut = append(inner, uint64(x.Nodes)), append(volume, uint64(x.Volume)), append(cut, uint64(x.Cut))
		if i >= ShownParts {
			continue
		}
		row := []report.Value{report.Count(i, ""), report.Count(x.Nodes, ""), report.Count(x.Volume, ""), report.Count(x.Cut, "")}
		if len(p.Relations) > 0 {
			var owned int64
			for _, e := range p.Relations {
				owned += e.Owned[i]
			}
			row = append(row, report.Count(owned, ""))
		}
		parts.Rows = append(parts.Rows, row)
	}
	if n := len(q.Parts); n > ShownParts {
		parts.Title = fmt.Sprintf("Parts (the first %d of %d)", ShownParts, n)
	}
	r.Table(parts)
	r.Note("the volume of a part is the number of nodes of other parts that are neighbours of its nodes")
	PlotParts(r, "Sizes of parts", "nodes", PartValues{Name: "nodes", Values: inner}, PartValues{Name: "volume", Values: volume})
	PlotParts(r, "Pairs that leave a part", "pairs", PartValues{Name: "pairs cut", Values: cut})
	if m := betweenMap(q.Between, len(q.Parts)); m != nil {
		r.Heat(*m)
	}
}

// PartValues is a number per part.
type PartValues struct {
	Name   string
	Values []uint64
}

// PlotParts draws a number per part: as bars, or as a distribution where there are too many parts for bars.
func PlotParts(r *report.Report, title, of string, all ...PartValues) {
	if len(all[0].Values) <= report.MostBars {
		b := report.Bars{Title: title, X: "part", Y: of}
		for i := range all[0].Values {
			b.Names = append(b.Names, strconv.Itoa(i))
		}
		for _, x := range all {
			b.Series = append(b.Series, report.BarSeries{Name: x.Name, Values: x.Values})
		}
		r.Bar(b)
		return
	}
	d := report.Distribution{Title: title, Of: "parts", What: of, View: report.Bins}
	for _, x := range all {
		h := new(report.Histogram)
		for _, v := range x.Values {
			h.Add(v)
		}
		d.Series = append(d.Series, report.Series{Name: x.Name, Histogram: h})
	}
	r.Plot(d)
}

// betweenMap draws the pairs between each two parts; nil if they are not counted or there is none.
func betweenMap(between []int64, parts int) *report.HeatMap {
	most, least := int64(0), int64(math.MaxInt64)
	for _, n := range between {
		if most = max(most, n); n > 0 {
			least = min(least, n)
		}
	}
	if most == 0 {
		return nil
	}
	m := &report.HeatMap{Title: "Pairs between parts", X: "part", Y: "part", Value: "pairs", Low: 0, High: float64(most), Numbered: true}
	if most >= 20*least {
		m.Low, m.Log = float64(least), true
	}
	for i, n := range between {
		if y, x := float64(i/parts), float64(i%parts); x != y {
			m.Cells = append(m.Cells, report.HeatCell{X0: x, X1: x + 1, Y0: y, Y1: y + 1, Value: float64(n)})
		}
	}
	return m
}

// ShownParts is the most parts that a table of the report lists.
const ShownParts = 128
