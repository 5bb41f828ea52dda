package graphmill

import (
	"context"
	"runtime/debug"
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
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// Formats of Export, in addition to FormatTFRecord.
const (
	FormatChunked Format = "chunked" // a store in DGL's chunked graph format, for its partitioning tools
	FormatMETIS   Format = "metis"   // a store as a .graph file of METIS
)

// ExportOptions say in which format a collection or store is written.
type ExportOptions struct {
	Run
	// To is required: FormatTFRecord for a collection, FormatChunked or FormatMETIS for a store.
	To Format

	// Options of FormatTFRecord.

	Store  string // store that the collection was sampled from: its columns are joined; "" joins none
	Shards int    // number of files; 0 is 1
	Name   string // prefix of the file names; "" is "samples.tfrecord"
	Gzip   bool   // compress the records

	// Options of FormatChunked.

	GraphName string // name of the graph in DGL; "" is the name of the store
	Chunks    int    // number of files per edge type and per feature; 0 is 1
	Edges     string // "csv" (the default), "numpy" or "parquet"; DGL's tools read csv and parquet
	Features  string // "numpy" (the default) or "parquet"
}

// check refuses options that contradict each other, and fills in defaults.
func (o *ExportOptions) check() error {
	if !slices.Contains([]Format{FormatTFRecord, FormatChunked, FormatMETIS}, o.To) {
		return usagef("found `To` %q, expected tfrecord, chunked or metis", o.To)
	}
	for _, f := range []struct {
		name  string
		of    Format
		given bool
	}{
		{"Store", FormatTFRecord, o.Store != ""}, {"Shards", FormatTFRecord, o.Shards != 0}, {"Name", FormatTFRecord, o.Name != ""}, {"Gzip", FormatTFRecord, o.Gzip},
		{"GraphName", FormatChunked, o.GraphName != ""}, {"Chunks", FormatChunked, o.Chunks != 0}, {"Edges", FormatChunked, o.Edges != ""}, {"Features", FormatChunked, o.Features != ""},
	} {
		if f.given && f.of != o.To {
			return usagef("found `%s` with `To` %s, expected it with `To` %s; leave it out, or give the other `To`", f.name, o.To, f.of)
		}
	}
	setDefault(&o.Shards, 1)
	setDefault(&o.Chunks, 1)
	setDefault(&o.Edges, "csv")
	setDefault(&o.Features, "numpy")
	return o.Run.check()
}

// Export writes a collection as TFRecords or a store as a chunked graph to the folder out, or a store as a METIS graph to
// the file out. A sampled collection holds its features by reference: ExportOptions.Store joins them.
func Export(ctx context.Context, in, out string, o ExportOptions) (_ *Report, err error) {
	defer guard.Catch(&err)()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.Memory > 0 {
		defer debug.SetGCPercent(debug.SetGCPercent(20)) // garbage counts as memory
	}
	e := &exporting{o: &o, in: in, out: out, start: time.Now(), report: o.begin("export", titled(in))}
	switch o.To {
	case FormatChunked:
		return e.report, e.dglChunks(ctx)
	case FormatMETIS:
		return e.report, e.metis(ctx)
	}
	return e.report, e.records(ctx)
}

// exporting is a run of Export.
type exporting struct {
	o       *ExportOptions
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
	defer closeAfter(&err, e.out, s.Close)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: Version(), Options: map[string]string{
		"to": string(o.To), "shards": strconv.Itoa(o.Shards), "gzip": strconv.FormatBool(o.Gzip)}}
	if made.Inputs["collection"], err = inputFolder(r, e.in); err != nil {
		return err
	}
	opt := export.Options{Name: o.Name, Shards: o.Shards, Gzip: o.Gzip, Threads: o.Threads, Memory: o.Memory}
	inputs := []string{e.in}
	if o.Store != "" {
		if opt.Store, err = store.Open(vfs.OS, o.Store); err != nil {
			return err
		}
		defer closeAfter(&err, e.out, opt.Store.Close)
		if made.Inputs["store"], err = inputFolder(r, o.Store); err != nil {
			return err
		}
		inputs = append(inputs, o.Store)
	}
	graphs := 0
	if s.Collection != nil {
		graphs = s.Collection.Graphs
	}
	if err := keeps(e.out, inputs...); err != nil {
		return err
	}
	var result *export.Result
	return o.output(ctx, e.out, &made, r, e.start, work{"export", "encode and write", int64(graphs), "graphs"}, func(w *store.Writer, line *meter) (_ int64, err error) {
		opt.Progress = func(n int) { line.add(int64(n)) }
		result, err = export.TFRecords(ctx, vfs.OS, w, s, opt)
		return int64(graphs), err
	}, func(took time.Duration) {
		o.warnRounded(r, result.Rounded)
		o.warnUnderflows(r, result.Underflows)
		o.warnColumns(r, result.Left, "arrays and columns of the collection have no place in the Examples: ")
		if len(result.Left) > 0 && opt.Store == nil && s.Meta.Made.Inputs["store"] != "" {
			o.warn("the collection was sampled, and its features are in the store that it was sampled from; give `Store` STORE to join them")
		}
		r.Head("graphs", report.Count(graphs, "graphs"))
		r.Head("graphs per second", report.Number(float64(graphs)/took.Seconds(), "/s"))
		r.In("graphs", report.Count(graphs, "graphs"))
		r.Out("records", report.Count(graphs, "records"))
		r.Out("nodes", report.Count(result.Nodes.Sum(), "nodes"))
		r.Out("edges", report.Count(result.Edges.Sum(), "edges"))
		r.Plot(sizesPlot("Size of the graphs", "graphs", &result.Nodes, &result.Edges))
	})
}

