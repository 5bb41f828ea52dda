package preparing

import (
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/option"
)

// The meter of a fit counts the rows that it reads.
func TestFitProgress(t *testing.T) {
	const rows = 10
	columns := []*graph.Column{{Name: "a", DType: graph.Float32, Rows: rows, Values: graph.Bytes(make([]float32, rows))}}
	var last option.Progress
	run := &option.Run{Threads: 1, Progress: func(p option.Progress) { last = p }}
	p := &preparation{Input: Input{Plan: &features.Plan{Fit: features.FitRows{All: true}}, Run: run}, opt: features.Options{Threads: 1}}
	specs := []features.Spec{{Name: "f", DType: graph.Float32, Parts: []features.Part{{From: "a", Scale: features.ScaleMinMax}}}}
	if _, err := p.fit(t.Context(), tableOf{name: "u", columns: columns, count: rows}, &features.Table{Type: "u", Columns: columns, Rows: rows}, specs); err != nil {
		t.Fatal(err)
	}
	if last.Stage != "fit of u" || last.Done != rows || !last.End {
		t.Errorf("found %+v, expected the end of the fit after %d rows", last, rows)
	}
}
