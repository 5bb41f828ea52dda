package command

import (
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/field"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
)

// feedFlags has the flags of feed.
type feedFlags struct {
	CommonFlags
	SamplingFlags
	slots             int
	lifeline, joining int
}

// owners returns the processes that the feed serves.
func (f *feedFlags) owners(cmd *cobra.Command, t *cli.Terminal) (*feed.Owners, error) {
	lifeline, err := feed.Lifeline(f.lifeline)
	if err != nil {
		return nil, fmt.Errorf("--lifeline %d: %w", f.lifeline, err)
	}
	log := feed.NewLog(func(line string) { t.Say("%s", line) })
	if f.joining < 0 {
		return feed.NewOwners(cmd.Context(), lifeline, nil, log), nil
	}
	joining, err := feed.Joining(f.joining)
	if err != nil {
		_ = lifeline.Close()
		return nil, fmt.Errorf("--joining %d: %w", f.joining, err)
	}
	return feed.NewOwners(cmd.Context(), lifeline, joining, log), nil
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
			if f.lifeline < 3 {
				return cli.Usagef("found --lifeline %d, expected the descriptor of a socket; the loaders of the Python package start a feed", f.lifeline)
			}
			owners, err := f.owners(cmd, t)
			if err != nil {
				return err
			}
			defer owners.Close()
			// The owners decide when the feed ends: not an interrupt, not the end of the terminal (which both send to all
			// processes of the training), and not the end of the one that reads its messages.
			signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
			if err := serveFeed(owners, t, args[0], &f); err != nil {
				// The reader is a Python program: name its keyword arguments, not flags.
				owners.Refuse(feed.Failure{Error: field.Keywords(err.Error()), Code: feed.CodeStart})
				return err
			}
			return nil
		},
	}
	f.CommonFlags.Add(cmd)
	f.SamplingFlags.Add(cmd.Flags())
	f.AddFeed(cmd.Flags())
	fs := cmd.Flags()
	fs.StringVar((*string)(&f.Executor), "executor", "", "how neighbours and rows are read: memory (at random, from the mapped store), stream (in sweeps over the disk, for graphs larger than memory), or auto (stream if the memory executor needs more than --memory)")
	fs.BoolVar(&f.NoEdgeIDs, "no-edge-ids", false, "leave e_id out of batches: the stream executor then draws and reads less")
	fs.IntVar(&f.slots, "slots", 0, "batches that a consumer holds at a time, which the stream executor counts in --memory (default: what --threads asks for)")
	cli.Defaults(fs, map[string]string{"executor": "auto"})
	cmd.Flags().IntVar(&f.lifeline, "lifeline", -1, "file descriptor of a socket; the feed ends when its other end is closed (required)")
	cmd.Flags().IntVar(&f.joining, "joining", -1, "file descriptor of a listening Unix socket, at which other processes can become owners: the feed ends when its last owner has left")
	cli.Choices(fs, "executor", option.ExecutorAuto, option.ExecutorMemory, option.ExecutorStream)
	cli.Group(fs, cli.GroupBatches, "no-edge-ids")
	cli.Group(fs, cli.GroupRun, "*executor", "slots")
	cli.Group(fs, cli.GroupServe, "*lifeline", "*joining")
	return cmd
}

// keywordTexts names the keywords of Python in texts.
func keywordTexts(texts []string) (out []string) {
	for _, text := range texts {
		out = append(out, field.Keywords(text))
	}
	return out
}

// serveFeed hands out the batches of a store until the last owner has left.
func serveFeed(owners *feed.Owners, t *cli.Terminal, dir string, f *feedFlags) error {
	if err := f.Check(); err != nil {
		return err
	}
	o, err := f.Batches(f.Run(t))
	if err != nil {
		return err
	}
	o.Slots = f.slots
	l, err := sampling.OpenLoader(owners.Context(), dir, o)
	if err != nil {
		return err
	}
	defer l.Close()
	return feed.Serve(l.Source(), feed.Options{Threads: f.Threads, Notes: keywordTexts(l.Notes())}, owners)
}
