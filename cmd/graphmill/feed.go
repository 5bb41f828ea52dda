package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/flags"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// feedFlags are the flags of feed.
type feedFlags struct {
	common
	flags.Feed
	lifeline int
}

func newFeed(t *terminal) *cobra.Command {
	var f feedFlags
	cmd := &cobra.Command{
		Use:   "feed STORE",
		Short: "Hand sampled batches to training processes through shared memory",
		Long: `Samples batches and puts them into shared memory, from where the loaders of the
Python package read them without a copy. The loaders start this command and end it; it is not
meant to be run by hand: --lifeline is a socket that its owner holds the other end of.`,
		Example: `  python -c 'from graphmill import NodeLoader; print(next(iter(NodeLoader("g.store", fanout=[15, 10]))))'`,
		Args:    oneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(f.common.check(), f.Feed.Check(cmd.Flags())); err != nil {
				return usageError{err}
			}
			return t.feed(cmd, args[0], &f)
		},
	}
	f.common.add(cmd)
	f.Feed.Add(cmd.Flags())
	cmd.Flags().IntVar(&f.lifeline, "lifeline", -1, "file descriptor of the socket whose end ends the feed")
	return cmd
}

// feed serves batches. What keeps it from starting is said on the lifeline as well.
func (t *terminal) feed(cmd *cobra.Command, dir string, f *feedFlags) error {
	if f.lifeline < 3 {
		return usagef("found --lifeline %d, expected the descriptor of a socket; the loaders of the Python package start a feed", f.lifeline)
	}
	file := os.NewFile(uintptr(f.lifeline), "lifeline")
	lifeline, err := net.FileConn(file)
	_ = file.Close()
	if err != nil {
		return fmt.Errorf("--lifeline %d: %w", f.lifeline, err)
	}
	// An interrupt is for the owner, who ends the feed when he wants to.
	signal.Ignore(syscall.SIGINT)
	if err := t.serveFeed(cmd, dir, f, lifeline); err != nil {
		line, _ := json.Marshal(feed.Failure{Error: err.Error(), Code: feed.CodeStart}) // strings alone
		_, _ = lifeline.Write(append(line, '\n'))
		_ = lifeline.Close()
		return err
	}
	return nil
}

func (t *terminal) serveFeed(cmd *cobra.Command, dir string, f *feedFlags, lifeline net.Conn) error {
	s, err := store.Open(vfs.OS, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	source, sampler, err := f.Source(cmd.Context(), s, f.threads, f.memory, func(text string) { t.warn("%s", text) })
	if err != nil {
		return err
	}
	defer sampler.Close()
	defer source.Close()
	return feed.Serve(cmd.Context(), source, f.threads, lifeline)
}
