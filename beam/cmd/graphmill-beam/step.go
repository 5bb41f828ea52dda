package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/beam/internal/staging"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/vfs"
)

// runnerSteps is the runner of jobs whose tasks are run by the command step.
const runnerSteps = "steps"

// newStep makes the command step.
func newStep(t *cli.Terminal) *cobra.Command {
	s := stages.Step{FS: vfs.OS}
	var index string
	cmd := &cobra.Command{
		Use:   "step WORK",
		Short: "Run a share of the tasks of a job, without an engine",
		Long: `Runs the tasks of a job that a command with --runner steps has planned: one process per index, on any
machine that reaches the work folder WORK, which is .OUT.work beside the output OUT, and in an
object store _OUT.work. A process
with --index I/N runs the tasks whose numbers are I modulo N, stage by stage, and waits before
each stage until all tasks of the stage before are whole. A task that is whole is not run again, so
that a process may be killed and started anew, or twice.

Schedulers of indexed jobs give the index: Jobs of Kubernetes, arrays of Slurm, tasks of Ray.
With --stage, a process runs one stage alone, for schedulers that know which job follows another.

Ends with status 75 where it would wait for longer than --wait without any progress of the others.`,
		Example: `  graphmill-beam sample g.store --fanout 15,10 --out /shared/batches --runner steps --parallelism 4 &
  for i in 0 1 2 3; do graphmill-beam step /shared/.batches.work --index $i/4 --wait 1h & done; wait
  graphmill-beam step /shared/.batches.work --index $SLURM_ARRAY_TASK_ID/64 --stage start`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			t.Begin(cmd)
			if s.Index, s.Of, err = parseIndex(index); err != nil {
				return err
			}
			if s.Dir, err = vfs.Abs(args[0]); err != nil {
				return err
			}
			credentials, err := operation.Credentials(s.Dir)
			if err != nil {
				return err
			}
			for _, text := range credentials {
				t.Say("%s", text)
			}
			if s.Build, err = engine.Build(); err != nil {
				return err
			}
			s.Open = func(ctx context.Context, of, dir string) (stages.Site, error) {
				return staging.Open(ctx, staging.Operation(of), dir)
			}
			return s.Run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVar(&index, "index", "", "I/N: this is process I (from 0) of N")
	f.StringVar(&s.Stage, "stage", "", "name of the one stage to run (default: all, in order)")
	f.DurationVar(&s.Wait, "wait", 0, "time to wait for other processes while nothing goes on")
	f.IntVar(&s.Threads, "threads", 1, "tasks to run at the same time")
	cli.Named(f, "I/N", "index")
	cli.Named(f, "NAME", "stage")
	cli.Group(f, options.GroupRun, "*index", "*stage", "*wait", "threads")
	return cmd
}

// parseIndex reads I/N.
func parseIndex(text string) (index, of int64, err error) {
	a, b, _ := strings.Cut(text, "/")
	index, err = strconv.ParseInt(a, 10, 64)
	of, err2 := strconv.ParseInt(b, 10, 64)
	if errors.Join(err, err2) != nil || index < 0 || index >= of {
		return 0, 0, cli.Usagef("found --index %q, expected I/N, such as 0/4 to 3/4 for four processes", text)
	}
	return index, of, nil
}

// engine is the engine of an operation.
func (f *engineFlags) engine(t *cli.Terminal, of staging.Operation) (stages.Engine, error) {
	if f.o.Runner != runnerSteps {
		if f.noWait {
			return nil, cli.Usagef("found --no-wait with --runner %s, expected --runner steps, which plans a job and needs no engine", f.o.Runner)
		}
		o, err := f.options(t)
		return &staging.Engine{Operation: of, Options: o}, err
	}
	if f.o.Parallelism < 1 {
		return nil, cli.Usagef("found --parallelism %d, expected at least 1", f.o.Parallelism)
	}
	for name, given := range map[string]bool{"endpoint": f.o.Endpoint != "", "workers": f.o.Workers != "", "job-manager": f.o.JobManager != "", "tls-ca": f.ca != "", "insecure": f.o.Insecure} {
		if given {
			return nil, cli.Usagef("found --%s with --runner steps, expected it with an engine alone; remove it", name)
		}
	}
	build, err := engine.Build()
	if err != nil {
		return nil, err
	}
	return &limited{stages.Steps{FS: vfs.OS, Operation: string(of), Build: build, Processes: f.o.Parallelism, NoWait: f.noWait}, f.o.TimeLimit}, nil
}

// limited is Steps with a time limit.
type limited struct {
	stages.Steps
	limit time.Duration
}

// Run implements stages.Engine.
func (l *limited) Run(ctx context.Context, dir string, list []stages.Stage) error {
	if l.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.limit, fmt.Errorf("%w: found steps that had not run after `TimeLimit` %s; give the same command again, with more", engine.ErrTimeLimit, l.limit))
		defer cancel()
	}
	return l.Steps.Run(ctx, dir, list)
}