// work names the main stage of an operation.
type work struct {
	progress, stage string // its names in Progress and in the report
	total           int64
	unit            string
}

// output makes an output folder: write fills it, and tell reports the result. made goes into a file of its own.
func (o *Run) output(ctx context.Context, out string, made *store.Made, r *report.Report, start time.Time, do work,
	write func(w *store.Writer, line *meter) (count int64, err error), tell func(took time.Duration)) (err error) {
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer endWith(&err, w)
	line := o.meter(do.progress, do.total, do.unit)
	defer line.end()
	began := time.Now()
	count, err := write(w, line)
	if err != nil {
		return err
	}
	line.end()
	written := time.Now()
	r.Stage(do.stage, written.Sub(began), count, do.unit)
	if err := w.WriteMade(*made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(written), 0, "")
	tell(written.Sub(began))
	if err := onDisk(r, w.Dir()); err != nil {
		return err
	}
	return o.publish(w, r, start)
}

// dglChunks writes a store in DGL's chunked graph format.
func (e *exporting) dglChunks(ctx context.Context) (err error) {
	o, r := e.o, e.report
	name := o.GraphName
	if name == "" {
		name = graphName(e.in)
	}
	opt := dglchunks.Options{Name: name, Chunks: o.Chunks, Edges: o.Edges, Features: o.Features, Threads: o.Threads, Memory: o.Memory}
	if err := opt.Check(); err != nil {
		return usagef("%w", err)
	}
	if err := keeps(e.out, e.in); err != nil {
		return err
	}
	s, err := openGraph(e.in)
	if err != nil {
		return err
	}
	defer closeAfter(&err, e.out, s.Close)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: Version(), Options: map[string]string{
		"to": string(o.To), "graph_name": name, "chunks": strconv.Itoa(o.Chunks), "edges": o.Edges, "features": o.Features}}
	if made.Inputs["store"], err = inputFolder(r, e.in); err != nil {
		return err
	}
	var result *dglchunks.Result
	return o.output(ctx, e.out, &made, r, e.start, work{"export", "encode and write", int64(dglchunks.Rows(s.Graph())), "rows"}, func(w *store.Writer, line *meter) (int64, error) {
		opt.Progress = func(n int) { line.add(int64(n)) }
		if result, err = dglchunks.Write(ctx, vfs.OS, w, s.store, opt); err != nil {
			return 0, err
		}
		return int64(result.Rows), nil
	}, func(time.Duration) {
		o.warnLeft(r, result.Left)
		if len(result.Changed) > 0 {
			r.Note("written in a dtype that DGL's tools take: " + strings.Join(result.Changed, "; "))
			o.warn("written in a dtype that DGL's tools take: %s", strings.Join(result.Changed, "; "))
		}
		r.Head("nodes", report.Count(result.Nodes, "nodes"))
		r.Head("edges", report.Count(result.Edges, "edges"))
		r.Out("files", report.Count(result.Files, "files"))
	})
}

