package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/beam/internal/workers"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/metrics"
	"github.com/graphmill/graphmill/internal/options"
)

// worker has the flags of the worker service.
type worker struct {
	listen   string
	watching struct{ HTTP string }
	insecure bool
	verbose  bool
}

func newWorker(t *cli.Terminal) *cobra.Command {
	var w worker
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Start workers for the jobs of a cluster",
		Long: `Starts a worker process when a TaskManager of Flink or an executor of Spark asks for one, and ends it
with the job. Run one service on each machine of the cluster, with the same program and the same
address: each asks the service of its own machine. When it listens, the command prints one line of JSON,
{"addr":"HOST:PORT","build":"..."}. SIGINT and SIGTERM end it and its workers.

Beam has no encryption between these and their workers, so that the address must be one that
only this machine can reach, unless --insecure is given. Every user of this machine can have the
functions of this program run as the user of the service.`,
		Example: `  graphmill-beam worker --listen localhost:50000
  graphmill-beam worker --listen 0.0.0.0:50000 --insecure  # in a network that nobody else can reach`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t.Begin(cmd)
			return w.serve(cmd.Context(), t)
		},
	}
	f := cmd.Flags()
	f.StringVar(&w.listen, "listen", "localhost:50000", "HOST:PORT to listen on; port 0 chooses a free port")
	f.BoolVar(&w.insecure, "insecure", false, "allow connections from and to other machines, without encryption")
	f.BoolVar(&w.verbose, "verbose", false, "print a line for each worker that starts or ends")
	cli.Named(f, "HOST:PORT", "listen")
	cli.Bind(f, options.Watching, &w.watching)
	cli.Group(f, options.GroupServe, "listen", "insecure", "verbose")
	return cmd
}

// endTime bounds the wait for workers when the service ends; their processes are killed before.
const endTime = 10 * time.Second

func (w *worker) serve(ctx context.Context, t *cli.Terminal) error {
	build, err := engine.Build()
	if err != nil {
		return err
	}
	program, err := engine.Executable()
	if err != nil {
		return err
	}
	o := workers.Options{Insecure: w.insecure, Build: build, Message: func(level slog.Level, text string) {
		if w.verbose || level >= slog.LevelWarn {
			t.Say("%s", text)
		}
	}}
	pool, err := workers.Process(ctx, o, w.listen, []string{program, harnessName})
	if err != nil {
		return err
	}
	web, err := metrics.Listen(ctx, w.watching.HTTP)
	if err == nil {
		err = countsOf(pool).Beside(ctx, web, func(ctx context.Context) error { return w.servePool(ctx, t, pool, build, metrics.Address(web)) })
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if closed := pool.Close(end); err == nil {
		err = closed
	}
	return err
}

// countsOf are the metrics of the service.
func countsOf(pool *workers.Pool) *metrics.Set {
	set := metrics.New()
	started, refused, failed := set.Counter("graphmill_workers_total", "outcome", "started"), set.Counter("graphmill_workers_total", "outcome", "refused"), set.Counter("graphmill_workers_failed_total")
	set.Before(func() {
		c := pool.Counts()
		started.Set(c.Started)
		refused.Set(c.Refused)
		failed.Set(c.Failed)
	})
	set.Gauge("graphmill_workers", func() float64 { return float64(pool.Counts().Running) })
	set.Ready(metrics.Store{})
	return set
}

// servePool says where the pool is, and serves it until ctx ends.
func (w *worker) servePool(ctx context.Context, t *cli.Terminal, pool *workers.Pool, build, http string) error {
	ready := map[string]string{"addr": pool.Endpoint(), "build": build}
	if http != "" {
		ready["http"] = http
	}
	line, err := json.Marshal(ready)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.Stdout, "%s\n", line)
	failed := make(chan error, 1)
	go func() { failed <- pool.Serve() }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	return err
}

const harnessName = "harness"

// newHarness is the command of a worker process, which the service runs.
func newHarness() *cobra.Command {
	return &cobra.Command{
		Use:    harnessName,
		Hidden: true,
		Args:   cli.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return workers.Child(cmd.Context(), cmd.InOrStdin()) },
	}
}
