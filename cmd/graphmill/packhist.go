package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/vfs"
)

// newPackHist prints the histogram of a collection.
func newPackHist(t *terminal) *cobra.Command {
	var components, plot string
	cmd := &cobra.Command{
		Use:   "hist HIST.csv|COLLECTION",
		Short: "Count the shapes of a collection's graphs, as CSV",
		Example: `  graphmill pack hist molecules.coll > molecules.csv
  graphmill pack hist molecules.coll --components num_nodes,num_edges,triplets
  graphmill pack hist molecules.coll --plot sizes.html > molecules.csv`,
		Args: oneArg("one histogram (.csv) or collection"),
		RunE: func(_ *cobra.Command, args []string) error {
			start := time.Now()
			names, err := parseComponents(components)
			if err != nil {
				return err
			}
			if plot != "" {
				if err := checkPlot(plot, args[0]); err != nil {
					return err
				}
			}
			h, fingerprint, size, err := histogram(args[0], names)
			if err != nil {
				return err
			}
			if plot != "" {
				r := t.begin("pack hist", "Sizes of "+filepath.Base(filepath.Clean(args[0])), common{threads: 1})
				r.Input(filepath.Base(filepath.Clean(args[0])), size, fingerprint)
				reportShapes(r, h)
				r.Finish(time.Since(start))
				page, err := r.Page()
				if err != nil {
					return err
				}
				if err := vfs.WriteFile(vfs.OS, plot, page); err != nil {
					return err
				}
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s,count\n", strings.Join(names, ","))
			for i, c := range h.Counts {
				for _, s := range h.Shape(i) {
					fmt.Fprintf(&b, "%d,", s)
				}
				fmt.Fprintf(&b, "%d\n", c)
			}
			_, err = t.stdout.Write([]byte(b.String()))
			return err
		},
	}
	cmd.Flags().StringVar(&components, "components", "num_nodes,num_edges", "components to count")
	cmd.Flags().StringVar(&plot, "plot", "", "FILE.html, a page to draw the histogram on")
	return cmd
}

// parseComponents reads "num_nodes,num_edges".
func parseComponents(list string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, usagef("found --components %q, expected names that are different and not empty, such as num_nodes,num_edges", list)
		}
	}
	if len(names) > pack.MaxComponents {
		return nil, usagef("found --components with %d names, expected at most %d", len(names), pack.MaxComponents)
	}
	return names, nil
}

// checkPlot refuses a file that is no page, that is there, or that lies in the input.
func checkPlot(plot, input string) error {
	if filepath.Ext(plot) != ".html" {
		return usagef("found --plot %s, expected a name that ends in .html", plot)
	}
	if err := (&outFlags{out: plot}).keeps(input); err != nil {
		return err
	}
	_, err := vfs.OS.Stat(plot)
	if err == nil {
		return fmt.Errorf("%s: exists; choose another --plot", plot)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// reportShapes draws a histogram.
func reportShapes(r *report.Report, h *pack.Histogram) {
	r.Head("graphs", report.Count(h.Graphs(), "graphs"))
	r.Head("shapes", report.Count(len(h.Counts), "shapes"))
	if m := shapesMap(h); m != nil {
		r.Heat(*m)
	}
	for j, name := range h.Components {
		r.Plot(report.Distribution{Title: "Sizes in " + name, Of: "graphs", What: name, View: report.Bins,
			Series: []report.Series{{Name: "graphs", Histogram: sizesOf(h, j)}}})
	}
}

// sizesOf is how many graphs have which size in a component.
func sizesOf(h *pack.Histogram, component int) *report.Histogram {
	sizes := new(report.Histogram)
	for i, n := range h.Counts {
		sizes.AddN(uint64(h.Shape(i)[component]), uint64(n))
	}
	return sizes
}
