package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/fsx"
	"github.com/graphmill/graphmill/internal/quickstart"
)

func newQuickstart(t *terminal) *cobra.Command {
	var (
		out   string
		force bool
	)
	cmd := &cobra.Command{
		Use:   "quickstart",
		Short: "Import and sample a small real graph that is built in",
		Long: `Writes the embedded graph (4,000 Debian packages, what they need, their sources,
maintainers and tags) as a TF-GNN unigraph, imports it, samples around every
package, writes TFRecords that TF-GNN reads, and verifies them. Each step is an
ordinary command, which is printed.`,
		Example: `  graphmill quickstart
  graphmill quickstart --out try`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			start := time.Now()
			out = filepath.Clean(out)
			if _, err := os.Stat(out); err == nil && !force {
				return fmt.Errorf("%s: exists; choose another --out, or give --force", out)
			}
			tables := filepath.Join(out, "tables")
			if err := fsx.OS.MkdirAll(tables); err != nil {
				return err
			}
			if err := quickstart.Unpack(fsx.OS, tables); err != nil {
				return err
			}
			g, samples := filepath.Join(out, "debian.store"), filepath.Join(out, "samples")
			for _, args := range [][]string{
				{"import", filepath.Join(tables, "schema.pbtxt"), "--out", g, "--force"},
				{"info", g},
				{"sample", g, "--sampling-spec", filepath.Join(tables, "sampling_spec.pbtxt"), "--format", "tfrecord", "--shards", "4", "--out", samples, "--force"},
				{"verify", samples},
			} {
				line := append([]string{"graphmill"}, args...)
				fmt.Fprintf(t.stdout, "\n$ %s\n", strings.Join(line, " "))
				step := newRoot(&terminal{args: line, stdout: t.stdout, stderr: t.stderr})
				step.SetArgs(args)
				if err := step.ExecuteContext(cmd.Context()); err != nil {
					return err
				}
			}
			fmt.Fprintf(t.stdout, `
Done in %.1f s. What is there now:
  %s   the tables as they came (CSV, schema, sampling spec)
  %s   the store: NumPy arrays, graph.json, checksums
  %s   TFRecords and schema.pbtxt, for tfgnn.parse_example
  %s   open it in a browser: what was sampled
  %s   ... and what was imported
`, time.Since(start).Seconds(), tables, g, samples, filepath.Join(samples, "report.html"), filepath.Join(g, "report.html"))
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "quickstart", "folder to write into")
	cmd.Flags().BoolVar(&force, "force", false, "write into a folder that exists")
	return cmd
}
