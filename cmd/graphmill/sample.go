package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// sampleFlags are the flags of sample.
type sampleFlags struct {
	workFlags
	outFlags
	shards int
	name   string
	gzip   bool
	ids    string
	tfgnn  tfgnnFlags
	resumeFlags
}

func newSample(t *terminal) *cobra.Command {
	var f sampleFlags
	cmd := &cobra.Command{
		Use:   "sample STORE",
		Short: "Sample subgraphs into a collection or TFRecords",
		Long: `Draws subgraphs around seed nodes and writes them as a collection (NumPy arrays,
features by reference) or as TFRecords that TF-GNN reads (features joined).
The same seed, plan and store give the same bytes at any number of threads, any
memory budget and any number of ranks.

Users who come from TF-GNN give tfgnn_sampler's own flags instead of a STORE, and
--compat tfgnn or tfgnn-classic for Examples as its samplers write them. Edges with
an end that is no node are then dropped, counted and reported (--missing-nodes);
import is stricter and stops at them.

Links are seeds too: --seeds names a table with columns source and target. TFRecords
have them as TF-GNN's readout sets, the other columns of the table as features.`,
		Example: `  graphmill sample g.store --fanout 15,10 --batch-size 1024 --out batches
  graphmill sample g.store --fanout 'cites=15,10;writes=5,5' --seeds paper --scope seed --format tfrecord --shards 8 --out samples
  graphmill sample g.store --sampling-spec spec.pbtxt --format tfrecord --out samples
  graphmill sample g.store --fanout 10,10 --seeds paper:split=train --shuffle --epochs 3 --out train
  graphmill sample g.store --fanout 10,5 --before 'time<=' --scope seed --seeds user --out past
  graphmill sample g.store --fanout 10,5 --seeds links.csv --seed-type user,item --scope seed --format tfrecord --out links
  graphmill sample g.store --fanout 15,10 --epochs 100 --out train --resume
  graphmill sample --graph_schema schema.pbtxt --sampling_spec spec.pbtxt --output_samples out/samples.tfrecord@8`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.tfgnn.schema != "" && (len(args) == 0 || f.tfgnn.samples != "") {
				return noArgs(cmd, args)
			}
			return oneArg("one STORE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || f.tfgnn.given() {
				return t.sampleUnigraph(cmd, &f)
			}
			if cmd.Flags().Changed("missing-nodes") {
				return usagef("found --missing-nodes with a STORE, expected it with TF-GNN's flags: a store was imported with import --dangling-edges")
			}
			if err := f.check(cmd); err != nil {
				return err
			}
			return t.sample(cmd, args[0], &f)
		},
	}
	f.workFlags.add(cmd)
	f.outFlags.add(cmd)
	f.tfgnn.add(cmd)
	fs := cmd.Flags()
	f.resumeFlags.add(fs)
	fs.IntVar(&f.shards, "shards", 1, "files to divide TFRecords over")
	fs.StringVar(&f.name, "name", "", "name that the TFRecord files begin with (default samples.tfrecord)")
	fs.BoolVar(&f.gzip, "gzip", false, "compress TFRecords")
	fs.StringVar(&f.ids, "ids", "", "node types whose original ids TFRecords have as #id: TYPE,TYPE, all, or none (default: as the unigraph's schema declares)")
	return cmd
}

func (f *sampleFlags) check(cmd *cobra.Command) error {
	if err := errors.Join(f.outFlags.check(), f.resumeFlags.check()); err != nil {
		return usageError{err}
	}
	if f.format == "collection" {
		for _, name := range []string{"shards", "name", "gzip", "ids"} {
			if cmd.Flags().Changed(name) {
				return usagef("found --%s with --format collection, expected --format tfrecord", name)
			}
		}
	}
	return f.workFlags.check(cmd)
}

// writer is a form of output.
type writer interface {
	Run(ctx context.Context, job sample.Job) (sample.Stats, error)
	Sizes() (nodes, edges *report.Histogram)
	Close() error
}

// sample samples a store.
func (t *terminal) sample(cmd *cobra.Command, dir string, f *sampleFlags) (err error) {
	start := time.Now()
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	if err := f.keeps(dir); err != nil {
		return err
	}
	name := filepath.Base(filepath.Clean(dir))
	r := t.begin("sample", "Subgraphs of "+name, f.common)
	sum, err := store.Sum(vfs.OS, dir)
	if err != nil {
		return err
	}
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return err
	}
	r.Input(name, size, sum)
	if f.tfgnn.schema != "" {
		if err := readSchema(cmd, f, r); err != nil {
			return err
		}
	}
	w, err := f.writer()
	if err != nil {
		return err
	}
	defer f.end(cmd.Context(), w, &err)
	return t.sampleStore(cmd, s, w, f, r, start)
}

