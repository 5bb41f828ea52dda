package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// newPackTables prints the tables of the paper for any data.
func newPackTables(t *terminal) *cobra.Command {
	var (
		c          common
		components string
		maxGraphs  int
		effort     float64
	)
	cmd := &cobra.Command{
		Use:   "tables HIST.csv|COLLECTION...",
		Short: "Print the tables of the paper on tuple packing for any data",
		Long: `Prints what the data sets have (the paper's Table 1) and how full packs are by the
published heuristics, by what they are compared with, and by this program's
portfolio (Table 2). The largest graph gives the limits. As published, efficiency
is measured after the limits were shrunk to the fullest pack, and the row
"minimum, as published" was computed with the maximum.`,
		Example: `  graphmill pack tables molhiv.csv molpcba.csv
  graphmill pack tables molecules.coll --max-graphs 0 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("found no arguments, expected histograms (.csv) or collections")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			if maxGraphs < 0 || !(effort > 0 && effort <= maxEffort) {
				return usagef("found --max-graphs %d and --effort %v, expected at least 0, and a number above 0, at most %v", maxGraphs, effort, float64(maxEffort))
			}
			names, err := parseComponents(components)
			if err != nil {
				return err
			}
			var sets []packTables
			for _, path := range args {
				h, _, _, err := histogram(path, names)
				if err != nil {
					return err
				}
				compared, err := pack.Compare(cmd.Context(), h, maxGraphs, effort, c.threads)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				sets = append(sets, packTables{Name: strings.TrimSuffix(filepath.Base(path), ".csv"), Components: names, Properties: pack.PropertiesOf(h), Rows: compared})
			}
			if c.json {
				e := json.NewEncoder(t.stdout)
				e.SetIndent("", " ")
				return e.Encode(sets)
			}
			_, err = t.stdout.Write([]byte(printTables(sets)))
			return err
		},
	}
	c.addThreads(cmd)
	fs := cmd.Flags()
	fs.StringVar(&components, "components", "num_nodes,num_edges", "components to pack by")
	fs.IntVar(&maxGraphs, "max-graphs", pack.PublishedCap, "most graphs in a pack; 0 is no cap")
	fs.Float64Var(&effort, "effort", 1, "how long auto works; 1 is worth about two seconds")
	return cmd
}

// packTables is both tables of a data set.
type packTables struct {
	Name       string               `json:"name"`
	Components []string             `json:"components"`
	Properties pack.Properties      `json:"properties"`
	Rows       []pack.ComparisonRow `json:"rows"`
}

func printTables(sets []packTables) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(label string, cell func(*packTables) string) {
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
	line("", func(s *packTables) string { return s.Name })
	line("graphs", func(s *packTables) string { return human.Exact(s.Properties.Graphs) })
	for j, name := range sets[0].Components {
		line("largest "+name, func(s *packTables) string { return human.Exact(int64(s.Properties.Max[j])) })
	}
	line("shapes", func(s *packTables) string { return human.Exact(int64(s.Properties.Shapes)) })
	line("efficiency, unpacked (%)", func(s *packTables) string { return list(percent, s.Properties.Efficiency) })
	line("possible speedup", func(s *packTables) string {
		return list(func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }, s.Properties.Speedup)
	})
	line("", func(*packTables) string { return "" })
	line("packs: efficiency (%)", func(s *packTables) string { return "(" + strings.Join(s.Components, ", ") + ")" })
	for i, row := range sets[0].Rows {
		line(row.Name, func(s *packTables) string {
			if s.Rows[i].Packs == 0 {
				return "the product is beyond 2^63"
			}
			return fmt.Sprintf("%s: (%s)", human.Exact(s.Rows[i].Packs), list(percent, s.Rows[i].Efficiency))
		})
	}
	w.Flush()
	return b.String()
}

// newPackTune searches for limits.
func newPackTune(t *terminal) *cobra.Command {
	var (
		c          common
		out        outFlags
		components string
		align      []string
		cost       []string
		ceiling    float64
		maxGraphs  int
		tries      int
	)
	cmd := &cobra.Command{
		Use:   "tune HIST.csv|COLLECTION",
		Short: "Search for limits under which packs are full",
		Long: `Tries limits around the ratio of the mean sizes, from the largest graph to packs
that cost sixteen times as much, and lists the front: limits with no cheaper ones
that are as full. Full is the harmonic mean of the efficiencies, which punishes room
that is lost in any component. However graphs are packed, the efficiencies stand in
one ratio, so limits that cannot be fuller than cheaper ones are not even packed.
Pack with the limits you choose: graphmill pack works longer on them.`,
		Example: `  graphmill pack tune pcqm4mv2.csv
  graphmill pack tune molecules.coll --align num_nodes=8 --align num_edges=8 --out limits
  graphmill pack tune molecules.coll --cost num_nodes=512 --cost num_edges=24 --ceiling 4000000 --json`,
		Args: oneArg("one histogram (.csv) or collection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := time.Now()
			if err := c.check(); err != nil {
				return err
			}
			names, err := parseComponents(components)
			if err != nil {
				return err
			}
			search := pack.Tune{Ceiling: ceiling, MaxGraphs: maxGraphs, Tries: tries}
			if !(ceiling >= 0) || maxGraphs < 0 || tries < 1 {
				return usagef("found --ceiling %v, --max-graphs %d and --tries %d, expected numbers that are not negative, and at least one try", ceiling, maxGraphs, tries)
			}
			for range names {
				search.Align, search.Cost = append(search.Align, 1), append(search.Cost, 1)
			}
			for _, s := range []struct {
				flag string
				list []string
				set  func(i int, v float64)
			}{{"align", align, func(i int, v float64) { search.Align[i] = int(v) }}, {"cost", cost, func(i int, v float64) { search.Cost[i] = v }}} {
				for _, text := range s.list {
					name, value, _ := strings.Cut(text, "=")
					v, err := strconv.ParseFloat(value, 64)
					i := slices.Index(names, name)
					if err != nil || i < 0 || !(v >= 0) || v > 1<<30 || s.flag == "align" && (v < 1 || v != float64(int(v))) {
						return usagef("found --%s %q, expected COMPONENT=NUMBER with a component of %s", s.flag, text, components)
					}
					s.set(i, v)
				}
			}
			h, fingerprint, size, err := histogram(args[0], names)
			if err != nil {
				return err
			}
			if out.out != "" {
				if err := out.keeps(args[0]); err != nil {
					return err
				}
			}
			line := t.progress("tune", int64(tries), "limits")
			search.Tried = func() { line.Add(1) }
			all, front, err := pack.Search(cmd.Context(), h, search)
			line.Done()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if out.out != "" {
				made := store.Made{Command: "pack tune", Version: version(), Inputs: map[string]string{}, Options: map[string]string{
					"components": components, "align": strings.Join(align, ","), "cost": strings.Join(cost, ","), "ceiling": strconv.FormatFloat(ceiling, 'g', -1, 64),
					"max_graphs": strconv.Itoa(maxGraphs), "tries": strconv.Itoa(tries)}}
				if fingerprint == "" {
					if fingerprint, err = store.Fingerprint(cmd.Context(), vfs.OS, args[0]); err != nil {
						return err
					}
				}
				name := filepath.Base(filepath.Clean(args[0]))
				made.Inputs[name] = fingerprint
				r := t.begin("pack tune", "Limits for "+name, c)
				r.Input(name, size, fingerprint)
				r.Stage("search", time.Since(start), int64(len(all)), "limits")
				if err := t.tuneReport(cmd.Context(), &out, c, r, made, h, maxGraphs, all, front, start); err != nil {
					return err
				}
			}
			if c.json {
				e := json.NewEncoder(t.stdout)
				e.SetIndent("", " ")
				return e.Encode(map[string]any{"components": names, "front": front, "tried": all})
			}
			var b strings.Builder
			w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintf(w, "%s\tcost of a pack\tpacks\tcost of all\tfull (%%)\tharmonic mean (%%)\t\n", strings.Join(names, "\t"))
			for _, c := range front {
				for _, l := range c.Limits {
					fmt.Fprintf(w, "%d\t", l)
				}
				var full []string
				for _, e := range c.Efficiency {
					full = append(full, strconv.FormatFloat(100*e, 'f', 2, 64))
				}
				fmt.Fprintf(w, "%.6g\t%s\t%.6g\t%s\t%.2f\t\n", c.Cost, human.Exact(c.Packs), c.Cost*float64(c.Packs), strings.Join(full, ", "), 100*c.Mean)
			}
			w.Flush()
			fmt.Fprintf(&b, "%d limits were packed\n", len(all))
			_, err = t.stdout.Write([]byte(b.String()))
			return err
		},
	}
	fs := cmd.Flags()
	c.addThreads(cmd)
	fs.StringVarP(&out.out, "out", "o", "", "folder to write a report with plots to (default: only print)")
	fs.BoolVar(&out.force, "force", false, "replace the folder if it is an output of graphmill")
	fs.StringVar(&components, "components", "num_nodes,num_edges", "components to pack by")
	fs.StringArrayVar(&align, "align", nil, "COMPONENT=N, what limits are multiples of (default 1)")
	fs.StringArrayVar(&cost, "cost", nil, "COMPONENT=N, what one more of it costs, such as bytes (default 1)")
	fs.Float64Var(&ceiling, "ceiling", 0, "the most that a pack may cost (default: sixteen times the least)")
	fs.IntVar(&maxGraphs, "max-graphs", 0, "most graphs in a pack; 0 is no cap")
	fs.IntVar(&tries, "tries", 400, "limits to pack at most")
	return cmd
}

// tuneReport writes what a search found as a page with plots.
func (t *terminal) tuneReport(ctx context.Context, out *outFlags, c common, r *report.Report, made store.Made, h *pack.Histogram, maxGraphs int, all, front []pack.Candidate, start time.Time) (err error) {
	w, err := store.Create(vfs.OS, out.out, out.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	if err := w.WriteMade(made); err != nil {
		return err
	}
	if err := w.Seal(ctx, nil, c.threads); err != nil {
		return err
	}
	best := front[len(front)-1]
	r.Head("fullest", report.Share(best.Mean))
	r.In("graphs", report.Count(h.Graphs(), "graphs"))
	r.Out("limits packed", report.Count(len(all), "limits"))
	r.Out("limits on the front", report.Count(len(front), "limits"))
	table := report.Table{Title: "No cheaper limits are as full"}
	table.Columns = append(append(table.Columns, h.Components...), "cost of a pack", "packs", "full (harmonic mean)")
	for _, f := range front {
		var row []report.Value
		for _, l := range f.Limits {
			row = append(row, report.Text(human.Exact(int64(l)))) // to be typed, so not rounded
		}
		table.Rows = append(table.Rows, append(row, report.Number(f.Cost, ""), report.Text(human.Exact(f.Packs)), report.Share(f.Mean)))
	}
	r.Table(table)
	if m := shapesMap(h); m != nil {
		r.Heat(*m)
	}
	began := time.Now()
	line := t.progress("heat map", gridSize*gridSize, "limits")
	grid, err := pack.Grid(ctx, h, maxGraphs, gridSize, c.threads, func() { line.Add(1) })
	line.Done()
	if err != nil {
		return err
	}
	r.Stage("heat map", time.Since(began), int64(len(grid)), "limits")
	if m := limitsMap(h, grid); m != nil {
		r.Heat(*m)
	}
	r.Finish(time.Since(start))
	html, text, err := render(r)
	if err != nil {
		return err
	}
	if err := w.Report(html, text); err != nil {
		return err
	}
	return w.Publish()
}

// limitsMap draws how full packs are under pairs of limits; nil if there is nothing
// to draw. As in the paper what is below a half is drawn as a half.
func limitsMap(h *pack.Histogram, grid []pack.Candidate) *report.HeatMap {
	if len(grid) == 0 {
		return nil
	}
	m := &report.HeatMap{Title: "How full packs are, by limits", X: "limit of " + h.Components[1], Y: "limit of " + h.Components[0],
		Value: "harmonic mean of the efficiencies", Low: 0.5, High: 1, Share: true}
	// The grid is in ascending order, the second limit first: a cell ends where the
	// next one begins.
	next := func(j, at int) float64 {
		for _, c := range grid {
			if c.Limits[j] > at {
				return float64(c.Limits[j])
			}
		}
		return float64(at) + max(float64(at-grid[0].Limits[j])/gridSize, 1)
	}
	for _, c := range grid {
		y, x := c.Limits[0], c.Limits[1]
		m.Cells = append(m.Cells, report.HeatCell{X0: float64(x), X1: next(1, x), Y0: float64(y), Y1: next(0, y), Value: c.Mean})
	}
	return m
}

// gridSize is the limits of each component in the heat map.
const gridSize = 20

// shapesMap draws how many graphs have which sizes in the first two components; nil
// if there is one. What few graphs have beyond 99.9 % of them is left out, as the
// paper does.
func shapesMap(h *pack.Histogram) *report.HeatMap {
	if len(h.Components) < 2 {
		return nil
	}
	const bins = 80
	var top [2]int
	for j := range top {
		var sizes report.Histogram
		for i, c := range h.Counts {
			sizes.AddN(uint64(h.Shape(i)[j]), uint64(c))
		}
		top[j] = int(sizes.Quantile(0.999)) + 1
	}
	step := [2]float64{max(float64(top[0])/bins, 1), max(float64(top[1])/bins, 1)}
	counts := map[[2]int]int64{}
	most := int64(1)
	for i, c := range h.Counts {
		s := h.Shape(i)
		if s[0] >= top[0] || s[1] >= top[1] {
			continue
		}
		at := [2]int{int(float64(s[0]) / step[0]), int(float64(s[1]) / step[1])}
		counts[at] += c
		most = max(most, counts[at])
	}
	m := &report.HeatMap{Title: "Graphs by size", X: h.Components[1], Y: h.Components[0], Value: "graphs", Low: 1, High: float64(max(most, 2)), Log: true}
	for at, c := range counts {
		y, x := float64(at[0])*step[0], float64(at[1])*step[1]
		m.Cells = append(m.Cells, report.HeatCell{X0: x, X1: x + step[1], Y0: y, Y1: y + step[0], Value: float64(c)})
	}
	slices.SortFunc(m.Cells, func(a, b report.HeatCell) int { return cmp.Or(cmp.Compare(a.Y0, b.Y0), cmp.Compare(a.X0, b.X0)) })
	return m
}
