package main

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/generate/tensors"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// randomFlags are the flags of tfgnn random.
type randomFlags struct {
	common
	out         outFlags
	seed, count uint64
	shards      int
	gzip        bool
}

func newTFGNNRandom(t *terminal) *cobra.Command {
	var f randomFlags
	cmd := &cobra.Command{
		Use:   "random SCHEMA",
		Short: "Make random GraphTensors of a schema",
		Long: `Makes GraphTensors that fit a schema, with few nodes and random values, and
writes them as TFRecords beside the schema; without --out it prints the
Examples. The same schema and seed give the same GraphTensors; a larger --count
begins with the same ones.`,
		Example: `  graphmill tfgnn random schema.pbtxt                          see how Examples of a schema look
  graphmill tfgnn random schema.pbtxt --count 10 --json
  graphmill tfgnn random schema.pbtxt --count 100000 --shards 8 --out random`,
		Args: oneArg("one SCHEMA"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			schema, file, err := t.readSchema(args[0])
			if err != nil {
				return err
			}
			if f.out.out == "" {
				if cmd.Flags().Changed("shards") || f.gzip || f.out.force {
					return usagef("found a flag of files and no --out, expected a folder to write; give --out FOLDER")
				}
				return t.printRandom(cmd, schema, &f)
			}
			return t.writeRandom(cmd, file, schema, &f)
		},
	}
	f.addThreads(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.out.out, "out", "o", "", "folder to write (default: print the Examples)")
	fs.BoolVar(&f.out.force, "force", false, "replace the folder if it is an output of graphmill")
	fs.Uint64Var(&f.count, "count", 1, "number of GraphTensors")
	fs.Uint64Var(&f.seed, "seed", 0, "seed of all values")
	fs.IntVar(&f.shards, "shards", 1, "number of files")
	fs.BoolVar(&f.gzip, "gzip", false, "compress the files")
	return cmd
}

func (t *terminal) printRandom(cmd *cobra.Command, schema *tfgnnpb.GraphSchema, f *randomFlags) error {
	codec, err := example.NewCodec(schema)
	if err != nil {
		return err
	}
	var w example.Writer
	number := uint64(0)
	next := func() ([]byte, recordfiles.Place, error) {
		record, err := codec.Encode(&w, codec.Random(f.seed, number))
		number++
		return record, recordfiles.Place{File: "random", Number: number - 1}, err
	}
	return printExamples(cmd.Context(), t.stdout, next, f.json, 0, f.count)
}

func (t *terminal) writeRandom(cmd *cobra.Command, path string, schema *tfgnnpb.GraphSchema, f *randomFlags) (err error) {
	if err := f.out.keeps(path); err != nil {
		return err
	}
	start := time.Now()
	r := t.begin("tfgnn random", "Random GraphTensors of "+filepath.Base(path), f.common)
	w, err := store.Create(vfs.OS, f.out.out, f.out.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	line := t.progress("random", int64(f.count), "GraphTensors")
	result, err := tensors.Write(cmd.Context(), w, tensors.Options{Schema: schema, Seed: f.seed, Count: f.count,
		Shards: f.shards, Gzip: f.gzip, Threads: f.threads, Progress: line.Add})
	line.Done()
	if err != nil {
		return err
	}
	made := store.Made{Command: "tfgnn random", Seed: &f.seed, Version: version(), Options: map[string]string{
		"count": strconv.FormatUint(f.count, 10), "shards": strconv.Itoa(f.shards), "gzip": strconv.FormatBool(f.gzip)}}
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	r.Head("GraphTensors", report.Count(f.count, ""))
	r.Out("nodes", report.Count(result.Nodes.Sum(), ""))
	r.Out("edges", report.Count(result.Edges.Sum(), ""))
	r.Out("TFRecords", report.Bytes(result.Bytes))
	r.Plot(report.Distribution{Title: "Size of a GraphTensor", Of: "GraphTensors", What: "size", View: report.Bins, Series: []report.Series{
		{Name: "nodes", Histogram: &result.Nodes}, {Name: "edges", Histogram: &result.Edges}}})
	return t.publish(w, r, f.common, start)
}
