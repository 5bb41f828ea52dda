package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/exporting"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// unigraphFlags has the flags of the commands that write the tables of a unigraph.
type unigraphFlags struct {
	outputFlags
	option.UnigraphTables
}

// add adds the flags. format is the name of the flag for the format.
func (f *unigraphFlags) add(cmd *cobra.Command, format, preset string) {
	f.AddThreads(cmd)
	f.outFlags.Add(cmd)
	fs := cmd.Flags()
	what := "format of the tables: " + strings.Join(exporting.TablesFormats(), ", ")
	if preset == "" {
		what += " (required)"
	}
	fs.StringVar(&f.To, format, preset, what)
	cli.Choices(fs, format, exporting.TablesFormats()...)
	cli.Group(fs, options.GroupOutput, "*"+format)
	f.Bind(cmd, options.UnigraphTables, &f.UnigraphTables)
}

// options returns the options that the flags set.
func (f *unigraphFlags) options(t *cli.Terminal) (option.UnigraphTables, error) {
	o := f.UnigraphTables
	if err := f.Check(); err != nil {
		return o, err
	}
	if f.To == "" {
		return o, cli.Usagef(`found --to "", expected %s`, strings.Join(exporting.TablesFormats(), ", "))
	}
	o.Run = f.outputFlags.Run(t)
	return o, nil
}
