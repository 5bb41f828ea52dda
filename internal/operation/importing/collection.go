package importing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// importCollection makes a collection of the tables of many graphs.
func (o *importJob) importCollection(ctx context.Context, src *ingest.Source, inputs map[string]string, out string, r *report.Report, start time.Time) (_ *store.Store, err error) {
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	named := time.Now()
	line := operation.NewMeter(&o.Import.Build.Run, "import", 0, "rows")
	defer line.End()
	result, err := collection.Import(ctx, w, src.Collection, collection.Options{Threads: o.Threads, Memory: o.Memory, Held: src.Held, Progress: line.Add})
	if err != nil {
		return nil, err
	}
	line.End()
	read := time.Now()
	graphs := result.Meta.Context.Count
	r.Stage("read and write", read.Sub(named), int64(graphs), "graphs")
	result.Meta.Made = store.Made{Command: "import", Inputs: inputs, Version: operation.Version(), Options: map[string]string{
		"format": src.Format, "symmetrise": strconv.FormatBool(o.Symmetrise)}}
	if err := w.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, err
	}
	r.Stage("checksums", time.Since(read), 0, "")
	for _, n := range result.NaN {
		what := fmt.Sprintf("values of %s are missing or not numbers: kept as NaN", n.Name)
		operation.WarnCount(&o.Import.Build.Run, r, int64(n.Count), what)
	}
	operation.WarnUnderflows(&o.Import.Build.Run, r, result.Underflows)
	r.Head("graphs per second", report.Number(float64(graphs)/read.Sub(named).Seconds(), "/s"))
	r.In("files", report.Count(len(src.Files), "files"))
	return o.publishCollection(w, r, out, &result.Nodes, &result.Edges, start)
}

// publishCollection completes the import of a collection: it reports the contents and the sizes of the graphs, gives the
// folder its final name and opens it.
func (o *importJob) publishCollection(w *store.Writer, r *report.Report, out string, nodes, edges *report.Histogram, start time.Time) (*store.Store, error) {
	s, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return nil, err
	}
	err = reportCollection(r, s)
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	r.Plot(operation.SizesPlot("Size of the graphs", "graphs", nodes, edges))
	return opened(out, operation.Publish(&o.Import.Build.Run, w, r, start))
}
