package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

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
	root := newRootFor(t, args)
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

// newRoot makes the root with all commands.
func newRoot(t *cli.Terminal) *cobra.Command { return newRootWith(t, "") }

// newRootFor makes the root for a line, whose first word is the program's name. It has one command alone where the line begins with it, since all
// of them with their flags take a third of the time in which the program starts.
func newRootFor(t *cli.Terminal, args []string) *cobra.Command {
	if len(args) > 1 && slices.ContainsFunc(commands(), func(c subcommand) bool { return c.name == args[1] }) {
		return newRootWith(t, args[1])
	}
	return newRoot(t)
}

// newRootWith makes the root with the command that has a name, or with all for the name "".
func newRootWith(t *cli.Terminal, only string) *cobra.Command {
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
	for _, c := range commands() {
		if only == "" || c.name == only {
			root.AddCommand(c.make(t))
		}
	}
	cli.Setup(root, t, "0 done, 1 failed, 2 wrong usage, 3 verification found damage, 130 interrupted")
	cli.GroupCommands(root, commandGroups)
	return root
}

// subcommand is a command below the root, by the name that it has.
type subcommand struct {
	name string
	make func(t *cli.Terminal) *cobra.Command
}

// commands is the commands below the root, but for those that every program of cobra has.
func commands() []subcommand {
	return []subcommand{
		{"quickstart", func(t *cli.Terminal) *cobra.Command { return command.NewQuickstart(t, newRoot) }},
		{"draft", command.NewDraft},
		{"import", func(t *cli.Terminal) *cobra.Command { return command.NewImport(t, nil) }},
		{"export", command.NewExport},
		{"generate", command.NewGenerate},
		{"column", command.NewColumn},
		{"append", command.NewAppend},
		{"compact", command.NewCompact},
		{"snapshot", command.NewSnapshot},
		{"join", command.NewJoin},
		{"info", command.NewInfo},
		{"sample", func(t *cli.Terminal) *cobra.Command { return command.NewSample(t, nil) }},
		{"forecast", command.NewForecast},
		{"chunk", command.NewChunk},
		{"feed", command.NewFeed},
		{"events", command.NewEvents},
		{"serve", command.NewServe},
		{"host", command.NewHost},
		{"walk", command.NewWalk},
		{"pack", command.NewPack},
		{"dispatch", func(t *cli.Terminal) *cobra.Command { return command.NewDispatch(t, nil) }},
		{"partition-graph", command.NewPartitionGraph},
		{"partition", func(t *cli.Terminal) *cobra.Command { return command.NewPartition(t, nil) }},
		{"verify", command.NewVerify},
		{"report", command.NewReport},
		{"draw", command.NewDraw},
		{"metadata", command.NewMetadata},
		{"tfgnn", command.NewTFGNN},
		{"bench", command.NewBench},
		{"version", func(t *cli.Terminal) *cobra.Command { return command.NewVersion(t, commit) }},
	}
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
