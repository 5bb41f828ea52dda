package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/exporting"
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
	fs.IntVar(&f.Shards, "shards", 0, "number of files per table, such as 8 for NAME-00000-of-00008 and so on (default: one file NAME)")
	fs.BoolVar(&f.Gzip, "gzip", false, "compress csv and tfrecord files")
	fs.BoolVar(&f.RoundDoubles, "round-doubles", false, "tfrecord: round float64 to float32; without it a value that would lose digits is an error; values beyond the range of float32 are always an error")
	cli.Choices(fs, format, exporting.TablesFormats()...)
	cli.Group(fs, cli.GroupOutput, "*"+format, "*shards", "*gzip", "round-doubles")
}

// options returns the options that the flags set.
func (f *unigraphFlags) options(cmd *cobra.Command, t *cli.Terminal) (option.UnigraphTables, error) {
	o := f.UnigraphTables
	if err := f.Check(); err != nil {
		return o, err
	}
	if err := cli.Positive(cmd.Flags(), "shards"); err != nil {
		return o, err
	}
	if f.To == "" {
		return o, cli.Usagef(`found --to "", expected %s`, strings.Join(exporting.TablesFormats(), ", "))
	}
	o.Run = f.outputFlags.Run(t)
	return o, nil
}
