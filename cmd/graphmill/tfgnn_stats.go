package main

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/survey"
	"github.com/graphmill/graphmill/internal/vfs"
)

// statsFile is the statistics in an output folder.
const statsFile = "stats.pbtxt"

// statsFlags are the flags of tfgnn stats.
type statsFlags struct {
	common
	out       outFlags
	quantiles int
	lenient   bool
}

func newTFGNNStats(t *terminal) *cobra.Command {
	var f statsFlags
	cmd := &cobra.Command{
		Use:   "stats SCHEMA FILES...",
		Short: "Statistics of TFRecords of GraphTensors, with plots",
		Long: `Counts how large the graphs are, how many edges their nodes have, and how the
values of each feature are spread. Prints what TF-GNN's sampled_stats writes,
with means, deviations and a sample of sizes filled in; with --out it writes
that to a folder, beside a page with plots. FILES are paths, globs, or base@N.`,
		Example: `  graphmill tfgnn stats schema.pbtxt samples.tfrecord@8 --out stats     then see stats/report.html
  graphmill tfgnn stats schema.pbtxt 'samples.tfrecord-*' > stats.pbtxt
  graphmill tfgnn stats schema.pbtxt samples.tfrecord --json | jq .tables`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("found %d arguments, expected a SCHEMA and FILES", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.quantiles < 2 || f.quantiles%2 == 1 || f.quantiles > 10000 {
				return usagef("found --quantiles %d, expected an even number from 2 to 10000", f.quantiles)
			}
			return t.stats(cmd, args[0], args[1:], &f)
		},
	}
	f.addThreads(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.out.out, "out", "o", "", "folder to write (default: print the statistics)")
	fs.BoolVar(&f.out.force, "force", false, "replace the folder if it is an output of graphmill")
	fs.IntVar(&f.quantiles, "quantiles", 10, "quantiles of each feature, an even number")
	fs.BoolVar(&f.lenient, "lenient", false, "read broken Examples as far as possible, and count them")
	return cmd
}

func (t *terminal) stats(cmd *cobra.Command, path string, args []string, f *statsFlags) (err error) {
	start := time.Now()
	schema, path, err := t.readSchema(path)
	if err != nil {
		return err
	}
	files, warnings, err := records.Files(vfs.OS, args)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		t.warn("%s", w)
	}
	r := t.begin("tfgnn stats", "Statistics of "+strings.Join(args, " "), f.common)
	if f.out.out == "" {
		s, err := t.survey(cmd, schema, files, f, r)
		if err != nil {
			return err
		}
		if f.json {
			r.Finish(time.Since(start))
			return t.finish(r, f.common)
		}
		_, err = t.stdout.Write(tfgnn.AppendText(nil, s.Stats()))
		return err
	}
	inputs := append([]string{path}, files...)
	if err := f.out.keeps(inputs...); err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, f.out.out, f.out.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	sums, err := fingerprints(cmd.Context(), inputs, r, filepath.Base)
	if err != nil {
		return err
	}
	s, err := t.survey(cmd, schema, files, f, r)
	if err != nil {
		return err
	}
	made := store.Made{Command: "tfgnn stats", Inputs: sums, Version: version(), Options: map[string]string{
		"quantiles": strconv.Itoa(f.quantiles), "lenient": strconv.FormatBool(f.lenient)}}
	if err := errors.Join(w.WriteFile(statsFile, tfgnn.AppendText(nil, s.Stats())), w.WriteMade(made)); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	return t.publish(w, r, f.common, start)
}

// survey counts the files, and tells what is odd about them.
func (t *terminal) survey(cmd *cobra.Command, schema *tfgnnpb.GraphSchema, files []string, f *statsFlags, r *report.Report) (*survey.Survey, error) {
	var size int64
	for _, file := range files {
		info, err := vfs.Regular(vfs.OS, file)
		if err != nil {
			return nil, err
		}
		size += info.Size()
	}
	start := time.Now()
	line := t.progress("stats", size, "bytes")
	s, err := survey.Take(cmd.Context(), vfs.OS, files, survey.Options{Schema: schema, Quantiles: f.quantiles, Lenient: f.lenient, Threads: f.threads, Progress: line.Add})
	line.Done()
	if err != nil {
		return nil, err
	}
	if s.Unknown > 0 {
		t.warn("found %d values under keys that the schema does not have: %s", s.Unknown, human.Printable(strings.Join(s.UnknownKeys, ", ")))
	}
	if s.Repaired > 0 {
		t.warn("%d Examples were broken and read as far as possible", s.Repaired)
	}
	s.Report(r)
	r.Stage("count", time.Since(start), int64(s.Examples), "Examples")
	return s, nil
}
