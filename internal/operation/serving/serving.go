// Package serving hands batches to other processes: through shared memory, to the loaders of the Python client.
package serving

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// Feed is whom a feed serves, and what it says.
type Feed struct {
	// Lifeline is the descriptor of a socket: the feed ends when its other end is closed. 0 is stdin and stdout in its place: batches then go over a
	// socket of the loopback address, and not through shared memory.
	Lifeline int
	// Joining is the descriptor of a listening Unix socket, at which other processes become owners: the feed ends when its last owner has
	// left. A negative number is none.
	Joining int
	// SeedsAlone says that batches have their seeds alone: clients draw the subgraphs themselves.
	SeedsAlone bool
	// HTTP is the host:port of health and metrics; "" leaves them out.
	HTTP string
	// Say is called with lines for people.
	Say func(line string)
	// Named replaces the fields in texts for the client by its keywords.
	Named func(text string) string
}

// owners returns the processes that the feed serves.
func (f *Feed) owners(ctx context.Context) (*feed.Owners, error) {
	lifeline, err := feed.Lifeline(f.Lifeline)
	if err != nil {
		return nil, fmt.Errorf("`Lifeline` %d: %w", f.Lifeline, err)
	}
	log := feed.NewLog(f.Say)
	if f.Joining < 0 {
		return feed.NewOwners(ctx, lifeline, nil, log), nil
	}
	joining, err := feed.Joining(f.Joining)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("`Joining` %d: %w", f.Joining, err), lifeline.Close())
	}
	return feed.NewOwners(ctx, lifeline, joining, log), nil
}

// Serve hands out the batches of the store in a folder until the last owner has left. options makes the options of the batches; its
// errors reach the owners, as all errors do before the first batch.
func (f *Feed) Serve(ctx context.Context, dir string, options func() (option.Batches, error)) error {
	return f.serve(ctx, func(owners *feed.Owners, served feed.Options) error {
		o, err := options()
		if err != nil {
			return err
		}
		open := sampling.OpenLoader
		if f.SeedsAlone {
			open = sampling.OpenSeedsAlone
		}
		l, err := open(owners.Context(), dir, o)
		if err != nil {
			return err
		}
		defer l.Close()
		served.Threads, served.Notes = o.Threads, f.named(l.Notes())
		f.ready(&served, dir, l.Opened())
		return feed.Serve(l.Source(), served, owners)
	})
}

// ServeEvents is Serve for batches of events.
func (f *Feed) ServeEvents(ctx context.Context, dir string, options func() (option.Events, error)) error {
	return f.serve(ctx, func(owners *feed.Owners, served feed.Options) error {
		o, err := options()
		if err != nil {
			return err
		}
		l, err := sampling.OpenEvents(owners.Context(), dir, o)
		if err != nil {
			return err
		}
		defer l.Close()
		served.Threads, served.Notes = o.Threads, f.named(l.Notes())
		f.ready(&served, dir, l.Opened())
		return feed.ServeEvents(l.Source(), served, owners)
	})
}

// serve hands out batches to the owners, and tells them the error that ends it.
func (f *Feed) serve(ctx context.Context, batches func(owners *feed.Owners, served feed.Options) error) error {
	owners, err := f.owners(ctx)
	if err != nil {
		return err
	}
	defer owners.Close()
	// The owners decide when the feed ends: not an interrupt, not the end of the terminal (which both send to all
	// processes of the training), and not the end of the one that reads its messages.
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	if err := f.watched(owners, batches); err != nil {
		owners.Refuse(feed.Failure{Error: f.Named(err.Error()), Code: feed.CodeStart})
		return err
	}
	return nil
}

// watched runs batches, and beside it the health and the metrics of the feed, from before its store is open.
func (f *Feed) watched(owners *feed.Owners, batches func(owners *feed.Owners, served feed.Options) error) error {
	web, err := metrics.Listen(owners.Context(), f.HTTP)
	if err != nil {
		return err
	}
	served := feed.Options{Loopback: f.Lifeline == 0, Metrics: metrics.New(), HTTP: metrics.Address(web)}
	return served.Metrics.Beside(owners.Context(), web, func(context.Context) error { return batches(owners, served) })
}

// ready says that the feed of a store makes batches.
func (f *Feed) ready(served *feed.Options, dir string, s *store.Store) {
	if served.HTTP == "" {
		return
	}
	of := metrics.Store{Segments: s.Segments(), Merged: s.Merged()}
	of.Name, _ = store.Sum(vfs.OS, dir) // the loader has opened it
	served.Metrics.Ready(of)
}

// named is notes in the words of the client.
func (f *Feed) named(notes []string) (named []string) {
	for _, text := range notes {
		named = append(named, f.Named(text))
	}
	return named
}
