package sampling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/cluster"
	"github.com/graphmill/graphmill/internal/sample/messages"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/sample/seeds"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/internal/workfolder"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// Sample samples subgraphs around the seeds of a store, and writes them to the folder out as a collection or as TFRecords.
// The same store, options and random seed give the same bytes for any Threads, Memory and Executor. If a run stops after
// a checkpoint, its error is ErrResumable.
//
// c samples on the workers of a cluster; nil samples in this process.
func Sample(ctx context.Context, st *store.Store, out string, options option.Sample, c *Cluster) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	o := ofSample(&options, c)
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := operation.Keeps(out, st.Dir); err != nil {
		return nil, err
	}
	r := operation.NewReport(&o.Run, "sample", "Subgraphs of "+operation.Titled(st.Dir))
	if _, err := operation.InputFolder(r, st.Dir); err != nil {
		return nil, err
	}
	if o.GraphSchema != "" {
		if err := o.readSchema(ctx, r); err != nil {
			return nil, err
		}
	}
	w, err := o.create(ctx, out)
	if err != nil {
		return nil, err
	}
	s := &sampling{o: &o, store: st, w: w, out: out, report: r, start: start}
	return r, s.finished(ctx, s.run(ctx))
}

// SampleFolder is runSample of the store in a folder.
func SampleFolder(ctx context.Context, dir, out string, o option.Sample, c *Cluster) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	s, err := openSampled(vfs.OS, dir, o.Executor == option.ExecutorStream)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, out, s.Close)
	if c != nil { // workers read the files
		if err := s.OnePiece(); err != nil {
			return nil, err
		}
	}
	return Sample(ctx, s, out, o, c)
}

// openSampled opens a store for an executor: the stream executor fetches little of a store in an object store.
func openSampled(fsys vfs.FS, dir string, inParts bool) (*store.Store, error) {
	if inParts {
		if s, err := store.OpenLater(fsys, dir); !errors.Is(err, store.ErrSegments) {
			return s, err
		}
	}
	return store.OpenMerged(fsys, dir, -1)
}

// sampling is a run of Sample.
type sampling struct {
	o      *request
	store  *store.Store
	w      *store.Writer
	out    string
	report *report.Report
	start  time.Time

	*planned
	chosen   choice
	executor executor
	sets     *sets           // of the nodes of subgraphs; nil for neighbourhoods
	messages *messages.Store // that is sampled; nil on a cluster
	counts   cluster.Counts  // what the workers of a cluster did
	made     store.Made
	before   uint64 // subgraphs that an interrupted run wrote
	result   writer
	finish   func(store.Made) (*store.Meta, error)
}

// writer writes the subgraphs of a job in one output format.
type writer interface {
	Run(ctx context.Context, job sample.Job) (sample.Stats, error)
	Sizes() (nodes, edges *report.Histogram)
	Close() error
}

// run samples the store, and publishes the output.
func (s *sampling) run(ctx context.Context) (err error) {
	defer guard.Catch(&err)()
	began := time.Now()
	if s.store.Segments() > 0 {
		defer operation.CloseWith(&err, func() error { return vfs.OS.RemoveAll(segmentsBeside(s.out)) })
	}
	defer operation.CloseWith(&err, func() error { return s.messages.Close() })
	if err := s.prepare(ctx); err != nil {
		return err
	}
	defer s.sets.close()
	defer operation.CloseWith(&err, s.executor.close)
	// Little is allocated once the buffers have grown, but before that garbage could exceed the budget.
	defer operation.LessGarbage(20)()
	prepared := time.Now()
	s.report.Stage("compile the plan", prepared.Sub(began), 0, "")
	line := operation.NewMeter(&s.o.Run, "sample", int64(output.Subgraphs(s.executor.sampler, s.job)*uint64(s.o.Epochs)), "subgraphs")
	defer line.End()
	if err := s.open(func(n int) { line.Add(int64(n)) }); err != nil {
		return err
	}
	defer operation.CloseWith(&err, s.result.Close)
	if err := s.executor.foretell(ctx, s.job, &s.o.Run); err != nil {
		return err
	}
	stats, err := s.result.Run(ctx, s.job)
	line.End()
	if err != nil {
		return UsageOf(err)
	}
	return s.seal(ctx, stats, prepared)
}

