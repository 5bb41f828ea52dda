package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/flags"
)

// Exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDamaged     = 3
	exitInterrupted = 130
)

// errDamage ends a command whose output, already printed, says what is damaged.
var errDamage = errors.New("damage found")

// usageError is an error about the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// run is the whole program; args has the program's name first.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends at once what waits, such as for stdin
	t := &terminal{args: args, stdin: os.Stdin, stdout: stdout, stderr: stderr}
	root := newRoot(t)
	root.SetArgs(args[1:])
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	switch usage := (usageError{}); {
	case err == nil:
		return exitDone
	case errors.Is(err, errDamage):
		return exitDamaged
	case errors.Is(err, errTold):
		return exitFailed
	case ctx.Err() != nil && (errors.Is(err, errSent) || errors.Is(err, errKept) || errors.Is(err, errCheckpoint)):
		t.say("interrupted: %v", err)
		return exitInterrupted
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "graphmill: interrupted; nothing was left behind")
		return exitInterrupted
	case errors.As(err, &usage) || errors.Is(err, flags.ErrUsage):
		t.fail(err)
		fmt.Fprintf(stderr, "Try '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	default:
		t.fail(err)
		return exitFailed
	}
}

// version is the module's, or what the build recorded of the source.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return productVersion
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// productVersion names the release that this source becomes.
const productVersion = "0.1.0"

func newRoot(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "graphmill COMMAND",
		Short: "Raw graph tables in, training-ready batches out",
		Long: `Graphmill turns raw graph tables into training-ready batches: it imports
them into a store, samples subgraphs whose every draw is reproducible, and
writes them for PyG, DGL, TF-GNN or JAX.`,
		Example: `  graphmill quickstart                                   see the whole on a small real graph
  graphmill import edges.csv --out g.store               a store from an edge list
  graphmill import schema.pbtxt --out g.store            ... from a TF-GNN unigraph
  graphmill info g.store                                 types, counts, degrees
  graphmill sample g.store --fanout 15,10 --batch-size 1024 --out batches
  graphmill verify batches                               find any changed bit`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			msg := fmt.Sprintf("found command %q, which graphmill does not have", args[0])
			if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
				msg += "; did you mean " + strings.Join(s, " or ") + "?"
			}
			return usageError{errors.New(msg)}
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w%s", err, flags.Suggest(cmd.Flags(), err))}
	})
	root.SetHelpTemplate(helpTemplate)
	root.AddCommand(newQuickstart(t), newImport(t), newExport(t), newGenerate(t), newInfo(t), newSample(t), newForecast(t), newChunk(t), newFeed(t), newPack(t), newDispatch(t), newPartitionGraph(t), newPartition(t), newVerify(t), newReport(t), newTFGNN(t), newBench(t))
	return root
}

// helpTemplate puts the examples first.
const helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}{{end}}
{{if .HasExample}}
Examples:
{{.Example}}
{{end}}
Usage:
  {{if .Runnable}}{{.UseLine}}{{else}}{{.CommandPath}} COMMAND{{end}}
{{if .HasAvailableSubCommands}}
Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}
{{end}}{{if .HasAvailableLocalFlags}}
Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}
{{end}}
Exit status: 0 done, 1 failed, 2 wrong usage, 3 verification found damage, 130 interrupted.
`
