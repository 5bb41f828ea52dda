package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// partitionFlags has the flags that say how a graph is divided into parts.
type partitionFlags struct {
	*option.Partition
	BalanceTypes bool
	theirs       struct { // the flags with the names of DGL's tools
		NumPartitions, NumTrainersPerMachine int
		BalanceNtypes                        []string
	}
}

func (p *partitionFlags) add(cmd *cobra.Command, c *CommonFlags) {
	p.BalanceTypes = true
	c.Bind(cmd, options.Partition, &p.theirs, p)
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
	if p.theirs.NumPartitions != 0 {
		o.Parts = p.theirs.NumPartitions
	}
	if p.theirs.NumTrainersPerMachine != 0 {
		o.TrainersPerMachine = p.theirs.NumTrainersPerMachine
	}
	o.TypesTogether = !p.BalanceTypes
	o.BalanceColumn = append(o.BalanceColumn, p.theirs.BalanceNtypes...)
	return nil
}
