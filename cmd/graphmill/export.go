package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/export"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// exportFlags are the flags of export.
type exportFlags struct {
	common
	outFlags
	to string
	// Of TFRecords.
	store  string
	shards int
	name   string
	gzip   bool
	// Of chunked graphs.
	graph    string
	chunks   int
	edges    string
	features string
}

// exportOnly are the flags that belong to one format.
var exportOnly = map[string][]string{
	"tfrecord": {"store", "shards", "name", "gzip"},
	"chunked":  {"graph-name", "chunks", "edges", "features"},
	"metis":    nil,
}

func newExport(t *terminal) *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export COLLECTION|STORE",
		Short: "Write a collection as TFRecords, or a store as a chunked or METIS graph",
		Long: `--to tfrecord writes a collection: a tf.train.Example a graph, over any number of
files, and their schema.

--to chunked writes a store in DGL's chunked graph format, for its partitioning and
dispatching tools. Node ids are the store's, edges are in the order of their input.
Chunks of a type differ by one row at most; none is empty.

--to metis writes a store as a .graph file: nodes of all types, one type after the
other in the order of their names, and each pair of neighbours once, without loops.

What was imported from TFRecords comes back as it was: equal as TF-GNN parses it,
and equal in every byte where the keys of its Examples were in byte order.

A collection that was sampled holds its features by reference: --store joins them,
and gives what sample --format tfrecord writes. Without it the Examples have only
what the collection holds, and the rest is named.`,
		Example: `  graphmill export g.coll --to tfrecord --out records
  graphmill export g.coll --to tfrecord --shards 8 --gzip --out records
  graphmill export batches --to tfrecord --store g.store --out records
  graphmill export g.store --to chunked --chunks 8 --out chunks
  graphmill export g.store --to chunked --chunks 8 --edges parquet --features parquet --out chunks
  graphmill export g.store --to metis --out g.graph`,
		Args: oneArg("one COLLECTION or STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			switch f.to {
			case "chunked":
				return t.exportChunked(cmd, args[0], &f)
			case "metis":
				return t.exportMETIS(cmd, args[0], &f)
			}
			return t.export(cmd, args[0], &f)
		},
	}
	f.common.add(cmd)
	f.outFlags.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.to, "to", "", "format to write: tfrecord, chunked or metis (required)")
	fs.StringVar(&f.store, "store", "", "tfrecord: store that the collection was sampled from, to join its columns")
	fs.IntVar(&f.shards, "shards", 1, "tfrecord: files to divide the records over")
	fs.StringVar(&f.name, "name", "", "tfrecord: name that the files begin with (default samples.tfrecord)")
	fs.BoolVar(&f.gzip, "gzip", false, "tfrecord: compress the records")
	fs.StringVar(&f.graph, "graph-name", "", "chunked: name by which DGL will know the graph (default that of the store)")
	fs.IntVar(&f.chunks, "chunks", 1, "chunked: files of the edges of a type, and of a feature")
	fs.StringVar(&f.edges, "edges", "csv", "chunked: edges as csv, numpy or parquet; DGL's tools read csv and parquet")
	fs.StringVar(&f.features, "features", "numpy", "chunked: features as numpy or parquet")
	return cmd
}

func (f *exportFlags) check(cmd *cobra.Command) error {
	if err := f.common.check(); err != nil {
		return err
	}
	own, ok := exportOnly[f.to]
	if !ok {
		return usagef("found --to %q, expected tfrecord, chunked or metis", f.to)
	}
	for format, names := range exportOnly {
		for _, name := range names {
			if cmd.Flags().Changed(name) && !slices.Contains(own, name) {
				return usagef("found --%s with --to %s, expected it with --to %s", name, f.to, format)
			}
		}
	}
	return f.outFlags.check()
}

// export writes a collection.
func (t *terminal) export(cmd *cobra.Command, dir string, f *exportFlags) (err error) {
	start := time.Now()
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	defer closeWith(&err, s.Close)
	r := t.begin("export", filepath.Base(filepath.Clean(dir)), f.common)
	made := store.Made{Command: "export", Inputs: map[string]string{}, Version: version(), Options: map[string]string{
		"to": f.to, "shards": strconv.Itoa(f.shards), "gzip": strconv.FormatBool(f.gzip)}}
	if made.Inputs["collection"], err = inputStore(r, dir); err != nil {
		return err
	}
	opt := export.Options{Name: f.name, Shards: f.shards, Gzip: f.gzip, Threads: f.threads, Memory: int64(f.memory)}
	inputs := []string{dir}
	if f.store != "" {
		if opt.Store, err = store.Open(vfs.OS, f.store); err != nil {
			return err
		}
		defer closeWith(&err, opt.Store.Close)
		if made.Inputs["store"], err = inputStore(r, f.store); err != nil {
			return err
		}
		inputs = append(inputs, f.store)
	}
	if err := f.keeps(inputs...); err != nil {
		return err
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	graphs := 0
	if s.Collection != nil {
		graphs = s.Collection.Graphs
	}
	line := t.progress("export", int64(graphs), "graphs")
	defer line.Done()
	opt.Progress = func(n int) { line.Add(int64(n)) }
	began := time.Now()
	result, err := export.TFRecords(cmd.Context(), vfs.OS, w, s, opt)
	if err != nil {
		return err
	}
	line.Done()
	written := time.Now()
	r.Stage("encode and write", written.Sub(began), int64(graphs), "graphs")
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	r.Stage("checksums", time.Since(written), 0, "")
	t.warnRounded(r, result.Rounded)
	t.warnUnderflows(r, result.Underflows)
	if len(result.Left) > 0 {
		const what = "arrays and columns of the collection have no place in the Examples: "
		t.warn("%d %s%s", len(result.Left), what, strings.Join(result.Left, "; "))
		r.Warn(int64(len(result.Left)), what+strings.Join(result.Left, "; "))
		if opt.Store == nil && s.Meta.Made.Inputs["store"] != "" {
			t.warn("the features of a sampled collection are in its store; give --store STORE to join them")
		}
	}
	size, err := store.Size(vfs.OS, w.Dir())
	if err != nil {
		return err
	}
	r.Head("graphs", report.Count(graphs, "graphs"))
	r.Head("graphs a second", report.Number(float64(graphs)/written.Sub(began).Seconds(), "/s"))
	r.Head("on disk", report.Bytes(size))
	r.In("graphs", report.Count(graphs, "graphs"))
	r.Out("records", report.Count(graphs, "records"))
	r.Out("nodes", report.Count(result.Nodes.Sum(), "nodes"))
	r.Out("edges", report.Count(result.Edges.Sum(), "edges"))
	r.Plot(sizesPlot("Size of the graphs", "graphs", &result.Nodes, &result.Edges))
	return t.publish(w, r, f.common, start)
}

// inputStore names a store or collection as an input.
func inputStore(r *report.Report, dir string) (sum string, err error) {
	if sum, err = store.Sum(vfs.OS, dir); err != nil {
		return "", err
	}
	size, err := store.Size(vfs.OS, dir)
	if err != nil {
		return "", err
	}
	r.Input(filepath.Base(filepath.Clean(dir)), size, sum)
	return sum, nil
}