// prepare finds the plan and the seeds, compiles the plan for an executor, and prepares the output for checkpoints.
func (s *sampling) prepare(ctx context.Context) (err error) {
	o := s.o
	if s.planned, err = o.resolve(ctx, s.store); err != nil {
		return err
	}
	inputs, err := seeds.Files(vfs.OS, s.store.Graph, o.Seeds)
	if err != nil {
		return err
	}
	for _, file := range append(seeds.FilesOfNegatives(o.NegativesFrom), o.SamplingSpec, o.Plan, o.GraphSchema) {
		if file != "" {
			inputs = append(inputs, file)
		}
	}
	if err := operation.Keeps(s.out, inputs...); err != nil {
		return err
	}
	if o.Format == option.FormatTFRecord {
		s.warnContext()
	}
	for _, text := range s.warnings(s.store.Graph, o.Seeds) {
		operation.Warn(&o.Run, "%s", text)
		s.report.Note(text)
	}
	if o.cluster == nil { // its workers read the messages from the folder of their work
		if err := vfs.OS.RemoveAll(messagesBeside(s.out)); err != nil { // of a run that was killed
			return err
		}
		if s.messages, err = OpenMessages(ctx, &o.Run, s.store, s.plan, messagesBeside(s.out)); err != nil {
			return err
		}
		s.store = s.messages.Store
	}
	chosen := o.choose(s.store, s.planned, func(text string) {
		operation.Warn(&o.Run, "%s", text)
		s.report.Note(text)
	})
	chosen.scratch, chosen.keep, chosen.segments = s.w.Dir(), spilled(s.out), segmentsBeside(s.out)
	if s.sets, err = o.openSets(ctx, s.store, s.planned); err != nil {
		return err
	}
	if s.sets != nil {
		s.sets.into(&s.job)
		chosen.columns += s.sets.need
		chosen.touched += s.sets.need
	}
	s.chosen = chosen
	if o.cluster != nil {
		s.executor, err = chosen.onCluster(s.store, s.plan)
	} else {
		s.executor, err = chosen.open(ctx, s.store, s.plan)
	}
	if err != nil {
		s.sets.close()
		return err
	}
	if s.made, err = o.made(ctx, s.store, s.plan); err == nil && s.sets != nil {
		err = o.madeSets(ctx, s.sets, s.made, s.report)
	}
	if err == nil {
		err = s.begin(ctx)
	}
	if err != nil {
		s.sets.close()
		return errors.Join(err, s.executor.close())
	}
	return nil
}

// begin prepares the output for checkpoints.
func (s *sampling) begin(ctx context.Context) error {
	of, err := s.o.identity(ctx, s.made)
	if err != nil {
		return err
	}
	if err := s.w.Begin(ctx, of, s.o.Threads, func(err error) { operation.Warn(&s.o.Run, "%v", err) }); err != nil {
		return err
	}
	if s.before = output.Saved(s.w); s.before > 0 {
		operation.Note(&s.o.Run, "continuing after the first %s subgraphs, which an interrupted run wrote", human.ExactU(s.before))
	}
	return nil
}

// open makes the writer of the output format.
func (s *sampling) open(written func(n int)) error {
	o, x := s.o, s.executor
	if o.Format == option.FormatCollection {
		opt := output.CollectionOptions{Ops: o.Ops, Stream: x.stream, Progress: written, Checkpoint: o.checkpoint()}
		if o.cluster != nil {
			var err error
			if opt.Elsewhere, err = s.elsewhere(nil); err != nil {
				return err
			}
		}
		c, err := output.NewCollection(s.w, x.sampler, opt)
		if err != nil {
			return err
		}
		s.result, s.finish = c, c.Finish
		return nil
	}
	opt, err := o.records(s.store, s.planned)
	if err != nil {
		return err
	}
	opt.Examples = output.Examples(x.sampler, s.job, opt.Components) * uint64(o.Epochs)
	opt.Stream, opt.Progress, opt.Checkpoint = x.stream, written, o.checkpoint()
	if o.cluster != nil {
		given := opt
		if opt.Elsewhere, err = s.elsewhere(&given); err != nil {
			return err
		}
	}
	c, err := output.NewRecords(s.w, x.sampler, opt)
	if err != nil {
		return UsageOf(err)
	}
	operation.WarnRounded(&o.Run, s.report, c.Rounded())
	s.result, s.finish = c, func(made store.Made) (*store.Meta, error) {
		operation.WarnUnderflows(&o.Run, s.report, c.Underflows())
		return nil, c.Finish(made)
	}
	return nil
}

