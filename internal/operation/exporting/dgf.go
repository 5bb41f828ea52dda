package exporting

import (
	"context"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// dgf writes a store as a graph of Google's DGF.
func (e *exporting) dgf(ctx context.Context) (err error) {
	o, r := e.o, e.report
	if err := operation.Keeps(e.out, e.in); err != nil {
		return err
	}
	s, err := operation.OpenGraph(e.in)
	if err != nil {
		return err
	}
	defer operation.CloseAfter(&err, e.out, s.Close)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: operation.Version(), Options: map[string]string{
		"to": string(o.To), "shards": strconv.Itoa(o.Shards)}}
	if made.Inputs["store"], err = operation.InputFolder(r, e.in); err != nil {
		return err
	}
	rows := 0
	for _, n := range s.Graph.Nodes {
		rows += n.Count
	}
	for _, x := range s.Graph.Edges {
		rows += x.Count
	}
	opt := unigraph.Options{Shards: o.Shards, Threads: o.Threads}
	var result *unigraph.DGFResult
	return operation.WriteOutput(&o.Run, ctx, e.out, &made, r, e.start, operation.Work{Progress: "export", Stage: "encode and write", Total: int64(rows), Unit: "rows"}, func(w *store.Writer, line *operation.Meter) (int64, error) {
		opt.Progress = func(n int) { line.Add(int64(n)) }
		if result, err = unigraph.WriteDGF(ctx, vfs.OS, w, s, opt); err != nil {
			return 0, err
		}
		return int64(rows), nil
	}, func(time.Duration) {
		for _, text := range result.Warnings {
			operation.Warn(&o.Run, "%s", text)
			r.Note(text)
		}
		tables := report.Table{Title: "Sets", Columns: []string{"set", "rows", "bytes"}}
		for _, x := range result.Tables {
			tables.Rows = append(tables.Rows, []report.Value{report.Text(x.Name), report.Count(x.Rows, ""), report.Bytes(x.Bytes)})
		}
		r.Head("rows", report.Count(rows, "rows"))
		r.Out("sets", report.Count(len(result.Tables), ""))
		r.Table(tables)
	})
}
