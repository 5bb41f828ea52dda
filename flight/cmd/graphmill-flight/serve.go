package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/flight"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/operation/serving"
)

func (c *serveFlags) check() error {
	switch {
	case c.threads < 1 || c.threads > 4096:
		return cli.Usagef("found --threads %d, expected 1 to 4096", c.threads)
	case c.streams < 1 || c.streams > 1<<16:
		return cli.Usagef("found --streams %d, expected 1 to %d", c.streams, 1<<16)
	case c.waiting < 0 || c.waiting > 1<<20:
		return cli.Usagef("found --waiting %d, expected 0 to %d", c.waiting, 1<<20)
	case c.maxMessage < 1 || c.maxMessage > flight.MostMessage:
		return cli.Usagef("found --max-message %s, expected 1 to %d bytes, the bound of a Flight message", c.maxMessage.String(), flight.MostMessage)
	case c.sendTime <= 0:
		return cli.Usagef("found --send-timeout %s, expected a positive time such as 1h", c.sendTime)
	case c.refresh < 0:
		return cli.Usagef("found --refresh %s, expected a time such as 1s, or 0", c.refresh)
	}
	return c.secrets.Check()
}

// serve serves a store until ctx ends.
func (c *serveFlags) serve(cmd *cobra.Command, t *cli.Terminal, dir string) (err error) {
	ctx := cmd.Context()
	t.Begin(cmd)
	common := command.CommonFlags{Threads: c.threads, Memory: c.memory}
	plans, err := c.plans.Plans(common.Run(t))
	if err != nil {
		return err
	}
	log := feed.NewLog(func(line string) { t.Say("%s", line) })
	o := flight.Options{Threads: c.threads, Streams: c.streams, Waiting: c.waiting, MaxMessage: int64(c.maxMessage), SendTime: c.sendTime, Log: log}
	guard, err := c.secrets.Open(t.Warn, log.Client)
	if err != nil {
		return err
	}
	o.TLS, o.Token = guard.TLS, guard.Token
	provider, end, err := openSpans(ctx, log)
	if err != nil {
		return err
	}
	defer end()
	o.Spans = provider
	l, err := flight.Listen(ctx, c.listen, o)
	switch {
	case errors.Is(err, flight.ErrExposed):
		return command.Exposed(c.listen)
	case err != nil:
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { _ = l.Close() }() // for errors before Serve, which closes it itself
	web, err := metrics.Listen(ctx, c.watching.HTTP)
	if err != nil {
		return err
	}
	o.Metrics = metrics.New()
	return o.Metrics.Beside(ctx, web, func(ctx context.Context) error {
		return c.answer(ctx, t, serving.NewestOf(dir, plans, false), o, l, metrics.Address(web))
	})
}

// answer opens a store, says so, and answers calls at l. http is the address of health and metrics.
func (c *serveFlags) answer(ctx context.Context, t *cli.Terminal, store *serving.Newest, o flight.Options, l net.Listener, http string) error {
	version, err := store.Open(ctx)
	if err != nil {
		return err
	}
	server, err := flight.NewServer(version, o)
	if err != nil {
		return err
	}
	defer server.Close()
	ready := map[string]string{"addr": l.Addr().String()}
	if http != "" {
		ready["http"] = http
	}
	say := func(line string) { t.Say("%s", line) }
	return store.Beside(ctx, server, c.refresh, version.Name, say, func(ctx context.Context) error {
		line, err := json.Marshal(ready)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(t.Stdout, "%s\n", line); err != nil {
			return err
		}
		return server.Serve(ctx, l)
	})
}
