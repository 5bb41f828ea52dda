package main

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/export/chunked"
	"github.com/graphmill/graphmill/internal/export/metis"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// exportChunked writes a store in DGL's chunked graph format.
func (t *terminal) exportChunked(cmd *cobra.Command, dir string, f *exportFlags) (err error) {
	start := time.Now()
	name := f.graph
	if name == "" {
		name = graphName(dir)
	}
	opt := chunked.Options{Name: name, Chunks: f.chunks, Edges: f.edges, Features: f.features, Threads: f.threads, Memory: int64(f.memory)}
	if err := opt.Check(); err != nil {
		return usageError{err}
	}
	if err := f.keeps(dir); err != nil {
		return err
	}
	s, err := openGraphStore(dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	r := t.begin("export", filepath.Base(filepath.Clean(dir)), f.common)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: version(), Options: map[string]string{
		"to": f.to, "graph_name": name, "chunks": strconv.Itoa(f.chunks), "edges": f.edges, "features": f.features}}
	if made.Inputs["store"], err = inputStore(r, dir); err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	line := t.progress("export", int64(chunked.Rows(s.Graph)), "rows")
	defer line.Done()
	opt.Progress = func(n int) { line.Add(int64(n)) }
	began := time.Now()
	result, err := chunked.Write(cmd.Context(), vfs.OS, w, s, opt)
	if err != nil {
		return err
	}
	line.Done()
	written := time.Now()
	r.Stage("encode and write", written.Sub(began), int64(result.Rows), "rows")
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(written), 0, "")
	t.warnLeft(r, result.Left)
	if len(result.Changed) > 0 {
		r.Note("written in a dtype that DGL's tools take: " + strings.Join(result.Changed, "; "))
		t.warn("written in a dtype that DGL's tools take: %s", strings.Join(result.Changed, "; "))
	}
	size, err := store.Size(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	r.Head("nodes", report.Count(result.Nodes, "nodes"))
	r.Head("edges", report.Count(result.Edges, "edges"))
	r.Head("on disk", report.Bytes(size))
	r.Out("files", report.Count(result.Files, "files"))
	return t.publish(w, r, f.common, start)
}

// exportMETIS writes a store as a .graph file.
func (t *terminal) exportMETIS(cmd *cobra.Command, dir string, f *exportFlags) (err error) {
	start := time.Now()
	if err := f.keeps(dir); err != nil {
		return err
	}
	s, err := openGraphStore(dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	r := t.begin("export", filepath.Base(filepath.Clean(dir)), f.common)
	if _, err := inputStore(r, dir); err != nil {
		return err
	}
	result, err := metis.Write(cmd.Context(), vfs.OS, f.out, s, metis.Options{Force: f.force, Threads: f.threads, Memory: int64(f.memory)})
	if err != nil {
		return err
	}
	r.Stage("neighbours", result.Building, 0, "")
	r.Stage("write", result.Writing, result.Nodes, "rows")
	r.Head("nodes", report.Count(result.Nodes, "nodes"))
	r.Head("pairs", report.Count(result.Pairs, "pairs of neighbours"))
	r.Head("on disk", report.Bytes(result.Bytes))
	r.In("edges", report.Count(result.Edges, "edges"))
	r.Out("pairs of neighbours", report.Count(result.Pairs, "pairs"))
	r.Finish(time.Since(start))
	return t.finish(r, f.common)
}

// openGraphStore opens a store of one graph.
func openGraphStore(dir string) (*store.Store, error) {
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return nil, err
	}
	if s.Graph == nil {
		closeWith(&err, s.Close)
		if err == nil {
			err = usagef("%s: found a collection, expected a store; write its graphs with --to tfrecord", dir)
		}
		return nil, err
	}
	return s, nil
}

// graphName is a name for the graph of a folder or file: its own, without extension.
func graphName(path string) string {
	base := filepath.Base(filepath.Clean(path))
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" && name != "." {
		return name
	}
	return "graph"
}

// warnLeft tells what of a store its new format cannot hold.
func (t *terminal) warnLeft(r *report.Report, left []string) {
	if len(left) == 0 {
		return
	}
	what := "columns and ids have no place in the format: " + strings.Join(left, "; ")
	t.warn("%d %s", len(left), what)
	r.Warn(int64(len(left)), what)
}
