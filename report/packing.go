package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/graphmill/graphmill/internal/human"
)

// Packing describes how graphs were packed. Its JSON is what the command pack prints with --json. The keys of its maps are
// components.
type Packing struct {
	Packs      int64   `json:"packs"`
	Output     string  `json:"output,omitempty"` // the folder of the pack layout, as it was named; "" if none was written
	LowerBound int64   `json:"lower_bound"`      // proven: no packing has fewer packs
	Gap        float64 `json:"gap"`              // (Packs - LowerBound) / LowerBound
	// Efficiency is the share of the room of all packs that graphs fill.
	Efficiency map[string]float64 `json:"efficiency"`
	// EfficiencyUsed is the same with Used in place of Limits, as in the paper on tuple packing.
	EfficiencyUsed map[string]float64 `json:"efficiency_used"`
	// Ceiling is the efficiency of LowerBound packs: the most that any packing reaches with these limits.
	Ceiling      map[string]float64 `json:"ceiling"`
	Seconds      float64            `json:"seconds"`       // elapsed time of the search
	FoundSeconds float64            `json:"found_seconds"` // time from its start to the packing that was kept
	Method       string             `json:"method"`        // the requested method
	By           string             `json:"by"`            // the method, or the part of PackAuto, that found the packing
	Limits       map[string]int     `json:"limits"`        // as given, with the room that Reserve keeps
	Used         map[string]int     `json:"used"`          // size of the fullest pack
	MaxGraphs    int                `json:"max_graphs"`    // option.Pack.MaxGraphs
	MostGraphs   int                `json:"most_graphs"`   // graphs in the pack with the most
	Graphs       int64              `json:"graphs"`        // graphs that were packed
	Shapes       int                `json:"shapes"`        // distinct sizes among them
	Oversize     int64              `json:"oversize"`      // graphs that are larger than a pack
	Reserve      bool               `json:"reserve"`
	Timed        bool               `json:"timed,omitempty"` // a TimeBudget was given
	// Components are the keys of the maps, in the order of the limits.
	Components []string `json:"-"`
	// Larger says what became of the graphs that Oversize counts.
	Larger string `json:"-"`
}

// Text writes the packing in words.
func (j *Packing) Text(w io.Writer) error {
	var b strings.Builder
	proof := fmt.Sprintf("at most %.3g %% above the best", 100*j.Gap)
	if j.Packs == j.LowerBound {
		proof = "optimal"
	}
	fmt.Fprintf(&b, "%s of %s (%s; no packing has fewer than %s), by %s, found after %s of %s\n",
		human.Counted(j.Packs, "pack"), human.Counted(j.Graphs, "graph"), proof, human.Exact(j.LowerBound), j.By, human.Duration(human.Seconds(j.FoundSeconds)), human.Duration(human.Seconds(j.Seconds)))
	for _, c := range j.Components {
		fmt.Fprintf(&b, "  %-12s limit %s, full %.2f %% (at most %.2f %% with these limits)\n", c, human.Exact(int64(j.Limits[c])), 100*j.Efficiency[c], 100*j.Ceiling[c])
	}
	fmt.Fprintf(&b, "  %-12s at most %s per pack\n", "graphs", human.Exact(int64(j.MostGraphs)))
	if j.Reserve {
		b.WriteString("  " + reserveNote + "\n")
	}
	if j.Oversize > 0 {
		fmt.Fprintf(&b, "  %s %s\n", human.Exact(j.Oversize), j.Larger)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text writes what was packed in words.
func (j *PackedStream) Text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s, with a buffer of %s", human.Counted(j.Packs, "pack"), human.Counted(j.Graphs, "graph"), human.Exact(int64(j.Buffer)))
	for _, name := range j.Components {
		fmt.Fprintf(&b, "; %s full %.2f %%", name, 100*j.Efficiency[name])
	}
	b.WriteByte('\n')
	_, err := io.WriteString(out, b.String())
	return err
}

// PackedStream describes how a stream of graphs was packed. Its JSON is what the command pack --stream prints with --json.
// The keys of its maps are components.
type PackedStream struct {
	Output     string             `json:"output,omitempty"` // the folder that was written, as it was named; "" if none was
	Packs      int64              `json:"packs"`
	Graphs     int64              `json:"graphs"`     // graphs in packs
	Skipped    int64              `json:"skipped"`    // graphs larger than a pack, left out or alone
	Efficiency map[string]float64 `json:"efficiency"` // share of the room of all packs that graphs fill
	Limits     map[string]int     `json:"limits"`
	MaxGraphs  int                `json:"max_graphs"`
	Buffer     int                `json:"buffer"` // graphs held at a time
	// Lost is the share of the room that stayed empty in the fullest component, or in the number of graphs. The last pack
	// does not count.
	Lost float64 `json:"lost"`
	// BufferWanted is a Buffer that would lose less; 0 if Lost is small.
	BufferWanted int     `json:"buffer_wanted,omitempty"`
	Seconds      float64 `json:"seconds"` // elapsed time
	// Components are the keys of the maps, in the order of the limits.
	Components []string `json:"-"`
}

// PackTables has both tables of the paper on tuple packing for a data set.
type PackTables struct {
	Name       string           `json:"name"` // of the data set
	Components []string         `json:"components"`
	Properties PackProperties   `json:"properties"` // Table 1
	Rows       []PackComparison `json:"rows"`       // Table 2, one per method
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

// Tuning is the result of TunePacks. Its JSON is what the command pack tune prints with --json.
type Tuning struct {
	Output     string          `json:"output,omitempty"` // the folder that was written, as it was named; "" if none was
	Components []string        `json:"components"`
	Front      []PackCandidate `json:"front"`            // limits for which no cheaper limits are as full
	Tried      []PackCandidate `json:"tried"`            // all limits that were packed with
	Target     float64         `json:"target,omitempty"` // option.TunePacks.Target
	// Packing is the packing with the cheapest limits that reach Target; nil without a target.
	Packing *Packing `json:"packing,omitempty"`
}

// Text writes the front in words; with a target, the limits that reach it and the packing.
func (t *Tuning) Text(out io.Writer) error {
	var b strings.Builder
	if t.Packing != nil {
		limits := make([]int, len(t.Components))
		for i, c := range t.Components {
			limits[i] = t.Packing.Limits[c]
		}
		fmt.Fprintf(&b, "%s are the cheapest limits that reach %v %% (%d were packed)\n", human.Assigned(t.Components, limits), t.Target, len(t.Tried))
		if err := t.Packing.Text(&b); err != nil {
			return err
		}
		_, err := io.WriteString(out, b.String())
		return err
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tcost of a pack\tpacks\tcost of all\tfull (%%)\tharmonic mean (%%)\t\n", strings.Join(t.Components, "\t"))
	for _, c := range t.Front {
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
	fmt.Fprintf(&b, "%d limits were packed\n", len(t.Tried))
	_, err := io.WriteString(out, b.String())
	return err
}
