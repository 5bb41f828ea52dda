package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewAppend makes the command append.
func NewAppend(t *cli.Terminal) *cobra.Command {
	var f struct {
		CommonFlags
		option.Append
		NoReport bool
	}
	o := &f.Append
	cmd := &cobra.Command{
		Use:   "append STORE [SRC...]",
		Short: "Add new nodes and edges to a store",
		Long: `Reads tables as graphmill import does, and adds what is new to STORE: nodes, and edges
between all nodes. Only what is new is written, as a segment. The store then gives the
draws and edge ids of a store that was imported from all tables at once.

SRC has the types and columns of the store; a type may be new. What the import of the
store was asked to do with rows that break a rule is done with the new ones as well.
--drop and --change say which edges end, and which values are others. --follow appends
what comes to a folder, to the tables of a database or to the standard input.

The store gets the new version under its name in one step. Programs that have it open
keep the version before, and after an error it is as it was. graphmill compact makes
it one piece again.`,
		Example: `  graphmill append g.store monday.csv
  graphmill append g.store tables/                # a folder with a graph.yaml
  graphmill append g.store new-1.csv new-2.csv --src from --dst to
  graphmill append g.store --drop unfriended.csv
  graphmill append g.store --change corrected/    # new values of columns
  graphmill append g.store --follow incoming/ --every 10s --compact
  kcat -C -b HOST -t calls -J -u | graphmill append g.store graph.yaml --follow - --compact`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && f.Drop == "" && f.Change == "" && f.Follow == "" {
				return cli.Usagef("found %d arguments, expected a STORE, and a SRC or several files of edges; give both", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o.Run = f.CommonFlags.Run(t)
			o.NoReport = f.NoReport
			if o.Follow == "-" {
				o.Input = cmd.InOrStdin()
			}
			source := ""
			if len(args) > 1 {
				source, o.More = args[1], args[2:]
			}
			return t.Finish(f.AsJSON)(graphmill.Append(cmd.Context(), args[0], source, *o))
		},
	}
	f.Add(cmd)
	f.Bind(cmd, options.NoReport, &f)
	f.Bind(cmd, options.Append, o)
	return cmd
}
