package packing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// checkComponents refuses names of components that are empty or equal, and too many names.
func checkComponents(names []string) error {
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return operation.Usagef("found `Components` %q, expected names that are different and not empty, such as num_nodes,num_edges", strings.Join(names, ","))
		}
	}
	if len(names) > pack.MaxComponents {
		return operation.Usagef("found `Components` with %d names, expected at most %d", len(names), pack.MaxComponents)
	}
	return nil
}

// PackHistogram counts the graphs of a collection by their sizes, and writes the counts to w as CSV: one line per size,
// with the columns of the components and count. Pack reads this format.
func PackHistogram(in string, w io.Writer, o option.PackHistogram) (err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if o.Components == nil {
		o.Components = []string{"num_nodes", "num_edges"}
	}
	if err := errors.Join(checkComponents(o.Components), operation.CheckRun(&o.Run)); err != nil {
		return err
	}
	if o.Plot != "" {
		if err := checkPlot(o.Plot, in); err != nil {
			return err
		}
	}
	h, fingerprint, size, err := histogram(in, o.Components, o.Memory)
	if err != nil {
		return err
	}
	if o.Plot != "" {
		r := operation.NewReport(&o.Run, "pack hist", "Sizes of "+operation.Titled(in))
		r.Threads = 1
		r.Input(operation.Titled(in), size, fingerprint)
		reportShapes(r, h)
		r.Finish(time.Since(start))
		page, err := r.Page()
		if err != nil {
			return err
		}
		if err := vfs.WriteFile(vfs.OS, o.Plot, page); err != nil {
			return err
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s,count\n", strings.Join(o.Components, ","))
	for i, c := range h.Counts {
		for _, s := range h.Shape(i) {
			fmt.Fprintf(&b, "%d,", s)
		}
		fmt.Fprintf(&b, "%d\n", c)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// ComparePacks makes the two tables of the paper on tuple packing for any collections or histograms. Table 1 has the
// properties of the data sets. Table 2 has the efficiency of the published heuristics, of the baselines of the paper, and
// of PackAuto. The limits are the sizes of the largest graph.
func ComparePacks(ctx context.Context, in []string, o option.ComparePacks) (_ report.PackTablesList, err error) {
	defer guard.Catch(&err)()
	if o.Components == nil {
		o.Components = []string{"num_nodes", "num_edges"}
	}
	operation.SetDefault(&o.Effort, 1)
	if o.MaxGraphs < 0 || !(o.Effort > 0 && o.Effort <= mostEffort) {
		return nil, operation.Usagef("found `MaxGraphs` %d and `Effort` %v, expected at least 0, and a number above 0, at most %v", o.MaxGraphs, o.Effort, float64(mostEffort))
	}
	if err := errors.Join(operation.CheckRun(&o.Run), checkComponents(o.Components)); err != nil {
		return nil, err
	}
	var sets report.PackTablesList
	for _, path := range in {
		h, _, _, err := histogram(path, o.Components, o.Memory)
		if err != nil {
			return nil, err
		}
		compared, err := pack.Compare(ctx, h, o.MaxGraphs, o.Effort, o.Threads)
		if err != nil {
			return nil, operation.Described(path, err)
		}
		sets = append(sets, report.PackTables{Name: strings.TrimSuffix(filepath.Base(path), ".csv"), Components: o.Components, Properties: pack.PropertiesOf(h), Rows: compared})
	}
	return sets, nil
}

// checkPlot refuses a file name that does not end in .html, an existing file, and a file in the input.
func checkPlot(plot, input string) error {
	if filepath.Ext(plot) != ".html" {
		return operation.Usagef("found `Plot` %s, expected a name that ends in .html", plot)
	}
	if err := operation.Keeps(plot, input); err != nil {
		return err
	}
	_, err := vfs.OS.Stat(plot)
	if err == nil {
		return fmt.Errorf("%s: exists; choose another `Plot`", plot)
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
