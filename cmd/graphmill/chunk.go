package main

import (
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/export/chunk"
	"github.com/graphmill/graphmill/internal/flags"
	format "github.com/graphmill/graphmill/internal/format/chunk"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// chunkFlags are the flags of chunk.
type chunkFlags struct {
	common
	outFlags
	size      flags.Bytes
	direction string
}

func newChunk(t *terminal) *cobra.Command {
	f := chunkFlags{size: format.DefaultBytes}
	cmd := &cobra.Command{
		Use:   "chunk STORE",
		Short: "Cut the edges of a store into chunks, for the streaming sampler",
		Long: `Writes the neighbours of all nodes as chunks: files of 32-bit words that a
streaming sampler reads whole, one after the other (docs/format-chunk.md). Each edge
type has its own. A chunk takes as many nodes as fit; no node is cut. Features and
original ids have no place in chunks and are named.

Import makes a store of the chunks again, with the same ids and the same edges in
the same order.`,
		Example: `  graphmill chunk g.store --out g.chunks
  graphmill chunk g.store --chunk-size 64MiB --direction in --out g.chunks
  graphmill chunk info g.chunks
  graphmill import g.chunks --out again.store`,
		Args: oneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return t.chunk(cmd, args[0], &f)
		},
	}
	f.common.addThreads(cmd)
	f.outFlags.add(cmd)
	fs := cmd.Flags()
	fs.Var(&f.size, "chunk-size", "bytes of a chunk, a multiple of 4096")
	fs.Lookup("chunk-size").DefValue = "512MiB"
	fs.StringVar(&f.direction, "direction", "", "in: each node's sources; out: its destinations (default: how the store numbers edges)")
	cmd.AddCommand(newChunkInfo(t))
	return cmd
}

func (f *chunkFlags) check() error {
	if err := f.common.check(); err != nil {
		return err
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	if err := format.CheckBytes(int64(f.size)); err != nil {
		return usagef("--chunk-size: %w", err)
	}
	if f.direction != "" {
		if _, err := graph.ParseDirection(f.direction); err != nil {
			return usagef("--direction: %w", err)
		}
	}
	return nil
}

func (t *terminal) chunk(cmd *cobra.Command, dir string, f *chunkFlags) (err error) {
	start := time.Now()
	if err := f.keeps(dir); err != nil {
		return err
	}
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	if s.Graph == nil {
		return usagef("%s: found a collection, expected a store", dir)
	}
	r := t.begin("chunk", filepath.Base(filepath.Clean(dir)), f.common)
	made := store.Made{Command: "chunk", Inputs: map[string]string{}, Version: version(), Options: map[string]string{
		"chunk_size": strconv.FormatInt(int64(f.size), 10), "direction": f.direction}}
	if made.Inputs["store"], err = inputStore(r, dir); err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	line := t.progress("chunk", chunk.Words(s.Graph), "words")
	defer line.Done()
	began := time.Now()
	result, err := chunk.Write(cmd.Context(), w, s, chunk.Options{ChunkBytes: int64(f.size), Direction: f.direction,
		Progress: func(n int) { line.Add(int64(n)) }})
	if err != nil {
		return err
	}
	line.Done()
	written := time.Now()
	r.Stage("write", written.Sub(began), int64(result.Edges), "edges")
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(written), 0, "")
	t.warnLeft(r, result.Left)
	size, err := store.Size(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	r.Head("chunks", report.Count(result.Chunks, "chunks"))
	r.Head("edges", report.Count(result.Edges, "edges"))
	r.Head("on disk", report.Bytes(size))
	r.In("edges", report.Count(result.Edges, "edges"))
	r.Out("edges", report.Count(result.Edges, "edges"))
	return t.publish(w, r, f.common, start)
}