// sampleStore writes the subgraphs of s to w, and publishes it.
func (t *terminal) sampleStore(cmd *cobra.Command, s *store.Store, w *store.Writer, f *sampleFlags, r *report.Report, start time.Time) (err error) {
	began := time.Now()
	planned, chosen, err := f.prepare(cmd.Context(), s, func(m string) {
		t.warn("%s", m)
		r.Note(m)
	})
	if err != nil {
		return err
	}
	inputs, err := seeds.Files(vfs.OS, s.Graph, f.Seeds)
	if err != nil {
		return err
	}
	for _, file := range []string{f.SpecFile, f.PlanFile, f.tfgnn.schema} {
		if file != "" {
			inputs = append(inputs, file)
		}
	}
	if err := f.keeps(inputs...); err != nil {
		return err
	}
	if f.format == "tfrecord" {
		t.warnContext(s)
	}
	plan, job := planned.Plan, planned.Job
	chosen.scratch, chosen.keep = w.Dir(), f.spilled()
	x, err := chosen.open(cmd.Context(), s, plan)
	if err != nil {
		return err
	}
	defer closeWith(&err, x.close)
	sampler := x.sampler
	made, err := f.made(cmd.Context(), s, plan)
	if err != nil {
		return err
	}
	before, err := t.beginSample(cmd.Context(), w, f, made)
	if err != nil {
		return err
	}
	if x.stream != nil {
		// Little is allocated once the buffers have grown; until then garbage would weigh.
		defer debug.SetGCPercent(debug.SetGCPercent(20))
	}
	prepared := time.Now()
	r.Stage("compile the plan", prepared.Sub(began), 0, "")

	subgraphs := output.Subgraphs(sampler, job) * uint64(f.epochs)
	line := t.progress("sample", int64(subgraphs), "subgraphs")
	defer line.Done()
	written := func(n int) { line.Add(int64(n)) }

	var out writer
	var finish func(made store.Made) (*store.Meta, error)
	switch f.format {
	case "collection":
		c, err := output.NewCollection(w, sampler, output.CollectionOptions{Ops: f.ops, Stream: x.stream, Progress: written, Checkpoint: f.checkpoint})
		if err != nil {
			return err
		}
		out, finish = c, c.Finish
	default:
		opt, err := f.records(s, planned)
		if err != nil {
			return err
		}
		opt.Examples = output.Examples(sampler, job, opt.Components) * uint64(f.epochs)
		opt.Stream, opt.Progress, opt.Checkpoint = x.stream, written, f.checkpoint
		rec, err := output.NewRecords(w, sampler, opt)
		if err != nil {
			return flags.UsageOf(err)
		}
		t.warnRounded(r, rec.Rounded())
		out, finish = rec, func(made store.Made) (*store.Meta, error) { return nil, rec.Finish(made) }
	}
	defer closeWith(&err, out.Close)
	if x.stream != nil {
		told, err := x.stream.Foretell(cmd.Context(), job)
		if err != nil {
			return x.both(err)
		}
		if x.note != "" {
			t.say("%s", x.note)
		}
		if told.Seconds > 10 {
			t.say("forecast: %s sweeps, %s to read, %s of memory, about %s", human.Exact(told.Sweeps), human.Bytes(told.Bytes), human.Bytes(told.Memory), about(told.Seconds))
		}
	}
	stats, err := out.Run(cmd.Context(), job)
	if err != nil {
		return flags.UsageOf(err)
	}
	line.Done()
	if rec, ok := out.(*output.Records); ok {
		t.warnUnderflows(r, rec.Underflows())
	}
	sampled := time.Now()
	r.Stage("sample and write", sampled.Sub(prepared), int64(stats.Subgraphs-before), "subgraphs")
	x.report(r, sampled.Sub(prepared))
	meta, err := finish(made)
	if err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), meta, f.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(sampled), 0, "")
	if err := reportSample(r, w.Dir(), stats, before, out, sampled.Sub(prepared)); err != nil {
		return err
	}
	return t.publish(w, r, f.common, start)
}

// made says what the output is a function of.
func (f *sampleFlags) made(ctx context.Context, s *store.Store, plan *sample.Plan) (store.Made, error) {
	sum, err := store.Sum(vfs.OS, s.Dir)
	if err != nil {
		return store.Made{}, err
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return store.Made{}, err
	}
	made := store.Made{Command: "sample", Inputs: map[string]string{"store": sum}, Seed: &f.Seed, Law: draw.Version, Plan: text, Version: version(),
		Options: map[string]string{
			"seeds": f.Seeds, "limit_seeds": strconv.Itoa(f.Limit), "batch_size": strconv.Itoa(f.BatchSize), "shuffle": strconv.FormatBool(f.shuffle),
			"epoch": strconv.FormatUint(f.Epoch, 10), "epochs": strconv.Itoa(f.epochs), "rank": f.rank}}
	if f.SeedTime != "" {
		made.Options["seed_time"] = f.SeedTime
	}
	f.examples.made(made.Options)
	if f.tfgnn.schema != "" && f.tfgnn.samples == "" {
		if made.Inputs["graph_schema"], err = store.Fingerprint(ctx, vfs.OS, f.tfgnn.schema); err != nil {
			return store.Made{}, err
		}
	}
	if f.tfgnn.missing != "" {
		made.Options["missing_nodes"] = f.tfgnn.missing
	}
	// Seeds of a file are an input: named by content, not by where the file lies.
	files, err := seeds.Files(vfs.OS, s.Graph, f.Seeds)
	if err != nil {
		return store.Made{}, err
	}
	for i, file := range files {
		name := "seeds"
		if i > 0 {
			name += "/" + filepath.Base(file)
		}
		if made.Inputs[name], err = store.Fingerprint(ctx, vfs.OS, file); err != nil {
			return store.Made{}, err
		}
		made.Options["seeds"] = filepath.Base(f.Seeds)
	}
	return made, nil
}

