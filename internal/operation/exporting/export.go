package exporting

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	format "github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export"
	"github.com/graphmill/graphmill/internal/export/chunk"
	"github.com/graphmill/graphmill/internal/export/dglchunks"
	"github.com/graphmill/graphmill/internal/export/metis"
	"github.com/graphmill/graphmill/internal/export/tables"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/drawing"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// checkExport refuses options that contradict each other, and fills in defaults.
func checkExport(o *option.Export) error {
	if !slices.Contains([]option.Format{option.FormatTFRecord, option.FormatParquet, option.FormatChunked, option.FormatMETIS, option.FormatDGF, option.FormatGraphAr, option.FormatGraphML, option.FormatNodeLink}, o.To) {
		return operation.Usagef("found `To` %q, expected tfrecord, parquet, chunked, metis, dgf, graphar, graphml or node-link", o.To)
	}
	drawn := []option.Format{option.FormatGraphML, option.FormatNodeLink}
	for _, f := range []struct {
		name  string
		of    []option.Format
		given bool
	}{
		{"Subgraphs", drawn, o.Subgraphs != ""}, {"MostNodes", drawn, o.MostNodes != 0},
		{"Store", append([]option.Format{option.FormatTFRecord}, drawn...), o.Store != ""}, {"Shards", []option.Format{option.FormatTFRecord, option.FormatParquet, option.FormatDGF}, o.Shards != 0},
		{"Name", []option.Format{option.FormatTFRecord}, o.Name != ""}, {"Gzip", []option.Format{option.FormatTFRecord}, o.Gzip},
		{"GraphName", []option.Format{option.FormatChunked, option.FormatGraphAr}, o.GraphName != ""}, {"Chunks", []option.Format{option.FormatChunked}, o.Chunks != 0},
		{"Edges", []option.Format{option.FormatChunked}, o.Edges != ""}, {"Features", []option.Format{option.FormatChunked}, o.Features != ""},
	} {
		if f.given && !slices.Contains(f.of, o.To) {
			var of []string
			for _, one := range f.of {
				of = append(of, string(one))
			}
			return operation.Usagef("found `%s` with `To` %s, expected it with `To` %s; leave it out, or give the other `To`", f.name, o.To, strings.Join(of, " or "))
		}
	}
	if o.To == option.FormatParquet && o.Shards > tables.MaxShards {
		return operation.Usagef("found `Shards` %d, expected at most %d", o.Shards, tables.MaxShards)
	}
	operation.SetDefault(&o.Shards, 1)
	operation.SetDefault(&o.Chunks, 1)
	operation.SetDefault(&o.MostNodes, drawing.MostNodes)
	operation.SetDefault(&o.Edges, "csv")
	operation.SetDefault(&o.Features, "numpy")
	return operation.CheckRun(&o.Run)
}

// Export writes a collection as TFRecords, or a store as Parquet tables, a chunked graph or a graph of DGF or GraphAr, to the folder out, or a store as a METIS graph to
// the file out. A sampled collection holds its features by reference: option.Export.Store joins them.
func Export(ctx context.Context, in, out string, o option.Export) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	if err := checkExport(&o); err != nil {
		return nil, err
	}
	if o.Memory > 0 {
		defer operation.LessGarbage(20)() // garbage counts as memory
	}
	e := &exporting{o: &o, in: in, out: out, start: time.Now(), report: operation.NewReport(&o.Run, "export", operation.Titled(in))}
	switch o.To {
	case option.FormatChunked:
		return e.report, e.dglChunks(ctx)
	case option.FormatMETIS:
		return e.report, e.metis(ctx)
	case option.FormatDGF:
		return e.report, e.dgf(ctx)
	case option.FormatGraphAr:
		return e.report, e.graphAr(ctx)
	case option.FormatGraphML, option.FormatNodeLink:
		return e.report, drawing.File(ctx, in, out, &o, e.report)
	case option.FormatParquet:
		return e.report, e.tables(ctx)
	}
	return e.report, e.records(ctx)
}

// exporting is a run of Export.
type exporting struct {
	o       *option.Export
	in, out string
	report  *report.Report
	start   time.Time
}

