package surveying

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/generate/tensors"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/survey"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// RandomRecords makes GraphTensors that conform to a schema, with few nodes and random values, and writes them to the
// folder out as TFRecords, together with the schema. The same schema and random seed give the same GraphTensors: the GraphTensors of
// a smaller Count are the first of a larger one.
func RandomRecords(ctx context.Context, schema, out string, o option.RandomRecords) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	if err := operation.CheckRun(&o.Run); err != nil {
		return nil, err
	}
	message, file, err := readSchemaFile(&o.Run, schema)
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, file); err != nil {
		return nil, err
	}
	start := time.Now()
	r := operation.NewReport(&o.Run, "tfgnn random", "Random GraphTensors of "+filepath.Base(file))
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	operation.SetDefault(&o.Shards, 1)
	line := operation.NewMeter(&o.Run, "random", int64(o.Count), "GraphTensors")
	result, err := tensors.Write(ctx, w, tensors.Options{Schema: message, Seed: o.Seed, Count: o.Count, Shards: o.Shards, Gzip: o.Gzip, Threads: o.Threads, Progress: line.Add})
	line.End()
	if err != nil {
		return nil, err
	}
	made := store.Made{Command: "tfgnn random", Seed: &o.Seed, Version: operation.Version(), Options: map[string]string{
		"count": strconv.FormatUint(o.Count, 10), "shards": strconv.Itoa(o.Shards), "gzip": strconv.FormatBool(o.Gzip)}}
	if err := w.WriteMade(made); err != nil {
		return nil, err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return nil, err
	}
	r.Head("GraphTensors", report.Count(o.Count, ""))
	r.Out("nodes", report.Count(result.Nodes.Sum(), ""))
	r.Out("edges", report.Count(result.Edges.Sum(), ""))
	r.Out("TFRecords", report.Bytes(result.Bytes))
	r.Plot(operation.SizesPlot("Size of a GraphTensor", "GraphTensors", &result.Nodes, &result.Edges))
	return r, operation.Publish(&o.Run, w, r, start)
}

// readSchemaFile reads a schema, and passes on its warnings. A folder stands for the schema in it.
func readSchemaFile(o *option.Run, path string) (*tfgnnpb.GraphSchema, string, error) {
	schema, file, warnings, err := tfgnnfiles.ReadSchema(vfs.OS, path)
	for _, w := range warnings {
		operation.Warn(o, "%s", w)
	}
	return schema, file, err
}

func checkStatistics(o *option.Statistics) error {
	operation.SetDefault(&o.Quantiles, 10)
	if o.Quantiles < 2 || o.Quantiles%2 == 1 || o.Quantiles > 10000 {
		return operation.Usagef("found `Quantiles` %d, expected an even number from 2 to 10000", o.Quantiles)
	}
	return operation.CheckRun(&o.Run)
}

// StatisticsFile is the name of the file with the statistics in the folder that Statistics writes.
const StatisticsFile = "stats.pbtxt"

// Statistics measures the sizes of the GraphTensors in TFRecords, the degrees of their nodes, and the distribution of the
// values of each feature. given lists the TFRecord files. Statistics returns the text that TF-GNN's sampled_stats writes.
// If out is not "", it also writes that text to the folder out, with a page of plots.
func Statistics(ctx context.Context, schema string, given []string, out string, o option.Statistics) (text []byte, _ *report.Report, err error) {
	defer guard.Catch(&err)()
	if err := checkStatistics(&o); err != nil {
		return nil, nil, err
	}
	start := time.Now()
	message, schemaFile, err := readSchemaFile(&o.Run, schema)
	if err != nil {
		return nil, nil, err
	}
	files, warnings, err := records.Files(vfs.OS, given)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range warnings {
		operation.Warn(&o.Run, "%s", w)
	}
	r := operation.NewReport(&o.Run, "tfgnn stats", "Statistics of "+strings.Join(given, " "))
	if out == "" {
		s, err := surveyRecords(&o, ctx, message, files, r)
		if err != nil {
			return nil, nil, err
		}
		r.Finish(time.Since(start))
		return tfgnn.AppendText(nil, s.Stats()), r, nil
	}
	inputs := append([]string{schemaFile}, files...)
	if err := operation.Keeps(out, inputs...); err != nil {
		return nil, nil, err
	}
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, nil, err
	}
	defer operation.EndWith(&err, w)
	sums, err := operation.Fingerprints(ctx, vfs.OS, inputs, r, filepath.Base)
	if err != nil {
		return nil, nil, err
	}
	s, err := surveyRecords(&o, ctx, message, files, r)
	if err != nil {
		return nil, nil, err
	}
	text = tfgnn.AppendText(nil, s.Stats())
	made := store.Made{Command: "tfgnn stats", Inputs: sums, Version: operation.Version(), Options: map[string]string{
		"quantiles": strconv.Itoa(o.Quantiles), "lenient": strconv.FormatBool(o.Lenient)}}
	if err := errors.Join(w.WriteFile(StatisticsFile, text), w.WriteMade(made)); err != nil {
		return nil, nil, err
	}
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return nil, nil, err
	}
	return text, r, operation.Publish(&o.Run, w, r, start)
}

// surveyRecords counts the files, and warns about keys and Examples that do not conform to the schema.
func surveyRecords(o *option.Statistics, ctx context.Context, schema *tfgnnpb.GraphSchema, files []string, r *report.Report) (*survey.Survey, error) {
	var size int64
	for _, file := range files {
		info, err := vfs.Regular(vfs.OS, file)
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	start := time.Now()
	line := operation.NewMeter(&o.Run, "stats", size, "bytes")
	s, err := survey.Take(ctx, vfs.OS, files, survey.Options{Schema: schema, Quantiles: o.Quantiles, Lenient: o.Lenient, Threads: o.Threads, Progress: line.Add})
	line.End()
	if err != nil {
		return nil, err
	}
	if s.Unknown > 0 {
		operation.Warn(&o.Run, "found %d values under keys that the schema does not have: %s", s.Unknown, strings.Join(s.UnknownKeys, ", "))
	}
	if s.Repaired > 0 {
		operation.Warn(&o.Run, "%d Examples were broken and read as far as possible", s.Repaired)
	}
	s.Report(r)
	r.Stage("count", time.Since(start), int64(s.Examples), "Examples")
	return s, nil
}
