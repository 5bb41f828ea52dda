package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewVerify makes the command verify.
func NewVerify(t *cli.Terminal) *cobra.Command {
	var f CommonFlags
	var o option.Verify
	cmd := &cobra.Command{
		Use:   "verify FOLDER",
		Short: "Find any changed, truncated or missing file in an output folder, or any fault in the parts of a graph",
		Long: `Reads every file of an output folder and compares it with the manifest. Of a
store or collection it also checks that the arrays mean a graph: offsets
ascend, ids are in range, the id index finds every id. Files, links and empty folders
that the manifest does not name are faults too, except the reports, which
graphmill report writes again.

For a partitioned graph, given by its folder or its configuration file, it checks
that every node, edge and row of features occurs exactly once and in its place, that
the part that owns the destination of an edge owns the edge, that the halo is
complete, and that ids map back to the original ones. It prints the first fault.
Parts that DGL wrote have no manifest, but are checked in the same way. A warning
lists the parts that own nothing of a type with features: they are not damaged, but
DGL's server does not start for them. --against compares edges and features with the
store from which the parts were made. It requires parts with original ids (dispatch
--save-orig-nids --save-orig-eids).

Of a sampled collection, --against compares the two nodes of each edge with the ends of the
edge in the store that has its id. TFRecords have no ids: the subgraphs are drawn anew from
the store by the memory executor, into the folder TMPDIR, and each record is compared. If they
were sampled with a file of seeds, of times or of a schema, give it again.`,
		Example: `  graphmill verify g.store
  graphmill verify samples --json
  graphmill verify parts/
  graphmill verify parts/cora.json --against cora.store
  graphmill verify samples --against g.store --seeds train.csv`,
		Args: cli.OneArg("one FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o.Run = f.Run(t)
			v, err := graphmill.Verify(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			if !f.AsJSON {
				for _, w := range v.Warnings() {
					t.Warn(w)
				}
			}
			show := t.Print
			if v.OK {
				show = t.Summarise
			}
			if err := show(v, f.AsJSON); err != nil {
				return err
			}
			if !v.OK {
				return cli.ErrDamage
			}
			return nil
		},
	}
	f.AddThreads(cmd)
	f.Bind(cmd, options.Verify, &o)
	return cmd
}
