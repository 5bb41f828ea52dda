package exporting

import (
	"context"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/export/graphar"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/report"
)

// graphAr writes a store as a graph of Apache GraphAr.
func (e *exporting) graphAr(ctx context.Context) (err error) {
	o, r := e.o, e.report
	name := o.GraphName
	if name == "" {
		name = operation.GraphName(e.in)
	}
	if err := operation.Keeps(e.out, e.in); err != nil {
		return err
	}
	s, err := operation.OpenGraph(e.in)
	if err != nil {
		return err
	}
	defer operation.CloseAfter(&err, e.out, s.Close)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: operation.Version(), Options: map[string]string{"to": string(o.To), "graph_name": name}}
	if made.Inputs["store"], err = operation.InputFolder(r, e.in); err != nil {
		return err
	}
	var result *graphar.Result
	return operation.WriteOutput(&o.Run, ctx, e.out, &made, r, e.start, operation.Work{Progress: "export", Stage: "encode and write", Total: int64(graphar.Rows(s.Graph)), Unit: "rows"}, func(w *store.Writer, line *operation.Meter) (int64, error) {
		var err error
		if result, err = graphar.Write(ctx, w, s, graphar.Options{Name: name, Progress: func(n int) { line.Add(int64(n)) }}); err != nil {
			return 0, err
		}
		return int64(result.Nodes + result.Edges), nil
	}, func(time.Duration) {
		operation.WarnLeft(&o.Run, r, result.Left)
		if len(result.Changed) > 0 {
			r.Note("written in another dtype: " + strings.Join(result.Changed, ", "))
			operation.Warn(&o.Run, "written in another dtype: %s", strings.Join(result.Changed, ", "))
		}
		if len(result.Nulls) > 0 {
			operation.Note(&o.Run, "missing values are nulls in %s; to import the graph again, give `Missing` column", strings.Join(result.Nulls, ", "))
		}
		r.Head("nodes", report.Count(result.Nodes, "nodes"))
		r.Head("edges", report.Count(result.Edges, "edges"))
		r.Out("files", report.Count(result.Files, "files"))
	})
}
