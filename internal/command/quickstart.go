package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/quickstart"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/vfs"
)

// NewQuickstart makes the command quickstart. Its steps are commands of the program, which newRoot makes.
func NewQuickstart(t *cli.Terminal, newRoot func(t *cli.Terminal) *cobra.Command) *cobra.Command {
	var (
		out   string
		force bool
	)
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Try all steps on a small real graph that is built in",
		Long: `Writes the built-in graph (4,000 Debian packages with their dependencies, sources,
maintainers and tags) as a TF-GNN unigraph, imports it, samples a subgraph around
every package into TFRecords that TF-GNN reads, and verifies them. Each step is an
ordinary graphmill command, which is printed before it runs.`,
		Example: `  graphmill quickstart
  graphmill quickstart --out try`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := time.Now()
			out = filepath.Clean(out)
			if there, err := vfs.Exists(vfs.OS, out); err != nil {
				return err
			} else if there && !force {
				return fmt.Errorf("%s: exists; choose another --out, or give --force", out)
			}
			tables := filepath.Join(out, "tables")
			if err := vfs.OS.MkdirAll(out); err != nil {
				return err
			}
			if err := quickstart.Unpack(vfs.OS, tables); err != nil {
				return unfinishedTour(out, err)
			}
			g, samples := filepath.Join(out, "debian.store"), filepath.Join(out, "samples")
			for _, args := range [][]string{
				{"import", filepath.Join(tables, "schema.pbtxt"), "--out", g, "--force"},
				{"info", g},
				{"sample", g, "--sampling-spec", filepath.Join(tables, "sampling_spec.pbtxt"), "--format", "tfrecord", "--shards", "4", "--out", samples, "--force"},
				{"verify", samples},
			} {
				line := append([]string{"graphmill"}, args...)
				if t.Quiet && args[0] == "info" {
					continue
				}
				if !t.Quiet {
					fmt.Fprintf(t.Stdout, "\n$ %s\n", strings.Join(line, " "))
				}
				step := newRoot(t.Step(line))
				step.SetArgs(args)
				if err := step.ExecuteContext(cmd.Context()); err != nil {
					if s, ok := t.Stdout.(*cli.Stdout); ok && errors.Is(s.Err(), syscall.EPIPE) {
						return err // the reader has seen enough
					}
					return unfinishedTour(out, err)
				}
			}
			if t.Quiet {
				return nil
			}
			fmt.Fprintf(t.Stdout, "\nDone in %.1f s. These files and folders were written:\n", time.Since(start).Seconds())
			w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintf(w, "  %s\tthe input: tables (CSV), schema and sampling spec\n", tables)
			fmt.Fprintf(w, "  %s\tthe store: NumPy arrays, graph.json, checksums\n", g)
			fmt.Fprintf(w, "  %s\tTFRecords and schema.pbtxt, for tfgnn.parse_example\n", samples)
			fmt.Fprintf(w, "  %s\treport of the import: open it in a browser\n", filepath.Join(g, "report.html"))
			fmt.Fprintf(w, "  %s\treport of the sampling\n", filepath.Join(samples, "report.html"))
			return w.Flush()
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "quickstart", "folder to write into")
	cmd.Flags().BoolVar(&force, "force", false, "write into a folder that exists")
	cli.Folders(cmd.Flags(), "out")
	cli.Group(cmd.Flags(), options.GroupOutput, "*out", "*force")
	return cmd
}

// unfinishedTour adds to an error what it leaves on the disk: the results of the steps before, each whole, in the folder out.
func unfinishedTour(out string, err error) error {
	left := fmt.Errorf("what the steps before wrote is left in %s; `graphmill quickstart --out %s --force` begins anew", out, out)
	if tagged.Only(err, context.Canceled) {
		return left
	}
	return fmt.Errorf("%w; %w", err, left)
}
