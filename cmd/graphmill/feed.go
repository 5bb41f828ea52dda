package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/feed"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/sample"
	"github.com/graphmill/graphmill/store"
)

// feedFlags are the flags of feed.
type feedFlags struct {
	common
	planFlags
	features, edgeFeatures string
	shuffle, ops           bool
	lifeline               int
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
			if err := errors.Join(f.common.check(), f.planFlags.check(cmd)); err != nil {
				return usageError{err}
			}
			return t.feed(cmd, args[0], &f)
		},
	}
	f.common.add(cmd)
	f.planFlags.add(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.features, "features", "all", "node columns that batches bring: all, none, or COLUMN,TYPE/COLUMN,...")
	fs.StringVar(&f.edgeFeatures, "edge-features", "none", "edge columns that batches bring: all, none, or COLUMN,TYPE/COLUMN,...")
	fs.BoolVar(&f.shuffle, "shuffle", false, "take the seeds of each epoch in its shuffled order")
	fs.BoolVar(&f.ops, "ops", false, "bring what each op expanded and drew: what message-flow blocks are made of")
	fs.IntVar(&f.lifeline, "lifeline", -1, "file descriptor of the socket whose end ends the feed")
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
	s, err := store.Open(fsx.OS, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	p, err := f.resolve(cmd, s)
	if err != nil {
		return err
	}
	p.job.Shuffle = f.shuffle
	features := feed.Features{}
	if features.Nodes, err = nodeFeatures(s.Graph, f.features); err != nil {
		return err
	}
	if features.Edges, err = edgeFeatures(s.Graph, f.edgeFeatures); err != nil {
		return err
	}
	sampler, err := newSampler(s.Graph, p.plan, f.common, 0, sample.Options{Ops: f.ops, Warn: func(text string) { t.warn("%s", text) }})
	if err != nil {
		return err
	}
	defer sampler.Close()
	source, err := feed.NewSource(sampler, p.job, features, f.ops)
	if err != nil {
		return err
	}
	return feed.Serve(cmd.Context(), source, f.threads, lifeline)
}

// nodeFeatures are the node columns that --features names.
func nodeFeatures(g *graph.Graph, text string) (map[string][]string, error) {
	types := map[string][]*graph.Column{}
	for _, n := range g.Nodes {
		types[n.Type] = n.Columns
	}
	return namedColumns("features", text, types)
}

// edgeFeatures are the edge columns that --edge-features names.
func edgeFeatures(g *graph.Graph, text string) (map[string][]string, error) {
	types := map[string][]*graph.Column{}
	for _, e := range g.Edges {
		types[e.Type.String()] = e.Columns
	}
	return namedColumns("edge-features", text, types)
}

// namedColumns are columns by type: all numbers of a fixed shape, none, or those of a list. A
// name without a type is one of each type that has it.
func namedColumns(flag, text string, types map[string][]*graph.Column) (map[string][]string, error) {
	out := map[string][]string{}
	if text == "none" || text == "" {
		return out, nil
	}
	if text == "all" {
		for t, columns := range types {
			for _, c := range columns {
				if c.DType != graph.String && !c.Ragged() && !strings.HasPrefix(c.Name, "#") {
					out[t] = append(out[t], c.Name)
				}
			}
		}
		return out, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		found := false
		for t, columns := range types {
			for _, c := range columns {
				if item == c.Name || item == t+"/"+c.Name {
					out[t] = append(out[t], c.Name)
					found = true
				}
			}
		}
		if !found {
			return nil, usagef("--%s: found no column %q, expected COLUMN or TYPE/COLUMN of the store; graphmill info lists them", flag, item)
		}
	}
	return out, nil
}