// seal completes the output, reports it and gives it its final name.
func (s *sampling) seal(ctx context.Context, stats sample.Stats, prepared time.Time) error {
	sampled := time.Now()
	took := sampled.Sub(prepared)
	s.report.Stage("sample and write", took, int64(stats.Subgraphs-s.before), "subgraphs")
	s.executor.report(s.report, took)
	s.tellCluster()
	meta, err := s.finish(s.made)
	if err != nil {
		return err
	}
	if err := s.w.Seal(ctx, meta, s.o.Threads); err != nil {
		return err
	}
	s.report.Stage("checksums", time.Since(sampled), 0, "")
	if err := s.tell(stats, took); err != nil {
		return err
	}
	if err := s.draw(); err != nil {
		return err
	}
	return operation.Publish(&s.o.Run, s.w, s.report, s.start)
}

// tell reports the result of the sampling.
func (s *sampling) tell(stats sample.Stats, took time.Duration) error {
	r := s.report
	r.Head("subgraphs", report.Count(stats.Subgraphs, "subgraphs"))
	if stats.Drawn == 0 { // PageRanks take nodes
		r.Head("edges", report.Count(stats.Edges, "edges"))
	} else {
		r.Head("sampled edges", report.Count(stats.Drawn, "edges"))
	}
	r.Head("subgraphs per second", report.Number(float64(stats.Subgraphs-s.before)/took.Seconds(), "/s"))
	if err := operation.OnDisk(r, s.w.Dir()); err != nil {
		return err
	}
	r.In("seeds", report.Count(stats.Seeds, "seeds"))
	r.Out("subgraphs", report.Count(stats.Subgraphs, "subgraphs"))
	r.Out("batches", report.Count(stats.Batches, "batches"))
	r.Out("nodes", report.Count(stats.Nodes, "nodes"))
	r.Out("edges", report.Count(stats.Edges, "edges"))
	if n := s.plan.Negatives; n != nil {
		r.Out("negative links", report.Count(stats.Negatives, "links"))
		if n.Strict == sample.StrictCount {
			r.Out("negative links that are edges", report.Count(stats.NegativeEdges, "links"))
		}
		if stats.NegativeEdges > 0 {
			r.Note(fmt.Sprint(stats.NegativeEdges, " ") + human.Things(int64(stats.NegativeEdges), fmt.Sprintf("negative links are edges, or join a node with itself, after %d tries: their sources may be joined to nearly all nodes", sample.NegativeTries)))
		}
	}
	if text := ownMessages(s.store.Graph, s.plan); text != "" {
		r.Note(text)
	}
	if b := s.plan.Before; b != nil && b.Window > 0 && stats.Drawn == 0 {
		text := "found no edge of any seed in the `Window`, and subgraphs that are seeds alone; is it in the unit of the times?"
		operation.Warn(&s.o.Run, "%s", text)
		r.Note(text)
	}
	if s.before > 0 {
		r.Note(fmt.Sprint(s.before, " ") + human.Things(int64(s.before), "subgraphs were written by a run that was interrupted"))
	}
	// With induced edges there can be more edges than were drawn.
	if stats.Drawn > stats.Edges {
		r.Note(fmt.Sprint(stats.Drawn-stats.Edges, " ") + human.Things(int64(stats.Drawn-stats.Edges), "draws repeat an edge that another op of the subgraph drew: each edge is kept once"))
	}
	nodes, edges := s.result.Sizes()
	r.Plot(operation.SizesPlot("Size of the subgraphs", "subgraphs", nodes, edges))
	return nil
}

