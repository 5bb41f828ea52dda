package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/dividing"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewPartition makes the command partition. where is nil for the one that divides a graph in its own process.
func NewPartition(t *cli.Terminal, where *Where[dividing.Cluster]) *cobra.Command {
	var f struct {
		outputFlags
		inDir, outDir string
	}
	var o option.Partition
	division := partitionFlags{Partition: &o}
	cmd := &cobra.Command{
		Use:   "partition STORE|CHUNKED|GRAPH.graph",
		Short: "Divide the nodes of a graph into balanced parts with few edges between them",
		Long: `Assigns each node to a part, so that the parts are balanced and few edges run between
them. The input is a store, a graph in DGL's chunked format, or a METIS file (.graph,
.graph.gz). All edge types count together. A pair of neighbours counts once, whatever
the directions of its edges.

The folder --out gets <node type>.txt (line i has the part of node i) and
partition_meta.json, which DGL's dispatcher and graphmill dispatch read, and a report.
For a METIS file --out is optional: without it the assignment is written next to the
input as GRAPH.graph.part.K, as gpmetis writes it.

Methods: multilevel has the smallest cut and holds the graph in memory; if that does not
fit the given --memory, it runs out of core, in passes over temporary files, and says so.
fennel streams the graph from disk, in less memory and time, and cuts more edges.
ranges divides as workers of a cluster do that have a range of the nodes each, with
about the cut of multilevel; the report says what they would send each other. hash assign nodes to parts at random or by a hash of their ids. import reads the
assignment of another program (--import).

By default the nodes of each type are balanced, and every part owns nodes of each type
that has at least as many nodes as there are parts; see --balance-types, --balance-edges
and --balance-column. The same random seed gives the same parts for any number of
threads.`,
		Example: `  graphmill partition g.store --parts 8 --out g.parts
  graphmill partition g.store --parts 8 --balance-edges --balance-column paper/train_mask --out g.parts
  graphmill partition chunked/ --parts 4 --preset high --imbalance 1.05 --out g.parts
  graphmill partition huge.store --parts 64 --memory 4GiB --out g.parts
  graphmill partition x.graph --parts 8
  graphmill partition g.store --import x.graph.part.8 --out g.parts
  graphmill partition --in_dir chunked/ --out_dir g.parts --num_partitions 4`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.inDir != "" {
				return cli.NoArgs(cmd, args)
			}
			return cli.OneArg("one STORE, CHUNKED graph or METIS file; or --in-dir")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in := f.inDir
			if in == "" {
				in = args[0]
			}
			if f.outDir != "" {
				if f.Path != "" {
					return cli.Usagef("found both --out and --out-dir, expected one of them")
				}
				f.Path = f.outDir
			}
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			if err := division.check(cmd); err != nil {
				return err
			}
			o.Run = f.Run(t)
			c, err := where.cluster()
			if err != nil {
				return err
			}
			if c != nil && !cmd.Flags().Changed("method") {
				o.Method = "" // a cluster has a default of its own
			}
			d, err := dividing.Partition(cmd.Context(), in, f.Path, o, c)
			if err != nil {
				return err
			}
			return t.Summarise(d, f.AsJSON)
		},
	}
	f.outputFlags.Add(cmd)
	fs := cmd.Flags()
	if where != nil {
		cmd.Use, cmd.Long, cmd.Example = "partition STORE", where.Long, where.Example
		where.Add(fs)
	}
	division.add(cmd, &f.CommonFlags)
	if where != nil {
		return cmd
	}
	fs.Lookup("out").Usage = "folder to write (required, except for METIS files)"
	fs.StringVar(&f.inDir, "in-dir", "", "DGL's name of the input")
	fs.StringVar(&f.outDir, "out-dir", "", "DGL's name of --out")
	cli.Folders(fs, "in-dir", "out-dir")
	cli.Group(fs, options.GroupDGL, "in-dir", "out-dir")
	return cmd
}
