package command

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// importFlags are the flags of import.
type importFlags struct {
	outputFlags
	option.Import
	ListFormats bool // and nothing else
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
			case f.ListFormats:
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
			if f.ListFormats {
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
	fs := cmd.Flags()
	f.Bind(cmd, options.Build, o)
	f.Bind(cmd, options.Import, o, &f)
	var formats []string
	for _, f := range graphmill.DescribeImportFormats() {
		formats = append(formats, f.Name)
	}
	cli.Choices(fs, "format", formats...)
	if where != nil {
		cmd.Long, cmd.Example = where.Long, where.Example
		where.Add(fs)
	}
	return cmd
}

// printStore prints the report of a store that was made, whose folder was named as out.
func printStore(t *cli.Terminal, st *graphmill.Store, out string, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	defer st.Close()
	r, err := st.Report()
	if err != nil {
		return err
	}
	r.Output = out
	return t.Finish(asJSON)(r, nil)
}
