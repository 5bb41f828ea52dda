package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/serving"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// feedFlags has the flags of feed.
type feedFlags struct {
	CommonFlags
	batches    BatchesFlags
	owners     ownersFlags
	seedsAlone bool
}

// NewFeed makes the command feed.
func NewFeed(t *cli.Terminal) *cobra.Command {
	var f feedFlags
	cmd := &cobra.Command{
		Use:   "feed STORE",
		Short: "Hand sampled batches to training processes through shared memory",
		Long: `Samples batches and writes them to shared memory, where the loaders of the Python
package read them without a copy. The loaders start and end this command; it is not
meant to be run by hand. The process that starts it holds the other end of the socket
--lifeline: the feed ends when that end is closed.`,
		Example: `  python -c 'from graphmill import NodeLoader; print(next(iter(NodeLoader("g.store", fanout=[15, 10]))))'`,
		Args:    cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			serve, err := f.owners.feed(t)
			if err != nil {
				return err
			}
			serve.SeedsAlone = f.seedsAlone
			return serve.Serve(cmd.Context(), args[0], func() (option.Batches, error) { return f.options(t) })
		},
	}
	f.CommonFlags.Add(cmd)
	fs := cmd.Flags()
	f.batches.Add(fs, options.Feed...)
	f.owners.add(fs)
	fs.BoolVar(&f.seedsAlone, "seeds-alone", false, "hand out the seeds of batches alone, for clients that draw the subgraphs themselves")
	cli.Group(fs, options.GroupServe, "seeds-alone")
	return cmd
}

// options returns the options that the flags set.
func (f *feedFlags) options(t *cli.Terminal) (option.Batches, error) {
	if err := f.Check(); err != nil {
		return option.Batches{}, err
	}
	return f.batches.Options(f.Run(t))
}

// ownersFlags has the flags that say which processes a feed serves.
type ownersFlags struct {
	lifeline, joining int
	watching          struct{ HTTP string }
}

func (f *ownersFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.lifeline, "lifeline", -1, "file descriptor of a socket; the feed ends when its other end is closed (required). 0: stdin and stdout; batches then go over a loopback socket, not through shared memory")
	fs.IntVar(&f.joining, "joining", -1, "file descriptor of a listening Unix socket, at which other processes can become owners: the feed ends when its last owner has left")
	cli.Group(fs, options.GroupServe, "*lifeline", "*joining")
	cli.Bind(fs, options.Watching, &f.watching)
}

// feed is the feed that the flags describe.
func (f *ownersFlags) feed(t *cli.Terminal) (*serving.Feed, error) {
	if f.lifeline != 0 && f.lifeline < 3 {
		return nil, cli.Usagef("found --lifeline %d, expected the descriptor of a socket; the loaders of the Python package start a feed", f.lifeline)
	}
	return &serving.Feed{Lifeline: f.lifeline, Joining: f.joining, HTTP: f.watching.HTTP, Say: func(line string) { t.Say("%s", line) }, Named: options.Keywords}, nil
}
