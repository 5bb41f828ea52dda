package importing

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// importRecords makes a collection of TFRecords.
func (o *importJob) importRecords(ctx context.Context, sources []string, out string) (_ *store.Store, err error) {
	start := time.Now()
	if err := o.checkOnly("`Schema`", "that TFRecords have"); err != nil {
		return nil, err
	}
	schema, schemaFile, schemaWarnings, err := tfgnnfiles.ReadSchema(vfs.OS, o.Schema)
	if err != nil {
		return nil, err
	}
	files, warnings, err := records.Files(vfs.OS, sources)
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, append([]string{schemaFile}, files...)...); err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Import.Build.Run, "import", operation.Titled(out))
	o.report = r
	for _, w := range append(schemaWarnings, warnings...) {
		operation.Warn(&o.Import.Build.Run, "%s", w)
		r.Note(w)
	}
	inputs, total, err := recordInputs(ctx, schemaFile, files, r)
	if err != nil {
		return nil, err
	}
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	named := time.Now()
	r.Stage("name the inputs", named.Sub(start), 0, "")
	line := operation.NewMeter(&o.Import.Build.Run, "import", total, "bytes")
	defer line.End()
	result, err := records.Import(ctx, vfs.OS, w, files, records.Options{Schema: schema, Lenient: o.Lenient, Threads: o.Threads, Memory: o.Memory, Progress: line.Add})
	if err != nil {
		return nil, err
	}
	line.End()
	read := time.Now()
	graphs := result.Meta.Context.Count
	r.Stage("read and write", read.Sub(named), int64(graphs), "graphs")
	result.Meta.Made = store.Made{Command: "import", Inputs: inputs, Version: operation.Version(), Options: map[string]string{
		"format": "graphtensors", "lenient": strconv.FormatBool(o.Lenient)}}
	if err := w.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, err
	}
	r.Stage("checksums", time.Since(read), 0, "")
	reportRecords(&o.Import.Build.Run, r, result)
	r.Head("graphs per second", report.Number(float64(graphs)/read.Sub(named).Seconds(), "/s"))
	r.In("records", report.Count(graphs, "records"))
	return o.publishCollection(w, r, out, &result.Nodes, &result.Edges, start)
}

// recordInputs returns the fingerprints of the inputs of a collection by file name, and the bytes of the records. Files
// with equal names get a number.
func recordInputs(ctx context.Context, schema string, files []string, r *report.Report) (map[string]string, int64, error) {
	inputs, total := map[string]string{}, int64(0)
	for i, file := range append([]string{schema}, files...) {
		info, err := vfs.Regular(vfs.OS, file)
		if err != nil {
			return nil, 0, err
		}
		sum, err := store.Fingerprint(ctx, vfs.OS, file)
		if err != nil {
			return nil, 0, err
		}
		name := filepath.Base(file)
		if _, taken := inputs[name]; taken {
			name = fmt.Sprintf("%s (file %d)", name, i)
		}
		inputs[name] = sum
		r.Input(name, info.Size(), sum)
		if i > 0 {
			total += info.Size()
		}
	}
	return inputs, total, nil
}

// reportRecords reports what an import of TFRecords dropped or changed.
func reportRecords(o *option.Run, r *report.Report, result *records.Result) {
	warn := func(n uint64, what string) {
		operation.WarnCount(o, r, int64(n), what)
	}
	for _, k := range result.Unknown {
		warn(k.Count, fmt.Sprintf("Examples have the key %q, which the schema does not: dropped", k.Name))
	}
	warn(result.OtherUnknown, "further keys of Examples are not in the schema: dropped")
	for _, k := range result.Rounded {
		warn(k.Count, fmt.Sprintf("values of %q were rounded to the 16 bits of its dtype", k.Name))
	}
	warn(result.Repaired, "Examples were repaired")
	for _, repair := range result.Repairs {
		operation.Warn(o, "repaired: %s", repair)
		r.Note("repaired: " + repair)
	}
}
