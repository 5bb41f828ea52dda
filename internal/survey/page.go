package survey

import (
	"fmt"
	"math"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/report"
)

// Stats returns the survey as TF-GNN's message that its sampled_stats writes. In addition to that tool's fields it
// has means, standard deviations and a sample of sizes.
func (s *Survey) Stats() *tfgnnpb.GraphTensorStats {
	m := &tfgnnpb.GraphTensorStats{}
	for i := range s.Features {
		f := &s.Features[i]
		stats := &tfgnnpb.Stats{Quantiles: f.Quantiles}
		if q := f.Quantiles; len(q) > 0 {
			stats.Min, stats.Max, stats.Median = &q[0], &q[len(q)-1], &q[len(q)/2]
			if mean, std := float32(f.Mean), float32(f.Std); finite(f.Std) { // the message cannot hold infinities
				stats.Mean, stats.Std = &mean, &std
			}
		}
		m.FeatureStats = append(m.FeatureStats, &tfgnnpb.FeatureStats{SetType: &f.Kind, SetName: &f.Set, FeatureName: &f.Name, Stats: stats})
	}
	m.Samples = &tfgnnpb.Samples{}
	for _, p := range s.Pairs {
		nodes, edges := int32(min(p.Nodes, math.MaxInt32)), int32(min(p.Edges, math.MaxInt32))
		m.Samples.SizePairs = append(m.Samples.SizePairs, &tfgnnpb.SizePair{NumNodes: &nodes, NumEdges: &edges})
	}
	return m
}

// Report adds the survey to a report.
func (s *Survey) Report(r *report.Report) {
	r.Head("Examples", report.Count(s.Examples, ""))
	r.In("records", report.Bytes(s.Bytes))
	if s.Components != s.Examples {
		r.In("components", report.Count(s.Components, ""))
	}
	r.Warn(int64(s.Repaired), "Examples were broken and read as far as possible")
	if s.Unknown > 0 {
		r.Warn(int64(s.Unknown), "values under keys that the schema does not have: "+strings.Join(s.UnknownKeys, ", "))
	}
	s.sets(r)
	s.features(r)
}

func (s *Survey) sets(r *report.Report) {
	sizes := report.Table{Title: "Sets", Columns: []string{"set", "", "total", "least", "median", "mean", "largest", "empty in"}}
	degrees := report.Table{Title: "Edges of a node", Columns: []string{"edges", "nodes", "median", "mean", "p99", "largest", "none"}}
	nodes := report.Distribution{Title: "Nodes of a GraphTensor", Of: "GraphTensors", What: "nodes", View: report.Bins}
	edges := report.Distribution{Title: "Edges of a GraphTensor", Of: "GraphTensors", What: "edges", View: report.Bins}
	ends := report.Distribution{Title: "Edges of a node", Of: "nodes", What: "edges", View: report.CCDF}
	for _, t := range s.Sets {
		h := t.Sizes
		sizes.Rows = append(sizes.Rows, []report.Value{report.Text(t.Name), report.Text(t.Kind), report.Count(h.Sum(), ""), report.Count(h.Min(), ""),
			report.Count(h.Quantile(.5), ""), report.Number(h.Mean(), ""), report.Count(h.Max(), ""), report.Count(h.Zeros(), "")})
		if t.Kind == "nodes" {
			nodes.Series = append(nodes.Series, report.Series{Name: t.Name, Histogram: h})
			continue
		}
		edges.Series = append(edges.Series, report.Series{Name: t.Name, Histogram: h})
		for _, end := range []struct {
			name string
			h    *report.Histogram
		}{{fmt.Sprintf("%s from %s", t.Name, t.Source), t.Out}, {fmt.Sprintf("%s to %s", t.Name, t.Target), t.In}} {
			ends.Series = append(ends.Series, report.Series{Name: end.name, Histogram: end.h})
			degrees.Rows = append(degrees.Rows, []report.Value{report.Text(end.name), report.Count(end.h.Count(), ""), report.Count(end.h.Quantile(.5), ""),
				report.Number(end.h.Mean(), ""), report.Count(end.h.Quantile(.99), ""), report.Count(end.h.Max(), ""), report.Count(end.h.Zeros(), "")})
		}
	}
	for _, t := range []report.Table{sizes, degrees} {
		if len(t.Rows) > 0 {
			r.Table(t)
		}
	}
	for _, d := range []report.Distribution{nodes, edges, ends} {
		if len(d.Series) > 0 {
			r.Plot(d)
		}
	}
}

func (s *Survey) features(r *report.Report) {
	t := report.Table{Title: "Features", Columns: []string{"set", "feature", "values", "NaN", "mean", "deviation", "least", "p10", "median", "p90", "largest"}}
	approximate := 0
	for i := range s.Features {
		f := &s.Features[i]
		row := []report.Value{report.Text(strings.TrimSpace(f.Kind + " " + f.Set)), report.Text(f.Name), report.Count(f.Values, ""), report.Count(f.NaN, "")}
		if q := f.deciles; len(q) > 0 {
			row = append(row, number(f.Mean), number(f.Std), number(float64(q[0])), number(float64(q[1])), number(float64(q[5])), number(float64(q[9])), number(float64(q[10])))
		} else {
			row = append(row, make([]report.Value, 7)...)
		}
		t.Rows = append(t.Rows, row)
		if !f.Exact {
			approximate++
		}
	}
	if len(t.Rows) > 0 {
		r.Table(t)
	}
	if approximate > 0 {
		r.Note(fmt.Sprintf("the quantiles of %d features with more than %d different values are within 1/4096 of their size", approximate, maxExact))
	}
}

// number returns a figure, which may be NaN or infinite.
func number(v float64) report.Value {
	if !finite(v) {
		return report.Text(fmt.Sprint(v))
	}
	return report.Number(v, "")
}
