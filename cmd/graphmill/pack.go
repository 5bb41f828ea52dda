package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/pack"
	"github.com/graphmill/graphmill/internal/pack/collection"
	"github.com/graphmill/graphmill/internal/pack/layout"
	"github.com/graphmill/graphmill/internal/report"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// packFlags are the flags of pack.
type packFlags struct {
	common
	outFlags
	limits     []string
	maxGraphs  int
	method     string
	heuristic  string
	effort     float64
	timeBudget time.Duration
	oversize   string
	reserve    bool
	ranks      int
	stream     streamFlags
}

func newPack(t *terminal) *cobra.Command {
	var f packFlags
	cmd := &cobra.Command{
		Use:   "pack HIST.csv|COLLECTION|SIZES.csv|-",
		Short: "Pack many small graphs into few packs of one fixed shape",
		Long: `Finds how to put small graphs into packs that keep a limit in each component
(nodes, edges, ...), with as few packs as can be, and proves how few that is: no
packing has fewer packs than the lower bound. Graphs come from a collection, or as
a histogram: a CSV of num_nodes,num_edges,count, with one to seven components of
any name.

Components of a collection are num_nodes, num_edges, num_nodes:TYPE,
num_edges:TYPE, and integer columns of the context.

Methods: auto runs a portfolio and keeps the best; dlpfhp is the published "tuple
longest-pack-first" algorithm and spfhp its first-fit variant, both to the digit;
best-fit, first-fit, next-fit (what dynamic batching does) and none are what else
people do. The result depends on neither threads nor the machine, unless
--time-budget is given.

--stream packs graphs of unknown number as they come, of which it holds --buffer:
sizes from a CSV with a graph a line, from stdin (-), or of a collection, in order.
It prints a JSON line a pack, or writes pack_ptr.npy and graph_id.npy to --out.
Graphs that --oversize alone sets apart are lines, or alone_id.npy, of their own.`,
		Example: `  graphmill pack molhiv.csv --limit num_nodes=222 --limit num_edges=502
  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --max-graphs 64 --out plan
  graphmill pack molhiv.csv --limit num_nodes=222 --limit num_edges=502 --max-graphs 256 --method dlpfhp --heuristic product --json
  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --reserve --out plan
  graphmill pack fill plan molecules.coll --seed 1 --epochs 10 --out filled
  graphmill pack materialise plan molecules.coll --seed 1 --out packs
  make-graphs | graphmill pack - --stream --buffer 512 --limit num_nodes=1024 --limit num_edges=2200
  graphmill pack hist molecules.coll > molecules.csv`,
		Args: oneArg("one histogram (.csv) or collection"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(f.check(), f.checkStream(cmd)); err != nil {
				return err
			}
			if f.stream.stream {
				return t.packStream(cmd, args[0], &f)
			}
			return t.pack(cmd, args[0], &f)
		},
	}
	f.addThreads(cmd)
	fs := cmd.Flags()
	fs.StringVarP(&f.out, "out", "o", "", "folder to write the pack layout to (default: only print)")
	fs.BoolVar(&f.force, "force", false, "replace the folder if it is an output of graphmill")
	fs.StringArrayVar(&f.limits, "limit", nil, "COMPONENT=N, the limit of a pack; once for each component (required)")
	fs.IntVar(&f.maxGraphs, "max-graphs", 0, "most graphs in a pack; 0 is no cap")
	fs.StringVar(&f.method, "method", "auto", strings.Join(pack.Methods, ", "))
	fs.StringVar(&f.heuristic, "heuristic", "product", "of dlpfhp, spfhp, best-fit and first-fit: "+strings.Join(pack.HeuristicNames, ", ")+", weighted:W,W, or a component")
	fs.Float64Var(&f.effort, "effort", 1, "how long auto works; 1 is worth about two seconds")
	fs.DurationVar(&f.timeBudget, "time-budget", 0, "end auto by the clock, such as 30s; the result then depends on the machine")
	fs.StringVar(&f.oversize, "oversize", layout.Error, "graphs that are larger than a pack: error, skip (left out and counted) or alone (packs of their own, apart)")
	fs.BoolVar(&f.reserve, "reserve", false, "count a padding node of each type and a padding graph in the limits, for arrays of fixed shape")
	fs.IntVar(&f.ranks, "ranks", 1, "make the number of packs a multiple of this")
	f.stream.add(cmd)
	cmd.AddCommand(newPackHist(t), newPackFill(t), newPackMaterialise(t), newPackTables(t), newPackTune(t))
	return cmd
}

