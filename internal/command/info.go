package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/describing"
)

// NewInfo makes the command info.
func NewInfo(t *cli.Terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info STORE|LAYOUT",
		Short: "Print the types, counts, columns and degrees of a store or collection, or the limits of a pack layout",
		Example: `  graphmill info g.store
  graphmill info g.store --json | jq .edges`,
		Args: cli.OneArg("one STORE or LAYOUT"),
		RunE: func(_ *cobra.Command, args []string) error {
			is, err := describing.IsLayout(args[0])
			if err != nil {
				return err
			}
			if is {
				l, err := graphmill.DescribeLayout(args[0])
				if err != nil {
					return err
				}
				return t.Print(l, asJSON)
			}
			st, err := graphmill.Open(args[0])
			if err != nil {
				return err
			}
			defer st.Close()
			d, err := st.Describe()
			if err != nil {
				return err
			}
			return t.Print(d, asJSON)
		},
	}
	addJSON(cmd, &asJSON, "print JSON on stdout")
	return cmd
}
