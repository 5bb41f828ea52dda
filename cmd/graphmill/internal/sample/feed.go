package sample

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/field"
)

// feedFlags has the flags of feed.
type feedFlags struct {
	cli.Common
	cli.Sampling
	lifeline int
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
			file := os.NewFile(uintptr(f.lifeline), "lifeline")
			lifeline, err := net.FileConn(file)
			_ = file.Close()
			if err != nil {
				return fmt.Errorf("--lifeline %d: %w", f.lifeline, err)
			}
			// Ignore interrupts: the owner decides when the feed ends.
			signal.Ignore(syscall.SIGINT)
			if err := serve(cmd, t, args[0], &f, lifeline); err != nil {
				// The reader is a Python program: name its keyword arguments, not flags.
				line, _ := json.Marshal(feed.Failure{Error: field.Keywords(err.Error()), Code: feed.CodeStart}) // strings alone
				_, _ = lifeline.Write(append(line, '\n'))
				_ = lifeline.Close()
				return err
			}
			return nil
		},
	}
	f.Common.Add(cmd)
	f.Sampling.Add(cmd.Flags())
	f.AddFeed(cmd.Flags())
	cmd.Flags().IntVar(&f.lifeline, "lifeline", -1, "file descriptor of a socket; the feed ends when its other end is closed (required)")
	return cmd
}

// serve hands out the batches of a store until the lifeline is closed.
func serve(cmd *cobra.Command, t *cli.Terminal, dir string, f *feedFlags, lifeline net.Conn) error {
	if err := f.Check(); err != nil {
		return err
	}
	o, err := f.Options(f.Run(t))
	if err != nil {
		return err
	}
	st, err := graphmill.Open(dir)
	if err != nil {
		return err
	}
	defer st.Close()
	l, err := graphmill.NewLoader(cmd.Context(), st, o)
	if err != nil {
		return err
	}
	defer l.Close()
	return feed.Serve(cmd.Context(), l.Source(), f.Threads, lifeline)
}
