package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newBenchSample(t *cli.Terminal) *cobra.Command {
	var c CommonFlags
	var o option.Measure
	batches := 0
	cmd := &cobra.Command{
		Use:   "sample STORE",
		Short: "Measure sampled edges per second of the memory executor",
		Long: `Samples batches and discards them, to measure the speed of sampling itself, including
relabelling and edge ids. Without --seeds, the seeds are the nodes at which the first
hop finds edges, in shuffled order. A sampled edge is an edge drawn by an op. Beside the
rate stands what bounds it: how often the same threads read 4 bytes at random places of
the longest list of neighbours, since a draw reads at least one such place.`,
		Example: `  graphmill bench sample g.store --fanout 15,10 --batch-size 1024 --threads 2 --batches 200
  graphmill bench sample g.store --fanout 15,10 --json | jq .sampled_edges_per_second`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := c.Check(); err != nil {
				return err
			}
			if batches < 1 {
				return cli.Usagef("found --batches %d, expected at least 1", batches)
			}
			st, err := graphmill.Open(args[0])
			if err != nil {
				return err
			}
			defer st.Close()
			o.Run = c.Run(t)
			b, err := graphmill.MeasureSampling(cmd.Context(), st, batches, o)
			if err != nil {
				return err
			}
			if c.AsJSON {
				return t.JSON(b)
			}
			limit := ""
			if b.RandomReadsPerSecond > 0 {
				limit = fmt.Sprintf("limit  %s random reads/s of 4 bytes from %s of neighbours: %.2f of it\n",
					human.Words(b.RandomReadsPerSecond), human.Bytes(b.RandomReadBytes), b.SampledEdgesPerSecond/b.RandomReadsPerSecond)
			}
			_, err = fmt.Fprintf(t.Stdout, "%s sampled edges/s, %s batches/s (%d batches of %d seeds in %.3g s, %d threads, peak %s)\n%s",
				human.Words(b.SampledEdgesPerSecond), human.Words(b.BatchesPerSecond), b.Batches, b.BatchSize, b.Seconds, b.Threads, human.Bytes(b.PeakRSS), limit)
			return err
		},
	}
	c.Add(cmd)
	c.finish = append(c.finish, addSamplingFlags(cmd.Flags(), &o.Draw, [][]options.Option{options.Sampling, options.Epoch}, &o))
	cmd.Flags().IntVar(&batches, "batches", 200, "number of batches to measure")
	cli.Group(cmd.Flags(), options.GroupBatches, "*batches")
	return cmd
}
