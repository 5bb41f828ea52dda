package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/export/unigraph"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/report"
	"github.com/graphmill/graphmill/store"
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
	fs.IntVar(&f.options.Shards, "shards", 0, "files of each table, named NAME@SHARDS in the schema (default: one file NAME)")
	fs.BoolVar(&f.options.Gzip, "gzip", false, "compress csv and tfrecord files")
	fs.BoolVar(&f.options.RoundDoubles, "round-doubles", false, "round float64 to float32 in tfrecord, where losing digits is an error otherwise")
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
			s, err := store.Open(fsx.OS, args[0])
			if err != nil {
				return err
			}
			defer closeWith(&err, s.Close)
			sum, err := store.Sum(fsx.OS, args[0])
			if err != nil {
				return err
			}
			r := t.begin("tfgnn from-store", filepath.Base(filepath.Clean(f.out)), f.common)
			r.Input("store", 0, sum)
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
				return unigraph.FromStore(ctx, fsx.OS, w, s, f.options)
			})
		},
	}
	f.add(cmd, "format", "csv")
	return cmd
}

// writeTables makes, seals, reports and publishes a unigraph. total is the rows
// to come, 0 where they are not known.
func (t *terminal) writeTables(ctx context.Context, f *tablesFlags, made store.Made, r *report.Report, total int64, write func(context.Context, *store.Writer) (*unigraph.Result, error)) (err error) {
	start := time.Now()
	w, err := store.Create(fsx.OS, f.out, f.force)
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
	made.Options = map[string]string{"format": f.options.Format.String(), "shards": strconv.Itoa(f.options.Shards),
		"gzip": strconv.FormatBool(f.options.Gzip), "round_doubles": strconv.FormatBool(f.options.RoundDoubles)}
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
