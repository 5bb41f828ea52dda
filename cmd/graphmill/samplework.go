package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/store"
)

// workFlags say what is sampled, and by which executor within which bounds: the flags
// that sample and forecast have in common.
type workFlags struct {
	common
	flags.Plan
	format    string
	executor  string
	epochs    int
	shuffle   bool
	rank      string
	ops       bool
	noEdgeIDs bool
	examples  exampleFlags
}

func (f *workFlags) add(cmd *cobra.Command) {
	f.common.add(cmd)
	f.Plan.Add(cmd.Flags())
	f.Plan.AddEpoch(cmd.Flags())
	f.examples.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.format, "format", "collection", "collection or tfrecord")
	fs.StringVar(&f.executor, "executor", "auto", "memory, stream (neighbours are read from the disk in sweeps, for graphs larger than memory), or auto: memory where what it reads fits --memory, or the memory that is available")
	fs.IntVar(&f.epochs, "epochs", 1, "number of epochs")
	fs.BoolVar(&f.shuffle, "shuffle", false, "take the seeds of each epoch in its shuffled order")
	fs.StringVar(&f.rank, "rank", "0/1", "R/W: of W ranks, take the batches of rank R")
	fs.BoolVar(&f.noEdgeIDs, "no-edge-ids", false, "leave the ids of edges out of a collection: a third fewer bytes of edges, and less to draw for the stream executor")
	fs.BoolVar(&f.ops, "ops", false, "keep in a collection what each op expanded and drew")
}

func (f *workFlags) check(cmd *cobra.Command) error {
	if err := errors.Join(f.common.check(), f.Plan.Check(cmd.Flags())); err != nil {
		return usageError{err}
	}
	switch {
	case f.format != "collection" && f.format != "tfrecord":
		return usagef("found --format %q, expected collection or tfrecord", f.format)
	case !slices.Contains(executors, f.executor):
		return usagef("found --executor %q, expected %s", f.executor, strings.Join(executors, ", "))
	case f.epochs < 1:
		return usagef("found --epochs %d, expected at least 1", f.epochs)
	case f.noEdgeIDs && f.format != "collection":
		return usagef("found --no-edge-ids with --format tfrecord, expected --format collection")
	case f.ops && f.format != "collection":
		return usagef("found --ops with --format tfrecord, expected --format collection")
	}
	for _, name := range exampleFlagNames {
		if f.format == "collection" && cmd.Flags().Changed(name) {
			return usagef("found --%s with --format collection, expected --format tfrecord", name)
		}
	}
	return f.examples.check()
}

// prepare resolves the plan and the job of a store, and what an executor is chosen by.
func (f *workFlags) prepare(ctx context.Context, s *store.Store, warn func(string)) (*flags.Planned, choice, error) {
	f.Classic = f.examples.compat == output.Classic
	p, err := f.Resolve(ctx, s)
	if err != nil {
		return nil, choice{}, err
	}
	job := &p.Job
	if job.Rank, job.Ranks, err = parseRank(f.rank); err != nil {
		return nil, choice{}, err
	}
	job.Epochs, job.Shuffle, job.Threads = f.epochs, f.shuffle, f.threads
	c := choice{executor: f.executor, threads: f.threads, memory: f.memory,
		options: sample.Options{Ops: f.ops, NoEdgeIDs: f.noEdgeIDs, Induce: f.examples.induce(), Warn: warn}}
	if f.format == "tfrecord" {
		c.columns, c.fetched = columnBytes(s.Graph, p.Plan, f.examples.induce())
		for _, column := range p.Columns {
			c.columns += column.Bytes()
		}
	}
	c.columns += 4*int64(len(job.Seeds)) + int64(len(job.Times))*int64(unsafe.Sizeof(sample.Time{}))
	return p, c, nil
}
