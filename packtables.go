package graphmill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/report"
)

// checkComponents refuses names of components that are empty or equal, and too many names.
func checkComponents(names []string) error {
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return usagef("found `Components` %q, expected names that are different and not empty, such as num_nodes,num_edges", strings.Join(names, ","))
		}
	}
	if len(names) > pack.MaxComponents {
		return usagef("found `Components` with %d names, expected at most %d", len(names), pack.MaxComponents)
	}
	return nil
}

// HistogramOptions say what PackHistogram counts.
type HistogramOptions struct {
	Run
	Components []string // nil is num_nodes and num_edges
	Plot       string   // name of a new file that ends in .html, for a page with a plot of the histogram; "" is none
}

// PackHistogram counts the graphs of a collection by their sizes, and writes the counts to w as CSV: one line per size,
// with the columns of the components and count. Pack reads this format.
func PackHistogram(in string, w io.Writer, o HistogramOptions) (err error) {
	defer guard.Catch(&err)()
	start := time.Now()
	if o.Components == nil {
		o.Components = []string{"num_nodes", "num_edges"}
	}
	if err := errors.Join(checkComponents(o.Components), o.check()); err != nil {
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
		r := o.begin("pack hist", "Sizes of "+titled(in))
		r.Threads = 1
		r.Input(titled(in), size, fingerprint)
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

// TablesOptions say what ComparePacks compares.
type TablesOptions struct {
	Run
	Components []string // nil is num_nodes and num_edges
	MaxGraphs  int      // most graphs in a pack; 0 is no bound
	Effort     float64  // multiplies the work of PackAuto; 0 is 1, which takes about two seconds
}

// ComparePacks makes the two tables of the paper on tuple packing for any collections or histograms. Table 1 has the
// properties of the data sets. Table 2 has the efficiency of the published heuristics, of the baselines of the paper, and
// of PackAuto. The limits are the sizes of the largest graph.
func ComparePacks(ctx context.Context, in []string, o TablesOptions) (_ PackTablesList, err error) {
	defer guard.Catch(&err)()
	if o.Components == nil {
		o.Components = []string{"num_nodes", "num_edges"}
	}
	setDefault(&o.Effort, 1)
	if o.MaxGraphs < 0 || !(o.Effort > 0 && o.Effort <= mostEffort) {
		return nil, usagef("found `MaxGraphs` %d and `Effort` %v, expected at least 0, and a number above 0, at most %v", o.MaxGraphs, o.Effort, float64(mostEffort))
	}
	if err := errors.Join(o.check(), checkComponents(o.Components)); err != nil {
		return nil, err
	}
	var sets PackTablesList
	for _, path := range in {
		h, _, _, err := histogram(path, o.Components, o.Memory)
		if err != nil {
			return nil, err
		}
		compared, err := pack.Compare(ctx, h, o.MaxGraphs, o.Effort, o.Threads)
		if err != nil {
			return nil, described(path, err)
		}
		sets = append(sets, PackTables{Name: strings.TrimSuffix(filepath.Base(path), ".csv"), Components: o.Components, Properties: pack.PropertiesOf(h), Rows: compared})
	}
	return sets, nil
}

// PackTables has both tables of the paper on tuple packing for a data set.
type PackTables struct {
	Name       string               `json:"name"` // of the data set
	Components []string             `json:"components"`
	Properties pack.Properties      `json:"properties"` // Table 1
	Rows       []pack.ComparisonRow `json:"rows"`       // Table 2, one per method
}

// PackTablesList has the tables of several data sets. Its JSON is what the command pack tables prints with --json.
type PackTablesList []PackTables

// Text writes the tables next to each other.
func (sets PackTablesList) Text(out io.Writer) error {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(label string, cell func(*PackTables) string) {
		fmt.Fprintf(w, "%s\t", label)
		for i := range sets {
			fmt.Fprintf(w, "%s\t", cell(&sets[i]))
		}
		fmt.Fprintln(w)
	}
	list := func(format func(float64) string, values []float64) string {
		var cells []string
		for _, v := range values {
			cells = append(cells, format(v))
		}
		return strings.Join(cells, ", ")
	}
	percent := func(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }
	line("", func(s *PackTables) string { return s.Name })
	line("graphs", func(s *PackTables) string { return human.Exact(s.Properties.Graphs) })
	for j, name := range sets[0].Components {
		line("largest "+name, func(s *PackTables) string { return human.Exact(int64(s.Properties.Max[j])) })
	}
	line("shapes", func(s *PackTables) string { return human.Exact(int64(s.Properties.Shapes)) })
	line("efficiency, unpacked (%)", func(s *PackTables) string { return list(percent, s.Properties.Efficiency) })
	line("possible speedup", func(s *PackTables) string {
		return list(func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }, s.Properties.Speedup)
	})
	line("", func(*PackTables) string { return "" })
	line("packs: efficiency (%)", func(s *PackTables) string { return "(" + strings.Join(s.Components, ", ") + ")" })
	for i, row := range sets[0].Rows {
		line(row.Name, func(s *PackTables) string {
			if s.Rows[i].Packs == 0 {
				return "the product is beyond 2^63"
			}
			return fmt.Sprintf("%s: (%s)", human.Exact(s.Rows[i].Packs), list(percent, s.Rows[i].Efficiency))
		})
	}
	w.Flush()
	_, err := io.WriteString(out, b.String())
	return err
}

// checkPlot refuses a file name that does not end in .html, an existing file, and a file in the input.
func checkPlot(plot, input string) error {
	if filepath.Ext(plot) != ".html" {
		return usagef("found `Plot` %s, expected a name that ends in .html", plot)
	}
	if err := keeps(plot, input); err != nil {
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
