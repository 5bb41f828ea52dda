package data

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
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
			is, err := graphmill.IsLayout(args[0])
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
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON on stdout")
	return cmd
}

// NewReport makes the command report.
func NewReport(t *cli.Terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "report FOLDER",
		Short:   "Print the report of an output folder, and rewrite its report.html",
		Long:    `Prints the report of an output folder in words, and rewrites report.html from report.json.`,
		Example: `  graphmill report samples`,
		Args:    cli.OneArg("one FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := graphmill.RenderReport(args[0])
			if err != nil {
				return err
			}
			t.Say("wrote %s/report.html", args[0])
			return t.PrintReport(r, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON on stdout")
	return cmd
}
