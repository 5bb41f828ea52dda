package exporting

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// TablesFormats returns the names of the formats of the tables of a unigraph.
func TablesFormats() []string { return unigraph.Formats() }

// tablesOptions converts the options for package unigraph.
func tablesOptions(o *option.UnigraphTables) (u unigraph.Options, err error) {
	operation.SetDefault(&o.To, "csv")
	u = unigraph.Options{Shards: o.Shards, Gzip: o.Gzip, RoundDoubles: o.RoundDoubles}
	if u.Format, err = unigraph.ParseFormat(o.To); err != nil {
		return u, operation.Usagef("`To`: %w", err)
	}
	if err := u.Check(); err != nil {
		return u, operation.Usagef("%w", err)
	}
	err = operation.CheckRun(&o.Run)
	u.Threads = o.Threads
	return u, err
}

// StoreToUnigraph writes a store to the folder out as a unigraph of TF-GNN: schema.pbtxt, and one table with all columns
// per node and edge type. The column #id has the original id of each node, or its number if the type has no ids.
func StoreToUnigraph(ctx context.Context, in, out string, o option.UnigraphTables) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	if name := options.First(&o, "Missing", "AllowOutside"); name != "" {
		return nil, operation.Usagef("found `%s` with a store, expected it with the schema of a unigraph; leave it out", name)
	}
	u, err := tablesOptions(&o)
	if err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, in); err != nil {
		return nil, err
	}
	s, err := store.OpenMerged(vfs.OS, in, -1)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, s.Close)
	sum, err := store.Sum(vfs.OS, in)
	if err != nil {
		return nil, err
	}
	size, err := store.Size(vfs.OS, in)
	if err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Run, "tfgnn from-store", operation.Titled(out))
	r.Input("store", size, sum)
	rows := 0
	if g := s.Graph; g != nil {
		for _, n := range g.Nodes {
			rows += n.Count
		}
		for _, e := range g.Edges {
			rows += e.Count
		}
	}
	made := store.Made{Command: "tfgnn from-store", Inputs: map[string]string{"store": sum}}
	return r, writeTables(&o, ctx, out, made, r, u, int64(rows), func(w *store.Writer, u unigraph.Options) (*unigraph.Result, error) {
		return unigraph.FromStore(ctx, vfs.OS, w, s, u)
	})
}

// ConvertUnigraph reads the tables of a unigraph in any mix of formats, and writes all of them to the folder out in one
// format, with the schema. A value that the format cannot hold is an error. Columns that the schema does not declare are
// left out, and the report lists them.
func ConvertUnigraph(ctx context.Context, schema, out string, o option.UnigraphTables) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	u, err := tablesOptions(&o)
	if err != nil {
		return nil, err
	}
	from := ingest.Options{Format: "unigraph", Outside: o.AllowOutside}
	if from.Missing, err = operation.MissingRules(o.Missing); err != nil {
		return nil, err
	}
	for _, m := range from.Missing {
		if m.Value == "column" {
			return nil, operation.Usagef("found `Missing` with column, expected error or values: the schema says which columns there are")
		}
	}
	src, err := ingest.Open(ctx, vfs.OS, schema, from)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, src.Close)
	if err := operation.Keeps(out, src.Files...); err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Run, "tfgnn convert", operation.Titled(out))
	names, err := operation.Below(filepath.Dir(src.Files[0]))
	if err != nil {
		return nil, err
	}
	inputs, err := operation.Fingerprints(ctx, vfs.OS, src.Files, r, names)
	if err != nil {
		return nil, err
	}
	made := store.Made{Command: "tfgnn convert", Inputs: inputs}
	return r, writeTables(&o, ctx, out, made, r, u, 0, func(w *store.Writer, u unigraph.Options) (*unigraph.Result, error) {
		return unigraph.Convert(ctx, vfs.OS, w, src, u)
	})
}

// writeTables makes, seals, reports and publishes a unigraph. total is the number of rows, 0 if it is not known.
func writeTables(o *option.UnigraphTables, ctx context.Context, out string, made store.Made, r *report.Report, u unigraph.Options, total int64, write func(*store.Writer, unigraph.Options) (*unigraph.Result, error)) (err error) {
	start := time.Now()
	w, err := store.Create(vfs.OS, out, o.Overwrite)
	if err != nil {
		return err
	}
	defer operation.EndWith(&err, w)
	line := operation.NewMeter(&o.Run, "tables", total, "rows")
	u.Progress = func(rows int) { line.Add(int64(rows)) }
	result, err := write(w, u)
	line.End()
	if err != nil {
		return err
	}
	writing := time.Since(start)
	for _, text := range result.Warnings {
		operation.Warn(&o.Run, "%s", text)
		r.Note(text)
	}
	made.Version = operation.Version()
	if made.Options == nil {
		made.Options = map[string]string{}
	}
	maps.Copy(made.Options, map[string]string{"format": u.Format.String(), "shards": strconv.Itoa(u.Shards),
		"gzip": strconv.FormatBool(u.Gzip), "round_doubles": strconv.FormatBool(u.RoundDoubles)})
	if err := w.WriteMade(made); err != nil {
		return err
	}
	sealing := time.Now()
	if err := w.Seal(ctx, nil, o.Threads); err != nil {
		return err
	}
	var rows uint64
	var bytes int64
	tables := report.Table{Title: "Tables", Columns: []string{"table", "of", "rows", "bytes"}}
	for _, x := range result.Tables {
		operation.WarnUnderflows(&o.Run, r, x.Underflows)
		rows += x.Rows
		bytes += x.Bytes
		tables.Rows = append(tables.Rows, []report.Value{report.Text(x.Name), report.Text(strings.Join(x.Sets, ", ")), report.Count(x.Rows, ""), report.Bytes(x.Bytes)})
	}
	r.Head("rows", report.Count(rows, "rows"))
	r.Head("on disk", report.Bytes(bytes))
	r.Out("tables", report.Count(len(result.Tables), ""))
	r.Out("schema", report.Text(fmt.Sprintf("%s: %d node sets, %d edge sets", unigraph.SchemaFile, len(result.Schema.GetNodeSets()), len(result.Schema.GetEdgeSets()))))
	r.Table(tables)
	r.Stage("tables", writing, int64(rows), "rows")
	r.Stage("checksums", time.Since(sealing), 0, "")
	return operation.Publish(&o.Run, w, r, start)
}
