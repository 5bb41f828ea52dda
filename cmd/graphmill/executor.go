package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/outofcore"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// executors are the values of --executor.
var executors = []string{"auto", "memory", "stream"}

// executor is a compiled plan and who runs it: the memory executor where stream is
// nil.
type executor struct {
	sampler *sample.Sampler
	stream  *outofcore.Executor
	need    int64  // of the memory executor, where --executor auto did not take it
	note    string // why
}

// choice is what an executor is chosen for and within.
type choice struct {
	executor string
	threads  int
	memory   flags.Bytes
	columns  int64  // bytes of what the caller reads besides
	fetched  int64  // of these, what the stream executor reads where it is wanted
	scratch  string // folder for what the stream executor spills
	keep     string // and one for what another run goes on with, if any
	options  sample.Options
}

// need is the memory that the memory executor takes for a plan, and bound what there is:
// the budget or, without one, what is available; 0 is unknown.
func (c choice) need(s *store.Store, plan *sample.Plan) (need, bound int64) {
	if bound = int64(c.memory); bound == 0 {
		bound = flags.Available(vfs.OS)
	}
	return flags.SamplerBytes(s.Graph, plan, c.threads, c.options.Induce) + c.columns, bound
}

// streamed compiles a plan for the stream executor.
func (c choice) streamed(ctx context.Context, s *store.Store, plan *sample.Plan, bound int64) (*outofcore.Executor, error) {
	return outofcore.Open(ctx, vfs.OS, s, plan, outofcore.Options{Memory: bound, Held: c.columns - c.fetched, Threads: c.threads, Scratch: c.scratch, Keep: c.keep,
		Ops: c.options.Ops, Induce: c.options.Induce, NoEdgeIDs: c.options.NoEdgeIDs, Warn: c.options.Warn})
}

// open compiles a plan for the executor that is asked for. auto takes the memory
// executor over the mapped store where what it reads fits the budget, or, without
// one, the memory that is available.
func (c choice) open(ctx context.Context, s *store.Store, plan *sample.Plan) (executor, error) {
	need, bound := c.need(s, plan)
	inMemory := func() (executor, error) {
		m, err := flags.NewSampler(s.Graph, plan, c.threads, c.memory, c.columns, c.options)
		return executor{sampler: m}, err
	}
	if c.executor == "memory" || c.executor == "auto" && (bound == 0 || need <= bound) {
		return inMemory()
	}
	x, err := c.streamed(ctx, s, plan, bound)
	e := executor{stream: x}
	if c.executor == "auto" {
		e.need, e.note = need, "sampled by the stream executor: "+tooLarge(need, bound)
	}
	switch {
	case err == nil:
		e.sampler = x.Sampler()
		return e, nil
	case c.executor == "auto" && c.memory == 0 && (errors.Is(err, sample.ErrFetch) || errors.Is(err, outofcore.ErrMemory)):
		// The system finds room, or is slow: nobody set a bound.
		return inMemory()
	}
	return executor{}, e.both(err)
}

// tooLarge says why --executor auto does not take the memory executor.
func tooLarge(need, bound int64) string {
	return fmt.Sprintf("the memory executor needs %s, and there are %s", human.Bytes(need), human.Bytes(bound))
}

// both adds to a refusal by the stream executor what the other one needs.
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

// report tells what the stream executor read, beside what was foretold.
func (e *executor) report(r *report.Report, took time.Duration) {
	r.Executor = "memory"
	if e.stream == nil {
		return
	}
	r.Executor = "stream"
	if e.note != "" {
		r.Note(e.note)
	}
	read, told := e.stream.Counts(), e.stream.Forecast()
	r.BytesRead, r.Sweeps = &read.Bytes, &read.Sweeps
	f := foretold(told)
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
