package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/export/unigraph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// tablesFlags are the flags of the commands that write the tables of a unigraph.
type tablesFlags struct {
	common
	outFlags
	options unigraph.Options
	format  string
}

// add adds the flags; format is the name of the one for the format.
func (f *tablesFlags) add(cmd *cobra.Command, format, preset string) {
	f.addThreads(cmd)
	f.outFlags.add(cmd)
	fs := cmd.Flags()
	what := "format of the tables: " + strings.Join(unigraph.Formats(), ", ")
	if preset == "" {
		what += " (required)"
	}
	fs.StringVar(&f.format, format, preset, what)
	fs.IntVar(&f.options.Shards, "shards", 0, "files of each table, NAME-00000-of-00008 and so on (default: one file NAME)")
	fs.BoolVar(&f.options.Gzip, "gzip", false, "compress csv and tfrecord files")
	fs.BoolVar(&f.options.RoundDoubles, "round-doubles", false, "round float64 to float32 in tfrecord, where losing digits is an error otherwise; numbers beyond float32 stay an error")
}

func (f *tablesFlags) check(cmd *cobra.Command, format string) error {
	if err := errors.Join(f.common.check(), f.outFlags.check()); err != nil {
		return err
	}
	var err error
	if f.options.Format, err = unigraph.ParseFormat(f.format); err != nil {
		return usagef("--%s: %w", format, err)
	}
	if cmd.Flags().Changed("shards") && f.options.Shards == 0 {
		return usagef("found --shards 0, expected at least 1")
	}
	if err := f.options.Check(); err != nil {
		return usageError{err}
	}
	f.options.Threads = f.threads
	return nil
}

func newTFGNNFromStore(t *terminal) *cobra.Command {
	var f tablesFlags
	cmd := &cobra.Command{
		Use:   "from-store STORE",
		Short: "Write a store as a unigraph: a schema and tables",
		Long: `Writes schema.pbtxt and a table for each node and edge type, with all columns.
#id is the original id of a node, or its number where the type has no ids;
#source and #target are those of the ends of an edge. Edges come in the order of
their ids in the store. _N and _N:_E:_N become the sets node and edge.`,
		Example: `  graphmill tfgnn from-store g.store --out unigraph
  graphmill tfgnn from-store g.store --format tfrecord --shards 16 --out unigraph
  graphmill tfgnn from-store g.store --format parquet --out unigraph`,
		Args: oneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := f.check(cmd, "format"); err != nil {
				return err
			}
			if err := f.keeps(args[0]); err != nil {
				return err
			}
			s, err := store.Open(vfs.OS, args[0])
			if err != nil {
				return err
			}
			defer closeWith(&err, s.Close)
			sum, err := store.Sum(vfs.OS, args[0])
			if err != nil {
				return err
			}
			size, err := store.Size(vfs.OS, args[0])
			if err != nil {
				return err
			}
			r := t.begin("tfgnn from-store", filepath.Base(filepath.Clean(f.out)), f.common)
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
			return t.writeTables(cmd.Context(), &f, made, r, int64(rows), func(ctx context.Context, w *store.Writer) (*unigraph.Result, error) {
				return unigraph.FromStore(ctx, vfs.OS, w, s, f.options)
			})
		},
	}
	f.add(cmd, "format", "csv")
	return cmd
}

func newTFGNNConvert(t *terminal) *cobra.Command {
	var f tablesFlags
	var empty string
	var from ingest.Options
	cmd := &cobra.Command{
		Use:   "convert SCHEMA",
		Short: "Write the tables of a unigraph in another format",
		Long: `Reads the tables of a unigraph, CSV, TFRecord or Parquet in any mix, and writes
all of them in one format, with the schema, of which only the file names change.
SCHEMA is a .pbtxt file or the folder of one. Rows keep their order. Sets that
share a table, as a reversed edge set does, share the new one. What the format
cannot hold is an error; columns that the schema does not declare are left out
and named.`,
		Example: `  graphmill tfgnn convert schema.pbtxt --to parquet --out tables
  graphmill tfgnn convert unigraph --to tfrecord --shards 16 --out tables
  graphmill tfgnn convert unigraph --to csv --gzip --out tables`,
		Args: oneArg("one SCHEMA"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd, "to"); err != nil {
				return err
			}
			from.Format = "unigraph"
			if empty != "error" {
				from.Empty, from.Fill = table.EmptyFill, empty
			}
			src, err := ingest.Open(cmd.Context(), vfs.OS, args[0], from)
			if err != nil {
				return err
			}
			if err := f.keeps(src.Files...); err != nil {
				return err
			}
			r := t.begin("tfgnn convert", filepath.Base(filepath.Clean(f.out)), f.common)
			inputs, err := fingerprints(cmd.Context(), src.Files, r, func(file string) string {
				if rel, err := filepath.Rel(filepath.Dir(src.Files[0]), file); err == nil && filepath.IsLocal(rel) {
					return filepath.ToSlash(rel)
				}
				return filepath.Base(file)
			})
			if err != nil {
				return err
			}
			made := store.Made{Command: "tfgnn convert", Inputs: inputs, Options: map[string]string{"empty_cells": empty}}
			return t.writeTables(cmd.Context(), &f, made, r, 0, func(ctx context.Context, w *store.Writer) (*unigraph.Result, error) {
				return unigraph.Convert(ctx, vfs.OS, w, src, f.options)
			})
		},
	}
	f.add(cmd, "to", "")
	fs := cmd.Flags()
	fs.StringVar(&empty, "empty-cells", "error", "error, or the value that an empty cell of a feature has")
	fs.BoolVar(&from.Outside, "allow-outside", false, "let the schema name files outside of its folder")
	return cmd
}

// writeTables makes, seals, reports and publishes a unigraph. total is the rows
// to come, 0 where they are not known.
func (t *terminal) writeTables(ctx context.Context, f *tablesFlags, made store.Made, r *report.Report, total int64, write func(context.Context, *store.Writer) (*unigraph.Result, error)) (err error) {
	start := time.Now()
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	line := t.progress("tables", total, "rows")
	f.options.Progress = func(rows int) { line.Add(int64(rows)) }
	result, err := write(ctx, w)
	line.Done()
	if err != nil {
		return err
	}
	writing := time.Since(start)
	for _, text := range result.Warnings {
		t.warn("%s", text)
		r.Note(text)
	}
	made.Version = version()
	if made.Options == nil {
		made.Options = map[string]string{}
	}
	maps.Copy(made.Options, map[string]string{"format": f.options.Format.String(), "shards": strconv.Itoa(f.options.Shards),
		"gzip": strconv.FormatBool(f.options.Gzip), "round_doubles": strconv.FormatBool(f.options.RoundDoubles)})
	if err := w.WriteMade(made); err != nil {
		return err
	}
	sealing := time.Now()
	if err := w.Seal(ctx, nil, f.threads); err != nil {
		return err
	}
	var rows uint64
	var bytes int64
	tables := report.Table{Title: "Tables", Columns: []string{"table", "of", "rows", "bytes"}}
	for _, x := range result.Tables {
		t.warnUnderflows(r, x.Underflows)
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
	return t.publish(w, r, f.common, start)
}
