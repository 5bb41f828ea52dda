package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// openChunked opens a graph in DGL's chunked format; inputs are the fingerprints of its files.
func (t *terminal) openChunked(ctx context.Context, in string, outside bool, out *outFlags, r *report.Report) (src *ingest.Source, inputs map[string]string, err error) {
	if src, err = ingest.Open(ctx, vfs.OS, in, ingest.Options{Format: "chunked", Outside: outside}); err != nil {
		return nil, nil, err
	}
	for _, w := range src.Warnings {
		t.warn("%s", w)
		r.Note(w)
	}
	if err := out.keeps(src.Files...); err != nil {
		return nil, nil, err
	}
	inputs, err = fingerprints(ctx, src.Files, r, func(file string) string {
		if rel, err := filepath.Rel(in, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	})
	return src, inputs, err
}

// temporaryStore makes a store of a source, in dir, for as long as it is needed: end
// closes and removes it.
func (t *terminal) temporaryStore(ctx context.Context, src *ingest.Source, dir string, c common, r *report.Report) (_ *store.Store, end func() error, err error) {
	began := time.Now()
	if err := vfs.OS.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	remove := func() error { return vfs.OS.RemoveAll(dir) }
	w, err := store.Create(vfs.OS, dir, true)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Abort(), remove())
		}
	}()
	lines := stageLines{t: t}
	result, err := assemble.Build(ctx, vfs.OS, w, src.Input, assemble.Options{Primary: graph.In, Threads: c.threads, Memory: int64(c.memory), Progress: lines.update,
		DanglingEdges: assemble.Error, DuplicateNodes: assemble.Error, DuplicateEdges: assemble.Keep, SelfLoops: assemble.Keep})
	lines.done()
	if err != nil {
		return nil, nil, adviseImport(err, "partition")
	}
	result.Meta.Made = store.Made{Command: "import", Version: version()}
	if err := errors.Join(w.Seal(ctx, result.Meta, c.threads), w.Publish()); err != nil {
		return nil, nil, err
	}
	r.Stage("import", time.Since(began), 0, "")
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return nil, nil, err
	}
	return s, func() error { return errors.Join(s.Close(), remove()) }, nil
}
