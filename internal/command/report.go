package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewReport makes the command report.
func NewReport(t *cli.Terminal) *cobra.Command {
	var asJSON, lineage bool
	var search []string
	var out string
	cmd := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Print the report of an output folder, and rewrite its report.html",
		Long: `Prints the report of an output folder in words, and rewrites report.html from report.json.

--lineage follows the inputs of the folder instead, through all steps that are at hand, to
the first tables. It prints each step with its size, time, peak memory and warnings, and
writes a page that shows them as one picture and links to the page of each. An input is
searched by the fingerprint that every output records, in the folders beside those that are
found, in these, and in --search. What is not there is shown as not found here.`,
		Example: `  graphmill report samples
  graphmill report samples --lineage
  graphmill report samples --lineage --search /data/stores --out run.html`,
		Args: cli.OneArg("one FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if lineage {
				l, err := graphmill.TraceLineage(cmd.Context(), args[0], option.Lineage{Search: search})
				if err != nil {
					return err
				}
				page, err := graphmill.WriteLineage(l, args[0], out)
				if err != nil {
					return err
				}
				t.Note(fmt.Sprintf("wrote %s", page))
				return t.Print(l, asJSON)
			}
			for _, name := range []string{"search", "out"} {
				if cmd.Flags().Changed(name) {
					return cli.Usagef("found --%s without --lineage, expected both; give --lineage", name)
				}
			}
			r, err := graphmill.RenderReport(args[0])
			if err != nil {
				return err
			}
			t.Note(fmt.Sprintf("wrote %s/report.html", args[0]))
			return t.PrintReport(r, asJSON)
		},
	}
	addJSON(cmd, &asJSON, "print the report, or the lineage, as JSON on stdout")
	cmd.Flags().BoolVar(&lineage, "lineage", false, "follow the inputs of the folder through all steps to the first tables, and write a page of them")
	cmd.Flags().StringArrayVar(&search, "search", nil, "with --lineage: a folder that holds inputs; can be repeated")
	cmd.Flags().StringVarP(&out, "out", "o", "", "with --lineage: the file to write the page to (default: FOLDER.lineage.html)")
	cli.Folders(cmd.Flags(), "search")
	cli.Named(cmd.Flags(), "FILE", "out")
	cli.Group(cmd.Flags(), options.GroupOutput, "*lineage", "*search", "*out")
	return cmd
}
