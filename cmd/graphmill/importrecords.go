package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// recordFlags are the flags of import for TFRecords of GraphTensors.
type recordFlags struct {
	schema  string
	lenient bool
}

func (f *recordFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.schema, "schema", "", "GraphSchema of TFRecords, which become a collection: a file, or the folder that holds it")
	fs.BoolVar(&f.lenient, "lenient", false, "repair Examples that are no sound GraphTensors where that is possible, and count them")
}

// args are the arguments of an import: one SRC, or with a schema any number of
// files.
func (f *recordFlags) args(cmd *cobra.Command, args []string) error {
	if f.schema == "" {
		if len(args) > 0 && strings.Contains(filepath.Base(args[0]), ".tfrecord") {
			return usagef("found TFRecords %s without --schema, expected the GraphSchema of their Examples; give --schema schema.pbtxt", args[0])
		}
		if f.lenient {
			return usagef("found --lenient without --schema, expected TFRecords and --schema")
		}
		return oneArg("one SRC; several files are TFRecords, which need --schema")(cmd, args)
	}
	if len(args) == 0 {
		return usagef("found no files, expected TFRecords of the schema")
	}
	takes := []string{"schema", "lenient", "out", "force", "json", "threads", "memory"}
	var other error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(takes, flag.Name) && other == nil {
			other = usagef("found --%s with --schema, expected flags that TFRecords have: --%s", flag.Name, strings.Join(takes, ", --"))
		}
	})
	return other
}

// importRecords makes a collection of TFRecords.
func (t *terminal) importRecords(cmd *cobra.Command, args []string, f *importFlags) (err error) {
	start := time.Now()
	schema, schemaFile, schemaWarnings, err := tfgnnfiles.ReadSchema(vfs.OS, f.records.schema)
	if err != nil {
		return err
	}
	files, warnings, err := records.Files(vfs.OS, args)
	if err != nil {
		return err
	}
	if err := f.keeps(append([]string{schemaFile}, files...)...); err != nil {
		return err
	}
	r := t.begin("import", filepath.Base(filepath.Clean(f.out)), f.common)
	for _, w := range append(schemaWarnings, warnings...) {
		t.warn("%s", w)
		r.Note(w)
	}
	inputs, total, err := t.recordInputs(cmd, schemaFile, files, r)
	if err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	named := time.Now()
	r.Stage("name the inputs", named.Sub(start), 0, "")
	line := t.progress("import", total, "bytes")
	defer line.Done()
	result, err := records.Import(cmd.Context(), vfs.OS, w, files, records.Options{
		Schema: schema, Lenient: f.records.lenient, Threads: f.threads, Memory: int64(f.memory), Progress: line.Add,
	})
	if err != nil {
		return err
	}
	line.Done()
	read := time.Now()
	graphs := result.Meta.Context.Count
	r.Stage("read and write", read.Sub(named), int64(graphs), "graphs")
	result.Meta.Made = store.Made{Command: "import", Inputs: inputs, Version: version(), Options: map[string]string{
		"format": "graphtensors", "lenient": strconv.FormatBool(f.records.lenient)}}
	if err := w.Seal(cmd.Context(), result.Meta, f.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(read), 0, "")
	t.reportRecords(r, result)
	r.Head("graphs a second", report.Number(float64(graphs)/read.Sub(named).Seconds(), "/s"))
	r.In("records", report.Count(graphs, "records"))
	return t.publishCollection(w, r, f.common, &result.Nodes, &result.Edges, start)
}

// recordInputs names the inputs of a collection by content and tells how many
// bytes the records have. Files of one name are numbered.
func (t *terminal) recordInputs(cmd *cobra.Command, schema string, files []string, r *report.Report) (map[string]string, int64, error) {
	inputs, total := map[string]string{}, int64(0)
	for i, file := range append([]string{schema}, files...) {
		info, err := vfs.Regular(vfs.OS, file)
		if err != nil {
			return nil, 0, err
		}
		sum, err := store.Fingerprint(cmd.Context(), vfs.OS, file)
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

// reportRecords tells what an import dropped or changed, here and in the report.
func (t *terminal) reportRecords(r *report.Report, result *records.Result) {
	warn := func(n uint64, what string) {
		if n > 0 {
			t.warn("%s %s", human.Exact(int64(n)), what)
			r.Warn(int64(n), what)
		}
	}
	for _, k := range result.Unknown {
		warn(k.Count, fmt.Sprintf("Examples have the key %q, which the schema does not: dropped", k.Name))
	}
	warn(result.OtherUnknown, "more keys of Examples are not in the schema: dropped")
	for _, k := range result.Rounded {
		warn(k.Count, fmt.Sprintf("values of %q were rounded to the 16 bits of its dtype", k.Name))
	}
	warn(result.Repaired, "Examples were repaired")
	for _, repair := range result.Repairs {
		t.warn("repaired: %s", repair)
		r.Note("repaired: " + repair)
	}
}

// reportCollection tells what a collection holds.
func reportCollection(r *report.Report, s *store.Store) error {
	c := s.Collection
	var nodes, edges int
	columns := func(cols []*graph.Column) report.Value { return report.Text(joinColumns(describeColumns(cols))) }
	types := report.Table{Title: "Node types", Columns: []string{"node type", "nodes", "columns"}}
	for _, n := range c.Nodes {
		nodes += n.Count
		types.Rows = append(types.Rows, []report.Value{report.Text(n.Type), report.Count(n.Count, ""), columns(n.Columns)})
	}
	relations := report.Table{Title: "Edge types", Columns: []string{"edge type", "edges", "columns"}}
	for _, e := range c.Edges {
		edges += e.Count
		relations.Rows = append(relations.Rows, []report.Value{report.Text(e.Type.String()), report.Count(e.Count, ""), columns(e.Columns)})
	}
	size, err := store.Size(vfs.OS, s.Dir)
	if err != nil {
		return err
	}
	r.Head("graphs", report.Count(c.Graphs, "graphs"))
	r.Head("on disk", report.Bytes(size))
	r.Out("graphs", report.Count(c.Graphs, "graphs"))
	if c.ComponentPtr.Len() > 0 {
		r.Out("components", report.Count(c.Components(), "components"))
	}
	r.Out("nodes", report.Count(nodes, "nodes"))
	r.Out("edges", report.Count(edges, "edges"))
	for _, table := range []report.Table{types, relations} {
		if len(table.Rows) > 0 {
			r.Table(table)
		}
	}
	return nil
}

// sizesPlot shows how large graphs are.
func sizesPlot(title, of string, nodes, edges *report.Histogram) report.Distribution {
	return report.Distribution{Title: title, Of: of, What: "size", View: report.Bins,
		Series: []report.Series{{Name: "nodes", Histogram: nodes}, {Name: "edges", Histogram: edges}}}
}
