package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/option"
)

// partitionFlags has the flags that say how a graph is divided into parts.
type partitionFlags struct {
	*option.Partition
	types  bool
	theirs struct { // the flags with the names of DGL's tools
		parts, trainers int
		columns         []string
	}
}

func (p *partitionFlags) add(cmd *cobra.Command) {
	o, f := p.Partition, cmd.Flags()
	f.IntVarP(&o.Parts, "parts", "k", 0, "number of parts (required, except with --method import)")
	f.StringVar((*string)(&o.Method), "method", "", "multilevel, fennel, random, hash or import")
	f.StringVar((*string)(&o.Preset), "preset", "", "multilevel: fast, default or high; more work gives a smaller cut")
	f.StringVar((*string)(&o.Objective), "objective", "", "multilevel: minimise cut (pairs of neighbours in different parts) or vol (communication volume)")
	f.Float64SliceVar(&o.Imbalance, "imbalance", nil, "bound on the weight of a part divided by the mean: one number, or one for each quantity that is balanced")
	f.BoolVar(&o.BalanceEdges, "balance-edges", false, "balance the sums of in-degrees as well")
	f.BoolVar(&p.types, "balance-types", true, "balance the nodes of each type; =false balances those of all types together, which cuts fewer edges, but a part may then own no node of a type, and DGL's server does not start for such a part if the type has features")
	f.StringSliceVar(&o.BalanceColumn, "balance-column", nil, "balance the nodes of each value of a node column as well: train_mask, or TYPE/train_mask; may be repeated")
	f.IntVar(&o.TrainersPerMachine, "trainers-per-machine", 0, "number of trainers that each part is divided between")
	f.IntVar(&o.Passes, "passes", 0, "fennel: number of passes over the nodes")
	f.StringVar(&o.Import, "import", "", "import: assignment to read: a folder of <node type>.txt, a METIS .part.K or a ParMETIS file")
	f.Uint64Var(&o.Seed, "seed", 0, "random seed")
	f.BoolVar(&o.AllowOutside, "allow-outside", false, "let metadata.json name files outside its folder")
	f.StringSliceVar(&p.theirs.columns, "balance-ntypes", nil, "DGL's name of --balance-column")
	f.IntVar(&p.theirs.trainers, "num-trainers-per-machine", 0, "DGL's name of --trainers-per-machine")
	f.IntVar(&p.theirs.parts, "num-partitions", 0, "DGL's name of --parts")
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
func (p *partitionFlags) check(cmd *cobra.Command) error {
	o, given := p.Partition, cmd.Flags().Changed
	switch {
	case given("parts") && given("num-partitions"):
		return cli.Usagef("found both --parts and --num-partitions, expected one of them")
	case given("trainers-per-machine") && given("num-trainers-per-machine"):
		return cli.Usagef("found both --trainers-per-machine and --num-trainers-per-machine, expected one of them")
	}
	if p.theirs.parts != 0 {
		o.Parts = p.theirs.parts
	}
	if p.theirs.trainers != 0 {
		o.TrainersPerMachine = p.theirs.trainers
	}
	if err := cli.Positive(cmd.Flags(), "trainers-per-machine", "num-trainers-per-machine"); err != nil {
		return err
	}
	o.TypesTogether = !p.types
	o.BalanceColumn = append(o.BalanceColumn, p.theirs.columns...)
	return nil
}