// finished ends the output. Where it was not published and something is kept from which a run can resume, the error says so.
func (s *sampling) finished(ctx context.Context, err error) error {
	kept := spilled(s.out)
	if s.w.Published() {
		return s.w.End(errors.Join(err, vfs.OS.RemoveAll(kept), workfolder.RemoveAll(vfs.OS, operation.Worked(s.out))))
	}
	checkpoint, unknown := s.w.Resumable()
	spill, unknownSpill := outofcore.Kept(vfs.OS, kept)
	pieces, unknownPieces := unfinished(s.out)
	busy, unknownJob := workfolder.Busy(vfs.OS, operation.Worked(s.out))
	unknown = errors.Join(unknown, unknownSpill, unknownPieces, unknownJob)
	if (checkpoint || spill || pieces) && !errors.Is(err, store.ErrOtherRun) {
		what := "the output of an earlier run is kept in " + s.w.Dir()
		if n := output.Saved(s.w); n > 0 {
			what = fmt.Sprintf("the first %s subgraphs are kept in %s", human.ExactU(n), s.w.Dir())
		} else if spill {
			what = "steps of an epoch are kept in " + kept
		} else if pieces {
			what = "what the workers wrote is kept in " + operation.Worked(s.out)
		}
		continues := operation.ErrResumable
		if s.o.cluster != nil {
			continues = operation.ErrContinues
		}
		how := fmt.Errorf("%s, and %w", what, continues)
		if operation.OnlyStopped(ctx, err) {
			err = how
		} else {
			err = errors.Join(err, how)
		}
	}
	if !pieces && !busy && errors.Join(unknownPieces, unknownJob) == nil {
		err = errors.Join(err, workfolder.RemoveAll(vfs.OS, operation.Worked(s.out)))
	}
	return s.w.End(errors.Join(err, unknown))
}

// warnContext warns about a context that no Example gets.
func (s *sampling) warnContext() {
	for _, c := range s.store.Graph.Context {
		if c.Rows != 1 {
			operation.Warn(&s.o.Run, "%s: the context has %d rows and is left out; only a context of one row goes into every Example", s.store.Dir, c.Rows)
			return
		}
	}
}

// checkpoint returns the time between two checkpoints, 0 for none.
func (o *request) checkpoint() time.Duration {
	if o.checkpointEvery == 0 {
		return 30 * time.Second
	}
	return max(0, o.checkpointEvery)
}

// records returns the options with which TFRecords are written.
func (o *request) records(s *store.Store, p *planned) (output.RecordsOptions, error) {
	ids, err := recordIDs(s, p.plan, o.IDs)
	if err != nil {
		return output.RecordsOptions{}, err
	}
	compat := o.compat()
	return output.RecordsOptions{
		Name: o.Name, Shards: o.Shards, Gzip: o.Gzip, Features: p.features, IDs: ids, Components: o.Components,
		SeedIDs: o.SeedIDs || compat == output.Classic, Seeds: p.job.Seeds, SeedColumns: p.columns, SeedEdges: p.edges,
		Compat: compat, Joined: o.joined, Schema: o.schema,
	}, nil
}

// recordIDs returns the node types whose original ids are written.
func recordIDs(s *store.Store, plan *sample.Plan, asked []string) ([]string, error) {
	var have []string
	reached, _ := output.Reach(s.Graph, plan)
	for _, i := range reached {
		if n := s.Graph.Nodes[i]; n.IDs != nil && n.IDs.DType == graph.String {
			have = append(have, n.Type)
		}
	}
	switch {
	case asked == nil:
		declared := strings.Split(s.Meta.Made.Options[importing.DeclaredIDs], ",")
		return slices.DeleteFunc(have, func(n string) bool { return !slices.Contains(declared, n) }), nil
	case slices.Equal(asked, []string{"none"}):
		return nil, nil
	case slices.Equal(asked, []string{"all"}):
		return have, nil
	}
	for _, n := range asked {
		if !slices.Contains(have, n) {
			return nil, operation.Usagef("found `IDs` %s, expected node types that the plan reaches and that have string ids: %s; leave the others out", n, strings.Join(have, ", "))
		}
	}
	return asked, nil
}

// readSchema reads the schema of a store's graph. A folder stands for the schema in it.
func (o *request) readSchema(ctx context.Context, r *report.Report) (err error) {
	if o.schema, o.GraphSchema, _, err = tfgnnfiles.ReadSchema(vfs.OS, o.GraphSchema); err != nil {
		return err
	}
	_, err = operation.Fingerprints(ctx, vfs.OS, []string{o.GraphSchema}, r, func(string) string { return "graph_schema" })
	return err
}
