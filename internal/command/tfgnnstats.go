package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newTFGNNStats(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Statistics
	}
	cmd := &cobra.Command{
		Use:   "stats SCHEMA FILES...",
		Short: "Print statistics of TFRecords of GraphTensors, or write them with plots",
		Long: `Measures the sizes of the graphs, the degrees of their nodes, and the distribution of
the values of each feature. Prints the text that TF-GNN's sampled_stats writes, and also
fills in means, deviations and a sample of sizes. With --out it writes this text to a
folder, with a page of plots. FILES are paths, globs, or base@N.`,
		Example: `  graphmill tfgnn stats schema.pbtxt samples.tfrecord@8 --out stats  # then see stats/report.html
  graphmill tfgnn stats schema.pbtxt 'samples.tfrecord-*' > stats.pbtxt
  graphmill tfgnn stats schema.pbtxt samples.tfrecord --json | jq .tables`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("found %d arguments, expected a SCHEMA and FILES", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			o := f.Statistics
			o.Run = f.outputFlags.Run(t)
			text, r, err := graphmill.Statistics(cmd.Context(), args[0], args[1:], f.Path, o)
			if err != nil {
				return err
			}
			if f.Path != "" || f.AsJSON {
				return t.Finish(f.AsJSON)(r, nil)
			}
			_, err = t.Stdout.Write(text)
			return err
		},
	}
	f.AddThreads(cmd)
	f.AddFolder(cmd, "folder to write (default: print the statistics)")
	f.Quantiles = 10
	f.Bind(cmd, options.Statistics, &f.Statistics)
	return cmd
}
