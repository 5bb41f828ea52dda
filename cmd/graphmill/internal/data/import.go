package data

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// policy is a flag of a policy, which takes some of them.
type policy struct {
	value *graphmill.Policy
	takes string // "error|drop"
}

// Set takes a policy.
func (p policy) Set(s string) error {
	for _, name := range strings.Split(p.takes, "|") {
		if s == name {
			*p.value = graphmill.Policy(s)
			return nil
		}
	}
	return fmt.Errorf("found %q, expected one of %s", s, strings.ReplaceAll(p.takes, "|", ", "))
}

// String is the policy, or nothing for the default.
func (p policy) String() string {
	if p.value == nil {
		return ""
	}
	return string(*p.value)
}

// Type is what the flag takes.
func (p policy) Type() string { return p.takes }

// addBuild adds the flags of the commands that make a store of edges.
func addBuild(cmd *cobra.Command, o *graphmill.BuildOptions, duplicates, loops string) {
	f := cmd.Flags()
	f.BoolVar(&o.Both, "both", false, "store the adjacency of the other direction too")
	f.Var(policy{&o.DuplicateEdges, "keep|drop|error"}, "duplicate-edges", "edges with equal ends")
	f.Var(policy{&o.SelfLoops, "keep|drop|error"}, "self-loops", "edges from a node to itself")
	cli.Defaults(f, map[string]string{"duplicate-edges": duplicates, "self-loops": loops})
}

// importFlags are the flags of import.
type importFlags struct {
	cli.Output
	graphmill.ImportOptions
}

// NewImport makes the command import.
func NewImport(t *cli.Terminal) *cobra.Command {
	var f importFlags
	o := &f.ImportOptions
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
			switch {
			case o.Indptr != "" || o.Indices != "":
				return cli.NoArgs(cmd, args)
			case o.Schema != "" && len(args) == 0:
				return cli.Usagef("found no files, expected TFRecords of the schema")
			case o.Schema != "":
				return nil
			case len(args) > 0 && strings.Contains(filepath.Base(args[0]), ".tfrecord"):
				return cli.Usagef("found TFRecords %s without --schema, expected the GraphSchema of their Examples; give --schema schema.pbtxt", args[0])
			}
			return cli.OneArg("one SRC; several files are TFRecords, which need --schema")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Output.Check(); err != nil {
				return err
			}
			o.Run = f.Output.Run(t)
			source := ""
			if len(args) > 0 {
				source, o.More = args[0], args[1:]
			}
			st, err := graphmill.Import(cmd.Context(), source, f.Path, *o)
			return printStore(t, st, err, f.AsJSON)
		},
	}
	f.Output.Add(cmd)
	addBuild(cmd, &o.BuildOptions, "keep", "keep")
	fs := cmd.Flags()
	fs.StringVar(&o.Schema, "schema", "", "GraphSchema of TFRecords, which become a collection: a file, or the folder that holds it")
	fs.BoolVar(&o.Lenient, "lenient", false, "repair Examples that are no sound GraphTensors where that is possible, and count them")
	fs.StringVar(&o.Format, "format", "", "format of SRC, if it is not clear: "+strings.Join(graphmill.ImportFormats(), ", "))
	fs.StringVar(&o.Columns, "columns", "", "columns of an edge list: names for one without a header, or a choice, with dtypes: src,dst,weight:float32")
	fs.StringVar(&o.Src, "src", "", "column of the sources of an edge list")
	fs.StringVar(&o.Dst, "dst", "", "column of the destinations of an edge list")
	fs.StringVar(&o.IDs, "ids", "", "ids are integer or string")
	fs.StringVar(&o.Delimiter, "delimiter", "", "delimiter of text tables, if it is not clear: one character, tab or space")
	fs.StringVar(&o.Indptr, "indptr", "", ".npy of a sparse matrix's index pointer (a row per destination)")
	fs.StringVar(&o.Indices, "indices", "", ".npy of a sparse matrix's indices (sources)")
	fs.Uint64Var(&o.NumNodes, "num-nodes", 0, "number of nodes, where no table says it (default: largest id + 1)")
	fs.BoolVar(&o.Symmetrise, "symmetrise", false, "add the reverse of each edge (as type dst:rev_REL:src where the ends differ in type)")
	fs.BoolVar(&o.Homogeneous, "homogeneous", false, "merge all types into _N and _N:_E:_N, in the order of their names")
	fs.StringVar((*string)(&o.Primary), "primary", "", "direction that edges are numbered by: in or out (default: in; out for unigraphs)")
	fs.Var(policy{&o.DanglingEdges, "error|drop|zeros"}, "dangling-edges", "edges with an end that no node table has: zeros adds the node, with columns of zeros")
	fs.Var(policy{&o.DuplicateNodes, "error|drop"}, "duplicate-nodes", "rows with an id that came before")
	fs.StringVar(&o.EmptyCells, "empty-cells", "", "error, or the value that an empty cell of a feature has")
	fs.BoolVar(&o.AllowOutside, "allow-outside", false, "let a metadata file name files outside of its folder")
	cli.Defaults(fs, map[string]string{"ids": "auto", "dangling-edges": "error", "duplicate-nodes": "error", "empty-cells": "error"})
	return cmd
}

// printStore prints the report of a store that was made.
func printStore(t *cli.Terminal, st *graphmill.Store, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	defer st.Close()
	r, err := st.Report()
	if err != nil {
		return err
	}
	return t.PrintReport(r, asJSON)
}