var rankForm = regexp.MustCompile(`^(\d{1,9})/(\d{1,9})$`)

func parseRank(s string) (rank, ranks int, err error) {
	m := rankForm.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, usagef("found --rank %q, expected R/W, such as 0/4", s)
	}
	// Nine digits fit an int.
	rank, _ = strconv.Atoi(m[1])
	ranks, _ = strconv.Atoi(m[2])
	if rank >= ranks {
		return 0, 0, usagef("found --rank %q, expected R below W", s)
	}
	return rank, ranks, nil
}

// declaredIDs is the option of an imported store that names the node types whose
// schema declares #id.
const declaredIDs = "declared_ids"

// recordIDs is the node types whose original ids are written.
func recordIDs(s *store.Store, plan *sample.Plan, flag string) ([]string, error) {
	var have []string
	reached, _ := output.Reach(s.Graph, plan)
	for _, i := range reached {
		if n := s.Graph.Nodes[i]; n.IDs != nil && n.IDs.DType == graph.String {
			have = append(have, n.Type)
		}
	}
	switch flag {
	case "none":
		return nil, nil
	case "all":
		return have, nil
	case "":
		declared := strings.Split(s.Meta.Made.Options[declaredIDs], ",")
		return slices.DeleteFunc(have, func(n string) bool { return !slices.Contains(declared, n) }), nil
	}
	names := strings.Split(flag, ",")
	for _, n := range names {
		if !slices.Contains(have, n) {
			return nil, usagef("found --ids %s, expected node types that the plan reaches and that have string ids: %s", n, strings.Join(have, ", "))
		}
	}
	return names, nil
}

// reportSample tells what was sampled, of which an interrupted run made so many
// subgraphs before.
func reportSample(r *report.Report, dir string, stats sample.Stats, before uint64, out writer, d time.Duration) error {
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return err
	}
	r.Head("subgraphs", report.Count(stats.Subgraphs, "subgraphs"))
	r.Head("sampled edges", report.Count(stats.Drawn, "edges"))
	r.Head("subgraphs a second", report.Number(float64(stats.Subgraphs-before)/d.Seconds(), "/s"))
	r.Head("on disk", report.Bytes(size))
	r.In("seeds", report.Count(stats.Seeds, "seeds"))
	r.Out("subgraphs", report.Count(stats.Subgraphs, "subgraphs"))
	r.Out("batches", report.Count(stats.Batches, "batches"))
	r.Out("nodes", report.Count(stats.Nodes, "nodes"))
	r.Out("edges", report.Count(stats.Edges, "edges"))
	if before > 0 {
		r.Note(fmt.Sprintf("%d subgraphs were written by a run that was interrupted", before))
	}
	// Of induced edges there can be more than were drawn.
	if stats.Drawn > stats.Edges {
		r.Note(fmt.Sprintf("%d edges were drawn by several ops of a subgraph and are kept once", stats.Drawn-stats.Edges))
	}
	nodes, edges := out.Sizes()
	r.Plot(report.Distribution{Title: "Size of the subgraphs", Of: "subgraphs", What: "size", View: report.Bins,
		Series: []report.Series{{Name: "nodes", Histogram: nodes}, {Name: "edges", Histogram: edges}}})
	return nil
}

// columnBytes is the size of the columns and ids that TFRecords of a plan join, and of
// those among them that the stream executor reads where they are wanted.
func columnBytes(g *graph.Graph, plan *sample.Plan, induce bool) (all, fetched int64) {
	nodes, edges := output.Reach(g, plan)
	if induce {
		edges = plan.Induced(g)
	}
	add := func(columns []*graph.Column) {
		for _, c := range columns {
			all += c.Bytes()
			if outofcore.Fetches(c) {
				fetched += c.Bytes()
			}
		}
	}
	for _, i := range edges {
		add(g.Edges[i].Columns)
	}
	for _, i := range nodes {
		add(g.Nodes[i].Columns)
		if ids := g.Nodes[i].IDs; ids != nil {
			all += ids.Bytes()
		}
	}
	return all, fetched
}
