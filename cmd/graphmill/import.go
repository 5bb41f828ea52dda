package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// importFlags are the flags of import.
type importFlags struct {
	buildFlags
	options     ingest.Options
	ids         string
	delimiter   string
	empty       string
	primary     string
	homogeneous bool
	records     recordFlags
}

func newImport(t *terminal) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import SRC",
		Short: "Make a store out of tables, or a collection out of many graphs",
		Long: `Reads a graph and writes a store. SRC is one of

  a TF-GNN unigraph    schema.pbtxt, or the folder that holds it
  an edge list         .csv, .tsv or .txt, also .gz or .zst; or .parquet
  an array             .npy of edge pairs, (2, E) or (E, 2); or --indptr and --indices
  a graph.yaml         node and edge tables of all these kinds (docs/graph-yaml.md)
  a chunked graph      DGL's metadata.json with its chunks, or the folder that holds
                       them (docs/format-chunked.md)
  chunk files          of graphmill chunk: the folder, or its chunks.json
  a DGL graph          graph.bin or .dgl of save_graphs
  a partitioned graph  GRAPH_NAME.json of DGL or dispatch, or the folder that holds it:
                       in the original order where orig_nids.dgl and orig_eids.dgl are there

Many graphs become a collection. SRC is then one of

  a graph.yaml         with the key graphs: arrays or tables with graph pointers
  a TU data set        the folder with NAME_A.txt and NAME_graph_indicator.txt
  an OGB data set      the folder with raw/edge.csv.gz and raw/num-node-list.csv.gz;
                       one of nodes or links is refused with the graph.yaml for it
  DGL graphs           one file of save_graphs whose graphs have the same types and data

or TFRecords of GraphTensors: files, globs, NAME@SHARDS, plain or compressed with
gzip, and their --schema. Export writes the same records again.

Rows that break a rule are an error that names file, line and column, unless a
flag says what to do with them. The store is the same for any --memory and
--threads.`,
		Example: `  graphmill import edges.csv --out g.store
  graphmill import edges.txt.gz --columns src,dst,weight:float32 --symmetrise --out g.store
  graphmill import schema.pbtxt --out g.store
  graphmill import graph.yaml --dangling-edges drop --out g.store
  graphmill import pairs.npy --num-nodes 1000000 --out g.store
  graphmill import chunks/ --out g.store
  graphmill import graph.bin --out g.store
  graphmill import parts/cora.json --out cora.store
  graphmill import --indptr indptr.npy --indices indices.npy --out g.store
  graphmill import samples.tfrecord@8 --schema schema.pbtxt --out g.coll
  graphmill import MUTAG/ --out mutag.coll
  graphmill import ogbg_molhiv/ --symmetrise --out molhiv.coll
  graphmill import edges.csv --memory 256MiB --threads 2 --out g.store`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.options.Indptr != "" || f.options.Indices != "" {
				return noArgs(cmd, args)
			}
			return f.records.args(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.records.schema != "" {
				return t.importRecords(cmd, args, &f)
			}
			src := ""
			if len(args) == 1 {
				src = args[0]
			}
			return t.importSource(cmd, src, &f)
		},
	}
	f.add(cmd)
	fs := cmd.Flags()
	f.records.add(fs)
	o := &f.options
	fs.StringVar(&o.Format, "format", "", "format of SRC, if it is not clear: "+strings.Join(ingest.Formats(), ", "))
	fs.StringVar(&o.Columns, "columns", "", "columns of an edge list: names for one without a header, or a choice, with dtypes: src,dst,weight:float32")
	fs.StringVar(&o.Src, "src", "", "column of the sources of an edge list")
	fs.StringVar(&o.Dst, "dst", "", "column of the destinations of an edge list")
	fs.StringVar(&f.ids, "ids", "auto", "ids are integer or string")
	fs.StringVar(&f.delimiter, "delimiter", "", "delimiter of text tables, if it is not clear: one character, tab or space")
	fs.StringVar(&o.Indptr, "indptr", "", ".npy of a sparse matrix's index pointer (a row a destination)")
	fs.StringVar(&o.Indices, "indices", "", ".npy of a sparse matrix's indices (sources)")
	fs.Uint64Var(&o.NumNodes, "num-nodes", 0, "number of nodes, where no table says it (default: largest id + 1)")
	fs.BoolVar(&o.Symmetrise, "symmetrise", false, "add the reverse of each edge (as type dst:rev_REL:src where the ends differ in type)")
	fs.BoolVar(&f.homogeneous, "homogeneous", false, "merge all types into _N and _N:_E:_N, in the order of their names")
	fs.StringVar(&f.primary, "primary", "", "direction that edges are numbered by: in or out (default: in; out for unigraphs)")
	fs.Var(&f.dangling, "dangling-edges", "edges with an end that no node table has: zeros adds the node, with columns of zeros")
	fs.Var(&f.nodes, "duplicate-nodes", "rows with an id that came before")
	fs.StringVar(&f.empty, "empty-cells", "error", "error, or the value that an empty cell of a feature has")
	fs.BoolVar(&o.Outside, "allow-outside", false, "let a metadata file name files outside of its folder")
	return cmd
}

