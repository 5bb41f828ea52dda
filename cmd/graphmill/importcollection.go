package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/collection"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// collectionFlags are the flags of import that sources of many graphs have.
func collectionFlags(cmd *cobra.Command, format string) error {
	takes := []string{"out", "force", "json", "threads", "memory", "format", "symmetrise", "empty-cells", "allow-outside"}
	var other error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(takes, flag.Name) && other == nil {
			other = usagef("found --%s with %s of many graphs, expected flags that collections have: --%s", flag.Name, format, strings.Join(takes, ", --"))
		}
	})
	return other
}

// importCollection makes a collection of the tables of many graphs.
func (t *terminal) importCollection(cmd *cobra.Command, src *ingest.Source, inputs map[string]string, f *importFlags, r *report.Report, start time.Time) (err error) {
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	named := time.Now()
	r.Stage("name the inputs", named.Sub(start), 0, "")
	line := t.progress("import", 0, "rows")
	defer line.Done()
	result, err := collection.Import(cmd.Context(), w, src.Collection, collection.Options{Threads: f.threads, Memory: int64(f.memory), Progress: line.Add})
	if err != nil {
		return err
	}
	line.Done()
	read := time.Now()
	graphs := result.Meta.Context.Count
	r.Stage("read and write", read.Sub(named), int64(graphs), "graphs")
	result.Meta.Made = store.Made{Command: "import", Inputs: inputs, Version: version(), Options: map[string]string{
		"format": src.Format, "symmetrise": strconv.FormatBool(f.options.Symmetrise), "empty_cells": f.empty}}
	if err := w.Seal(cmd.Context(), result.Meta, f.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(read), 0, "")
	for _, n := range result.NaN {
		what := fmt.Sprintf("values of %s are missing or no numbers: kept as NaN", n.Name)
		t.warn("%s %s", human.Exact(int64(n.Count)), what)
		r.Warn(int64(n.Count), what)
	}
	t.warnUnderflows(r, result.Underflows)
	r.Head("graphs a second", report.Number(float64(graphs)/read.Sub(named).Seconds(), "/s"))
	r.In("files", report.Count(len(src.Files), "files"))
	return t.publishCollection(w, r, f.common, &result.Nodes, &result.Edges, start)
}

// publishCollection ends the import of a collection: what is in it, the sizes of
// its graphs, and its name.
func (t *terminal) publishCollection(w *store.Writer, r *report.Report, c common, nodes, edges *report.Histogram, start time.Time) (err error) {
	s, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	if err := reportCollection(r, s); err != nil {
		return err
	}
	r.Plot(sizesPlot("Size of the graphs", "graphs", nodes, edges))
	return t.publish(w, r, c, start)
}
