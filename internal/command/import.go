package command

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/option"
)

// importFlags are the flags of import.
type importFlags struct {
	outputFlags
	option.Import
	list bool // the formats, and nothing else
}

// NewImport makes the command import. where is nil for the one that works in its own process.
func NewImport(t *cli.Terminal, where *Where[importing.Cluster]) *cobra.Command {
	var f importFlags
	o := &f.Import
	cmd := &cobra.Command{
		Use:   "import SRC",
		Short: "Make a store from the tables of a graph, or a collection from many graphs",
		Long: `Reads a graph and writes a store. SRC is a file or a folder: a table of edges (CSV,
Parquet, SNAP and others), arrays, a graph.yaml that lists node and edge tables, the
files of another program (TF-GNN, DGL, OGB, TU), or a file of a graph format. The name
and the first bytes tell the format; --format names it. graphmill import --list-formats
lists all of them, and docs/formats.md says what becomes of each.

sqlite:FILE and postgres://USER@HOST/DATABASE are databases: tables become node types,
and foreign keys edges. The password is in PGPASSWORD or ~/.pgpass.

SRC and --out can lie in an object store, as s3://BUCKET/KEY or gs://BUCKET/KEY, and SRC
on a web server, as https://HOST/PATH (docs/object-stores.md).

Tables of edges can be several files, a glob, NAME@SHARDS, or a folder, whose folders
KEY=VALUE are columns. SRC - is a table on the standard input, of the --format csv, tsv,
txt, jsonl, arrow or parquet; it is copied to the folder of the output first.

Many graphs become a collection: a graph.yaml with the key graphs, TU and OGB data
sets, several DGL graphs, or TFRecords of GraphTensors with their --schema (files,
globs or NAME@SHARDS, plain or compressed with gzip).

A row that breaks a rule is an error that names file, line and column, unless a
flag says how to treat it. The store does not depend on --memory or --threads.`,
		Example: `  graphmill import edges.csv --out g.store
  graphmill import schema.pbtxt --out g.store
  graphmill import edges.txt.gz --columns src,dst,weight:float32 --symmetrise --out g.store
  graphmill import events.csv --columns src,dst,at:datetime,kind:category --out g.store
  graphmill import edges.csv --vector feat=f0:f127 --missing float=nan --out g.store
  graphmill import 'part-*.parquet' --out g.store
  graphmill import s3://data/edges.parquet --out s3://data/g.store
  graphmill import postgres://me@db.example.com/shop --time-column orders.at --out g.store
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
			case f.list:
				return cli.NoArgs(cmd, args)
			case o.Indptr != "" || o.Indices != "":
				return cli.NoArgs(cmd, args)
			case o.Schema != "" && len(args) == 0:
				return cli.Usagef("found no files, expected TFRecords of the schema")
			case o.Schema != "", len(args) > 1 && !strings.Contains(filepath.Base(args[0]), ".tfrecord"):
				return nil
			case len(args) > 0 && strings.Contains(filepath.Base(args[0]), ".tfrecord"):
				return cli.Usagef("found TFRecords %s without --schema, expected the GraphSchema of their Examples; give --schema schema.pbtxt", args[0])
			}
			return cli.OneArg("SRC")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return t.Print(importFormats(), f.AsJSON)
			}
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			c, err := where.cluster()
			if err != nil {
				return err
			}
			source := ""
			if len(args) > 0 {
				source, o.More = args[0], args[1:]
			}
			if source == "-" {
				o.Input = cmd.InOrStdin()
			}
			s, r, err := importing.Import(cmd.Context(), source, f.Path, *o, c)
			if err != nil {
				return err
			}
			defer s.Close()
			return t.Finish(f.AsJSON)(r, nil)
		},
	}
	f.outputFlags.Add(cmd)
	addBuildFlags(cmd, &o.Build, "keep", "keep")
	fs := cmd.Flags()
	fs.StringVar(&o.Schema, "schema", "", "GraphSchema of TFRecords: a file, or the folder that holds it (required for TFRecords)")
	fs.BoolVar(&o.Lenient, "lenient", false, "repair Examples that are not valid GraphTensors where that is possible, and count them (default: stop with an error)")
	fs.BoolVar(&f.list, "list-formats", false, "print the formats of SRC, and what they become, and end; with --json as JSON")
	fs.StringVar(&o.Format, "format", "", "name of the format of SRC, as --list-formats has it (default: recognised by name and content)")
	fs.StringArrayVar(&o.TimeColumn, "time-column", nil, "column of a database that is the time of the nodes and edges of its table: TABLE.COLUMN; can be repeated")
	fs.StringVar(&o.Columns, "columns", "", "names of the columns of an edge list without a header, or a selection of those of its header; a dtype may follow a name: src,dst,weight:float32,at:datetime[ms],kind:category")
	fs.StringVar(&o.Src, "src", "", "column of an edge list that has the sources (default: a usual name, such as src or Source)")
	fs.StringVar(&o.Dst, "dst", "", "column of an edge list that has the destinations (default: a usual name, such as dst or target)")
	fs.StringVar(&o.SrcType, "src-type", "", "node type of the sources of an edge list, such as user (default: _N)")
	fs.StringVar(&o.DstType, "dst-type", "", "node type of the destinations of an edge list, such as item (default: _N)")
	fs.StringVar(&o.IDs, "ids", "", "type of the ids: auto, integer or string")
	fs.StringVar(&o.Delimiter, "delimiter", "", "delimiter of text tables: one character, tab or space (default: recognised)")
	fs.StringVar(&o.Indptr, "indptr", "", ".npy file with the index pointer of a sparse matrix, one row per destination; give it with --indices instead of SRC")
	fs.StringVar(&o.Indices, "indices", "", ".npy file with the indices (sources) of a sparse matrix")
	fs.Uint64Var(&o.NumNodes, "num-nodes", 0, "number of nodes of a source without a node table (default: largest id + 1)")
	fs.StringVar(&o.Relations, "relations", "", "what the relations of triples become: types, an edge type each; or column, a column of one edge type (default: types for up to 1,000 relations)")
	fs.BoolVar(&o.Symmetrise, "symmetrise", false, "add the reverse of each edge; if source and destination differ in type, the reverse edges have the type dst:rev_REL:src")
	fs.BoolVar(&o.Homogeneous, "homogeneous", false, "merge all node types into _N and all edge types into _N:_E:_N, in the order of their names")
	fs.BoolVar(&o.NoPositions, "no-positions", false, "leave out the position of each edge in the input: 4 bytes per edge less, or 8 from 2^32 rows on; outputs then have the edge ids of the store")
	fs.StringVar((*string)(&o.Primary), "primary", "", "direction by which edges are numbered and stored: in or out (default: out for unigraphs, else in)")
	fs.Var(policy{&o.DanglingEdges, "error|drop|zeros"}, "dangling-edges", "how to treat edges with an end that no node table has; zeros adds the node, with zeros in its columns")
	fs.Var(policy{&o.DuplicateNodes, "error|drop"}, "duplicate-nodes", "how to treat rows of a node table with the id of an earlier row")
	fs.StringArrayVar(&o.Missing, "missing", nil, "what empty cells mean, or VALUE alone for all of them; WHAT is a dtype, float, int, bool, string, datetime, category or a column; VALUE is a value, error, or column, which adds a column NAME_missing (default: an error for numbers and bools)")
	fs.StringArrayVar(&o.Vectors, "vector", nil, "join columns of an edge list to one, as NAME=FIRST:LAST, NAME=PATTERN or NAME=A,B,C; a dtype may follow NAME: feat:float32=f*")
	fs.BoolVar(&o.AllowOutside, "allow-outside", false, "let a metadata file name files outside its folder, and databases on servers")
	cli.Defaults(fs, map[string]string{"ids": "auto", "dangling-edges": "error", "duplicate-nodes": "error"})
	var formats []string
	for _, f := range graphmill.DescribeImportFormats() {
		formats = append(formats, f.Name)
	}
	cli.Choices(fs, "format", formats...)
	cli.Choices(fs, "ids", "auto", "integer", "string")
	cli.Choices(fs, "relations", "types", "column")
	cli.Choices(fs, "primary", "in", "out")
	cli.Choices(fs, "delimiter", "tab", "space")
	cli.Files(fs, "schema", "indptr", "indices")
	cli.Named(fs, "C", "delimiter")
	cli.Named(fs, "COLUMNS", "columns")
	cli.Named(fs, "COLUMN", "src", "dst")
	cli.Named(fs, "TYPE", "src-type", "dst-type")
	cli.Named(fs, "TABLE.COLUMN", "time-column")
	cli.Named(fs, "WHAT=VALUE", "missing")
	cli.Named(fs, "NAME=COLUMNS", "vector")
	cli.Group(fs, cli.GroupSource, "*format", "*list-formats", "*schema", "lenient", "indptr", "indices", "time-column", "allow-outside")
	cli.Group(fs, cli.GroupColumns, "*columns", "*src", "*dst", "src-type", "dst-type", "ids", "delimiter", "vector", "*missing")
	cli.Group(fs, cli.GroupGraph, "*num-nodes", "relations", "*symmetrise", "homogeneous", "no-positions", "primary", "*dangling-edges", "duplicate-nodes")
	if where != nil {
		cmd.Long, cmd.Example = where.Long, where.Example
		where.Add(fs)
	}
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
	return t.Finish(asJSON)(r, nil)
}