func (f *importFlags) check() error {
	if err := f.buildFlags.check(); err != nil {
		return err
	}
	var err error
	if f.options.IDs, err = ingest.ParseIDs(f.ids); err != nil {
		return usagef("--ids: %w", err)
	}
	switch {
	case f.delimiter == "tab":
		f.options.Delimiter = '\t'
	case f.delimiter == "space":
		f.options.Delimiter = ' '
	case len(f.delimiter) == 1:
		f.options.Delimiter = f.delimiter[0]
	case f.delimiter != "":
		return usagef("found --delimiter %q, expected one character, tab or space", f.delimiter)
	}
	if f.empty != "error" {
		f.options.Empty, f.options.Fill = table.EmptyFill, f.empty
	}
	return nil
}

func (t *terminal) importSource(cmd *cobra.Command, path string, f *importFlags) error {
	start := time.Now()
	src, err := ingest.Open(cmd.Context(), vfs.OS, path, f.options)
	if err != nil {
		if errors.Is(err, ingest.ErrUsage) {
			return usageError{err}
		}
		return err
	}
	if src.Collection != nil {
		if err := collectionFlags(cmd, src.Format); err != nil {
			return err
		}
	}
	opt := f.buildFlags.options()
	opt.Homogeneous, opt.Primary, opt.Held = f.homogeneous, src.Primary, src.Held
	if f.primary != "" {
		if opt.Primary, err = graph.ParseDirection(f.primary); err != nil {
			return usagef("--primary: %w", err)
		}
	}
	if path == "" {
		path = f.options.Indptr
	}
	r := t.begin("import", filepath.Base(filepath.Clean(f.out)), f.common)
	for _, w := range src.Warnings {
		t.warn("%s", w)
		r.Note(w)
	}
	if err := f.keeps(src.Files...); err != nil {
		return err
	}
	root := path
	if info, err := vfs.OS.Stat(path); err == nil && !info.IsDir() {
		root = filepath.Dir(path)
	}
	inputs, err := fingerprints(cmd.Context(), src.Files, r, func(file string) string {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return filepath.Base(file)
	})
	if err != nil {
		return err
	}
	if src.Collection != nil {
		return t.importCollection(cmd, src, inputs, f, r, start)
	}
	made := store.Made{Command: "import", Inputs: inputs, Version: version(), Options: map[string]string{
		"format": src.Format, "homogeneous": strconv.FormatBool(f.homogeneous), "symmetrise": strconv.FormatBool(f.options.Symmetrise),
		"dangling_edges": f.dangling.String(), "duplicate_nodes": f.nodes.String(), "duplicate_edges": f.duplicates.String(),
		"self_loops": f.selves.String(), "empty_cells": f.empty, "both": strconv.FormatBool(f.both), "primary": opt.Primary.String(), declaredIDs: strings.Join(src.DeclaredIDs, ","),
	}}
	if f.options.NumNodes > 0 {
		made.Options["num_nodes"] = fmt.Sprint(f.options.NumNodes)
	}
	return t.makeStore(cmd.Context(), src.Input, opt, &f.buildFlags, made, r)
}
