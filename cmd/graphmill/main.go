package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDamaged     = 3
	exitInterrupted = 130
)

// commit is the commit of a release, with the suffix "+modified" if files differed from it. scripts/build.sh sets it.
var commit string

func main() { os.Exit(runCommand(os.Args, os.Stdout, os.Stderr)) }

// runCommand is the whole program; args has the program's name first.
func runCommand(args []string, stdout, stderr io.Writer) int {
	ctx, stop := cli.Interruptible()
	defer stop()
	return execute(ctx, args, stdout, stderr)
}

// execute is runCommand until the context ends.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	running, stop := context.WithCancel(ctx)
	defer stop()
	out := cli.NewStdout(stdout, stop)
	t := &cli.Terminal{Args: args, Stdin: os.Stdin, Stdout: out, Stderr: stderr}
	root := newRoot(t)
	root.SetArgs(args[1:])
	root.SetOut(out)
	root.SetErr(io.Discard) // where cobra tells of a stdout that fails, as execute does
	cmd := root
	err := guard.Do(func() (err error) { // what the operations do not guard
		cmd, err = root.ExecuteContextC(running)
		return err
	})
	if out.Err() != nil {
		status, err := out.Failed(err, exitFailed)
		if err != nil {
			t.Begin(cmd)
			t.Fail(err)
		}
		return status
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, cli.ErrDamage):
		return exitDamaged
	case errors.Is(err, cli.ErrTold):
		return exitFailed
	case ctx.Err() != nil && tagged.Only(err, context.Canceled): // whatever could not be removed is an error
		t.Begin(cmd)
		t.FailJSON(err, exitInterrupted)
		fmt.Fprintln(stderr, "graphmill: interrupted; nothing was left behind")
		return exitInterrupted
	case ctx.Err() != nil:
		t.Begin(cmd)
		t.FailJSON(err, exitInterrupted)
		t.Say("interrupted: %v", err)
		return exitInterrupted
	case cli.IsUsage(err):
		t.Begin(cmd)
		t.FailJSON(err, exitUsage)
		t.Fail(err)
		fmt.Fprintf(stderr, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	default:
		t.Begin(cmd)
		t.FailJSON(err, exitFailed)
		t.Fail(err)
		return exitFailed
	}
}

func newRoot(t *cli.Terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "graphmill COMMAND",
		Short: "Raw graph tables in, training-ready batches out",
		Long: `Graphmill turns raw graph tables into training-ready batches: it imports the
tables into a store, samples subgraphs reproducibly, and writes them for PyG,
DGL, TF-GNN or JAX.`,
		Example: `  graphmill quickstart  # try all steps on a small real graph
  graphmill import edges.csv --out g.store  # make a store from an edge list
  graphmill import schema.pbtxt --out g.store  # ... or from a TF-GNN unigraph
  graphmill info g.store  # print types, counts, degrees
  graphmill sample g.store --fanout 15,10 --batch-size 1024 --out batches
  graphmill verify batches  # find any changed bit`,
		Version: graphmill.Version(),
		Args:    cli.UnknownCommand("found command %q, which graphmill does not have"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(command.NewQuickstart(t, newRoot), command.NewDraft(t), command.NewImport(t, nil), command.NewExport(t), command.NewGenerate(t), command.NewColumn(t), command.NewAppend(t), command.NewCompact(t), command.NewSnapshot(t), command.NewJoin(t), command.NewInfo(t),
		command.NewSample(t, nil), command.NewForecast(t), command.NewChunk(t), command.NewFeed(t), command.NewEvents(t), command.NewServe(t), command.NewHost(t), command.NewWalk(t), command.NewPack(t),
		command.NewDispatch(t, nil), command.NewPartitionGraph(t), command.NewPartition(t, nil), command.NewVerify(t), command.NewReport(t), command.NewDraw(t),
		command.NewMetadata(t), command.NewTFGNN(t), command.NewBench(t), command.NewVersion(t, commit))
	cli.Setup(root, t, "0 done, 1 failed, 2 wrong usage, 3 verification found damage, 130 interrupted")
	cli.GroupCommands(root, commandGroups)
	return root
}

// commandGroups are the groups of the commands in the help.
var commandGroups = []cli.CommandGroup{
	{Title: "Start", Names: []string{"quickstart", "version", "help", "completion"}},
	{Title: "Import", Names: []string{"draft", "import", "generate", "column", "append", "compact", "snapshot", "join"}},
	{Title: "Sample", Names: []string{"sample", "forecast", "walk"}},
	{Title: "Divide", Names: []string{"partition", "dispatch", "partition-graph"}},
	{Title: "Pack", Names: []string{"pack"}},
	{Title: "Serve", Names: []string{"serve", "host", "feed", "events"}},
	{Title: "Other formats", Names: []string{"export", "chunk", "tfgnn"}},
	{Title: "Check", Names: []string{"info", "draw", "verify", "report", "bench"}},
}
