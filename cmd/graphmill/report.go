package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// closeWith joins the error of a close to the error that a function returns.
func closeWith(err *error, f func() error) { *err = errors.Join(*err, f()) }

func newReport(t *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "report FOLDER",
		Short:   "Make the page of an output folder again",
		Long:    `Writes report.html anew from report.json, and prints the report in words.`,
		Example: `  graphmill report samples`,
		Args:    oneArg("one FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := report.Read(vfs.OS, args[0])
			if err != nil {
				return err
			}
			html, json, err := render(r)
			if err != nil {
				return err
			}
			if err := store.WriteReport(vfs.OS, args[0], html, json); err != nil {
				return err
			}
			fmt.Fprintf(t.stderr, "graphmill: wrote %s/%s\n", args[0], store.ReportHTMLFile)
			return t.finish(r, common{json: asJSON})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON on stdout")
	return cmd
}
