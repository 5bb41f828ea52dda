package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/describing"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// infoFlags are the flags of info.
type infoFlags struct {
	CommonFlags
	option.Profile
	Columns bool // summarise the columns
}

// NewInfo makes the command info.
func NewInfo(t *cli.Terminal) *cobra.Command {
	var f infoFlags
	cmd := &cobra.Command{
		Use:   "info STORE|LAYOUT",
		Short: "Print the types, counts, columns and degrees of a store or collection, or the limits of a pack layout",
		Long: `Prints what a folder has. With --columns it reads every column of a store, and prints how many values
are missing and distinct, where numbers lie, and which values are the most frequent: in all
rows, and in each part of a split. --like adds how far each column is from the one of the
same name in another store: 0 is equal, 1 has nothing in common.`,
		Example: `  graphmill info g.store
  graphmill info g.store --columns
  graphmill info new.store --columns --like g.store
  graphmill info g.store --json | jq .edges`,
		Args: cli.OneArg("one STORE or LAYOUT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			if f.Like != "" && !f.Columns {
				return cli.Usagef("found `Like` without `Columns`, expected both; give `Columns`")
			}
			is, err := describing.IsLayout(args[0])
			if err != nil {
				return err
			}
			if is && f.Columns {
				return cli.Usagef("%s: found a pack layout with `Columns`, expected a store; leave `Columns` out", args[0])
			}
			if is {
				l, err := graphmill.DescribeLayout(args[0])
				if err != nil {
					return err
				}
				return t.Print(l, f.AsJSON)
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
			if f.Columns {
				f.Profile.Run = f.CommonFlags.Run(t)
				if d.Profiles, err = st.Profile(cmd.Context(), f.Profile); err != nil {
					return err
				}
			}
			return t.Print(d, f.AsJSON)
		},
	}
	f.Add(cmd)
	f.Bind(cmd, options.Profile, &f)
	return cmd
}
