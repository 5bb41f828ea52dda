package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/ingest"
	"github.com/graphmill/graphmill/ingest/build"
	"github.com/graphmill/graphmill/ingest/table"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/report"
	"github.com/graphmill/graphmill/store"
)

// importChunked makes a temporary store of a chunked graph: its edges, and the columns
// that are to be balanced. It lies in the folder of temporary files until end.
func (t *terminal) importChunked(ctx context.Context, in string, f *partitionFlags, r *report.Report) (_ *store.Store, inputs map[string]string, end func() error, err error) {
	began := time.Now()
	src, err := ingest.Open(ctx, fsx.OS, in, ingest.Options{Format: "chunked", Outside: f.outside})
	if err != nil {
		return nil, nil, nil, err
	}
	for _, w := range src.Warnings {
		t.warn("%s", w)
		r.Note(w)
	}
	if err := f.keeps(src.Files...); err != nil {
		return nil, nil, nil, err
	}
	if inputs, err = fingerprints(ctx, src.Files, r, func(file string) string {
		if rel, err := filepath.Rel(in, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	}); err != nil {
		return nil, nil, nil, err
	}
	f.options.ImportOrder = nil
	for i := range src.Input.Nodes {
		n := &src.Input.Nodes[i]
		f.options.ImportOrder = append(f.options.ImportOrder, n.Type)
		n.Columns = slices.DeleteFunc(slices.Clone(n.Columns), func(c table.Column) bool {
			return !slices.Contains(f.options.Balance.Columns, c.Name) && !slices.Contains(f.options.Balance.Columns, n.Type+"/"+c.Name)
		})
	}
	for i := range src.Input.Edges {
		src.Input.Edges[i].Columns = nil
	}
	dir := filepath.Join(f.options.Temp, ".graph")
	w, err := store.Create(fsx.OS, dir, true)
	if err != nil {
		return nil, nil, nil, err
	}
	defer closeWith(&err, w.Abort)
	lines := stageLines{t: t}
	result, err := build.Build(ctx, fsx.OS, w, src.Input, build.Options{Primary: graph.In, Threads: f.threads, Memory: int64(f.memory), Progress: lines.update,
		DanglingEdges: build.Error, DuplicateNodes: build.Error, DuplicateEdges: build.Keep, SelfLoops: build.Keep})
	lines.done()
	if err != nil {
		return nil, nil, nil, err
	}
	result.Meta.Made = store.Made{Command: "import", Version: version()}
	if err := errors.Join(w.Seal(ctx, result.Meta, f.threads), w.Publish()); err != nil {
		return nil, nil, nil, err
	}
	r.Stage("import", time.Since(began), 0, "")
	s, err := store.Open(fsx.OS, dir)
	if err != nil {
		return nil, nil, nil, err
	}
	return s, inputs, func() error { return errors.Join(s.Close(), fsx.OS.RemoveAll(dir)) }, nil
}
