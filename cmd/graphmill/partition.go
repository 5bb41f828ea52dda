package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/format/chunked"
	"github.com/graphmill/graphmill/internal/format/metis"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/assign"
	"github.com/graphmill/graphmill/internal/partition/multilevel"
	"github.com/graphmill/graphmill/internal/partition/undirected"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// cutFlags say how a graph is divided into parts.
type cutFlags struct {
	options   partition.Options
	preset    string
	objective string
	types     bool
	theirs    struct { // DGL's names
		parts, trainers int
		columns         []string
	}
}

func (c *cutFlags) add(cmd *cobra.Command) {
	o, f := &c.options, cmd.Flags()
	f.IntVarP(&o.Parts, "parts", "k", 0, "number of parts (required, but for --method import)")
	f.StringVar(&o.Method, "method", partition.Multilevel, strings.Join(partition.Methods, ", "))
	f.StringVar(&c.preset, "preset", string(multilevel.Default), "of multilevel: fast, default or high")
	f.StringVar(&c.objective, "objective", string(multilevel.Cut), "of multilevel, what is made small: cut (edges between parts) or vol (communication volume)")
	f.Float64SliceVar(&o.Imbalance, "imbalance", []float64{1.03}, "how heavy a part may be against the mean; one, or one for each thing that is balanced")
	f.BoolVar(&o.Balance.Edges, "balance-edges", false, "balance in-degrees too")
	f.BoolVar(&c.types, "balance-types", true, "balance the nodes of each type; with =false those of all types together, which cuts fewer edges, but a part may own no node of a type, and DGL's server does not start for it if the type has features")
	f.StringSliceVar(&o.Balance.Columns, "balance-column", nil, "balance the classes of a column of nodes too: train_mask, or TYPE/train_mask")
	f.IntVar(&o.Trainers, "trainers-per-machine", 1, "divide each part between so many trainers")
	f.IntVar(&o.Passes, "passes", 0, "of fennel, how often the nodes are streamed (default 5)")
	f.StringVar(&o.Import, "import", "", "of import: a folder of <node type>.txt, a METIS .part.K or a ParMETIS file")
	f.Uint64Var(&o.Seed, "seed", 0, "seed of what is left to chance")
	f.StringSliceVar(&c.theirs.columns, "balance-ntypes", nil, "DGL's name of --balance-column")
	f.IntVar(&c.theirs.trainers, "num-trainers-per-machine", 0, "DGL's name of --trainers-per-machine")
	f.IntVar(&c.theirs.parts, "num-partitions", 0, "DGL's name of --parts")
}

// check takes DGL's names for ours.
func (c *cutFlags) check(cmd *cobra.Command, threads int, memory flags.Bytes) error {
	o := &c.options
	if o.Import != "" && !cmd.Flags().Changed("method") {
		o.Method = partition.Import
	}
	if c.theirs.parts != 0 {
		if o.Parts != 0 {
			return usagef("found both --parts and --num-partitions, expected one of them")
		}
		o.Parts = c.theirs.parts
	}
	if c.theirs.trainers != 0 {
		if cmd.Flags().Changed("trainers-per-machine") {
			return usagef("found both --trainers-per-machine and --num-trainers-per-machine, expected one of them")
		}
		o.Trainers = c.theirs.trainers
	}
	if o.Trainers < 1 {
		return usagef("found --trainers-per-machine %d, expected at least 1", o.Trainers)
	}
	o.Balance.TypesTogether = !c.types
	o.Balance.Columns = append(o.Balance.Columns, c.theirs.columns...)
	c.theirs.columns = nil
	if o.Parts == 0 && o.Method != partition.Import {
		return usagef("found no --parts, expected the number of parts, such as --parts 8")
	}
	o.Preset, o.Objective = multilevel.Preset(c.preset), multilevel.Objective(c.objective)
	switch o.Preset {
	case multilevel.Fast, multilevel.Default, multilevel.High:
	default:
		return usagef("found --preset %q, expected fast, default or high", c.preset)
	}
	if o.Objective != multilevel.Cut && o.Objective != multilevel.Vol {
		return usagef("found --objective %q, expected cut or vol", c.objective)
	}
	for _, name := range []string{"preset", "objective"} {
		if cmd.Flags().Changed(name) && o.Method != partition.Multilevel {
			return usagef("found --%s with --method %s, expected it with multilevel alone", name, o.Method)
		}
	}
	o.Threads, o.Memory = threads, int64(memory)
	return nil
}