// metis writes a store as a .graph file.
func (e *exporting) metis(ctx context.Context) (err error) {
	o, r := e.o, e.report
	if err := keeps(e.out, e.in); err != nil {
		return err
	}
	s, err := openGraph(e.in)
	if err != nil {
		return err
	}
	defer closeAfter(&err, e.out, s.Close)
	if _, err := inputFolder(r, e.in); err != nil {
		return err
	}
	result, err := metis.Write(ctx, vfs.OS, e.out, s.store, metis.Options{Force: o.Overwrite, Threads: o.Threads, Memory: o.Memory})
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

// ChunkOptions say how the edges of a store are divided into chunks.
type ChunkOptions struct {
	Run
	// ChunkSize is the size of a chunk in bytes, a multiple of 4096; 0 is 512 MiB.
	ChunkSize int64
	// Direction is DirectionIn (a chunk lists each node's sources) or DirectionOut (its destinations); "" is the primary
	// direction of the store.
	Direction Direction
}

// Chunk writes the neighbours of all nodes of a store to the folder out as chunks: files of 32-bit words that a
// streaming sampler reads whole, one after the other (docs/format-chunk.md). Chunks hold neither features nor original
// ids: the report lists those that are left out.
func Chunk(ctx context.Context, in, out string, o ChunkOptions) (_ *Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	setDefault(&o.ChunkSize, format.DefaultBytes)
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := format.CheckBytes(o.ChunkSize); err != nil {
		return nil, usagef("`ChunkSize`: %w", err)
	}
	if o.Direction != "" {
		if _, err := graph.ParseDirection(string(o.Direction)); err != nil {
			return nil, usagef("`Direction`: %w", err)
		}
	}
	if err := keeps(out, in); err != nil {
		return nil, err
	}
	s, err := openGraph(in)
	if err != nil {
		return nil, err
	}
	defer closeAfter(&err, out, s.Close)
	r := o.begin("chunk", titled(in))
	made := store.Made{Command: "chunk", Inputs: map[string]string{}, Version: Version(), Options: map[string]string{
		"chunk_size": strconv.FormatInt(o.ChunkSize, 10), "direction": string(o.Direction)}}
	if made.Inputs["store"], err = inputFolder(r, in); err != nil {
		return nil, err
	}
	var result *chunk.Result
	return r, o.output(ctx, out, &made, r, start, work{"chunk", "write", chunk.Words(s.Graph()), "words"}, func(w *store.Writer, line *meter) (int64, error) {
		result, err = chunk.Write(ctx, w, s.store, chunk.Options{ChunkBytes: o.ChunkSize, Direction: string(o.Direction), Progress: func(n int) { line.add(int64(n)) }})
		if err != nil {
			return 0, err
		}
		return int64(result.Edges), nil
	}, func(time.Duration) {
		o.warnLeft(r, result.Left)
		r.Head("chunks", report.Count(result.Chunks, "chunks"))
		r.Head("edges", report.Count(result.Edges, "edges"))
		r.In("edges", report.Count(result.Edges, "edges"))
		r.Out("edges", report.Count(result.Edges, "edges"))
	})
}
