package sampling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// executor is a compiled plan with the executor that runs it: the memory executor if stream is nil.
type executor struct {
	sampler *sample.Sampler
	stream  *outofcore.Executor
	need    int64  // bytes that the memory executor needs, if ExecutorAuto did not choose it
	note    string // why ExecutorAuto did not choose it
	cluster bool   // the sampler draws nothing: workers do
}

// choice holds the inputs and bounds by which an executor is chosen.
type choice struct {
	executor option.Executor
	threads  int
	memory   int64
	work     output.Work
	columns  int64  // bytes that the caller reads in addition to the graph
	touched  int64  // the part of columns that the job reads
	merged   int64  // what opening a store with segments holds
	fetched  int64  // the part of columns that the stream executor reads at random when it needs it
	scratch  string // folder for spill files of the stream executor
	segments string // new folder for the merged edges of a store with segments that the stream executor reads
	keep     string // folder for the state from which a later run continues; "" for none
	options  sample.Options
}

// choose fills in a choice for a plan.
func (o *request) choose(s *store.Store, p *planned, warn func(string)) choice {
	c := choice{executor: o.Executor, threads: o.Threads, memory: o.Memory,
		merged:  s.Merged(),
		work:    output.Work{Graph: s.Graph, Plan: p.plan, Job: &p.job, Threads: o.Threads, Ops: o.Ops, EdgeIDs: !o.NoEdgeIDs},
		options: sample.Options{Ops: o.Ops, NoEdgeIDs: o.NoEdgeIDs, Weights: p.plan.Weighs(), Warn: warn}}
	if o.Format == option.FormatTFRecord {
		ids, err := recordIDs(s, p.plan, o.IDs)
		if err != nil {
			ids = nil // Sample refuses them when it opens the output
		}
		c.work.Records = &output.RecordsOptions{Features: p.features, IDs: ids, Gzip: o.Gzip, Components: o.Components, SeedColumns: p.columns, SeedEdges: p.edges}
		c.joined()
		for _, column := range p.columns {
			c.columns += column.Bytes()
			c.touched += column.Bytes()
		}
	}
	seeds := jobBytes(&p.job)
	c.columns += seeds
	c.touched += seeds
	return c
}

// jobBytes is the memory that the lists of a job take.
func jobBytes(j *sample.Job) int64 {
	return 4*int64(len(j.Seeds)) + int64(len(j.Times))*int64(unsafe.Sizeof(sample.Time{})) + j.Negatives.Bytes() + j.Positives.Bytes()
}

// joined adds the columns and ids that are joined into TFRecords, without those that the plan reads anyway.
func (c *choice) joined() {
	g, plan := c.work.Graph, c.work.Plan
	nodes, edges := output.Reach(g, plan)
	add := func(column *graph.Column) {
		if !output.Writes(column) || sample.Reads(g, plan, column) {
			return
		}
		c.columns += column.Bytes()
		if outofcore.Fetches(column) {
			c.fetched += column.Bytes()
		}
	}
	// widened adds what the numbers of codes take. Columns that damage hides count nothing: the output refuses them.
	widened := func(columns []*widening.Column, _ error) {
		for _, column := range columns {
			c.columns += column.NumberBytes()
			c.touched += column.NumberBytes()
		}
	}
	widened(c.work.Records.Features.Among(c.work.Records.SeedEdges, c.work.Records.SeedColumns))
	for _, i := range edges {
		for _, column := range g.Edges[i].Columns {
			add(column)
		}
		widened(c.work.Records.Features.Edges(g.Edges[i]))
	}
	for _, i := range nodes {
		for _, column := range g.Nodes[i].Columns {
			add(column)
		}
		widened(c.work.Records.Features.Nodes(g.Nodes[i]))
		if slices.Contains(c.work.Records.IDs, g.Nodes[i].Type) {
			add(g.Nodes[i].IDs)
		}
	}
}

// samplerBytes returns the least memory of a process that samples a plan in memory with several threads.
func samplerBytes(g *graph.Graph, plan *sample.Plan, threads int) int64 {
	return sample.Need(g, plan, threads) + limits.ProcessBytes
}