func (f *packFlags) check() error {
	if err := f.common.check(); err != nil {
		return usageError{err}
	}
	switch {
	case len(f.limits) == 0:
		return usagef("found no --limit, expected one for each component, such as --limit num_nodes=222 --limit num_edges=502")
	case !slices.Contains(pack.Methods, f.method):
		return usagef("found --method %q, expected one of %s", f.method, strings.Join(pack.Methods, ", "))
	case !slices.Contains([]string{layout.Error, layout.Skip, layout.Alone}, f.oversize):
		return usagef("found --oversize %q, expected error, skip or alone", f.oversize)
	case !(f.effort > 0 && f.effort <= maxEffort):
		return usagef("found --effort %v, expected a number above 0, at most %v", f.effort, float64(maxEffort))
	case f.maxGraphs < 0:
		return usagef("found --max-graphs %d, expected at least 1, or 0 for no cap", f.maxGraphs)
	case f.timeBudget < 0:
		return usagef("found --time-budget %v, expected a time such as 30s", f.timeBudget)
	case f.ranks < 1:
		return usagef("found --ranks %d, expected at least 1", f.ranks)
	}
	return nil
}

// maxEffort is weeks.
const maxEffort = 1_000_000

// parseLimits reads "num_nodes=222".
func parseLimits(list []string) (components []string, limits []int, err error) {
	for _, s := range list {
		name, text, ok := strings.Cut(s, "=")
		n, err := strconv.ParseInt(text, 10, 32)
		if !ok || name == "" || err != nil || n < 0 {
			return nil, nil, usagef("found --limit %q, expected COMPONENT=N with an integer from 0 to 2^31 - 1, such as num_nodes=222", s)
		}
		if slices.Contains(components, name) {
			return nil, nil, usagef("found --limit of %s twice, expected each component once", name)
		}
		components, limits = append(components, name), append(limits, int(n))
	}
	if len(components) > pack.MaxComponents {
		return nil, nil, usagef("found --limit of %d components, expected at most %d", len(components), pack.MaxComponents)
	}
	return components, limits, nil
}

// counted is a number and a noun: "1 pack", "3,744 packs".
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return human.Exact(n) + " " + noun
}

// larger says what becomes of n graphs that are larger than a pack, behind their
// number.
func larger(n int64, oversize string) string {
	switch {
	case oversize == layout.Skip && n == 1:
		return "graph is larger than a pack and left out"
	case oversize == layout.Skip:
		return "graphs are larger than a pack and left out"
	case n == 1:
		return "graph is larger than a pack and a pack of its own, apart from the others"
	}
	return "graphs are larger than a pack and packs of their own, apart from the others"
}

// reserveNote is said of limits with a reserve.
const reserveNote = "a node of each type and a graph of each pack are kept for padding"

// packJSON is the JSON of a packing.
type packJSON struct {
	Packs          int64              `json:"packs"`
	LowerBound     int64              `json:"lower_bound"`
	Gap            float64            `json:"gap"`
	Efficiency     map[string]float64 `json:"efficiency"`
	EfficiencyUsed map[string]float64 `json:"efficiency_used"`
	Ceiling        map[string]float64 `json:"ceiling"`
	Seconds        float64            `json:"seconds"`
	FoundSeconds   float64            `json:"found_seconds"`
	Method         string             `json:"method"`
	By             string             `json:"by"`
	Limits         map[string]int     `json:"limits"`
	Used           map[string]int     `json:"used"`
	MaxGraphs      int                `json:"max_graphs"`
	MostGraphs     int                `json:"most_graphs"`
	Graphs         int64              `json:"graphs"`
	Shapes         int                `json:"shapes"`
	Oversize       int64              `json:"oversize"`
	Reserve        bool               `json:"reserve"`
	Timed          bool               `json:"timed,omitempty"`
}

func newPackJSON(r *pack.Result, l *layout.Layout, f *packFlags) packJSON {
	h := r.Problem.Histogram
	used, most := r.Used(h)
	j := packJSON{
		Packs: r.Packs(), LowerBound: r.LowerBound, Gap: r.Gap(), Seconds: r.Elapsed.Seconds(), FoundSeconds: r.Found.Seconds(),
		Method: f.method, By: r.By, MaxGraphs: f.maxGraphs, MostGraphs: most, Graphs: h.Graphs(), Shapes: len(h.Counts), Oversize: l.Meta.OversizeGraphs, Reserve: f.reserve, Timed: f.timeBudget > 0,
		Efficiency: map[string]float64{}, EfficiencyUsed: map[string]float64{}, Ceiling: map[string]float64{}, Limits: map[string]int{}, Used: map[string]int{},
	}
	for i, name := range h.Components {
		limit := l.Meta.Limits[i]
		j.Efficiency[name] = h.Efficiency(i, r.Packs(), limit)
		j.EfficiencyUsed[name] = h.Efficiency(i, r.Packs(), used[i])
		j.Ceiling[name] = h.Efficiency(i, r.LowerBound, limit)
		j.Limits[name], j.Used[name] = limit, used[i]
	}
	return j
}

