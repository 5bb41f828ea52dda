package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/pack"
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
			if maxGraphs < 0 || !(effort > 0) {
				return usagef("found --max-graphs %d and --effort %v, expected at least 0 and above 0", maxGraphs, effort)
			}
			names := strings.Split(components, ",")
			var sets []packTables
			for _, path := range args {
				h, _, _, err := histogram(path, names)
				if err != nil {
					return err
				}
				cmp, err := pack.Compare(cmd.Context(), h, maxGraphs, effort, c.threads)
				if err != nil {
					return err
				}
				sets = append(sets, packTables{Name: strings.TrimSuffix(filepath.Base(path), ".csv"), Components: names, Properties: pack.PropertiesOf(h), Rows: cmp.Rows})
			}
			if c.json {
				e := json.NewEncoder(t.stdout)
				e.SetIndent("", " ")
				return e.Encode(sets)
			}
			_, err := t.stdout.Write([]byte(printTables(sets)))
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
			return fmt.Sprintf("%s: (%s)", human.Exact(s.Rows[i].Packs), list(percent, s.Rows[i].Efficiency))
		})
	}
	w.Flush()
	return b.String()
}

// newPackTune searches for limits.
func newPackTune(t *terminal) *cobra.Command {
	var (
		asJSON     bool
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
  graphmill pack tune molecules.coll --align num_nodes=8 --align num_edges=8
  graphmill pack tune molecules.coll --cost num_nodes=512 --cost num_edges=24 --ceiling 4000000 --json`,
		Args: oneArg("one histogram (.csv) or collection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			names := strings.Split(components, ",")
			search := pack.Tune{Ceiling: ceiling, MaxGraphs: maxGraphs, Tries: tries}
			if ceiling < 0 || maxGraphs < 0 || tries < 1 {
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
			h, _, _, err := histogram(args[0], names)
			if err != nil {
				return err
			}
			all, front, err := pack.Search(cmd.Context(), h, search)
			if err != nil {
				return err
			}
			if asJSON {
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
	fs.BoolVar(&asJSON, "json", false, "print one JSON report on stdout")
	fs.StringVar(&components, "components", "num_nodes,num_edges", "components to pack by")
	fs.StringArrayVar(&align, "align", nil, "COMPONENT=N, what limits are multiples of (default 1)")
	fs.StringArrayVar(&cost, "cost", nil, "COMPONENT=N, what one more of it costs, such as bytes (default 1)")
	fs.Float64Var(&ceiling, "ceiling", 0, "the most that a pack may cost (default: sixteen times the least)")
	fs.IntVar(&maxGraphs, "max-graphs", 0, "most graphs in a pack; 0 is no cap")
	fs.IntVar(&tries, "tries", 400, "limits to pack at most")
	return cmd
}
