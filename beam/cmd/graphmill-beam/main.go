package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/beam/internal/engine"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Exit statuses, the same as graphmill's.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitTryAgain    = 75 // EX_TEMPFAIL
	exitInterrupted = 130
)

func main() { os.Exit(runCommand(os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// runCommand runs the command. args begins with the name of the program.
func runCommand(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := cli.Interruptible()
	defer stop()
	return execute(ctx, args, stdin, stdout, stderr)
}

// execute is runCommand until the context ends.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	out := cli.NewStdout(stdout, cancel)
	engine.Init()
	t := &cli.Terminal{Program: "graphmill-beam", Args: args, Stdin: stdin, Stdout: out, Stderr: stderr}
	root := newRoot(t)
	root.SetArgs(args[1:])
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd := root
	err := guard.Do(func() (err error) { // what the operations do not guard
		cmd, err = root.ExecuteContextC(running)
		return err
	})
	t.Begin(cmd)
	if out.Err() != nil {
		status, err := out.Failed(err, exitFailed)
		if err != nil {
			t.Fail(err)
		}
		return status
	}
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil && tagged.Only(err, context.Canceled): // whatever could not be removed is an error
		t.Say("interrupted; nothing was left behind")
		return exitInterrupted
	case ctx.Err() != nil:
		t.Say("interrupted: %v", err)
		return exitInterrupted
	case errors.Is(err, stages.ErrNotWhole), errors.Is(err, stages.ErrPlanned):
		t.Say("%v", err)
		return exitTryAgain
	case cli.IsUsage(err):
		t.Fail(err)
		fmt.Fprintf(stderr, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	t.Fail(err)
	return exitFailed
}

func newRoot(t *cli.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "graphmill-beam",
		Short: "Run graphmill on a cluster, by Apache Beam",
		Long:  `Runs graphmill's operations on a cluster: by Apache Beam on Flink or Spark, as indexed processes of any scheduler, or on this machine by Beam's Prism.`,
		Example: `  graphmill-beam sample g.store --fanout 15,10 --out o  # on this machine, by Prism
  graphmill-beam worker --listen localhost:50000  # on each machine of the cluster
  scripts/flink up  # a Flink on this machine, to try it; scripts/spark up is a Spark`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("found command %q, expected one of --help", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return cli.Usagef("found no command, expected one of --help")
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(newImport(t), newSample(t), newDispatch(t), newPartition(t), newStep(t), newWorker(t), newHarness())
	cli.Setup(root, t, "0 done, 1 failed, 2 wrong usage, 75 waits for steps, 130 interrupted")
	return root
}
