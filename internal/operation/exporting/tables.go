package exporting

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/export/tables"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/drawing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// tables writes a store as Parquet tables.
func (e *exporting) tables(ctx context.Context) (err error) {
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
	var result *tables.Result
	opt := tables.Options{Name: operation.GraphName(e.in), Shards: o.Shards, Shell: drawing.Shell, Threads: o.Threads, Memory: o.Memory}
	return operation.WriteOutput(&o.Run, ctx, e.out, &made, r, e.start, operation.Work{Progress: "export", Stage: "encode and write", Total: tables.Rows(s.Graph), Unit: "rows"}, func(w *store.Writer, line *operation.Meter) (int64, error) {
		opt.Progress = func(n int) { line.Add(int64(n)) }
		if result, err = tables.Write(ctx, vfs.OS, w, s, opt); err != nil {
			return 0, err
		}
		return int64(result.Nodes + result.Edges), nil
	}, func(time.Duration) {
		if len(result.Notes) > 0 {
			r.Note("in another form than the store: " + strings.Join(result.Notes, "; "))
			operation.Warn(&o.Run, "in another form than the store: %s", strings.Join(result.Notes, "; "))
		}
		r.Head("nodes", report.Count(result.Nodes, "nodes"))
		r.Head("edges", report.Count(result.Edges, "edges"))
		r.Out("tables", report.Count(len(result.Tables), "tables"))
		list := report.Table{Title: "Tables", Columns: []string{"table", "of", "rows", "bytes"}}
		for _, t := range result.Tables {
			list.Rows = append(list.Rows, []report.Value{report.Text(t.Name), report.Text(t.Of), report.Count(t.Rows, ""), report.Bytes(t.Bytes)})
		}
		r.Table(list)
		query := tables.Query(s.Graph, result, e.out)
		if r.Next = "duckdb -c " + report.QuoteWord(query); !strings.ContainsAny(query, "\"$`\\!") {
			r.Next = `duckdb -c "` + query + `"`
		}
	})
}