// made is what the parts are a function of. The method is the one that was used.
func (c *cutFlags) made(command string, r *partition.Result) store.Made {
	o := &c.options
	m := store.Made{Command: command, Seed: &o.Seed, Law: draw.Version, Version: version(), Inputs: map[string]string{}, Options: map[string]string{
		"method": r.Method, "parts": strconv.Itoa(r.Assignment.Parts), "imbalance": joinFloats(o.Imbalance), "trainers_per_machine": strconv.Itoa(o.Trainers),
		"balance_edges": strconv.FormatBool(o.Balance.Edges), "balance_types": strconv.FormatBool(c.types), "balance_column": strings.Join(o.Balance.Columns, ",")}}
	switch r.Method {
	case partition.Multilevel:
		m.Options["preset"], m.Options["objective"] = c.preset, c.objective
	case partition.Fennel:
		m.Options["passes"] = strconv.Itoa(r.Passes)
	}
	return m
}

func joinFloats(list []float64) string {
	var s []string
	for _, x := range list {
		s = append(s, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(s, ",")
}

// partitionFlags are the flags of partition.
type partitionFlags struct {
	common
	outFlags
	cutFlags
	inDir, outDir string
	outside       bool
}

func newPartition(t *terminal) *cobra.Command {
	var f partitionFlags
	cmd := &cobra.Command{
		Use:   "partition STORE|CHUNKED|GRAPH.graph",
		Short: "Divide the nodes of a graph into parts between which few edges run",
		Long: `Gives each node a part, so that the parts are even and few edges run between them.
The input is a store, a graph in DGL's chunked format, or a METIS file (.graph, .graph.gz).
Types are taken together; a pair of neighbours counts once, whatever the directions.

--out gets <node type>.txt (line i: the part of node i) and partition_meta.json, as
DGL's dispatcher and graphmill dispatch read them, and a report. A METIS file without --out
gets what gpmetis writes: GRAPH.graph.part.K beside it.

Methods: multilevel has the smallest cut and holds the graph in memory; fennel streams
it from disk, and takes over where multilevel does not fit the --memory that is given; random and hash
deal the nodes out; import takes the parts of another program (--import).

By default the nodes of each type are balanced, and every part owns nodes of each type that has as
many as there are parts; see --balance-types, --balance-edges and --balance-column. The same seed gives the same parts at any number of threads.`,
		Example: `  graphmill partition g.store --parts 8 --out g.parts
  graphmill partition g.store --parts 8 --balance-edges --balance-column paper/train_mask --out g.parts
  graphmill partition chunked/ --parts 4 --preset high --imbalance 1.05 --out g.parts
  graphmill partition huge.store --parts 64 --memory 4GiB --out g.parts
  graphmill partition x.graph --parts 8
  graphmill partition g.store --import x.graph.part.8 --out g.parts
  graphmill partition --in_dir chunked/ --out_dir g.parts --num_partitions 4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.inDir != "" {
				return noArgs(cmd, args)
			}
			return oneArg("one STORE, CHUNKED graph or METIS file; or --in-dir")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in := f.inDir
			if in == "" {
				in = args[0]
			}
			if f.outDir != "" {
				if f.out != "" {
					return usagef("found both --out and --out-dir, expected one of them")
				}
				f.out = f.outDir
			}
			if err := errors.Join(f.common.check(), f.cutFlags.check(cmd, f.threads, f.memory)); err != nil {
				return usageError{err}
			}
			return cutError(t.partition(cmd.Context(), in, &f))
		},
	}
	f.common.add(cmd)
	f.outFlags.add(cmd)
	f.cutFlags.add(cmd)
	fs := cmd.Flags()
	fs.Lookup("out").Usage = "folder to write (required, but for METIS files)"
	fs.StringVar(&f.inDir, "in-dir", "", "DGL's name of the input")
	fs.StringVar(&f.outDir, "out-dir", "", "DGL's name of --out")
	fs.BoolVar(&f.outside, "allow-outside", false, "let metadata.json name files outside of its folder")
	return cmd
}

// isMETIS says whether a path is that of a METIS file. A folder of such a name is a store.
func isMETIS(path string) bool {
	if info, err := vfs.OS.Stat(path); err == nil && info.IsDir() {
		return false
	}
	return strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".graph")
}

func (t *terminal) partition(ctx context.Context, in string, f *partitionFlags) (err error) {
	r := t.begin("partition", "Parts of "+graphName(in), f.common)
	start := time.Now()
	graphFile := isMETIS(in)
	if graphFile && f.out == "" {
		return t.partitionMETIS(ctx, in, nil, f, r, start)
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	reads := []string{in}
	if f.options.Import != "" {
		reads = append(reads, f.options.Import)
	}
	if err := f.keeps(reads...); err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	if graphFile {
		return t.partitionMETIS(ctx, in, w, f, r, start)
	}
	return t.partitionStore(ctx, in, w, f, r, start)
}

func (t *terminal) partitionStore(ctx context.Context, in string, w *store.Writer, f *partitionFlags, r *report.Report, start time.Time) error {
	f.options.Temp = w.Dir()
	s, inputs, end, err := t.openCut(ctx, in, f, r)
	if err != nil {
		return err
	}
	result, err := t.cut(&f.cutFlags, func(o partition.Options) (*partition.Result, error) { return partition.Run(ctx, vfs.OS, s, o) })
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	made := f.made("partition", result)
	made.Inputs = inputs
	return t.writeAssignment(ctx, w, result, made, f, r, start)
}

// cut divides the nodes of a graph by run, with progress, and says what it will take
// where that is long.
func (t *terminal) cut(f *cutFlags, run func(partition.Options) (*partition.Result, error)) (*partition.Result, error) {
	defer collectEarly()()
	lines := stageLines{t: t}
	o := f.options
	o.Progress = lines.update
	o.Foretold = func(c partition.Forecast) {
		if c.Seconds > 10 {
			t.say("forecast: %s of memory, %s of temporary files, about %s", human.Bytes(c.Memory), human.Bytes(c.Disk), human.Duration(time.Duration(c.Seconds*float64(time.Second))))
		}
	}
	result, err := run(o)
	lines.done()
	if err != nil {
		return nil, err
	}
	for _, note := range result.Notes {
		t.warn("%s", note)
	}
	return result, nil
}

// cutError names the flags that an error of the library is about.
func cutError(err error) error {
	switch {
	case errors.Is(err, partition.ErrTooLarge):
		return usageError{fmt.Errorf("%w; give --method fennel", err)}
	case errors.Is(err, partition.ErrUsage):
		return usageError{err}
	}
	return err
}

// collectEarly lets the garbage collector run while little is to be collected: the graph
// is most of the heap, and as much again may otherwise lie there unused. The
// caller calls what it returns at the end.
func collectEarly() func() {
	before := debug.SetGCPercent(10)
	return func() { debug.SetGCPercent(before) }
}

// openCut opens a store, or imports what is needed of a chunked graph into a
// temporary one. end closes the store and removes a temporary one.
func (t *terminal) openCut(ctx context.Context, in string, f *partitionFlags, r *report.Report) (_ *store.Store, inputs map[string]string, end func() error, _ error) {
	if chunked.IsChunked(vfs.OS, filepath.Join(in, chunked.File)) {
		return t.importChunked(ctx, in, f, r)
	}
	s, err := openGraphStore(in)
	if err != nil {
		return nil, nil, nil, err
	}
	sum, err := inputStore(r, in)
	if err != nil {
		return nil, nil, nil, errors.Join(err, s.Close())
	}
	return s, map[string]string{"graph": sum}, s.Close, nil
}

func (t *terminal) writeAssignment(ctx context.Context, w *store.Writer, result *partition.Result, made store.Made, f *partitionFlags, r *report.Report, start time.Time) error {
	imported, err := f.imported(ctx, result, r)
	if err != nil {
		return err
	}
	maps.Copy(made.Inputs, imported)
	writing := time.Now()
	if err := assign.Write(w, result.Assignment); err != nil {
		return err
	}
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, f.threads); err != nil {
		return err
	}
	reportCut(r, result)
	t.tellGaps(r, result)
	r.Stage("write", time.Since(writing), int64(result.Nodes), "nodes")
	r.Finish(time.Since(start))
	html, text, err := render(r)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Report(html, text), w.Publish()); err != nil {
		return err
	}
	return t.printCut(result, f.json, start)
}

// imported are the fingerprints of an assignment that was imported: of one file, or
// of those of a folder.
func (c *cutFlags) imported(ctx context.Context, result *partition.Result, r *report.Report) (map[string]string, error) {
	path := c.options.Import
	if path == "" {
		return nil, nil
	}
	if info, err := vfs.OS.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		return assignmentInputs(ctx, path, "import/", result.Assignment, r)
	}
	return fingerprints(ctx, []string{path}, r, func(file string) string { return "import/" + filepath.Base(file) })
}

// assignmentInputs are the fingerprints of the files of an assignment that was read from a
// folder, by their names in it behind a prefix.
func assignmentInputs(ctx context.Context, dir, prefix string, a *assign.Assignment, r *report.Report) (map[string]string, error) {
	files, err := assign.Files(vfs.OS, dir, a)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for i, name := range files {
		files[i] = filepath.Join(dir, filepath.FromSlash(name))
		names[files[i]] = prefix + name
	}
	return fingerprints(ctx, files, r, func(file string) string { return names[file] })
}

// partitionMETIS divides the graph of a METIS file. Without a w the parts go where
// gpmetis writes them.
func (t *terminal) partitionMETIS(ctx context.Context, in string, w *store.Writer, f *partitionFlags, r *report.Report, start time.Time) error {
	if w == nil && f.options.Trainers > 1 {
		return usagef("found --trainers-per-machine without --out, expected a folder: a file as gpmetis writes it has no place for trainers")
	}
	m, err := metis.Read(ctx, vfs.OS, in, f.threads)
	if err != nil {
		return err
	}
	r.Stage("read", time.Since(start), int64(len(m.Neighbours)/2), "pairs")
	g := &undirected.Graph{Offsets: m.Offsets, Neighbours: m.Neighbours, EdgeWeights: m.EdgeWeights, Constraints: m.Constraints, Weights: m.Weights}
	result, err := t.cut(&f.cutFlags, func(o partition.Options) (*partition.Result, error) {
		result, err := partition.Divide(ctx, vfs.OS, g, graph.HomogeneousNode, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in, err)
		}
		if m.Sizes != nil {
			result.Notes = append(result.Notes, "the sizes of nodes in the file are not used")
		}
		return result, nil
	})
	if err != nil {
		return err
	}
	if w == nil {
		var b bytes.Buffer
		if err := assign.WriteLines(&b, result.Assignment.Part); err != nil {
			return err
		}
		// As gpmetis does, it replaces what an earlier run made.
		name := fmt.Sprintf("%s.part.%d", strings.TrimSuffix(in, ".gz"), result.Assignment.Parts)
		if err := vfs.WriteFile(vfs.OS, name, b.Bytes()); err != nil {
			return err
		}
		return t.printCut(result, f.json, start)
	}
	made := f.made("partition", result)
	if made.Inputs, err = fingerprints(ctx, []string{in}, r, filepath.Base); err != nil {
		return err
	}
	return t.writeAssignment(ctx, w, result, made, f, r, start)
}
