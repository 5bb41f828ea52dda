package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/option"
)

// randomFlags has the flags of tfgnn random.
type randomFlags struct {
	outputFlags
	option.RandomRecords
}

func newTFGNNRandom(t *cli.Terminal) *cobra.Command {
	var f randomFlags
	cmd := &cobra.Command{
		Use:   "random SCHEMA",
		Short: "Make random GraphTensors of a schema",
		Long: `Makes GraphTensors that conform to a schema, with few nodes and random values, and
writes them as TFRecords, together with the schema. Without --out it prints the
Examples. The same schema and random seed give the same GraphTensors: those of a smaller
--count are the first of a larger one.`,
		Example: `  graphmill tfgnn random schema.pbtxt  # print an Example of a schema
  graphmill tfgnn random schema.pbtxt --count 10 --json
  graphmill tfgnn random schema.pbtxt --count 100000 --shards 8 --out random`,
		Args: cli.OneArg("one SCHEMA"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			if f.Path == "" {
				if cmd.Flags().Changed("shards") || f.Gzip || f.outFlags.Overwrite || f.outFlags.NoReport {
					return cli.Usagef("found a flag of files and no --out, expected a folder to write; give --out FOLDER")
				}
				return printRandom(cmd, t, args[0], &f)
			}
			o := f.RandomRecords
			o.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.RandomRecords(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.AddThreads(cmd)
	fs := cmd.Flags()
	f.outFlags.Add(cmd)
	fs.Lookup("out").Usage = "folder to write (default: print the Examples)"
	f.Count, f.Shards = 1, 1
	f.Bind(cmd, options.RandomRecords, &f.RandomRecords)
	return cmd
}

// printRandom prints random Examples.
func printRandom(cmd *cobra.Command, t *cli.Terminal, path string, f *randomFlags) error {
	codec, err := openCodec(t, path)
	if err != nil {
		return err
	}
	var w example.Writer
	number := uint64(0)
	next := func() ([]byte, recordfiles.Place, error) {
		record, err := codec.Encode(&w, codec.Random(f.Seed, number))
		number++
		return record, recordfiles.Place{File: "random", Number: number - 1}, err
	}
	return printExamples(cmd.Context(), t.Stdout, next, f.AsJSON, 0, f.Count)
}