// histogram reads what is to be packed: a CSV, or the shapes of a collection.
func histogram(path string, components []string) (h *pack.Histogram, fingerprint string, size int64, err error) {
	if path == "-" {
		return nil, "", 0, usagef("found -, stdin, which --stream alone reads, expected a histogram (.csv) or a collection")
	}
	info, err := vfs.OS.Stat(path)
	if err != nil {
		return nil, "", 0, fmt.Errorf("%w; expected a histogram (.csv) or a collection", err)
	}
	if !info.IsDir() {
		f, err := vfs.OS.Open(path)
		if err != nil {
			return nil, "", 0, err
		}
		defer closeWith(&err, f.Close)
		h, err := pack.ReadCSV(path, f)
		if err != nil {
			return nil, "", 0, err
		}
		h, err = selected(path, h, components)
		return h, "", info.Size(), err
	}
	s, err := store.Open(vfs.OS, path)
	if err != nil {
		return nil, "", 0, err
	}
	defer closeWith(&err, s.Close)
	if s.Collection == nil {
		return nil, "", 0, fmt.Errorf("%s: found a store of one graph, expected a collection of many; graphmill sample --format collection or graphmill import makes one", path)
	}
	sizes, err := collection.NewSizes(s.Collection, components)
	if err != nil {
		return nil, "", 0, fmt.Errorf("%s: %w", path, err)
	}
	if h, err = sizes.Histogram(); err != nil {
		return nil, "", 0, fmt.Errorf("%s: %w", path, err)
	}
	if fingerprint, err = store.Sum(vfs.OS, path); err != nil {
		return nil, "", 0, err
	}
	size, err = store.Size(vfs.OS, path)
	return h, fingerprint, size, err
}

// selected puts the components of a histogram into the order of the limits; each
// must have one.
func selected(path string, h *pack.Histogram, components []string) (*pack.Histogram, error) {
	out := &pack.Histogram{Components: components}
	places := make([]int, len(components))
	for i, name := range components {
		if places[i] = slices.Index(h.Components, name); places[i] < 0 {
			return nil, usagef("found component %s, expected one of %s: %s", name, path, strings.Join(h.Components, ", "))
		}
	}
	shape := make([]int, len(components))
	for i, c := range h.Counts {
		for j, p := range places {
			shape[j] = h.Shape(i)[p]
		}
		out.Add(c, shape...)
	}
	return out, out.Normalise()
}

func (t *terminal) pack(cmd *cobra.Command, path string, f *packFlags) (err error) {
	start := time.Now()
	components, limits, err := parseLimits(f.limits)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := f.keeps(path); err != nil {
			return err
		}
	}
	h, fingerprint, size, err := histogram(path, components)
	if err != nil {
		return err
	}
	p := &pack.Problem{Histogram: h, Limits: limits, MaxGraphs: f.maxGraphs}
	terms := layout.Terms{Reserve: f.reserve, Oversize: f.oversize}
	if f.reserve {
		if err := layout.Reserve(p); err != nil {
			return err
		}
	}
	if f.oversize != layout.Error {
		p.Histogram, terms.Over = p.Oversize()
		if n := terms.Over.Graphs(); n > 0 && len(p.Counts) == 0 {
			return fmt.Errorf("%s: found %s, all larger than a pack%s, expected some that fit; raise the limits", path, counted(n, "graph"), f.less())
		} else if n > 0 {
			t.warn("%s %s", human.Exact(n), larger(n, f.oversize))
		}
	}
	r, err := pack.Solve(cmd.Context(), p, pack.Options{Method: f.method, Heuristic: f.heuristic, Effort: f.effort, TimeBudget: f.timeBudget, Threads: f.threads})
	if errors.Is(err, pack.ErrOversize) {
		return fmt.Errorf("%s: %w%s (--oversize skip leaves them out and counts them, alone makes each a pack of its own)", path, err, f.less())
	}
	if err != nil {
		return err
	}
	if err := r.Divide(p.Histogram, f.ranks); err != nil {
		return err
	}
	l := layout.Of(r, terms)
	j := newPackJSON(r, l, f)
	if f.out == "" {
		return t.printPacking(&j, components, f)
	}
	w, err := store.Create(vfs.OS, f.out, f.force)
	if err != nil {
		return err
	}
	defer closeWith(&err, w.Abort)
	made := store.Made{Command: "pack", Version: version(), Inputs: map[string]string{}, Options: map[string]string{
		"limit": strings.Join(f.limits, ","), "max_graphs": strconv.Itoa(f.maxGraphs), "method": f.method, "heuristic": f.heuristic,
		"effort": strconv.FormatFloat(f.effort, 'g', -1, 64), "oversize": f.oversize, "reserve": strconv.FormatBool(f.reserve), "ranks": strconv.Itoa(f.ranks)}}
	if f.timeBudget > 0 {
		made.Options["time_budget"] = f.timeBudget.String()
	}
	if fingerprint == "" {
		if fingerprint, err = store.Fingerprint(cmd.Context(), vfs.OS, path); err != nil {
			return err
		}
	}
	made.Inputs[filepath.Base(path)] = fingerprint
	if err := l.Write(w, made); err != nil {
		return err
	}
	if err := w.Seal(cmd.Context(), nil, f.threads); err != nil {
		return err
	}
	rep := t.begin("pack", "Packs of "+filepath.Base(path), common{json: false, threads: f.threads})
	rep.Input(filepath.Base(path), size, fingerprint)
	reportPacking(rep, r, &j, components, f.oversize)
	rep.Finish(time.Since(start))
	html, text, err := render(rep)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Report(html, text), w.Publish()); err != nil {
		return err
	}
	return t.printPacking(&j, components, f)
}

