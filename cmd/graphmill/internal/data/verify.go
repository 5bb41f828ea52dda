package data

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// NewVerify makes the command verify.
func NewVerify(t *cli.Terminal) *cobra.Command {
	var f cli.Common
	var o graphmill.VerifyOptions
	cmd := &cobra.Command{
		Use:   "verify FOLDER",
		Short: "Find any flipped bit, cut or missing file of an output folder, or what is wrong with a graph's parts",
		Long: `Reads every file of an output folder and compares it with the manifest. Of a
store or collection it also checks that the arrays mean a graph: offsets
ascend, ids are in range, the id index finds every id.

Of a partitioned graph, its folder or its configuration, it checks that every
node, edge and row of features is there exactly once and in its place, that
edges lie with their destination, that the halo is complete, and that ids lead
back to the original ones. It names the first fault. Parts that DGL wrote have
no manifest; they are verified all the same. A warning names the parts that own nothing
of a type with features: they are whole, but DGL's server does not start for them. With --against, edges and features
are compared with the store that the parts were made of, which needs the
original ids in them (dispatch --save-orig-nids --save-orig-eids).

Exit status: 0 all is well, 1 failed, 2 wrong usage, 3 found damage.`,
		Example: `  graphmill verify g.store
  graphmill verify samples --json
  graphmill verify parts/
  graphmill verify parts/cora.json --against cora.store`,
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
			if err := t.Print(v, f.AsJSON); err != nil {
				return err
			}
			if !v.OK {
				return cli.ErrDamage
			}
			return nil
		},
	}
	f.AddThreads(cmd)
	cmd.Flags().StringVar(&o.Against, "against", "", "store that parts were made of, to compare their edges and features with")
	cmd.Flags().BoolVar(&o.AllowOutside, "allow-outside", false, "let the configuration of parts name files outside of its folder")
	return cmd
}