// records writes a collection as TFRecords.
func (e *exporting) records(ctx context.Context) (err error) {
	o, r := e.o, e.report
	s, err := store.Open(vfs.OS, e.in)
	if err != nil {
		return err
	}
	defer operation.CloseAfter(&err, e.out, s.Close)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: operation.Version(), Options: map[string]string{
		"to": string(o.To), "shards": strconv.Itoa(o.Shards), "gzip": strconv.FormatBool(o.Gzip)}}
	if made.Inputs["collection"], err = operation.InputFolder(r, e.in); err != nil {
		return err
	}
	opt := export.Options{Name: o.Name, Shards: o.Shards, Gzip: o.Gzip, Threads: o.Threads, Memory: o.Memory}
	inputs := []string{e.in}
	if o.Store != "" {
		if opt.Store, err = store.OpenMerged(vfs.OS, o.Store, -1); err != nil {
			return err
		}
		defer operation.CloseAfter(&err, e.out, opt.Store.Close)
		if made.Inputs["store"], err = operation.InputFolder(r, o.Store); err != nil {
			return err
		}
		inputs = append(inputs, o.Store)
	}
	graphs := 0
	if s.Collection != nil {
		graphs = s.Collection.Graphs
	}
	if err := operation.Keeps(e.out, inputs...); err != nil {
		return err
	}
	var result *export.Result
	return operation.WriteOutput(&o.Run, ctx, e.out, &made, r, e.start, operation.Work{Progress: "export", Stage: "encode and write", Total: int64(graphs), Unit: "graphs"}, func(w *store.Writer, line *operation.Meter) (_ int64, err error) {
		opt.Progress = func(n int) { line.Add(int64(n)) }
		result, err = export.TFRecords(ctx, vfs.OS, w, s, opt)
		return int64(graphs), err
	}, func(took time.Duration) {
		operation.WarnRounded(&o.Run, r, result.Rounded)
		operation.WarnUnderflows(&o.Run, r, result.Underflows)
		operation.WarnColumns(&o.Run, r, result.Left, "arrays and columns of the collection have no place in the Examples: ")
		if len(result.Left) > 0 && opt.Store == nil && s.Meta.Made.Inputs["store"] != "" {
			operation.Warn(&o.Run, "the collection was sampled, and its features are in the store that it was sampled from; give `Store` STORE to join them")
		}
		r.Head("graphs", report.Count(graphs, "graphs"))
		r.Head("graphs per second", report.Number(float64(graphs)/took.Seconds(), "/s"))
		r.In("graphs", report.Count(graphs, "graphs"))
		r.Out("records", report.Count(graphs, "records"))
		r.Out("nodes", report.Count(result.Nodes.Sum(), "nodes"))
		r.Out("edges", report.Count(result.Edges.Sum(), "edges"))
		r.Plot(operation.SizesPlot("Size of the graphs", "graphs", &result.Nodes, &result.Edges))
	})
}

// dglChunks writes a store in DGL's chunked graph format.
func (e *exporting) dglChunks(ctx context.Context) (err error) {
	o, r := e.o, e.report
	name := o.GraphName
	if name == "" {
		name = operation.GraphName(e.in)
	}
	opt := dglchunks.Options{Name: name, Chunks: o.Chunks, Edges: o.Edges, Features: o.Features, Threads: o.Threads, Memory: o.Memory}
	if err := opt.Check(); err != nil {
		return operation.Usagef("%w", err)
	}
	if err := operation.Keeps(e.out, e.in); err != nil {
		return err
	}
	s, err := operation.OpenGraph(e.in)
	if err != nil {
		return err
	}
	defer operation.CloseAfter(&err, e.out, s.Close)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: operation.Version(), Options: map[string]string{
		"to": string(o.To), "graph_name": name, "chunks": strconv.Itoa(o.Chunks), "edges": o.Edges, "features": o.Features}}
	if made.Inputs["store"], err = operation.InputFolder(r, e.in); err != nil {
		return err
	}
	var result *dglchunks.Result
	return operation.WriteOutput(&o.Run, ctx, e.out, &made, r, e.start, operation.Work{Progress: "export", Stage: "encode and write", Total: int64(dglchunks.Rows(s.Graph)), Unit: "rows"}, func(w *store.Writer, line *operation.Meter) (int64, error) {
		opt.Progress = func(n int) { line.Add(int64(n)) }
		if result, err = dglchunks.Write(ctx, vfs.OS, w, s, opt); err != nil {
			return 0, err
		}
		return int64(result.Rows), nil
	}, func(time.Duration) {
		operation.WarnLeft(&o.Run, r, result.Left)
		if len(result.Changed) > 0 {
			r.Note("written in a dtype that DGL's tools take: " + strings.Join(result.Changed, "; "))
			operation.Warn(&o.Run, "written in a dtype that DGL's tools take: %s", strings.Join(result.Changed, "; "))
		}
		r.Head("nodes", report.Count(result.Nodes, "nodes"))
		r.Head("edges", report.Count(result.Edges, "edges"))
		r.Out("files", report.Count(result.Files, "files"))
	})
}