// less reminds of what the limits that errors tell are less than those given.
func (f *packFlags) less() string {
	if f.reserve {
		return ", of which --reserve keeps a node of each type and a graph"
	}
	return ""
}

// printPacking prints what is known of a packing.
func (t *terminal) printPacking(j *packJSON, components []string, f *packFlags) error {
	if f.json {
		e := json.NewEncoder(t.stdout)
		e.SetIndent("", " ")
		return e.Encode(j)
	}
	var b strings.Builder
	proof := fmt.Sprintf("at most %.3g %% above the best", 100*j.Gap)
	if j.Packs == j.LowerBound {
		proof = "optimal"
	}
	fmt.Fprintf(&b, "%s of %s (%s; no packing has fewer than %s), by %s, found after %s of %s\n",
		counted(j.Packs, "pack"), counted(j.Graphs, "graph"), proof, human.Exact(j.LowerBound), j.By, human.Duration(seconds(j.FoundSeconds)), human.Duration(seconds(j.Seconds)))
	for _, c := range components {
		fmt.Fprintf(&b, "  %-12s limit %s, full %.2f %% (at most %.2f %% with these limits)\n", c, human.Exact(int64(j.Limits[c])), 100*j.Efficiency[c], 100*j.Ceiling[c])
	}
	fmt.Fprintf(&b, "  %-12s at most %s a pack\n", "graphs", human.Exact(int64(j.MostGraphs)))
	if j.Reserve {
		b.WriteString("  " + reserveNote + "\n")
	}
	if j.Oversize > 0 {
		fmt.Fprintf(&b, "  %s %s\n", human.Exact(j.Oversize), larger(j.Oversize, f.oversize))
	}
	_, err := t.stdout.Write([]byte(b.String()))
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func reportPacking(r *report.Report, p *pack.Result, j *packJSON, components []string, oversize string) {
	r.Head("packs", report.Count(j.Packs, "packs"))
	r.Head("lower bound", report.Count(j.LowerBound, "packs"))
	for _, c := range components {
		r.Head(c+" full", report.Share(j.Efficiency[c]))
	}
	r.In("graphs", report.Count(j.Graphs+j.Oversize, "graphs"))
	r.In("shapes", report.Count(j.Shapes, "shapes"))
	r.Out("packs", report.Count(j.Packs, "packs"))
	r.Out("patterns", report.Count(len(p.Patterns), "patterns"))
	r.Warn(j.Oversize, larger(j.Oversize, oversize))
	rows := [][]report.Value{}
	for _, c := range components {
		rows = append(rows, []report.Value{report.Text(c), report.Count(j.Limits[c], ""), report.Count(j.Used[c], ""), report.Share(j.Efficiency[c]), report.Share(j.EfficiencyUsed[c]), report.Share(j.Ceiling[c])})
	}
	r.Table(report.Table{Title: "Components", Columns: []string{"component", "limit", "most used", "full", "full, of the most used", "ceiling"}, Rows: rows})
	if m := shapesMap(p.Problem.Histogram); m != nil {
		r.Heat(*m)
	}
	for i, c := range components {
		after, h := new(report.Histogram), p.Problem.Histogram
		for _, x := range p.Patterns {
			sum := 0
			for _, part := range x.Parts {
				sum += h.Shape(part.Shape)[i] * part.Copies
			}
			after.AddN(uint64(sum), uint64(x.Packs))
		}
		r.Plot(report.Distribution{Title: "Sizes in " + c, Of: "graphs or packs", What: c, View: report.Bins,
			Series: []report.Series{{Name: "graphs", Histogram: sizesOf(h, i)}, {Name: "packs", Histogram: after}}})
	}
	r.Stage("pack, by "+j.By, p.Elapsed, j.Graphs, "graphs")
}