// NewSampler compiles a plan within a budget, of which need bytes are needed. A budget below the need is an error; a memory of 0 is no
// bound.
func NewSampler(s *store.Store, plan *sample.Plan, need, memory int64, opt sample.Options) (*sample.Sampler, error) {
	if err := checkNeed(need, memory); err != nil {
		return nil, err
	}
	// A copy takes the place of mapped pages, which are given back while it is made.
	opt.Memory, opt.Touched = 1<<62, s.Touched
	m, err := sample.New(s.Graph, plan, opt)
	if err != nil {
		return nil, err
	}
	if err := s.Release(); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// newMappedSampler is NewSampler without copies: versions of a store share the maps, whose pages are not given back.
func newMappedSampler(s *store.Store, plan *sample.Plan, need, memory int64, opt sample.Options) (*sample.Sampler, error) {
	if err := checkNeed(need, memory); err != nil {
		return nil, err
	}
	return sample.New(s.Graph, plan, opt)
}

// checkNeed refuses a budget below the need of the memory executor.
func checkNeed(need, memory int64) error {
	if memory > 0 && memory < need {
		return tagged.Errorf(operation.ErrMemory, "found `Memory` %s, expected at least %s, which the memory executor needs for this plan; give more memory, smaller batches or fewer `Threads`",
			human.Bytes(memory), human.Bytes(need))
	}
	return nil
}

// The result need is about the peak memory of the memory executor for a plan. The result bound is the budget or, without one, the
// available memory; 0 means unknown. Where the arrays alone exceed the bound, the need is theirs: what batches take is not looked up.
func (c choice) need(g *graph.Graph, plan *sample.Plan) (need, bound int64) {
	bound = c.bound()
	need = limits.ProcessBytes + sample.NeedArrays(g, plan, c.threads) + c.touched + c.merged
	if bound > 0 && need > bound {
		return need, bound
	}
	buffers, columns := c.work.Buffers()
	return need + buffers + columns, bound
}

// bound is the budget or, without one, the available memory; 0 if unknown.
func (c choice) bound() int64 {
	if c.memory > 0 {
		return c.memory
	}
	return operation.Available(vfs.OS)
}

// streamed compiles a plan for the stream executor.
func (c choice) streamed(ctx context.Context, s *store.Store, plan *sample.Plan, bound int64) (*outofcore.Executor, error) {
	if s.Segments() > 0 {
		if c.segments == "" {
			return nil, s.OnePiece()
		}
		if err := s.Spill(ctx, vfs.OS, c.segments); err != nil {
			return nil, err
		}
	}
	return outofcore.Open(ctx, vfs.OS, s, plan, outofcore.Options{Memory: bound, Held: c.columns - c.fetched, Threads: c.threads, Scratch: c.scratch, Keep: c.keep,
		Ops: c.options.Ops, NoEdgeIDs: c.options.NoEdgeIDs, Warn: c.options.Warn})
}

// open compiles a plan for the requested executor. ExecutorAuto chooses the memory executor over the mapped store if the
// data that it reads fit the budget or, without a budget, the available memory.
func (c choice) open(ctx context.Context, s *store.Store, plan *sample.Plan) (executor, error) {
	need, bound := int64(0), c.bound()
	if c.executor != option.ExecutorStream { // need samples some batches, and the pages that it maps count as memory
		need, bound = c.need(s.Graph, plan)
	}
	inMemory := func() (executor, error) {
		m, err := NewSampler(s, plan, need, c.memory, c.options)
		return executor{sampler: m}, err
	}
	if c.executor == option.ExecutorMemory || c.executor == option.ExecutorAuto && (bound == 0 || need <= bound) {
		return inMemory()
	}
	x, err := c.streamed(ctx, s, plan, bound)
	e := executor{stream: x}
	if c.executor == option.ExecutorAuto {
		e.need, e.note = need, "sampled by the stream executor: "+tooLarge(need, bound)
	}
	switch {
	case err == nil:
		e.sampler = x.Sampler()
		return e, nil
	case c.executor == option.ExecutorAuto && c.memory == 0 && (errors.Is(err, sample.ErrFetch) || errors.Is(err, outofcore.ErrMemory)):
		// Without a budget the memory executor works in any case; it is slow if the data do not fit the page cache.
		return inMemory()
	}
	return executor{}, e.both(err)
}

// tooLarge explains why ExecutorAuto does not choose the memory executor.
func tooLarge(need, bound int64) string {
	return fmt.Sprintf("the memory executor needs %s, and %s are available", human.Bytes(need), human.Bytes(bound))
}

// both adds the need of the memory executor to an error of the stream executor.
func (e *executor) both(err error) error {
	if e.need > 0 && (errors.Is(err, sample.ErrFetch) || errors.Is(err, outofcore.ErrMemory)) {
		return fmt.Errorf("%w; the memory executor needs %s", err, human.Bytes(e.need))
	}
	return err
}

func (e *executor) close() error {
	if e.stream != nil {
		return e.stream.Close()
	}
	e.sampler.Close()
	return nil
}

// foretell gives the caller a forecast of a long run of the stream executor.
func (e *executor) foretell(ctx context.Context, job sample.Job, r *option.Run) error {
	if e.stream == nil {
		return nil
	}
	f, err := e.stream.Foretell(ctx, job)
	if err != nil {
		return e.both(err)
	}
	if e.note != "" {
		operation.Note(r, "%s", e.note)
	}
	if f.Seconds > 10 {
		operation.Note(r, "forecast: %s sweeps, %s to read, %s of memory, about %s", human.Exact(f.Sweeps), human.Bytes(f.Bytes), human.Bytes(f.Memory), human.Duration(time.Duration(f.Seconds*float64(time.Second))))
	}
	return nil
}

// report adds the reads of the stream executor and its forecast to the report.
func (e *executor) report(r *report.Report, took time.Duration) {
	r.Executor = "memory"
	if e.cluster {
		r.Executor = "cluster"
	}
	if e.stream == nil {
		return
	}
	r.Executor = "stream"
	if e.note != "" {
		r.Note(e.note)
	}
	read, told := e.stream.Counts(), e.stream.Forecast()
	r.BytesRead, r.Sweeps = &read.Bytes, &read.Sweeps
	f := forecastOf(told)
	r.Design, r.Forecast = f.Design, &f
	r.Head("read", report.Bytes(read.Bytes))
	seconds := took.Seconds()
	table := report.Table{
		Title:   fmt.Sprintf("Forecast and fact: stream executor, design %s, %s together", f.Design, human.Amount(int64(told.Batches), "batches")),
		Columns: []string{"", "forecast", "fact"},
		Rows: [][]report.Value{
			{report.Text("sweeps over the neighbours"), report.Count(told.Sweeps, ""), report.Count(read.Sweeps, "")},
			{report.Text("bytes read"), report.Bytes(told.Bytes), report.Bytes(read.Bytes)},
		},
	}
	if read.Rows > 0 {
		table.Rows = append(table.Rows, []report.Value{report.Text("of these, of columns"), {}, report.Bytes(read.Rows)})
	}
	if told.Written > 0 || read.Written > 0 {
		table.Rows = append(table.Rows, []report.Value{report.Text("scratch bytes written"), report.Bytes(told.Written), report.Bytes(read.Written)})
	}
	table.Rows = append(table.Rows,
		[]report.Value{report.Text("peak memory"), report.Bytes(told.Memory), report.Bytes(report.PeakRSS())},
		[]report.Value{report.Text("time; the forecast is without what the output takes"), {Seconds: &f.Seconds}, {Seconds: &seconds}})
	r.Table(table)
}

// forecastOf converts a forecast of the stream executor for the report.
func forecastOf(f outofcore.Forecast) report.Forecast {
	r := report.Forecast{Executor: "stream", Design: f.Design.String(), Sweeps: f.Sweeps, Bytes: f.Bytes, Written: f.Written, Memory: f.Memory, Least: f.Least, Seconds: f.Seconds}
	if f.Err != nil {
		r.Refused = f.Err.Error()
	}
	return r
}