// metis writes a store as a .graph file.
func (e *exporting) metis(ctx context.Context) (err error) {
	o, r := e.o, e.report
	if err := operation.Keeps(e.out, e.in); err != nil {
		return err
	}
	s, err := operation.OpenGraph(e.in)
	if err != nil {
		return err
	}
	defer operation.CloseAfter(&err, e.out, s.Close)
	if _, err := operation.InputFolder(r, e.in); err != nil {
		return err
	}
	result, err := metis.Write(ctx, vfs.OS, e.out, s, metis.Options{Force: o.Overwrite, Threads: o.Threads, Memory: o.Memory})
	if err != nil {
		return err
	}
	r.Stage("neighbours", result.Building, 0, "")
	r.Stage("write", result.Writing, result.Nodes, "rows")
	r.Head("nodes", report.Count(result.Nodes, "nodes"))
	r.Head("pairs", report.Count(result.Pairs, "pairs of neighbours"))
	r.Head("on disk", report.Bytes(result.Bytes))
	r.In("edges", report.Count(result.Edges, "edges"))
	r.Out("pairs of neighbours", report.Count(result.Pairs, "pairs"))
	r.Finish(time.Since(e.start))
	return nil
}

// Chunk writes the neighbours of all nodes of a store to the folder out as chunks: files of 32-bit words that a
// streaming sampler reads whole, one after the other (docs/format-chunk.md). Chunks hold neither features nor original
// ids: the report lists those that are left out.
func Chunk(ctx context.Context, in, out string, o option.Chunk) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	operation.SetDefault(&o.ChunkSize, format.DefaultBytes)
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	if err := format.CheckBytes(o.ChunkSize); err != nil {
		return nil, operation.Usagef("`ChunkSize`: %w", err)
	}
	if o.Direction != "" {
		if _, err := graph.ParseDirection(string(o.Direction)); err != nil {
			return nil, operation.Usagef("`Direction`: %w", err)
		}
	}
	if err := operation.Keeps(out, in); err != nil {
		return nil, err
	}
	s, err := operation.OpenGraph(in)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, s.Close)
	r := operation.NewReport(&o.Run, "chunk", operation.Titled(in))
	made := store.Made{Command: "chunk", Inputs: map[string]string{}, Version: operation.Version(), Options: map[string]string{
		"chunk_size": strconv.FormatInt(o.ChunkSize, 10), "direction": string(o.Direction)}}
	if made.Inputs["store"], err = operation.InputFolder(r, in); err != nil {
		return nil, err
	}
	var result *chunk.Result
	return r, operation.WriteOutput(&o.Run, ctx, out, &made, r, start, operation.Work{Progress: "chunk", Stage: "write", Total: chunk.Words(s.Graph), Unit: "words"}, func(w *store.Writer, line *operation.Meter) (int64, error) {
		result, err = chunk.Write(ctx, w, s, chunk.Options{ChunkBytes: o.ChunkSize, Direction: string(o.Direction), Progress: func(n int) { line.Add(int64(n)) }})
		if err != nil {
			return 0, err
		}
		return int64(result.Edges), nil
	}, func(time.Duration) {
		operation.WarnLeft(&o.Run, r, result.Left)
		r.Head("chunks", report.Count(result.Chunks, "chunks"))
		r.Head("edges", report.Count(result.Edges, "edges"))
		r.In("edges", report.Count(result.Edges, "edges"))
		r.Out("edges", report.Count(result.Edges, "edges"))
	})
}
