package partition

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// cutFlags has the flags that say how a graph is divided into parts.
type cutFlags struct {
	*graphmill.PartitionOptions
	types  bool
	theirs struct { // the flags with the names of DGL's tools
		parts, trainers int
		columns         []string
	}
}

func (c *cutFlags) add(cmd *cobra.Command) {
	o, f := c.PartitionOptions, cmd.Flags()
	f.IntVarP(&o.Parts, "parts", "k", 0, "number of parts (required, except with --method import)")
	f.StringVar((*string)(&o.Method), "method", "", "multilevel, fennel, random, hash or import")
	f.StringVar((*string)(&o.Preset), "preset", "", "multilevel: fast, default or high; more work gives a smaller cut")
	f.StringVar((*string)(&o.Objective), "objective", "", "multilevel: minimise cut (pairs of neighbours in different parts) or vol (communication volume)")
	f.Float64SliceVar(&o.Imbalance, "imbalance", nil, "bound on the weight of a part divided by the mean: one number, or one for each quantity that is balanced")
	f.BoolVar(&o.BalanceEdges, "balance-edges", false, "balance the sums of in-degrees as well")
	f.BoolVar(&c.types, "balance-types", true, "balance the nodes of each type; =false balances those of all types together, which cuts fewer edges, but a part may then own no node of a type, and DGL's server does not start for such a part if the type has features")
	f.StringSliceVar(&o.BalanceColumn, "balance-column", nil, "balance the nodes of each value of a node column as well: train_mask, or TYPE/train_mask; may be repeated")
	f.IntVar(&o.TrainersPerMachine, "trainers-per-machine", 0, "number of trainers that each part is divided between")
	f.IntVar(&o.Passes, "passes", 0, "fennel: number of passes over the nodes")
	f.StringVar(&o.Import, "import", "", "import: assignment to read: a folder of <node type>.txt, a METIS .part.K or a ParMETIS file")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed")
	f.BoolVar(&o.AllowOutside, "allow-outside", false, "let metadata.json name files outside its folder")
	f.StringSliceVar(&c.theirs.columns, "balance-ntypes", nil, "DGL's name of --balance-column")
	f.IntVar(&c.theirs.trainers, "num-trainers-per-machine", 0, "DGL's name of --trainers-per-machine")
	f.IntVar(&c.theirs.parts, "num-partitions", 0, "DGL's name of --parts")
	cli.Defaults(f, map[string]string{"method": "multilevel", "preset": "default", "objective": "cut", "imbalance": "[1.03]", "trainers-per-machine": "1", "passes": "5"})
	cli.Choices(f, "method", "multilevel", "fennel", "random", "hash", "import")
	cli.Choices(f, "preset", "fast", "default", "high")
	cli.Choices(f, "objective", "cut", "vol")
	cli.Values(f, cli.NodeColumns, "COLUMN", "balance-column", "balance-ntypes")
	cli.Files(f, "import")
	cli.Group(f, cli.GroupDivide, "*parts", "*method", "*preset", "objective", "passes", "import", "*seed")
	cli.Group(f, cli.GroupBalance, "*imbalance", "*balance-edges", "*balance-types", "*balance-column", "trainers-per-machine")
	cli.Group(f, cli.GroupSource, "allow-outside")
	cli.Group(f, cli.GroupDGL, "balance-ntypes", "num-trainers-per-machine", "num-partitions")
}

// check applies the flags with DGL's names.
func (c *cutFlags) check(cmd *cobra.Command) error {
	o, given := c.PartitionOptions, cmd.Flags().Changed
	switch {
	case given("parts") && given("num-partitions"):
		return cli.Usagef("found both --parts and --num-partitions, expected one of them")
	case given("trainers-per-machine") && given("num-trainers-per-machine"):
		return cli.Usagef("found both --trainers-per-machine and --num-trainers-per-machine, expected one of them")
	}
	if c.theirs.parts != 0 {
		o.Parts = c.theirs.parts
	}
	if c.theirs.trainers != 0 {
		o.TrainersPerMachine = c.theirs.trainers
	}
	if err := cli.Positive(cmd.Flags(), "trainers-per-machine", "num-trainers-per-machine"); err != nil {
		return err
	}
	o.TypesTogether = !c.types
	o.BalanceColumn = append(o.BalanceColumn, c.theirs.columns...)
	return nil
}

// NewPartition makes the command partition.
func NewPartition(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Output
		inDir, outDir string
	}
	var o graphmill.PartitionOptions
	cut := cutFlags{PartitionOptions: &o}
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
random and hash assign nodes to parts at random or by a hash of their ids. import reads
the assignment of another program (--import).

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
			if err := f.Common.Check(); err != nil {
				return err
			}
			if err := cut.check(cmd); err != nil {
				return err
			}
			o.Run = f.Run(t)
			d, err := graphmill.Partition(cmd.Context(), in, f.Path, o)
			if err != nil {
				return err
			}
			return t.Summarise(d, f.AsJSON)
		},
	}
	f.Output.Add(cmd)
	cut.add(cmd)
	fs := cmd.Flags()
	fs.Lookup("out").Usage = "folder to write (required, except for METIS files)"
	fs.StringVar(&f.inDir, "in-dir", "", "DGL's name of the input")
	fs.StringVar(&f.outDir, "out-dir", "", "DGL's name of --out")
	cli.Folders(fs, "in-dir", "out-dir")
	cli.Group(fs, cli.GroupDGL, "in-dir", "out-dir")
	return cmd
}
