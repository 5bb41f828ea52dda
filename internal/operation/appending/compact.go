package appending

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/transform"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// removeLeft removes what a run that was killed left beside the store in the folder dir, for runs that make no version of it.
func removeLeft(dir string) error {
	w, err := store.Create(vfs.OS, dir, true)
	if err != nil {
		return err
	}
	return w.Abort()
}

// compactAfter compacts the store in the folder dir after an append, of which r is the report.
func compactAfter(ctx context.Context, dir string, o *option.Append, r *report.Report) error {
	if _, err := Compact(ctx, dir, o.Run); err != nil {
		return fmt.Errorf("the tables are appended; compacting the store: %w", err)
	}
	const text = "the store was compacted, so it is one piece again"
	operation.Note(&o.Run, "%s", text)
	r.Note(text)
	return nil
}

// Compact writes the store in the folder dir without segments: the files that an import of all its tables would have written, but for graph.json, which keeps how
// the base was made. It replaces the store in one step; who has it open keeps the version that it has.
func Compact(ctx context.Context, dir string, o option.Run) (_ *report.Report, err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if err := operation.CheckRun(&o); err != nil {
		return nil, err
	}
	if o.Overwrite {
		return nil, operation.Usagef("found `Overwrite`, expected it for a new folder: a compaction replaces the store in any case; leave it out")
	}
	s, sum, err := openStore(dir, openAll)
	if err != nil {
		return nil, err
	}
	defer operation.CloseAfter(&err, dir, s.Close)
	r := operation.NewReport(&o, "compact", operation.Titled(dir))
	if err := keepInputs(r, dir); err != nil {
		return nil, err
	}
	if s.Segments() == 0 {
		text := "the store has no segments, so it stays as it was"
		operation.Note(&o, "%s", text)
		r.Note(text)
		if err := removeLeft(dir); err != nil && !errors.Is(err, vfs.ErrLocked) {
			return nil, err
		}
		return r, nil
	}
	w, _, err := store.Amend(ctx, vfs.OS, dir, sum, func(name string) bool { return name != store.FeaturesFile }) // all else is written anew
	if err != nil {
		return nil, err
	}
	defer operation.EndWith(&err, w)
	t, err := transform.New(ctx, s.Graph, transform.Options{Touched: s.Touched})
	if err != nil {
		return nil, err
	}
	both := false
	for _, e := range s.Graph.Edges {
		both = both || e.Adj[1-e.Primary] != nil
	}
	opt := assemble.Options{Both: both, Threads: o.Threads, Memory: o.Memory, Held: s.Merged(), DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep}
	for _, e := range s.Graph.Edges {
		opt.Primary, opt.NoPositions = e.Primary, opt.NoPositions || e.NoPositions
	}
	opt.Foreseen = func(stages []progress.Stage) { operation.Foresee(&o, stages) }
	stages := operation.NewStages(&o)
	opt.Progress = stages.Update
	began := time.Now()
	result, err := assemble.Build(ctx, vfs.OS, w, t.Input(), opt)
	stages.End()
	if err != nil {
		return nil, err
	}
	t.Finish(result.Meta, s.Meta)
	r.Stage("write", time.Since(began), 0, "")
	sealing := time.Now()
	result.Meta.Made = *s.Meta.History()
	if err := w.Seal(ctx, result.Meta, o.Threads); err != nil {
		return nil, err
	}
	c, err := store.Open(vfs.OS, w.Dir())
	if err != nil {
		return nil, err
	}
	if err := c.Close(); err != nil {
		return nil, err
	}
	r.Stage("checksums", time.Since(sealing), 0, "")
	before, err := store.ReadHistory(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	if len(before) > 0 { // what it has is as old as the last append
		if err := writeVersion(w, nil, 0, before[len(before)-1].At); err != nil {
			return nil, err
		}
	}
	r.Head("segments", report.Count(s.Segments(), "segments"))
	if err := operation.OnDisk(r, w.Dir()); err != nil {
		return nil, err
	}
	return r, operation.Publish(&o, w, r, start)
}
