package command

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// eventsFlags has the flags of events.
type eventsFlags struct {
	CommonFlags
	events option.Events
	text   struct{ Rank string }
	owners ownersFlags
}

// NewEvents makes the command events.
func NewEvents(t *cli.Terminal) *cobra.Command {
	var f eventsFlags
	cmd := &cobra.Command{
		Use:   "events STORE",
		Short: "Hand edges in the order of time to training processes",
		Long: `Puts the edges of a store in the order of their times, and writes batches of them, with
the neighbours that their ends had before, to shared memory, where the EventLoader of the
Python package reads them without a copy. The loader starts and ends this command; it is
not meant to be run by hand.`,
		Example: `  python -c 'from graphmill import EventLoader; print(next(iter(EventLoader("g.store"))))'`,
		Args:    cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			serve, err := f.owners.feed(t)
			if err != nil {
				return err
			}
			return serve.ServeEvents(cmd.Context(), args[0], func() (option.Events, error) { return f.options(t) })
		},
	}
	f.CommonFlags.Add(cmd)
	f.text.Rank, f.events.Features, f.events.EdgeFeatures = "0/1", []string{"all"}, []string{}
	f.Bind(cmd, slices.Concat(options.OfColumns, options.Events), &f.text, &f.events)
	f.owners.add(cmd.Flags())
	return cmd
}

// options returns the options that the flags set.
func (f *eventsFlags) options(t *cli.Terminal) (option.Events, error) {
	o := &f.events
	err := f.Check()
	if err == nil {
		o.Rank, o.Ranks, err = parseRank(f.text.Rank)
	}
	o.Run = f.Run(t)
	return *o, err
}
